#include "tests/support/log_fixture.hpp"

#include <algorithm>
#include <gmock/gmock.h>

namespace handfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

using CommitLog = test::log_fixture;

TEST_F(CommitLog, BeginsWithAnEpochThatIsHigherThanTheLastOne) {
  power_cut();
  boot();
  run();
  power_cut();
  boot();
  std::vector<std::uint32_t> epochs;
  for (const auto& r : replayed)
    if (r.type == record_type::epoch)
      epochs.push_back(std::get<epoch_record>(r.content).epoch);
  EXPECT_THAT(epochs, ElementsAre(1, 2));
  run();
}

TEST_F(CommitLog, StoresMessagesAndSaysWhere) {
  append(client, {message_to(orders), message_to(bills), message_to(orders)});
  run();
  const auto stored = results(client);
  ASSERT_EQ(stored.size(), 3u);
  EXPECT_THAT(offsets(stored), ElementsAre(0, 0, 1));
  EXPECT_EQ(stored[1].queue, bills);
  EXPECT_LT(stored[0].at, stored[1].at);
  EXPECT_EQ(stored[2].id, correlation{3});
}

TEST_F(CommitLog, AnswersOnlyAfterTheSync) {
  writer->hold(true);
  auto queue = make_probe();
  send_as(queue, log, bind_queue{orders});
  append(client, {message_to(orders)});
  run();
  EXPECT_EQ(writer->waiting(), 1u);
  EXPECT_TRUE(results(client).empty());
  EXPECT_TRUE(queue->take<entries_visible>().empty());
  writer->finish_next();
  run();
  EXPECT_EQ(results(client).size(), 1u);
  EXPECT_EQ(queue->take<entries_visible>().size(), 1u);
}

TEST_F(CommitLog, AnswersEachConnectionWithOneMessagePerBatch) {
  auto other = make_probe();
  append(client, {message_to(orders)}, 1);
  append(other, {message_to(orders)}, 7);
  append(client, {message_to(orders)}, 2);
  run();
  EXPECT_EQ(client->count<messages_stored>(), 1u);
  EXPECT_EQ(results(client).size(), 2u);
  EXPECT_EQ(results(other).size(), 1u);
}

TEST_F(CommitLog, CommitsWhenTheLoopIsIdle) {
  append(client, {message_to(orders)});
  run_actors();
  EXPECT_TRUE(results(client).empty());
  EXPECT_EQ(idle.waiting(), 1u);
  append(client, {message_to(orders)});
  run_actors();
  EXPECT_EQ(idle.waiting(), 1u) << "asks once for each batch";
  run();
  EXPECT_EQ(client->count<messages_stored>(), 1u);
}

TEST_F(CommitLog, CommitsALargeBatchWithoutWaitingForIdle) {
  append(client, std::vector<message_record>(64, message_to(orders)), 1);
  run_actors();
  EXPECT_TRUE(results(client).empty()) << "a small one waits for what else is ready";
  append(client, std::vector<message_record>(64, message_to(orders)), 101);
  run_actors();
  EXPECT_EQ(results(client).size(), 128u);
}

TEST_F(CommitLog, CommitsAFullBatchWithoutWaitingForIdle) {
  std::vector<message_record> many(limits::batch_records_max, message_to(orders));
  append(client, std::move(many));
  run_actors();
  EXPECT_EQ(results(client).size(), limits::batch_records_max);
}

TEST_F(CommitLog, HasOneBatchInFlightWhileTheNextOneForms) {
  writer->hold(true);
  append(client, {message_to(orders)}, 1);
  run();
  append(client, {message_to(orders)}, 2);
  run();
  append(client, {message_to(orders)}, 3);
  run();
  EXPECT_EQ(writer->waiting(), 1u);
  writer->finish_next();
  run();
  EXPECT_EQ(results(client).size(), 1u);
  EXPECT_EQ(writer->waiting(), 1u);
  writer->finish_next();
  run();
  EXPECT_EQ(results(client).size(), 2u);
}

