#include "storage/segment_set.hpp"
#include "tests/unit/storage/store_fixture.hpp"

namespace handfast::storage {
namespace {

class SegmentSet : public ::testing::Test {
protected:
  testing::sim_disk disk;

  std::unique_ptr<segment_set> open(const segment_options& options = small_segments()) {
    return must(segment_set::open(disk, "/log", test_store_id, options));
  }
};

TEST_F(SegmentSet, StartsWithASmallPreparedPart) {
  auto options = small_segments();
  options.segment_bytes = 16 * limits::mib;
  const auto log = open(options);
  must(log->ensure({segment_header_bytes + 8}));
  ASSERT_EQ(log->segments().size(), 1u);
  EXPECT_EQ(log->segments().front()->prepared_end(), position{segment_bytes_min});
}

TEST_F(SegmentSet, PreparesInStepsUntilOneSegmentIsAhead) {
  auto options = small_segments();
  options.segment_bytes = 4 * segment_bytes_min;
  const auto log = open(options);
  must(log->ensure({segment_header_bytes + 8}));
  int steps = 0;
  while (must(log->prepare_step(segment_bytes_min)))
    ++steps;
  EXPECT_GE(steps, 6);
  ASSERT_EQ(log->segments().size(), 2u);
  for (const auto& one : log->segments())
    EXPECT_EQ(one->prepared_end(), one->end());
  EXPECT_FALSE(must(log->prepare_step(segment_bytes_min)));
}

TEST_F(SegmentSet, ReservesWhatIsNotFilledYetAndThenOneSegmentAhead) {
  auto options = small_segments();
  options.segment_bytes = 4 * segment_bytes_min;
  const auto log = open(options);
  must(log->ensure({segment_header_bytes + 8}));
  int steps = 0;
  while (must(log->reserve_step()))
    ++steps;
  EXPECT_LE(steps, 4);
  ASSERT_EQ(log->segments().size(), 2u);
  for (const auto& one : log->segments())
    EXPECT_EQ(one->prepared_end(), one->end());
  std::array<std::byte, 8> read{std::byte{1}};
  EXPECT_EQ(must(log->segments().back()->read({2 * options.segment_bytes - 8}, read)), 8u);
  EXPECT_EQ(read, (std::array<std::byte, 8>{}));
}

TEST_F(SegmentSet, FillsInStepsWhereNothingCanBeReserved) {
  disk.set_reserves(false);
  auto options = small_segments();
  options.segment_bytes = 8 * limits::mib;
  const auto log = open(options);
  must(log->ensure({3 * segment_bytes_min}));
  const auto before = log->prepared_ahead();
  EXPECT_TRUE(must(log->reserve_step()));
  EXPECT_LE(log->prepared_ahead() - before, 4 * limits::mib);
  while (must(log->reserve_step()))
    ;
  EXPECT_EQ(log->segments().back()->prepared_end(), position{2 * options.segment_bytes});
}

TEST_F(SegmentSet, PreparesMoreWhenWritesOutrunIt) {
  auto options = small_segments();
  options.segment_bytes = 4 * segment_bytes_min;
  const auto log = open(options);
  const position far{3 * segment_bytes_min};
  must(log->ensure(far));
  EXPECT_GE(log->segments().front()->prepared_end(), far);
}

TEST_F(SegmentSet, UsesAHalfPreparedNextSegmentWhenItMust) {
  auto options = small_segments();
  options.segment_bytes = 4 * segment_bytes_min;
  const auto log = open(options);
  must(log->ensure({segment_header_bytes + 8}));
  for (int i = 0; i < 4; ++i)
    must(log->prepare_step(segment_bytes_min)); // the next one exists aside
  must(log->ensure({options.segment_bytes + 1024}));
  EXPECT_EQ(log->segments().size(), 2u);
}

TEST_F(SegmentSet, TellsHowMuchIsPreparedAhead) {
  const auto log = open();
  must(log->ensure({segment_header_bytes + 8}));
  log->set_tail({segment_header_bytes});
  EXPECT_EQ(log->prepared_ahead(), segment_bytes_min - segment_header_bytes);
  while (must(log->prepare_step(segment_bytes_min)))
    ;
  EXPECT_EQ(log->prepared_ahead(), 2 * (segment_bytes_min - segment_header_bytes));
}

TEST_F(SegmentSet, RemovesTheLeftoversOfAnUnfinishedPreparation) {
  must(disk.make_directories("/log"));
  disk.put_file("/log/next.tmp", "half a segment");
  open();
  EXPECT_TRUE(must(disk.list("/log")).empty());
}

TEST_F(SegmentSet, RetiresOldestFirstButNeverTheTail) {
  const auto log = open();
  must(log->ensure({4 * segment_bytes_min}));
  log->set_tail({3 * segment_bytes_min + 100 * 8});
  const auto kept = log->find({segment_header_bytes});
  EXPECT_EQ(must(log->retire({2 * segment_bytes_min + 8})), 2 * segment_bytes_min);
  EXPECT_EQ(log->begin(), position{2 * segment_bytes_min});
  EXPECT_EQ(log->find({segment_header_bytes}), nullptr);
  std::byte one;
  EXPECT_EQ(must(kept->read({segment_header_bytes}, {&one, 1})), 1u) << "readers go on";
  must(log->retire({100 * segment_bytes_min}));
  EXPECT_EQ(log->begin(), position{3 * segment_bytes_min});
}

TEST_F(SegmentSet, ListsASegmentWithADamagedHead) {
  must(open()->ensure({2 * segment_bytes_min}));
  disk.flip_bit("/log/0000000000010000.seg", 30, 1);
  const auto log = open();
  ASSERT_EQ(log->missing().size(), 1u);
  EXPECT_EQ(log->missing()[0].from, position{segment_bytes_min});
  EXPECT_NE(log->missing()[0].reason.find("0000000000010000.seg"), std::string::npos);
}

TEST_F(SegmentSet, ListsAHoleBetweenSegments) {
  must(open()->ensure({3 * segment_bytes_min}));
  must(disk.remove("/log/0000000000010000.seg"));
  const auto log = open();
  ASSERT_EQ(log->missing().size(), 1u);
  EXPECT_EQ(log->missing()[0].from, position{segment_bytes_min});
  EXPECT_EQ(log->missing()[0].to, position{2 * segment_bytes_min});
}

TEST_F(SegmentSet, RefusesSegmentsOfAnotherStore) {
  must(open()->ensure({segment_bytes_min}));
  const auto other = must(segment_set::open(disk, "/log", 5, small_segments()));
  ASSERT_EQ(other->missing().size(), 1u);
  EXPECT_NE(other->missing()[0].reason.find("another store"), std::string::npos);
}

TEST_F(SegmentSet, GivesRoomBackWhenTheDiskIsFull) {
  disk.set_capacity(segment_bytes_min / 2);
  const auto log = open();
  EXPECT_EQ(code_of(log->ensure({segment_header_bytes + 8})), ec::disk_full);
  EXPECT_EQ(must(disk.space("/")).available, segment_bytes_min / 2);
  disk.set_capacity(4 * segment_bytes_min);
  must(log->ensure({segment_header_bytes + 8}));
}

TEST_F(SegmentSet, ReportsAFailedSyncAndDoesNotRepeatIt) {
  const auto log = open();
  must(log->ensure({segment_bytes_min}));
  disk.fail_at(disk.operations() + 1, testing::disk_fault::io_error);
  EXPECT_EQ(code_of(log->sync({64}, {128})), ec::io_error);
}

TEST_F(SegmentSet, KeepsShardsApart) {
  auto options = small_segments();
  options.shard = 3;
  const auto log = open(options);
  EXPECT_EQ(log->begin().value, std::uint64_t{3} << shard_shift);
  must(log->ensure(log->begin() + segment_bytes_min));
  EXPECT_TRUE(open()->segments().empty()) << "shard 0 does not see them";
}

} // namespace
} // namespace handfast::storage
