#include "tests/support/log_fixture.hpp"

#include <algorithm>
#include <gmock/gmock.h>

namespace handfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

using CommitLogTrouble = test::log_fixture;

// -- trouble ----------------------------------------------------------------------

TEST_F(CommitLogTrouble, StopsTheShardWhenASyncFailsAndNeverTriesAgain) {
  auto half_store = make_probe();
  auto op_store = make_probe();
  enroll(half_store, {appender_role::half_store, 0, incarnation{2}});
  enroll(op_store, op_life);
  writer->hold(true);
  append(client, {message_to(orders)}, 1);
  append(half_store, half_life, half((std::uint64_t{2} << 40) + 1));
  run();
  append(client, {message_to(orders)}, 2);
  append(op_store, op_life, decide_of({}, (std::uint64_t{3} << 40) + 1));
  run();
  disk.fail_at(disk.operations() + 2, handfast::testing::disk_fault::io_error);
  writer->finish_next();
  run();
  EXPECT_EQ(supervisor->take<shard_failed>().size(), 1u);
  EXPECT_THAT(codes(results(client)), ElementsAre(ec::outcome_unknown, ec::outcome_unknown));
  EXPECT_EQ(half_store->take_last<append_refused>().why.code, ec::outcome_unknown);
  EXPECT_EQ(op_store->take_last<append_refused>().why.code, ec::outcome_unknown);
  const auto operations = disk.operations();
  append(client, {message_to(orders)}, 3);
  append(op_store, op_life, decide_of({}, (std::uint64_t{3} << 40) + 2));
  advance(3s);
  EXPECT_THAT(codes(results(client)), ElementsAre(ec::io_error));
  EXPECT_EQ(op_store->take_last<append_refused>().why.code, ec::io_error);
  EXPECT_EQ(disk.operations(), operations);
}

TEST_F(CommitLogTrouble, RefusesNewMessagesOnAFullDiskWhileDecisionsGoOn) {
  auto half_store = make_probe();
  auto op_store = make_probe();
  enroll(half_store, half_life);
  enroll(op_store, op_life);
  while (*store->log->prepare_step(4 * limits::mib)) {
  }
  send(log, disk_state{true, "2 MiB free, 48 MiB needed"});
  append(client, {message_to(orders)});
  append(half_store, half_life, half(1));
  append(op_store, op_life, decide_of({}, 2));
  run();
  const auto refused = client->take_last<messages_stored>();
  EXPECT_THAT(codes(refused.results), ElementsAre(ec::disk_full));
  EXPECT_EQ(refused.detail, "2 MiB free, 48 MiB needed");
  EXPECT_EQ(half_store->take_last<append_refused>().why,
            (error{ec::disk_full, "2 MiB free, 48 MiB needed"}));
  EXPECT_EQ(records(op_store).back().cookie, 2u);
  send(log, disk_state{});
  append(client, {message_to(orders)});
  run();
  EXPECT_THAT(codes(results(client)), ElementsAre(ec::ok));
}

TEST_F(CommitLogTrouble, RefusesDecisionsOnlyWhenThePreparedRoomIsUsedUp) {
  auto op_store = make_probe();
  enroll(op_store, op_life);
  send(log, disk_state{true, {}}); // and only the first 64 KiB are prepared
  append(op_store, op_life, decide_of({}, 2));
  run();
  EXPECT_EQ(op_store->take_last<append_refused>().why.code, ec::disk_full);
}

TEST_F(CommitLogTrouble, RefusesMessagesAsBusyBeyondItsBoundWhileDecisionsPass) {
  auto op_store = make_probe();
  enroll(op_store, op_life);
  writer->hold(true);
  append(client, {message_to(orders)});
  run();
  const auto large = message_to(orders, std::string(900 * limits::kib, 'x'));
  for (std::uint64_t bytes = 0; bytes < log_admission_bytes_max; bytes += 900 * limits::kib)
    append(client, {large});
  append(client, {large}, 1000);
  append(op_store, op_life, decide_of({}, 2));
  run_actors();
  const auto answers = results(client);
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.back().code, ec::busy);
  EXPECT_EQ(answers.back().id, correlation{1000});
  EXPECT_EQ(op_store->count<append_refused>(), 0u);
}

TEST_F(CommitLogTrouble, RefusesAMessageThatFitsIntoNoSegmentWithoutUsingUpAnOffset) {
  append(client, {message_to(orders, std::string(2 * limits::mib, 'x')), message_to(orders)});
  run();
  auto answers = results(client);
  std::sort(answers.begin(), answers.end(), [](auto& a, auto& b) { return a.id < b.id; });
  EXPECT_THAT(codes(answers), ElementsAre(ec::body_too_large, ec::ok));
  EXPECT_EQ(answers[1].offset, queue_offset{0});
}

// -- marks, checkpoints, stop -------------------------------------------------------

