#include "actors/segment_keeper.hpp"
#include "tests/support/actor_fixture.hpp"
#include "tests/support/sim_disk.hpp"

namespace handfast {
namespace {

using namespace std::chrono_literals;

class SegmentKeeper : public test::actor_fixture {
public:
  SegmentKeeper() {
    storage::segment_options options;
    options.segment_bytes = 16 * limits::mib;
    options.first_prepared_bytes = 64 * limits::kib;
    log = std::move(*storage::segment_set::open(disk, "log", 7, options));
    const auto begin = log->begin() + storage::segment_header_bytes;
    EXPECT_TRUE(log->ensure(begin + 8));
    log->set_tail(begin);
    peers->supervisor.actor = supervisor->as<node_supervisor_actor>();
    peers->commit_log.actor = commit_log->as<commit_log_actor>();
  }

  void start() {
    keeper = spawn(segment_keeper, segment_keeper_start{log.get(), &disk, "log"});
    send(keeper, peers_changed{peers});
    run();
  }

  handfast::testing::sim_disk disk;
  std::unique_ptr<storage::segment_set> log;
  std::shared_ptr<test::probe> supervisor = make_probe();
  std::shared_ptr<test::probe> commit_log = make_probe();
  std::shared_ptr<shard_peers> peers = std::make_shared<shard_peers>();
  segment_keeper_actor keeper;
};

TEST_F(SegmentKeeper, PreparesTheRestAndOneSegmentAheadInPacedSteps) {
  disk.set_capacity(1024 * limits::mib);
  std::uint64_t largest = 0;
  auto left = disk.space("log")->available;
  start();
  for (int i = 0; i < 100; ++i) {
    advance(5ms, 5ms);
    const auto now = disk.space("log")->available;
    largest = std::max(largest, left - now);
    left = now;
  }
  EXPECT_GE(log->prepared_ahead(), 31 * limits::mib);
  EXPECT_LE(largest, 4 * limits::mib + 64 * limits::kib);
}

TEST_F(SegmentKeeper, OnlyReservesWhileTheLogGrowsFasterThanFillingPays) {
  using handfast::testing::disk_operation;
  disk.set_capacity(1024 * limits::mib);
  int reserved = 0;
  int written_after = 0;
  disk.on_step([&](std::uint64_t, disk_operation what, const std::string&) {
    reserved += what == disk_operation::reserve ? 1 : 0;
    written_after += reserved > 0 && what == disk_operation::write ? 1 : 0;
  });
  log->set_tail(log->begin() + storage::segment_header_bytes + 64);
  start();
  for (int i = 1; i <= 6; ++i) { // 100 MiB/s
    log->set_tail(log->begin() + static_cast<std::uint64_t>(i) * 2 * limits::mib);
    advance(20ms, 20ms);
  }
  EXPECT_EQ(reserved, 2) << "the rest of this segment, and the next one";
  EXPECT_LE(written_after, 2) << "the header of the next segment and its first part";
  EXPECT_GE(log->prepared_ahead(), 16 * limits::mib);
}

TEST_F(SegmentKeeper, ReservesNothingThatCheckpointsMayNeed) {
  using handfast::testing::disk_operation;
  disk.set_capacity(disk_reserve_bytes + 12 * limits::mib);
  int reserved = 0;
  disk.on_step([&](std::uint64_t, disk_operation what, const std::string&) {
    reserved += what == disk_operation::reserve ? 1 : 0;
  });
  start();
  for (int i = 1; i <= 6; ++i) { // 100 MiB/s
    log->set_tail(log->begin() + static_cast<std::uint64_t>(i) * 2 * limits::mib);
    advance(20ms, 20ms);
  }
  EXPECT_EQ(reserved, 0);
}

TEST_F(SegmentKeeper, ReportsAFullDiskOnceAndItsEndByItself) {
  disk.set_capacity(disk_reserve_bytes + 8 * limits::mib);
  start();
  advance(5s);
  auto said = commit_log->take<disk_state>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].full);
  EXPECT_TRUE(said[0].detail.starts_with("31 MiB free on the disk of log, ")) << said[0].detail;
  EXPECT_NE(said[0].detail.find("32 MiB that stay free for checkpoints"), std::string::npos);
  EXPECT_NE(said[0].detail.find("`store.segment_size`"), std::string::npos);
  disk.set_capacity(~std::uint64_t{0});
  advance(2s);
  said = commit_log->take<disk_state>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_FALSE(said[0].full);
  EXPECT_GE(log->prepared_ahead(), 31 * limits::mib);
}

TEST_F(SegmentKeeper, TellsARestartedCommitLogThatTheDiskIsFull) {
  disk.set_capacity(disk_reserve_bytes);
  start();
  advance(1s);
  commit_log->forget_all();
  auto changed = std::make_shared<shard_peers>(*peers);
  changed->commit_log.life = incarnation{9};
  send(keeper, peers_changed{changed});
  run();
  EXPECT_TRUE(commit_log->take_last<disk_state>().full);
}

TEST_F(SegmentKeeper, StopsTheShardWhenTheDiskFails) {
  disk.fail_at(disk.operations() + 1, handfast::testing::disk_fault::io_error);
  start();
  advance(1s);
  EXPECT_EQ(supervisor->take<shard_failed>().size(), 1u);
}

TEST_F(SegmentKeeper, PreparesNothingAfterAStop) {
  start();
  send(keeper, stop{});
  run();
  EXPECT_EQ(supervisor->take_last<stopped>().actor, "segment-keeper");
  const auto operations = disk.operations();
  advance(1s);
  EXPECT_EQ(disk.operations(), operations);
}

} // namespace
} // namespace handfast
