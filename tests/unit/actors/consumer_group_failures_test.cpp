// Failed deliveries: counted, retried, at last in the dead-letter topic.
#include "tests/unit/actors/consumer_group_fixture.hpp"

namespace handfast {
namespace {

using namespace std::chrono_literals;

class GroupFailures : public consumer_group_fixture {
protected:
  GroupFailures() {
    delivery_max = 3;
    send(group, group_rules{billing, "billing", delivery_max});
    run();
  }
};

TEST_F(GroupFailures, CountsAFailureDurablyBeforeItDeliversAgain) {
  publish(0);
  finish(alice, fetched(alice), false);
  EXPECT_TRUE(fetched(bob).empty());
  const auto written = make_durable();
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].groups[0].attempts, (std::vector<delivery_attempts>{{0, 1}}));
  EXPECT_EQ(alice->take_last<acknowledged>().accepted, 1U);
  EXPECT_EQ(fetched(bob).at(0).attempts, 2U);
}

TEST_F(GroupFailures, WaitsForTheBackOff) {
  settings.consumer.retry_backoff_min = 10s;
  settings.consumer.retry_backoff_max = 2h;
  restart();
  publish(0);
  fail_once(alice);
  fetch(bob, 32, 60'000);
  advance(9s, 1s);
  EXPECT_EQ(bob->count<deliver>(), 0U);
  EXPECT_EQ(described().queues.at(0).waiting_again, 1U);
  advance(1s + 10ms, 100ms);
  EXPECT_EQ(bob->take_last<deliver>().deliveries.size(), 1U);
}

TEST_F(GroupFailures, WaitsAsLongAsTheConsumerAsked) {
  publish(0);
  say(alice, fetched(alice), handling::failed, 700);
  make_durable();
  fetch(bob, 32, 60'000);
  advance(690ms);
  EXPECT_EQ(bob->count<deliver>(), 0U);
  advance(20ms);
  EXPECT_EQ(bob->take_last<deliver>().deliveries.size(), 1U);
}

TEST_F(GroupFailures, MovesToTheDeadLettersWhatFailsTooOften) {
  publish(0, 1, "red");
  for (int n = 0; n < 3; ++n)
    fail_once(alice);
  ASSERT_EQ(letters.size(), 1U);
  const auto& letter = letters[0];
  EXPECT_EQ(letter.group, billing);
  EXPECT_EQ(letter.topic, orders);
  EXPECT_EQ(letter.offset, queue_offset{0});
  EXPECT_EQ(letter.attempts, 3U);
  EXPECT_EQ(letter.message.topic, billing_dead);
  EXPECT_EQ(letter.message.body(), "body 0");
  EXPECT_EQ(letter.message.tag_hash, tag_hash("red"));
  const auto properties = letter.message.properties();
  EXPECT_EQ(find_property(properties, property_keys::dlq_origin_topic), "topic-16");
  EXPECT_EQ(find_property(properties, property_keys::reconsume_time), "3");
  EXPECT_EQ(find_property(properties, property_keys::dlq_reason), "3 failed deliveries");
  EXPECT_TRUE(fetched(alice).empty());
  EXPECT_EQ(described().dead_letters, 1U);
  EXPECT_EQ(described().queues.at(0).base, queue_offset{1});
}

TEST_F(GroupFailures, WritesNoSecondDeadLetterAfterARestart) {
  publish(0);
  for (int n = 0; n < 3; ++n)
    fail_once(alice);
  ASSERT_EQ(letters.size(), 1U);
  restart();
  EXPECT_TRUE(fetched(alice).empty());
  settle();
  EXPECT_EQ(letters.size(), 1U);
}

TEST_F(GroupFailures, MovesOnTimeThoughItCrashesBetweenAllFailures) {
  publish(0);
  lose_letters = true;
  for (std::uint32_t n = 1; n <= 3; ++n) {
    const auto got = fetched(alice);
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].attempts, n);
    finish(alice, got, false);
    make_durable(); // the count, and not what follows from it
    restart();
  }
  lose_letters = false;
  EXPECT_TRUE(fetched(alice).empty()) << "it is not delivered a fourth time";
  settle();
  EXPECT_EQ(letters.size(), 1U);
}

TEST_F(GroupFailures, WritesNoProgressWhileADeadLetterIsUnderWay) {
  publish(0, 2);
  const auto got = fetched(alice);
  say(alice, {got[0]}, handling::dead_letter);
  say(alice, {got[1]}, handling::done);
  const auto orders_sent = log->count<append_records>();
  const auto written = make_durable();
  for (const auto& progress : written)
    EXPECT_TRUE(progress.groups.empty()) << "it would contradict the dead letter behind it";
  EXPECT_EQ(orders_sent, 1U);
  settle();
  EXPECT_EQ(letters.size(), 1U);
  restart();
  EXPECT_TRUE(fetched(alice).empty());
}

TEST_F(GroupFailures, AnswersARefusalWhenTheDeadLetterIsDurable) {
  publish(0);
  say(alice, fetched(alice), handling::dead_letter);
  EXPECT_EQ(alice->count<acknowledged>(), 0U);
  settle();
  EXPECT_EQ(alice->take_last<acknowledged>().accepted, 1U);
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_EQ(find_property(letters[0].message.properties(), property_keys::dlq_reason),
            "refused by a consumer");
}

