#include "storage/removal_hold.hpp"
#include "storage/store_copy.hpp"
#include "storage/verify_log.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast::storage {
namespace {

using ::testing::HasSubstr;

constexpr const char* copy_root = "/copy";
constexpr std::uint64_t body_byte = 130; ///< in a record with a short body

class StoreCopy : public ::testing::Test {
protected:
  testing::sim_disk disk;
  live_store live{disk};

  void append(int count) {
    for (int i = 0; i < count; ++i)
      live.append(numbered("body " + std::to_string(appended_)));
  }
  log_record numbered(std::string_view body) {
    auto record = a_message(body);
    std::get<message_record>(record.content).offset = queue_offset{appended_++};
    return record;
  }
  /// What a node would find in the copy.
  collector opened_copy() {
    collector found;
    copy_report = must(recover(disk, copy_root, live_store::default_options(), found)).report;
    return found;
  }
  void checkpoint() {
    at_checkpoint = live.builder.tail();
    auto writer = must(checkpoint_writer::begin(
        disk, live.store.directory.paths().checkpoints(),
        {test_store_id, 0, live.builder.tail(), live.builder.tail(), 1'700'000'000'000}));
    must(writer.add_slice("slice", std::as_bytes(std::span{"state", 5})));
    must(writer.commit());
  }

