#include "tests/unit/actors/transaction_fixture.hpp"

namespace handfast {
namespace {

using namespace test;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProducerGroup : public actor_fixture {
public:
  ProducerGroup() {
    shard_peers peers;
    peers.half_store = {half->as<half_store_actor>(), incarnation{1}};
    send(group, peers_changed{std::make_shared<shard_peers>(peers)});
    run();
    half->forget_all();
  }

  std::shared_ptr<probe> joined(std::uint64_t producer, std::vector<topic_id> topics = {}) {
    auto connection = make_probe();
    send_as(connection, group,
            producer_joined{producer_id{producer}, "p" + std::to_string(producer), topics});
    run();
    return connection;
  }
  void ask_about(std::uint64_t transaction, std::uint64_t original = 0, topic_id topic = orders,
                 bool only_original = false) {
    check_order order;
    order.transaction = {position{transaction}, 0};
    order.group = shop;
    order.topic = topic;
    order.original = producer_id{original};
    order.only_original = only_original;
    send_as(half, group, ask_producers{{order}});
    run();
  }
  void handled(const std::shared_ptr<probe>& by, std::uint64_t transaction, bool handed_over) {
    check_result r;
    r.transaction = {position{transaction}, 0};
    r.handed_over = handed_over;
    send_as(by, group, checks_handled{{r}});
    run();
  }
  std::vector<check_result> results() {
    std::vector<check_result> all;
    for (const auto& x : half->take<checks_handled>())
      all.insert(all.end(), x.results.begin(), x.results.end());
    return all;
  }

  std::shared_ptr<probe> half = make_probe();
  producer_group_actor group = spawn(producer_group, &environment, shop);
};

TEST_F(ProducerGroup, TellsWhenTheFirstComesAndTheLastGoes) {
  auto a = joined(1);
  auto b = joined(2);
  EXPECT_THAT(half->take<group_presence>(), SizeIs(1));
  send_as(a, group, producer_left{});
  run();
  EXPECT_THAT(half->take<group_presence>(), IsEmpty());
  send_as(b, group, producer_left{});
  run();
  const auto told = half->take<group_presence>();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].members, 0u);
}

TEST_F(ProducerGroup, AConnectionThatDiesHasLeft) {
  auto a = joined(1);
  half->forget_all();
  kill(a->handle());
  run();
  EXPECT_EQ(half->take_last<group_presence>().members, 0u);
  ask_about(8);
  EXPECT_FALSE(results().at(0).handed_over);
}

TEST_F(ProducerGroup, AsksTheOriginalFirst) {
  auto a = joined(1, {orders});
  auto b = joined(2);
  ask_about(8, 2);
  EXPECT_EQ(a->count<ask_producers>(), 0u);
  EXPECT_EQ(b->count<ask_producers>(), 1u);
  handled(b, 8, true);
  const auto r = results().at(0);
  EXPECT_TRUE(r.handed_over);
  EXPECT_EQ(r.member, producer_id{2});
  EXPECT_EQ(r.member_name, "p2");
}

TEST_F(ProducerGroup, ThenOneThatDeclaredTheTopic) {
  auto a = joined(1);
  auto b = joined(2, {payments});
  auto c = joined(3, {orders});
  ask_about(8, 99, payments);
  EXPECT_EQ(b->count<ask_producers>(), 1u);
  ask_about(16, 99, orders);
  EXPECT_EQ(c->count<ask_producers>(), 1u);
  EXPECT_EQ(a->count<ask_producers>(), 0u);
}

TEST_F(ProducerGroup, ThenAnyoneInTurns) {
  auto a = joined(1);
  auto b = joined(2);
  auto c = joined(3);
  for (std::uint64_t i = 1; i <= 9; ++i)
    ask_about(8 * i);
  EXPECT_EQ(a->count<ask_producers>(), 3u);
  EXPECT_EQ(b->count<ask_producers>(), 3u);
  EXPECT_EQ(c->count<ask_producers>(), 3u);
}

TEST_F(ProducerGroup, OneThatTakesItNotIsPassedOver) {
  auto a = joined(1);
  auto b = joined(2);
  ask_about(8, 1);
  handled(a, 8, false);
  EXPECT_EQ(b->count<ask_producers>(), 1u);
  handled(b, 8, false);
  const auto told = results();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_FALSE(told[0].handed_over);
  EXPECT_TRUE(told[0].original_connected);
}