TEST_F(GroupFailures, TakesTheBodyFromTheReaderIfItIsCold) {
  cache_all = false;
  publish(0);
  say(alice, fetched(alice), handling::dead_letter);
  EXPECT_EQ(log->count<append_records>(), 0U);
  const auto asked = reader->take_last<read_records>();
  ASSERT_EQ(asked.places.size(), 1U);
  send(group, records_read{asked.id, {{ec::ok, stored.at(asked.places[0].at.value)}}});
  run();
  settle();
  EXPECT_EQ(letters.size(), 1U);
}

TEST_F(GroupFailures, AsksARestartedReaderAgain) {
  cache_all = false;
  publish(0);
  say(alice, fetched(alice), handling::dead_letter);
  reader->forget_all();
  reader_life = incarnation{2};
  send(group, peers_changed{peers()});
  run();
  EXPECT_EQ(reader->count<read_records>(), 1U);
}

TEST_F(GroupFailures, IsDoneWithADeadMessageThatCannotBeRead) {
  cache_all = false;
  publish(0);
  say(alice, fetched(alice), handling::dead_letter);
  send(group, records_read{reader->take_last<read_records>().id, {{ec::corrupt, {}}}});
  run();
  settle();
  EXPECT_TRUE(letters.empty());
  EXPECT_EQ(log->count<note_damage>(), 1U);
  EXPECT_EQ(alice->count<acknowledged>(), 1U);
  EXPECT_EQ(described().queues.at(0).base, queue_offset{1});
}

TEST_F(GroupFailures, TriesAgainWhatTheDiskCannotReadNow) {
  cache_all = false;
  publish(0);
  say(alice, fetched(alice), handling::dead_letter);
  send(group, records_read{reader->take_last<read_records>().id, {{ec::io_error, {}}}});
  run();
  EXPECT_EQ(reader->count<read_records>(), 0U);
  advance(consumer_group_state::burial_retry + 10ms, 100ms);
  EXPECT_EQ(reader->count<read_records>(), 1U);
}

TEST_F(GroupFailures, TriesAgainWhenTheLogRefusesADeadLetter) {
  publish(0);
  say(alice, fetched(alice), handling::dead_letter);
  const auto refused = log->take_last<append_records>();
  std::vector<std::uint64_t> cookies;
  for (const auto& record : refused.records)
    cookies.push_back(record.cookie);
  send(group, append_refused{cookies, {ec::disk_full, {}}});
  run();
  EXPECT_TRUE(fetched(bob).empty());
  EXPECT_EQ(alice->count<acknowledged>(), 0U);
  advance(consumer_group_state::burial_retry + 10ms, 100ms);
  settle();
  EXPECT_EQ(letters.size(), 1U);
  EXPECT_EQ(alice->count<acknowledged>(), 1U);
}

TEST_F(GroupFailures, TriesAgainWhenTheDeadLetterTopicCannotBeMade) {
  box_code = ec::disk_full;
  publish(0);
  say(alice, fetched(alice), handling::dead_letter);
  settle();
  EXPECT_TRUE(letters.empty());
  box_code = ec::ok;
  advance(consumer_group_state::burial_retry + 10ms, 100ms);
  settle();
  EXPECT_EQ(letters.size(), 1U);
}

TEST_F(GroupFailures, TakesTheNodesLimitIfTheGroupHasNone) {
  settings.consumer.delivery_max = 2;
  send(group, group_rules{billing, "billing", 0});
  run();
  publish(0);
  fail_once(alice);
  EXPECT_TRUE(letters.empty());
  fail_once(alice);
  EXPECT_EQ(letters.size(), 1U);
}

TEST_F(GroupFailures, CountsALeaseThatEndedAndAMemberThatLeft) {
  publish(0);
  fetched(alice);
  advance(settings.consumer.lease + 10ms, 1s);
  settle();
  fetched(alice);
  send_as(alice, group, member_left{});
  run();
  settle();
  EXPECT_EQ(fetched(bob).at(0).attempts, 3U);
}

TEST_F(GroupFailures, SettlesARangeOfWhatTheSenderHolds) {
  publish(0, 4);
  const auto mine = fetched(alice, 2);
  const auto other = fetched(bob, 2);
  acknowledge order{correlation{2}, {{queue_of(0), queue_offset{0}, 0, handling::done, {4}, 0}}};
  send_as(alice, group, order);
  run();
  make_durable();
  EXPECT_EQ(alice->take_last<acknowledged>().accepted, 2U);
  EXPECT_EQ(described().queues.at(0).in_flight, 2U);
  finish(bob, other);
  settle();
  EXPECT_EQ(described().queues.at(0).base, queue_offset{4});
}

TEST_F(GroupFailures, SplitsProgressThatDoesNotFitIntoOneRecord) {
  constexpr std::uint64_t count = 20'000;
  publish(0, count);
  publish(1, count);
  std::vector<delivery> all;
  for (auto part = fetched(alice, 1'024); !part.empty(); part = fetched(alice, 1'024))
    for (const auto& d : part)
      if (d.entry.offset.value % 2 == 1)
        all.push_back(d);
  finish(alice, all);
  EXPECT_EQ(make_durable().size(), 2U);
  EXPECT_EQ(alice->count<acknowledged>(), 1U) << "when all of it is durable";
}

} // namespace
} // namespace handfast