TEST_F(CommitLogTrouble, MarksTheDurableEndAfterASecondOfIdleness) {
  append(client, {message_to(orders)});
  run();
  const auto stored = results(client).at(0).at;
  advance(3s);
  power_cut();
  boot();
  EXPECT_GT(store->report.durable_mark, stored);
  const auto marks = std::count_if(replayed.begin(), replayed.end(),
                                   [](const log_record& r) { return r.type == record_type::mark; });
  EXPECT_EQ(marks, 1) << "one is enough";
  run();
}

TEST_F(CommitLogTrouble, WritesNothingWhileItIsIdle) {
  advance(3s);
  const auto operations = disk.operations();
  advance(60s, 100ms);
  EXPECT_EQ(disk.operations(), operations);
}

TEST_F(CommitLogTrouble, AsksForACheckpointWhenEnoughWasAppended) {
  settings.store.checkpoint_bytes = 100 * limits::kib;
  auto queue = make_probe();
  send_as(queue, log, bind_queue{orders});
  append(client, {message_to(bills)});
  const auto large = message_to(orders, std::string(10 * limits::kib, 'x'));
  for (int i = 0; i < 30; ++i) {
    append(client, {large});
    run();
  }
  auto asked = checkpointer->take<make_checkpoint>();
  ASSERT_EQ(asked.size(), 1u) << "and for no second one while it runs";
  EXPECT_FALSE(asked[0].final);
  ASSERT_EQ(asked[0].members->queues.size(), 1u);
  EXPECT_EQ(asked[0].members->queues[0].first, orders);
  ASSERT_EQ(asked[0].members->untaken.size(), 1u);
  EXPECT_EQ(asked[0].members->untaken[0].first, bills);
  send(log, checkpoint_made{asked[0].durable, 40 * limits::kib, {}});
  for (int i = 0; i < 12; ++i) {
    append(client, {large});
    run();
  }
  EXPECT_EQ(checkpointer->count<make_checkpoint>(), 1u)
      << "from the replay position on 160 KiB are enough";
}

TEST_F(CommitLogTrouble, SavesDamageThatIsNotedInACheckpointAtOnce) {
  run();
  const auto damage = [&](std::uint64_t at) {
    send(log, note_damage{{position{at}, "MESSAGE", "bad payload", {}}});
    run();
    return checkpointer->count<make_checkpoint>();
  };
  EXPECT_EQ(damage(640), 1u);
  send(log, checkpoint_made{store->report.end, 100, {}});
  EXPECT_EQ(damage(640), 1u) << "it is listed already";
  EXPECT_EQ(damage(6'400), 1u) << "much damage makes few checkpoints";
  for (int second = 0; second < 7; ++second) {
    advance(1s);
    run();
  }
  EXPECT_EQ(checkpointer->count<make_checkpoint>(), 2u);
}

TEST_F(CommitLogTrouble, StopsAfterAllIsDurableMarkedAndCheckpointed) {
  writer->hold(true);
  append(client, {message_to(orders)}, 1);
  run();
  append(client, {message_to(orders)}, 2);
  run();
  send(log, stop{});
  append(client, {message_to(orders)}, 3);
  run();
  EXPECT_THAT(codes(results(client)), ElementsAre(ec::stopping));
  EXPECT_EQ(supervisor->count<stopped>(), 0u);
  writer->hold(false);
  writer->finish_next();
  run();
  EXPECT_THAT(codes(results(client)), ElementsAre(ec::ok, ec::ok));
  const auto last = checkpointer->take<make_checkpoint>();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_TRUE(last[0].final);
  EXPECT_EQ(supervisor->count<stopped>(), 0u);
  send(log, checkpoint_made{last[0].durable, 1000, {}});
  run();
  const auto said = supervisor->take<stopped>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].actor, "commit-log");
  EXPECT_EQ(said[0].unfinished, "");
  power_cut();
  boot();
  EXPECT_EQ(store->report.end, last[0].durable) << "nothing stands behind the last checkpoint";
  ASSERT_FALSE(replayed.empty());
  EXPECT_EQ(replayed.back().type, record_type::mark);
  run();
}

TEST_F(CommitLogTrouble, SaysAtItsStopThatTheLastCheckpointFailed) {
  checkpointer->on<make_checkpoint>([&](const make_checkpoint&) {
    send(log, checkpoint_made{{}, 0, {ec::disk_full, "no room"}});
  });
  send(log, stop{});
  run();
  const auto said = supervisor->take<stopped>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].unfinished.find("no room"), std::string::npos);
}

TEST_F(CommitLogTrouble, ReportsItsState) {
  append(client, {message_to(orders)});
  run();
  const auto report = ask<status_report>(log, status_request{});
  EXPECT_EQ(report.actor, "commit-log");
  const auto in = std::find_if(report.samples.begin(), report.samples.end(), [](const sample& s) {
    return s.name == "rocketmq_messages_in_total";
  });
  ASSERT_NE(in, report.samples.end());
  EXPECT_EQ(in->value, 1);
}

} // namespace
} // namespace handfast
