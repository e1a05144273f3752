// Where reading begins, going back, being looked at, the end of a group.
#include "tests/unit/actors/consumer_group_fixture.hpp"

namespace handfast {
namespace {

using namespace std::chrono_literals;

class GroupPlaces : public consumer_group_fixture {
protected:
  progress_reset reset(start_point to, bool one_queue = false, std::uint16_t queue = 0) {
    send_as(bob, group, reset_progress{correlation{5}, orders, 2, one_queue, queue_no{queue}, to});
    run();
    settle();
    return bob->take_last<progress_reset>();
  }

  std::uint64_t first_of(const std::vector<delivery>& of) {
    return of.empty() ? 999 : of[0].entry.offset.value;
  }
};

TEST_F(GroupPlaces, StartsANewGroupAtAnOffset) {
  publish(0, 5);
  fetch(alice, 32, 1'000, {start_from::offset, 3});
  EXPECT_EQ(first_of(alice->take_last<deliver>().deliveries), 3U);
  EXPECT_FALSE(make_durable().empty());
}

TEST_F(GroupPlaces, StartsANewGroupAtAMoment) {
  publish(0, 5); // visible from 1'000 on, each a millisecond later
  fetch(alice, 32, 1'000, {start_from::time, 1'002});
  EXPECT_EQ(first_of(alice->take_last<deliver>().deliveries), 2U);
}

TEST_F(GroupPlaces, LeavesAGroupThatHasProgressWhereItIs) {
  publish(0, 5);
  finish(alice, fetched(alice, 2));
  settle();
  restart();
  fetch(alice, 32, 1'000, {start_from::latest});
  EXPECT_EQ(first_of(alice->take_last<deliver>().deliveries), 2U);
}

TEST_F(GroupPlaces, GoesBack) {
  publish(0, 3);
  finish(alice, fetched(alice));
  settle();
  EXPECT_TRUE(fetched(alice).empty());
  const auto answer = reset({start_from::earliest});
  EXPECT_EQ(answer.code, ec::ok);
  EXPECT_EQ(answer.id, correlation{5});
  ASSERT_EQ(answer.places.size(), 2U);
  EXPECT_EQ(answer.places[0], (queue_place{queue_of(0), queue_offset{0}}));
  EXPECT_EQ(fetched(alice).size(), 3U);
  restart();
  EXPECT_EQ(fetched(alice).size(), 3U) << "it is durable";
}

TEST_F(GroupPlaces, AnswersAResetOnlyWhenItIsDurable) {
  publish(0, 3);
  fetched(alice);
  send_as(bob, group, reset_progress{correlation{5}, orders, 2, false, {}, {start_from::latest}});
  run();
  EXPECT_EQ(bob->count<progress_reset>(), 0U);
  make_durable();
  EXPECT_EQ(bob->count<progress_reset>(), 1U);
}

TEST_F(GroupPlaces, GoesForward) {
  publish(0, 5);
  fetched(alice, 1);
  EXPECT_EQ(reset({start_from::offset, 4}).places[0].offset, queue_offset{4});
  EXPECT_EQ(first_of(fetched(alice)), 4U);
}

TEST_F(GroupPlaces, MeansTheEndByAnOffsetBehindIt) {
  publish(0, 5);
  EXPECT_EQ(reset({start_from::offset, 400}).places[0].offset, queue_offset{5});
}

TEST_F(GroupPlaces, ResetsASingleQueue) {
  publish(0, 3);
  publish(1, 3);
  finish(alice, fetched(alice));
  settle();
  EXPECT_EQ(reset({start_from::earliest}, true, 1).places.size(), 1U);
  const auto again = fetched(alice);
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(again[0].queue, queue_of(1));
}

TEST_F(GroupPlaces, EndsLeasesAndForgetsAttemptsWithAReset) {
  publish(0, 2);
  const auto got = fetched(alice);
  finish(alice, {got[0]}, false);
  settle();
  reset({start_from::earliest});
  finish(alice, {got[1]});
  settle();
  EXPECT_EQ(alice->take_last<acknowledged>().late, 1U);
  const auto again = fetched(alice);
  ASSERT_EQ(again.size(), 2U) << "what was said of an earlier life of the message does not count";
  EXPECT_EQ(again[0].attempts, 1U);
}

TEST_F(GroupPlaces, WakesAParkedFetchWithAReset) {
  publish(0, 1);
  finish(alice, fetched(alice));
  settle();
  fetch(alice, 32, 60'000);
  reset({start_from::earliest});
  EXPECT_EQ(alice->take_last<deliver>().deliveries.size(), 1U);
}

TEST_F(GroupPlaces, RefusesAResetOfAQueueThatCannotBe) {
  EXPECT_EQ(reset({}, true, 7).code, ec::bad_request);
}

TEST_F(GroupPlaces, AsksARestartedQueueAgainWhereToGo) {
  kill(queues[queue_of(0)]);
  ++queue_life;
  send_as(bob, group, reset_progress{correlation{5}, orders, 2, false, {}, {start_from::latest}});
  run();
  EXPECT_EQ(bob->count<progress_reset>(), 0U);
  ends[0] = 0;
  add_queue(0);
  ++queue_life;
  answer_queue(queue_of(0), queues[queue_of(0)]);
  run();
  settle();
  EXPECT_EQ(bob->count<progress_reset>(), 1U);
}

TEST_F(GroupPlaces, DescribesItself) {
  publish(0, 3);
  fetched(alice, 2);
  const auto told = described();
  EXPECT_EQ(told.group, billing);
  EXPECT_EQ(told.code, ec::ok);
  ASSERT_EQ(told.members.size(), 1U);
  EXPECT_EQ(told.members[0].held, 2U);
  ASSERT_EQ(told.queues.size(), 2U);
  EXPECT_EQ(told.queues[0].end, queue_offset{3});
  EXPECT_EQ(told.queues[0].in_flight, 2U);
  EXPECT_FALSE(told.queues[0].paused);
}

TEST_F(GroupPlaces, DescribesProgressThatNobodyReads) {
  publish(0, 3);
  finish(alice, fetched(alice));
  settle();
  restart();
  const auto told = described();
  ASSERT_EQ(told.queues.size(), 1U);
  EXPECT_EQ(told.queues[0].base, queue_offset{3});
}

TEST_F(GroupPlaces, SaysThatHandingOutPauses) {
  publish(0, queue_window::unsettled_max + 10);
  std::size_t got = 0;
  for (auto part = fetched(alice, 1'024); !part.empty(); part = fetched(alice, 1'024))
    got += part.size();
  EXPECT_EQ(got, queue_window::unsettled_max);
  EXPECT_TRUE(described().queues.at(0).paused);
  const auto report = ask<status_report>(group, status_request{});
  const auto paused = std::find_if(report.samples.begin(), report.samples.end(), [](const auto& s) {
    return s.name == "handfast_consumer_paused_queues";
  });
  ASSERT_NE(paused, report.samples.end());
  EXPECT_EQ(paused->value, 1.0);
}

TEST_F(GroupPlaces, DoesNotEndWhileItHasMembers) {
  fetched(alice);
  send_as(registry, group, end_group{});
  run();
  EXPECT_EQ(registry->take_last<group_ended>().code, ec::group_in_use);
  EXPECT_EQ(described().code, ec::ok);
}

TEST_F(GroupPlaces, ServesNobodyOnceItHasEnded) {
  publish(0);
  fetched(alice);
  send_as(alice, group, member_left{});
  run();
  send_as(registry, group, end_group{});
  run();
  EXPECT_EQ(registry->count<group_ended>(), 0U) << "its own record is under way";
  make_durable();
  EXPECT_EQ(registry->take_last<group_ended>().code, ec::ok);
  fetch(alice);
  EXPECT_EQ(alice->take_last<deliver>().code, ec::unknown_group);
  EXPECT_EQ(reset({}).code, ec::unknown_group);
  advance(5s, 100ms);
  EXPECT_EQ(log->count<append_records>(), 0U);
}

TEST_F(GroupPlaces, GoesOnWhenItsDeletionCameToNothing) {
  send_as(registry, group, end_group{});
  run();
  registry_life = incarnation{2};
  send(group, peers_changed{peers()});
  run();
  fetch(alice);
  EXPECT_EQ(alice->take_last<deliver>().code, ec::ok);
}

TEST_F(GroupPlaces, RefusesAllThatAskForAGroupThatIsNot) {
  fetch(alice, 32, 60'000);
  send(group, group_rules{billing, {}, 0});
  run();
  EXPECT_EQ(alice->take_last<deliver>().code, ec::unknown_group);
  fetch(alice);
  EXPECT_EQ(alice->take_last<deliver>().code, ec::unknown_group);
}

} // namespace
} // namespace handfast