TEST_F(CommitLog, DispatchesInOrderToFoldsThenQueuesThenConnections) {
  std::vector<std::string> order;
  const auto watched = [&](const char* who) {
    auto p = make_probe();
    p->watch([&order, who](const caf::message& m) {
      if (m.match_elements<records_durable>() || m.match_elements<entries_visible>() ||
          m.match_elements<messages_stored>())
        order.emplace_back(who);
    });
    return p;
  };
  auto connection = watched("connection");
  auto queue = watched("queue");
  auto group = watched("group");
  auto registry = watched("registry");
  auto half_store = watched("half");
  auto op_store = watched("op");
  send_as(queue, log, bind_queue{orders});
  enroll(group, {appender_role::consumer_group, 9, incarnation{5}});
  enroll(registry, {appender_role::topic_registry, 0, incarnation{4}});
  enroll(half_store, half_life);
  enroll(op_store, op_life);
  append(connection, {message_to(orders)});
  append(op_store, op_life, decide_of({}, 1));
  append(registry, {appender_role::topic_registry, 0, incarnation{4}},
         record_of(record_type::meta, meta_record{}, 2));
  progress_record progress;
  progress.groups.push_back({group_id{9}, topic_id{20}, {}, {}, {}, {}});
  append(group, {appender_role::consumer_group, 9, incarnation{5}},
         record_of(record_type::progress, std::move(progress), 3));
  order.clear();
  run();
  EXPECT_THAT(order, ElementsAre("op", "half", "registry", "group", "queue", "connection"));
}

TEST_F(CommitLog, DispatchesOnlyWhatConcernsAFold) {
  auto half_store = make_probe();
  auto group = make_probe();
  const appender group_life{appender_role::consumer_group, 9, incarnation{5}};
  enroll(half_store, half_life);
  enroll(group, group_life);
  append(client, {message_to(orders)});
  run();
  half_store->forget_all();
  group->forget_all();
  append(client, {message_to(orders)});
  progress_record progress;
  progress.groups.push_back({group_id{8}, topic_id{20}, {}, {}, {}, {}});
  append(group, group_life, record_of(record_type::progress, std::move(progress), 3));
  run();
  EXPECT_EQ(half_store->count<records_durable>(), 0u);
  EXPECT_EQ(group->count<records_durable>(), 0u);
}

TEST_F(CommitLog, SharesPayloadsInsteadOfCopyingThem) {
  auto half_store = make_probe();
  enroll(half_store, half_life);
  auto m = message_to(orders, std::string(1000, 'x'));
  const auto* bytes = m.payload.data();
  append(half_store, half_life, half(1, std::move(m)));
  run();
  const auto seen = records(half_store);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(std::get<message_record>(seen[0].content).payload.data(), bytes);
}

TEST_F(CommitLog, StampsOffsetsOfHalvesDecisionsAndTheirEntries) {
  auto half_store = make_probe();
  auto op_store = make_probe();
  enroll(half_store, half_life);
  enroll(op_store, op_life);
  append(client, {message_to(orders)});
  append(half_store, half_life, half(1));
  append(half_store, half_life, half(2));
  run();
  const auto halves = records(half_store);
  ASSERT_EQ(halves.size(), 2u + 1u);
  EXPECT_EQ(std::get<message_record>(halves[1].content).offset, queue_offset{0});
  EXPECT_EQ(std::get<message_record>(halves[2].content).offset, queue_offset{1});
  append(op_store, op_life,
         decide_of({{halves[1].at, orders.topic, orders.queue, {}, 1, 0},
                    {halves[2].at, bills.topic, bills.queue, {}, 1, 0},
                    {halves[2].at, orders.topic, orders.queue, {}, 1, 0}},
                   3));
  append(op_store, op_life, decide_of({}, 4));
  run();
  const auto decided = records(op_store);
  const auto& first = std::get<decide_record>(decided[decided.size() - 2].content);
  EXPECT_EQ(first.op_offset, queue_offset{0});
  EXPECT_EQ(first.entries[0].offset, queue_offset{1});
  EXPECT_EQ(first.entries[1].offset, queue_offset{0});
  EXPECT_EQ(first.entries[2].offset, queue_offset{2});
  EXPECT_EQ(std::get<decide_record>(decided.back().content).op_offset, queue_offset{1});
}

TEST_F(CommitLog, KeepsOffsetsDenseAcrossBatchesAndPowerCuts) {
  std::vector<std::uint64_t> acknowledged;
  for (unsigned round = 1; round <= 10; ++round) {
    append(client, {message_to(orders), message_to(orders)});
    run();
    for (const auto offset : offsets(results(client)))
      acknowledged.push_back(offset);
    writer->hold(true);
    append(client, {message_to(orders)}); // never synced, so it may be lost
    run();
    power_cut(round);
    boot();
    run();
  }
  std::vector<std::uint64_t> stored;
  power_cut(99);
  boot();
  for (const auto& r : replayed)
    if (r.type == record_type::message)
      stored.push_back(std::get<message_record>(r.content).offset.value);
  run();
  for (std::size_t i = 0; i < stored.size(); ++i)
    EXPECT_EQ(stored[i], i);
  EXPECT_GE(stored.size(), acknowledged.size());
  for (const auto offset : acknowledged)
    EXPECT_LT(offset, stored.size());
}