TEST_F(ProducerGroup, OneThatGivesNoReceiptInASecondIsPassedOver) {
  auto a = joined(1);
  auto b = joined(2);
  ask_about(8, 1);
  advance(990ms);
  EXPECT_EQ(b->count<ask_producers>(), 0u);
  advance(20ms);
  EXPECT_EQ(b->count<ask_producers>(), 1u);
  advance(1'100ms);
  EXPECT_FALSE(results().at(0).handed_over);
}

TEST_F(ProducerGroup, OneThatLeavesIsPassedOver) {
  auto a = joined(1);
  auto b = joined(2);
  ask_about(8, 1);
  send_as(a, group, producer_left{});
  run();
  EXPECT_EQ(b->count<ask_producers>(), 1u);
}

TEST_F(ProducerGroup, ALateReceiptCountsOnce) {
  auto a = joined(1);
  auto b = joined(2);
  ask_about(8, 1);
  advance(1'100ms);
  handled(a, 8, true);
  handled(b, 8, true);
  const auto told = results();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].member, producer_id{1});
}

TEST_F(ProducerGroup, OnlyTheOriginalMeansOnlyTheOriginal) {
  auto a = joined(1);
  auto b = joined(2);
  ask_about(8, 1, orders, true);
  handled(a, 8, false);
  EXPECT_EQ(b->count<ask_producers>(), 0u);
  EXPECT_TRUE(results().at(0).original_connected);
  ask_about(16, 3, orders, true);
  EXPECT_FALSE(results().at(0).original_connected);
}

TEST_F(ProducerGroup, TellsANewHalfStoreWhoIsThere) {
  joined(1);
  half->forget_all();
  shard_peers peers;
  peers.half_store = {half->as<half_store_actor>(), incarnation{2}};
  send(group, peers_changed{std::make_shared<shard_peers>(peers)});
  run();
  EXPECT_EQ(half->take_last<group_presence>().members, 1u);
}

TEST_F(ProducerGroup, BatchesOrdersForOneMember) {
  auto a = joined(1);
  ask_producers x;
  for (std::uint64_t i = 1; i <= 50; ++i) {
    check_order order;
    order.transaction = {position{8 * i}, 0};
    x.orders.push_back(order);
  }
  send_as(half, group, x);
  run();
  const auto asked = a->take<ask_producers>();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_THAT(asked[0].orders, SizeIs(50));
}

class CheckScheduler : public actor_fixture {
public:
  CheckScheduler() { begin(false); }
  void begin(bool restarted) {
    scheduler = spawn(check_scheduler, &environment, restarted);
    shard_peers peers;
    peers.half_store = {half->as<half_store_actor>(), incarnation{1}};
    send(scheduler, peers_changed{std::make_shared<shard_peers>(peers)});
    run();
  }
  std::size_t due() {
    std::size_t n = 0;
    for (const auto& x : half->take<deadlines_due>())
      n += x.transactions.size();
    return n;
  }

  std::shared_ptr<probe> half = make_probe();
  check_scheduler_actor scheduler;
};

TEST_F(CheckScheduler, ReportsADeadlineWithinTenMilliseconds) {
  send(scheduler, arm_deadlines{{{position{8}, 1'000}}});
  advance(999ms, 1ms);
  EXPECT_EQ(due(), 0u);
  advance(11ms, 1ms);
  EXPECT_EQ(due(), 1u);
}

TEST_F(CheckScheduler, AnEarlierDeadlineIsNotHeldUpByALaterOne) {
  send(scheduler, arm_deadlines{{{position{8}, 60'000}}});
  run();
  send(scheduler, arm_deadlines{{{position{16}, 100}}});
  advance(120ms, 1ms);
  EXPECT_EQ(due(), 1u);
  advance(60s, 10ms);
  EXPECT_EQ(due(), 1u);
}

TEST_F(CheckScheduler, ReportsManyInBatches) {
  arm_deadlines x;
  for (std::uint64_t i = 1; i <= 100'000; ++i)
    x.deadlines.push_back({position{i}, 500});
  send(scheduler, x);
  advance(600ms);
  EXPECT_EQ(due(), 100'000u);
}

TEST_F(CheckScheduler, AsksForEverythingAnewOnlyAfterARestart) {
  EXPECT_EQ(half->count<rearm_all>(), 0u);
  begin(true);
  EXPECT_EQ(half->count<rearm_all>(), 1u);
}

TEST_F(CheckScheduler, RunsNoTimerWhileNothingIsArmed) {
  EXPECT_FALSE(coordinator.has_pending_timeout());
  send(scheduler, arm_deadlines{{{position{8}, 100}}});
  advance(200ms);
  EXPECT_FALSE(coordinator.has_pending_timeout());
}

} // namespace
} // namespace handfast
