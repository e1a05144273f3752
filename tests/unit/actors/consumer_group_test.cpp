#include "tests/unit/actors/consumer_group_fixture.hpp"

namespace handfast {
namespace {

using namespace std::chrono_literals;
using test::probe;

class ConsumerGroup : public consumer_group_fixture {};

TEST_F(ConsumerGroup, DeliversWhatIsThere) {
  fetched(alice); // from now on the group reads ahead
  publish(0, 2);
  publish(1, 1);
  const auto got = fetched(alice);
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[0].attempts, 1U);
  EXPECT_NE(got[0].lease, got[1].lease);
}

TEST_F(ConsumerGroup, IsFairOverQueues) {
  fetched(alice);
  publish(0, 10);
  publish(1, 10);
  const auto got = fetched(alice, 4);
  ASSERT_EQ(got.size(), 4U);
  EXPECT_NE(got[0].queue, got[1].queue);
  EXPECT_NE(got[2].queue, got[3].queue);
}

TEST_F(ConsumerGroup, AnswersAnEmptyQueueAtOnceWithoutAWait) {
  fetch(alice);
  EXPECT_EQ(alice->count<deliver>(), 1U);
  EXPECT_TRUE(alice->take_last<deliver>().deliveries.empty());
}

TEST_F(ConsumerGroup, WakesAParkedFetchWithoutTimePassing) {
  fetch(alice, 32, 10'000);
  EXPECT_EQ(alice->count<deliver>(), 0U);
  publish(1);
  EXPECT_EQ(alice->take_last<deliver>().deliveries.size(), 1U);
  publish(1);
  fetch(alice, 32, 10'000);
  EXPECT_EQ(alice->take_last<deliver>().deliveries.size(), 1U);
}

TEST_F(ConsumerGroup, EndsAParkedFetchWhenItsTimeIsOver) {
  fetch(alice, 32, 500);
  advance(490ms);
  EXPECT_EQ(alice->count<deliver>(), 0U);
  advance(20ms);
  const auto answer = alice->take_last<deliver>();
  EXPECT_EQ(answer.code, ec::ok);
  EXPECT_TRUE(answer.deliveries.empty());
}

TEST_F(ConsumerGroup, ServesParkedFetchesInTheirOrder) {
  fetch(alice, 1, 10'000);
  fetch(bob, 1, 10'000);
  publish(0);
  EXPECT_EQ(alice->count<deliver>(), 1U);
  EXPECT_EQ(bob->count<deliver>(), 0U);
}

TEST_F(ConsumerGroup, SharesMessagesBetweenMembers) {
  publish(0, 10);
  const auto first = fetched(alice, 5);
  const auto second = fetched(bob, 10);
  EXPECT_EQ(first.size(), 5U);
  EXPECT_EQ(second.size(), 5U);
  for (const auto& a : first)
    for (const auto& b : second)
      EXPECT_NE(a.entry.offset, b.entry.offset);
}

TEST_F(ConsumerGroup, BoundsBytesButPassesOne) {
  publish(0, 10);
  bytes_max = 250;
  EXPECT_EQ(fetched(alice).size(), 2U);
  bytes_max = 10;
  EXPECT_EQ(fetched(alice).size(), 1U);
}

TEST_F(ConsumerGroup, AcknowledgesOnlyWhenDurable) {
  publish(0, 2);
  finish(alice, fetched(alice));
  EXPECT_EQ(alice->count<acknowledged>(), 0U);
  const auto written = make_durable();
  ASSERT_EQ(written.size(), 1U);
  EXPECT_EQ(written[0].groups[0].base, queue_offset{2});
  const auto answer = alice->take_last<acknowledged>();
  EXPECT_EQ(answer.id, correlation{2});
  EXPECT_EQ(answer.accepted, 2U);
  EXPECT_EQ(answer.late, 0U);
}

TEST_F(ConsumerGroup, WritesOneRecordForSeveralAcknowledgements) {
  publish(0, 4);
  const auto first = fetched(alice, 2);
  const auto second = fetched(bob, 2);
  acknowledge a{correlation{2}, {{first[0].queue, first[0].entry.offset, first[0].lease}}};
  acknowledge b{correlation{3}, {{second[0].queue, second[0].entry.offset, second[0].lease}}};
  send_as(alice, group, a);
  send_as(bob, group, b);
  run();
  EXPECT_EQ(make_durable().size(), 1U);
  EXPECT_EQ(alice->count<acknowledged>(), 1U);
  EXPECT_EQ(bob->count<acknowledged>(), 1U);
}

TEST_F(ConsumerGroup, KeepsRangesAboveTheOldestThatIsNotDone) {
  publish(0, 3);
  auto got = fetched(alice);
  got.erase(got.begin());
  finish(alice, got);
  const auto written = make_durable();
  EXPECT_EQ(written[0].groups[0].base, queue_offset{0});
  EXPECT_EQ(written[0].groups[0].done, (std::vector<offset_range>{{1, 3}}));
}

TEST_F(ConsumerGroup, DeliversAgainWhenALeaseEnds) {
  publish(0);
  ASSERT_EQ(fetched(alice).size(), 1U);
  EXPECT_TRUE(fetched(bob).empty());
  fetch(bob, 32, 60'000);
  advance(settings.consumer.lease + 10ms, 100ms);
  EXPECT_EQ(bob->count<deliver>(), 0U) << "the failed delivery is not counted durably yet";
  make_durable();
  const auto again = bob->take_last<deliver>().deliveries;
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].attempts, 2U);
}

TEST_F(ConsumerGroup, TakesALateAcknowledgementUnlessAnotherHoldsTheMessage) {
  publish(0, 2);
  const auto got = fetched(alice);
  advance(settings.consumer.lease + 10ms, 100ms);
  make_durable();
  const auto again = fetched(bob, 1);
  finish(alice, got);
  make_durable();
  const auto answer = alice->take_last<acknowledged>();
  EXPECT_EQ(answer.accepted, 0U);
  EXPECT_EQ(answer.late, 2U);
  EXPECT_TRUE(fetched(alice).empty()) << "one is held by bob, the other counts as done";
  finish(bob, again);
  make_durable();
  EXPECT_EQ(bob->take_last<acknowledged>().accepted, 1U);
}

TEST_F(ConsumerGroup, DeliversAtOnceWhatWasReturned) {
  publish(0);
  const auto got = fetched(alice);
  fetch(bob, 32, 10'000);
  say(alice, got, handling::returned);
  const auto again = bob->take_last<deliver>().deliveries;
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].attempts, 1U) << "it was not worked on";
  EXPECT_EQ(alice->count<acknowledged>(), 1U) << "nothing had to become durable";
}

TEST_F(ConsumerGroup, FreesTheLeasesOfAMemberThatLeaves) {
  publish(0);
  fetched(alice);
  fetch(bob, 32, 10'000);
  send_as(alice, group, member_left{});
  run();
  make_durable();
  EXPECT_EQ(bob->take_last<deliver>().deliveries.size(), 1U);
}

TEST_F(ConsumerGroup, FreesTheLeasesOfAMemberThatDies) {
  publish(0);
  fetched(alice);
  fetch(bob, 32, 10'000);
  kill(alice->handle());
  run();
  make_durable();
  EXPECT_EQ(bob->take_last<deliver>().deliveries.size(), 1U);
}

TEST_F(ConsumerGroup, StartsANewGroupAtTheLatestIfItWants) {
  publish(0, 5);
  fetch(alice, 32, 10'000, {start_from::latest});
  EXPECT_EQ(alice->count<deliver>(), 0U);
  const auto written = make_durable();
  ASSERT_EQ(written.size(), 1U) << "so that a restart does not skip more";
  publish(0);
  const auto got = alice->take_last<deliver>().deliveries;
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].entry.offset, queue_offset{5});
}

TEST_F(ConsumerGroup, GoesOnFromItsProgressAfterARestart) {
  publish(0, 3);
  auto got = fetched(alice);
  got.erase(got.begin() + 1);
  finish(alice, got);
  make_durable();
  restart();
  const auto again = fetched(alice);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].entry.offset, queue_offset{1});
}

TEST_F(ConsumerGroup, TakesAnAcknowledgementThatIsOlderThanItsOwnLife) {
  publish(0, 1);
  const auto got = fetched(alice);
  restart();
  finish(alice, got);
  make_durable();
  EXPECT_EQ(alice->take_last<acknowledged>().late, 1U);
  EXPECT_TRUE(fetched(alice).empty());
}

TEST_F(ConsumerGroup, SaysRecoveringUntilItsReplayIsDone) {
  kill(group);
  group = start(progress_table{billing}, false);
  fetch(alice);
  EXPECT_EQ(alice->take_last<deliver>().code, ec::recovering);
  send_as(alice, group, acknowledge{correlation{2}, {}});
  run();
  EXPECT_EQ(alice->take_last<acknowledged>().code, ec::recovering);
}

TEST_F(ConsumerGroup, GoesOnWithARestartedQueue) {
  fetch(alice, 32, 10'000);
  kill(queues[queue_of(0)]);
  ends[0] = 0;
  add_queue(0);
  ++queue_life;
  answer_queue(queue_of(0), queues[queue_of(0)]);
  run();
  publish(0);
  EXPECT_EQ(alice->take_last<deliver>().deliveries.size(), 1U);
}

TEST_F(ConsumerGroup, SaysThatATopicHasNoQueues) {
  queues.clear();
  send_as(alice, group, fetch_messages{correlation{1}, topic_id{99}, 1, 32, 0, 0, {}, {}, {}});
  run();
  EXPECT_EQ(alice->take_last<deliver>().code, ec::unknown_topic);
}

TEST_F(ConsumerGroup, IsNotBlockedByAMessageThatCannotBeRead) {
  publish(0);
  const auto got = fetched(alice);
  send_as(alice, group,
          acknowledge{correlation{2},
                      {{got[0].queue, got[0].entry.offset, got[0].lease, handling::unreadable}}});
  run();
  make_durable();
  EXPECT_EQ(log->take_last<note_damage>().item.at, got[0].entry.at);
  advance(settings.consumer.lease + 1s, 500ms);
  EXPECT_TRUE(fetched(alice).empty());
}

TEST_F(ConsumerGroup, SaysSoWhenTheLogRefuses) {
  publish(0);
  finish(alice, fetched(alice));
  const auto cookie = log->take_last<append_records>().records[0].cookie;
  send(group, append_refused{{cookie}, {ec::disk_full, {}}});
  run();
  EXPECT_EQ(alice->take_last<acknowledged>().code, ec::disk_full);
  advance(2s);
  EXPECT_EQ(make_durable().size(), 1U) << "it is written when that works again";
}

TEST_F(ConsumerGroup, FetchesAheadInLargeTopics) {
  publish(0, 1'000);
  std::size_t got = 0;
  for (auto part = fetched(alice, 100); !part.empty(); part = fetched(alice, 100))
    got += part.size();
  EXPECT_EQ(got, 1'000U);
}

TEST_F(ConsumerGroup, StopsBehindItsOwnRecords) {
  publish(0);
  fetch(bob, 32, 10'000);
  finish(bob, bob->take_last<deliver>().deliveries);
  bob->forget_all();
  fetch(bob, 32, 10'000);
  send_as(supervisor, group, stop{});
  run();
  EXPECT_EQ(bob->take_last<deliver>().code, ec::stopping);
  EXPECT_EQ(supervisor->count<stopped>(), 0U);
  make_durable();
  EXPECT_EQ(supervisor->count<stopped>(), 1U);
}

} // namespace
} // namespace handfast