TEST_F(CommitLog, NeverStampsATimeThatGoesBack) {
  append(client, {message_to(orders)});
  run();
  time.jump_wall(-60'000);
  append(client, {message_to(orders)});
  run();
  power_cut();
  boot();
  wall_ms last = 0;
  for (const auto& r : replayed) {
    EXPECT_GE(r.time_ms, last);
    last = r.time_ms;
  }
  run();
}

TEST_F(CommitLog, GivesNoQueueOffsetToADelayedMessage) {
  auto later = message_to(orders);
  later.delay_ms = 5000;
  append(client, {std::move(later), message_to(orders)});
  run();
  const auto stored = results(client);
  EXPECT_THAT(offsets(stored), ElementsAre(0, 0));
  EXPECT_EQ(stored[0].due_ms, time.wall() + 5'000);
  EXPECT_EQ(stored[1].due_ms, 0u);
}

TEST_F(CommitLog, MakesDelaysOfACommitMomentsAndGivesThemNoOffset) {
  auto op = make_probe();
  enroll(op, op_life);
  const index_entry now{position{64}, orders.topic, orders.queue, {}, 100, 0};
  const index_entry later{position{128}, orders.topic, orders.queue, {}, 100, 0, 5'000};
  append(op, op_life, decide_of({later, now}, 1));
  append(op, op_life, decide_of({now}, 2));
  run();
  const auto all = records(op);
  ASSERT_EQ(all.size(), 2u);
  const auto& first = std::get<decide_record>(all[0].content).entries;
  EXPECT_EQ(first[0].due_ms, all[0].time_ms + 5'000);
  EXPECT_EQ(first[1].due_ms, 0u);
  EXPECT_EQ(first[1].offset, queue_offset{0});
  EXPECT_EQ(std::get<decide_record>(all[1].content).entries[0].offset, queue_offset{1});
}

TEST_F(CommitLog, CountsDelaysOfACommitFromTheClockThoughItWasSetBack) {
  auto op = make_probe();
  enroll(op, op_life);
  append(client, {message_to(orders)});
  time.jump_wall(-60'000);
  append(op, op_life,
         decide_of({{position{128}, orders.topic, orders.queue, {}, 100, 0, 5'000}}, 1));
  run();
  const auto all = records(op);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(std::get<decide_record>(all[1].content).entries[0].due_ms, time.wall() + 5'000);
  EXPECT_EQ(all[1].time_ms, time.wall() + 60'000) << "times of records never go back";
}

TEST_F(CommitLog, TellsARepeatedDelayedSendWhenTheFirstBecomesVisible) {
  auto later = numbered(orders, 7, 1);
  later.delay_ms = 5'000;
  append(client, {later});
  run();
  const auto first = results(client);
  advance(2s);
  append(client, {later});
  run();
  EXPECT_EQ(results(client).at(0).due_ms, first.at(0).due_ms);
  power_cut();
  boot();
  append(client, {later});
  run();
  const auto again = results(client);
  EXPECT_EQ(again.at(0).due_ms, first.at(0).due_ms) << "also after a restart";
  EXPECT_EQ(again.at(0).at, first.at(0).at);
  EXPECT_EQ(again.at(0).offset, queue_offset{});
}

// -- fences -----------------------------------------------------------------------

TEST_F(CommitLog, RefusesAppendsOfAnOlderIncarnation) {
  auto dead = make_probe();
  auto fresh = make_probe();
  enroll(dead, half_life);
  enroll(fresh, {appender_role::half_store, 0, incarnation{7}});
  append(dead, half_life, half(1));
  run();
  const auto refused = dead->take<append_refused>();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].why.code, ec::recovering);
  EXPECT_THAT(refused[0].cookies, ElementsAre(1));
  EXPECT_TRUE(records(fresh).empty());
}

TEST_F(CommitLog, NamesAFenceBehindAllThatWasAppendedAlsoIfNotYetSynced) {
  auto dead = make_probe();
  enroll(dead, half_life);
  writer->hold(true);
  append(dead, half_life, half(1));
  run(); // in flight
  append(dead, half_life, half(2));
  run(); // forming
  auto fresh = make_probe();
  const auto answer = enroll(fresh, {appender_role::half_store, 0, incarnation{7}});
  EXPECT_LT(answer.durable, answer.fence);
  writer->hold(false);
  writer->finish_next();
  run();
  const auto seen = records(fresh);
  ASSERT_EQ(seen.size(), 2u) << "the new one folds what its predecessor had appended";
  EXPECT_EQ(seen[1].cookie, 2u);
  EXPECT_GE(seen[0].at, answer.durable);
  EXPECT_EQ(seen[1].at + seen[1].length, answer.fence);
  EXPECT_TRUE(dead->take<records_durable>().empty());
}

TEST_F(CommitLog, SendsAnEmptyBatchOfEntriesToAQueueThatWaitsForItsFence) {
  writer->hold(true);
  append(client, {message_to(bills)});
  run();
  auto queue = make_probe();
  send_as(queue, log, bind_queue{orders});
  run();
  const auto bound = queue->take_last<appender_registered>();
  EXPECT_LT(bound.durable, bound.fence);
  writer->finish_next();
  run();
  const auto seen = queue->take<entries_visible>();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(seen[0].entries.empty());
  EXPECT_GE(seen[0].to, bound.fence);
}

TEST_F(CommitLog, KeepsEntriesOfAQueueUntilItIsBound) {
  append(client, {message_to(orders), message_to(bills), message_to(orders)});
  run();
  power_cut();
  boot();
  run();
  append(client, {message_to(orders)});
  run();
  auto queue = make_probe();
  send_as(queue, log, bind_queue{orders});
  run();
  ASSERT_GE(queue->received().size(), 2u);
  EXPECT_TRUE(queue->received()[0].match_elements<appender_registered>());
  EXPECT_EQ(queue->take_last<appender_registered>().next, queue_offset{3});
  const auto seen = queue->take<entries_visible>();
  ASSERT_EQ(seen.size(), 1u);
  ASSERT_EQ(seen[0].entries.size(), 3u);
  EXPECT_EQ(seen[0].entries[2].offset, queue_offset{2});
}

// -- repeats ----------------------------------------------------------------------

TEST_F(CommitLog, StoresARepeatedSendOnce) {
  append(client, {numbered(orders, 5, 1)}, 1);
  run();
  const auto first = results(client);
  append(client, {numbered(orders, 5, 1), numbered(orders, 5, 2)}, 2);
  run();
  auto again = results(client);
  std::sort(again.begin(), again.end(), [](auto& a, auto& b) { return a.id < b.id; });
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].at, first[0].at);
  EXPECT_EQ(again[0].offset, first[0].offset);
  EXPECT_EQ(again[0].code, ec::ok);
  EXPECT_EQ(again[1].offset, queue_offset{1});
}

TEST_F(CommitLog, AnswersARepeatOnlyWhenTheFirstIsDurable) {
  writer->hold(true);
  append(client, {numbered(orders, 5, 1)}, 1);
  run();
  auto reconnected = make_probe();
  append(reconnected, {numbered(orders, 5, 1)}, 9);
  run();
  append(reconnected, {numbered(orders, 5, 2)}, 10); // forming
  append(reconnected, {numbered(orders, 5, 2)}, 11);
  run();
  EXPECT_TRUE(results(reconnected).empty());
  writer->finish_next();
  run();
  EXPECT_EQ(results(reconnected).size(), 1u);
  writer->finish_next();
  run();
  EXPECT_EQ(results(reconnected).size(), 2u);
}

TEST_F(CommitLog, KnowsARepeatAfterAPowerCut) {
  append(client, {numbered(orders, 5, 1)});
  run();
  const auto first = results(client);
  power_cut();
  boot();
  append(client, {numbered(orders, 5, 1)});
  run();
  const auto again = results(client);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].at, first[0].at);
}

TEST_F(CommitLog, TellsTheHalfStoreWhereARepeatedHalfStands) {
  auto half_store = make_probe();
  enroll(half_store, half_life);
  writer->hold(true);
  append(half_store, half_life, half(1, numbered(orders, 5, 1)));
  append(half_store, half_life, half(2, numbered(orders, 5, 1)));
  run();
  EXPECT_EQ(half_store->count<append_repeated>(), 0u);
  writer->hold(false);
  writer->finish_next();
  run();
  const auto stored = records(half_store);
  ASSERT_EQ(stored.size(), 1u);
  const auto repeated = half_store->take<append_repeated>();
  ASSERT_EQ(repeated.size(), 1u);
  EXPECT_EQ(repeated[0].items[0].cookie, 2u);
  EXPECT_EQ(repeated[0].items[0].at, stored[0].at);
  append(half_store, half_life, half(3, numbered(orders, 5, 1)));
  run();
  EXPECT_EQ(half_store->take_last<append_repeated>().items[0].at, stored[0].at);
}

TEST_F(CommitLog, SaysUnknownToASendThatNobodyRemembers) {
  append(client, {numbered(orders, 5, 1)});
  append(client, {numbered(orders, 5, 1 + limits::producer_window)});
  run();
  (void)results(client);
  append(client, {numbered(orders, 5, 1)});
  run();
  EXPECT_THAT(codes(results(client)), ElementsAre(ec::outcome_unknown));
}

} // namespace
} // namespace handfast
