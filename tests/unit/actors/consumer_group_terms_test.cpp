// What members agree on: filters and order.
#include "tests/unit/actors/consumer_group_fixture.hpp"

#include <set>

namespace handfast {
namespace {

using namespace std::chrono_literals;

class GroupTerms : public consumer_group_fixture {
protected:
  ec code_of_fetch(const std::shared_ptr<test::probe>& by) {
    fetch(by);
    return by->take_last<deliver>().code;
  }

  void order() { terms.mode = delivery_mode::ordered; }

  static std::vector<std::uint64_t> offsets(const std::vector<delivery>& of) {
    std::vector<std::uint64_t> found;
    for (const auto& d : of)
      found.push_back(d.entry.offset.value);
    return found;
  }

  static std::set<queue_key> queues_of(const std::vector<delivery>& of) {
    std::set<queue_key> found;
    for (const auto& d : of)
      found.insert(d.queue);
    return found;
  }
};

TEST_F(GroupTerms, RefusesADifferentFilterWhileOthersAreThere) {
  EXPECT_EQ(code_of_fetch(alice), ec::ok);
  terms = {delivery_mode::concurrent, filter_kind::tags, "red"};
  EXPECT_EQ(code_of_fetch(bob), ec::subscription_differs);
  terms = {delivery_mode::ordered, filter_kind::all, {}};
  EXPECT_EQ(code_of_fetch(bob), ec::subscription_differs);
  terms = {};
  EXPECT_EQ(code_of_fetch(bob), ec::ok);
}

TEST_F(GroupTerms, TakesTheSameFilterInOtherWords) {
  terms = {delivery_mode::concurrent, filter_kind::tags, "red || blue"};
  EXPECT_EQ(code_of_fetch(alice), ec::ok);
  terms.expression = "blue||red";
  EXPECT_EQ(code_of_fetch(bob), ec::ok);
}

TEST_F(GroupTerms, LetsASingleMemberChangeItsMind) {
  publish(0, 1, "red");
  publish(0, 1, "blue");
  terms = {delivery_mode::concurrent, filter_kind::tags, "green"};
  EXPECT_EQ(code_of_fetch(alice), ec::ok);
  publish(0, 1, "red");
  publish(0, 1, "blue");
  send_as(alice, group, member_left{});
  run();
  terms.expression = "red";
  EXPECT_TRUE(fetched(bob).empty()) << "what nobody wanted is done";
  publish(0, 1, "red");
  publish(0, 1, "blue");
  EXPECT_EQ(offsets(fetched(bob)), std::vector<std::uint64_t>{4});
}

TEST_F(GroupTerms, RefusesAFilterThatCannotBeRead) {
  terms = {delivery_mode::concurrent, filter_kind::sql, "a >"};
  EXPECT_EQ(code_of_fetch(alice), ec::bad_filter);
  terms = {};
  EXPECT_EQ(code_of_fetch(bob), ec::ok) << "nothing was agreed on";
}

TEST_F(GroupTerms, PassesOverTagsThatNobodyWants) {
  terms = {delivery_mode::concurrent, filter_kind::tags, "red"};
  publish(0, 100, "blue");
  publish(0, 1, "red");
  publish(0, 50, "blue");
  fetched(alice);
  EXPECT_TRUE(reader->received().empty() || reader->count<read_heads>() == 0U);
  const auto got = described();
  EXPECT_EQ(got.queues.at(0).base, queue_offset{100});
  EXPECT_EQ(got.terms.at(0).second, terms);
  advance(consumer_group_state::lazy_write + 10ms, 100ms);
  const auto written = make_durable();
  ASSERT_FALSE(written.empty()) << "so that a restart need not pass over them again";
  EXPECT_EQ(written.back().groups[0].base, queue_offset{100});
}

TEST_F(GroupTerms, FiltersByPropertiesFromTheCache) {
  terms = {delivery_mode::concurrent, filter_kind::sql, "price > 10"};
  publish(0, 3, {}, {},
          "price\x01"
          "5\x02");
  publish(0, 2, {}, {},
          "price\x01"
          "50\x02");
  fetch(alice, 32, 1'000);
  EXPECT_EQ(offsets(alice->take_last<deliver>().deliveries), (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(reader->count<read_heads>(), 0U);
}

TEST_F(GroupTerms, FiltersByPropertiesThroughTheReader) {
  cache_all = false;
  terms = {delivery_mode::concurrent, filter_kind::sql, "price > 10"};
  publish(0, 3);
  fetch(alice, 32, 1'000);
  const auto asked = reader->take_last<read_heads>();
  ASSERT_EQ(asked.places.size(), 3U);
  record_head wanted;
  wanted.properties = "price\x01"
                      "50\x02";
  record_head unreadable;
  unreadable.code = ec::corrupt;
  send(group, heads_read{asked.id, {{}, wanted, unreadable}});
  run();
  EXPECT_EQ(offsets(alice->take_last<deliver>().deliveries), (std::vector<std::uint64_t>{1, 2}))
      << "whoever gets the unreadable one finds out what is wrong with it";
}

TEST_F(GroupTerms, AsksARestartedReaderForHeadsAgain) {
  cache_all = false;
  terms = {delivery_mode::concurrent, filter_kind::sql, "price > 10"};
  publish(0, 3);
  fetch(alice, 32, 1'000);
  reader->forget_all();
  reader_life = incarnation{2};
  send(group, peers_changed{peers()});
  run();
  EXPECT_EQ(reader->take_last<read_heads>().places.size(), 3U);
}

// -- order ----------------------------------------------------------------------------

TEST_F(GroupTerms, HandsOutOneMessageOfAKeyAtATime) {
  order();
  publish(0, 2, {}, "a");
  publish(0, 1, {}, "b");
  fetch(alice, 32, 1'000);
  const auto got = alice->take_last<deliver>().deliveries;
  EXPECT_EQ(offsets(got), (std::vector<std::uint64_t>{0, 2}));
  EXPECT_TRUE(fetched(alice).empty());
  finish(alice, {got[0]});
  EXPECT_EQ(offsets(fetched(alice)), std::vector<std::uint64_t>{1});
}

TEST_F(GroupTerms, TakesMessagesWithoutAKeyForOneKey) {
  order();
  publish(0, 2);
  EXPECT_TRUE(fetched(alice).size() <= 1U);
  fetch(alice);
  EXPECT_TRUE(alice->take_last<deliver>().deliveries.empty());
}

TEST_F(GroupTerms, HoldsBackTheKeyOfAFailureAndNoOther) {
  order();
  settings.consumer.retry_backoff_min = 5s;
  settings.consumer.retry_backoff_max = 5s;
  restart();
  publish(0, 2, {}, "a");
  publish(0, 2, {}, "b");
  fetch(alice, 32, 1'000);
  const auto got = alice->take_last<deliver>().deliveries;
  ASSERT_EQ(offsets(got), (std::vector<std::uint64_t>{0, 2}));
  finish(alice, {got[0]}, false);
  finish(alice, {got[1]});
  settle();
  EXPECT_EQ(offsets(fetched(alice)), std::vector<std::uint64_t>{3});
  advance(5s + 10ms, 100ms);
  EXPECT_EQ(offsets(fetched(alice)), std::vector<std::uint64_t>{0}) << "it comes again first";
}

TEST_F(GroupTerms, LetsAKeyGoOnBehindItsDeadLetter) {
  order();
  publish(0, 2, {}, "a");
  fetch(alice, 32, 1'000);
  say(alice, alice->take_last<deliver>().deliveries, handling::dead_letter);
  EXPECT_TRUE(fetched(alice).empty());
  settle();
  EXPECT_EQ(letters.size(), 1U);
  EXPECT_EQ(offsets(fetched(alice)), std::vector<std::uint64_t>{1});
}

TEST_F(GroupTerms, GivesAQueueToOneMemberAtATime) {
  order();
  fetch(alice, 32, 10'000);
  fetch(bob, 32, 10'000);
  publish(0, 1, {}, "a");
  publish(1, 1, {}, "b");
  const auto first = alice->take_last<deliver>().deliveries;
  const auto second = bob->take_last<deliver>().deliveries;
  EXPECT_EQ(first.size(), 1U);
  EXPECT_EQ(second.size(), 1U);
  EXPECT_NE(queues_of(first), queues_of(second));
  const auto told = described();
  ASSERT_EQ(told.members.size(), 2U);
  EXPECT_EQ(told.members[0].queues_held, 1U);
  EXPECT_EQ(told.members[1].held, 1U);
}

TEST_F(GroupTerms, MovesAQueueOnlyWhenNothingOfItIsInFlight) {
  order();
  fetched(alice);
  publish(0, 2, {}, "a");
  publish(1, 2, {}, "b");
  const auto got = fetched(alice);
  ASSERT_EQ(got.size(), 2U);
  fetch(bob, 32, 60'000);
  EXPECT_EQ(bob->count<deliver>(), 0U);
  finish(alice, got);
  const auto moved = bob->take_last<deliver>().deliveries;
  ASSERT_EQ(moved.size(), 1U);
  const auto kept = fetched(alice);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_NE(kept[0].queue, moved[0].queue);
}

TEST_F(GroupTerms, PassesTheQueuesOfALostMemberOn) {
  order();
  publish(0, 1, {}, "a");
  fetch(alice, 32, 1'000);
  ASSERT_EQ(alice->take_last<deliver>().deliveries.size(), 1U);
  fetch(bob, 32, 60'000);
  kill(alice->handle());
  run();
  settle();
  EXPECT_EQ(offsets(bob->take_last<deliver>().deliveries), std::vector<std::uint64_t>{0});
}

TEST_F(GroupTerms, TakesTheQueuesFromAMemberThatDoesNotComeAgain) {
  order();
  fetched(alice);
  fetched(bob);
  publish(0, 1, {}, "a");
  publish(1, 1, {}, "b");
  fetch(bob, 32, 600'000);
  EXPECT_EQ(bob->take_last<deliver>().deliveries.size(), 1U);
  fetch(bob, 32, 600'000);
  EXPECT_EQ(bob->count<deliver>(), 0U);
  advance(settings.consumer.lease + 10ms, 1s);
  EXPECT_EQ(bob->take_last<deliver>().deliveries.size(), 1U);
}

TEST_F(GroupTerms, KeepsTheOrderOverARestart) {
  order();
  publish(0, 3, {}, "a");
  fetch(alice, 32, 1'000);
  finish(alice, alice->take_last<deliver>().deliveries);
  settle();
  restart();
  fetch(alice, 32, 1'000);
  EXPECT_EQ(offsets(alice->take_last<deliver>().deliveries), std::vector<std::uint64_t>{1});
}

} // namespace
} // namespace handfast