  recovery_report copy_report;
  position at_checkpoint;

private:
  std::uint64_t appended_ = 0;
};

TEST_F(StoreCopy, HoldsEveryRecordOfAStoreInUse) {
  append(5);
  const auto copied = must(copy_store(disk, test_root, copy_root));
  EXPECT_EQ(copied.end, live.builder.tail());
  EXPECT_EQ(opened_copy().bodies().size(), 5u);
  EXPECT_EQ(copy_report.end, live.builder.tail());
  EXPECT_EQ(copy_report.cut_bytes, 0u);
}

TEST_F(StoreCopy, IsSound) {
  append(3);
  checkpoint();
  append(2);
  const auto copied = must(copy_store(disk, test_root, copy_root));
  EXPECT_EQ(copied.checkpoints, 1u);
  const auto report = must(verify_log(disk, copy_root));
  EXPECT_TRUE(report.sound()) << report.text();
  EXPECT_EQ(report.records, 5u);
  EXPECT_EQ(report.torn_bytes, 0u);
}

TEST_F(StoreCopy, SurvivesAPowerCutRightAfterwards) {
  append(5);
  must(copy_store(disk, test_root, copy_root));
  std::mt19937_64 random{1};
  disk.power_cut(random);
  EXPECT_EQ(opened_copy().bodies().size(), 5u);
}

TEST_F(StoreCopy, HoldsTheCheckpoint) {
  append(3);
  checkpoint();
  append(1);
  must(copy_store(disk, test_root, copy_root));
  const auto found = opened_copy();
  EXPECT_EQ(found.slices, (decltype(found.slices){{"slice", "state"}}));
  EXPECT_EQ(copy_report.checkpoint_start, at_checkpoint);
}

/// Whatever is written between two pieces, the copy is one moment of the store.
TEST_F(StoreCopy, IsOneMomentOfAStoreThatIsWrittenTo) {
  append(5);
  std::vector<std::uint64_t> told;
  const auto copied = must(copy_store(disk, test_root, copy_root, [&](auto done, auto all) {
    EXPECT_LE(done, all);
    told.push_back(done);
    append(3);
    checkpoint();
  }));
  EXPECT_GT(told.size(), 1u);
  EXPECT_TRUE(std::ranges::is_sorted(told));
  const auto report = must(verify_log(disk, copy_root));
  EXPECT_TRUE(report.sound()) << report.text();
  EXPECT_EQ(report.end, copied.end);
  EXPECT_GE(report.records, 5u);
  EXPECT_EQ(report.torn_bytes, 0u);
}

TEST_F(StoreCopy, LeavesOutWhatIsNotWholeYet) {
  append(2);
  const auto end = live.builder.tail();
  live.add(numbered("half written"));
  live.write();
  disk.flip_bit(segment_path(0), end.value + body_byte, 0);
  const auto copied = must(copy_store(disk, test_root, copy_root));
  EXPECT_EQ(copied.end, end);
  EXPECT_EQ(opened_copy().bodies().size(), 2u);
  EXPECT_EQ(copy_report.cut_bytes, 0u);
}

TEST_F(StoreCopy, SpansSegments) {
  const std::string large(segment_bytes_min / 3, 'x');
  for (int i = 0; i < 8; ++i)
    live.append(numbered(large));
  const auto copied = must(copy_store(disk, test_root, copy_root));
  EXPECT_GT(copied.segments, 2u);
  EXPECT_EQ(opened_copy().bodies().size(), 8u);
}

TEST_F(StoreCopy, CopiesDamageAsItIs) {
  append(1);
  const auto second = live.builder.tail();
  append(3);
  disk.flip_bit(segment_path(0), second.value + body_byte, 0);
  must(copy_store(disk, test_root, copy_root));
  EXPECT_EQ(must(verify_log(disk, copy_root)).damaged.size(), 1u);
}

TEST_F(StoreCopy, IsNotMadeOfALogThatLostItsEnd) {
  append(1);
  const auto second = live.builder.tail();
  append(3);
  disk.flip_bit(segment_path(0), second.value + 24, 0);
  const auto copied = copy_store(disk, test_root, copy_root);
  EXPECT_EQ(code_of(copied), ec::corrupt);
  EXPECT_THAT(copied.error().detail, HasSubstr(std::to_string(second.value)));
  EXPECT_EQ(code_of(store_directory::inspect(disk, copy_root)), ec::not_our_directory);
}

TEST_F(StoreCopy, IsNotMadeIntoAFolderInUse) {
  must(disk.make_directories(std::string{copy_root} + "/something"));
  const auto copied = copy_store(disk, test_root, copy_root);
  EXPECT_EQ(code_of(copied), ec::not_our_directory);
  EXPECT_THAT(copied.error().detail, HasSubstr("something"));
}

TEST_F(StoreCopy, IsNotMadeOfNothing) {
  EXPECT_EQ(code_of(copy_store(disk, "/nothing", copy_root)), ec::not_our_directory);
}

TEST_F(StoreCopy, IsNoStoreWhenItIsUnfinished) {
  append(5);
  const auto space = must(disk.space(test_root));
  disk.set_capacity(space.capacity - space.available + 4 * limits::kib);
  EXPECT_EQ(code_of(copy_store(disk, test_root, copy_root)), ec::disk_full);
  EXPECT_EQ(code_of(store_directory::inspect(disk, copy_root)), ec::not_our_directory);
}

TEST_F(StoreCopy, IsMadeOnceAtATime) {
  const auto held = must(hold_removals(disk, test_root));
  EXPECT_EQ(code_of(copy_store(disk, test_root, copy_root)), ec::directory_in_use);
}

using RemovalHold = StoreCopy;

TEST_F(RemovalHold, KeepsCheckpointsUntilItGoes) {
  const auto kept = [&] {
    return must(disk.list(live.store.directory.paths().checkpoints())).size();
  };
  append(1);
  checkpoint();
  checkpoint();
  {
    const auto held = must(hold_removals(disk, test_root));
    EXPECT_TRUE(must(removals_held(disk, test_root)));
    checkpoint();
    checkpoint();
    EXPECT_EQ(kept(), 4u);
  }
  EXPECT_FALSE(must(removals_held(disk, test_root)));
  checkpoint();
  EXPECT_EQ(kept(), 2u);
}

TEST_F(RemovalHold, KeepsSegmentsUntilItGoes) {
  const std::string large(segment_bytes_min / 3, 'x');
  for (int i = 0; i < 8; ++i)
    live.append(numbered(large));
  {
    const auto held = must(hold_removals(disk, test_root));
    EXPECT_EQ(must(live.store.log->retire(live.builder.tail())), 0u);
  }
  EXPECT_GT(must(live.store.log->retire(live.builder.tail())), 0u);
}

TEST_F(RemovalHold, CostsAStoreThatIsNeverCopiedNoFile) {
  EXPECT_FALSE(must(removals_held(disk, test_root)));
  EXPECT_FALSE(must(disk.exists(store_paths{test_root}.removal_hold())));
}

} // namespace
} // namespace handfast::storage
