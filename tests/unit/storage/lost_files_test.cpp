/// Files of a log that are gone or shorter than they were, without a checkpoint that would know.

#include "storage/run_writer.hpp"
#include "storage/verify_log.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LostFiles : public ::testing::Test {
protected:
  testing::sim_disk disk;
  recovery_options options = live_store::default_options();

  static store_paths paths() { return {test_root}; }
  static std::string large(char c) { return std::string(50'000, c); }

  /// One record fills most of a segment.
  void fill_segments(int count) {
    live_store live{disk};
    for (int i = 0; i < count; ++i)
      live.append(a_message(large(static_cast<char>('a' + i))));
  }
  result<recovered_store> run(collector& found) {
    disk.process_killed();
    return recover(disk, test_root, options, found);
  }
  void truncate(std::uint64_t base, std::uint64_t size) {
    must(must(disk.open(segment_path(base), open_mode::read_write))->truncate(size));
  }
  void remove_log() {
    for (const auto& name : must(disk.list(paths().log())))
      must(disk.remove(paths().log() + "/" + name));
  }

  /// Refused with `named` in its text, twice; `log verify` calls it unsound.
  void expect_refused(const std::string& named) {
    for (int i = 0; i < 2; ++i) {
      collector found;
      const auto refused = run(found);
      ASSERT_EQ(code_of(refused), ec::corrupt);
      EXPECT_THAT(refused.error().detail, HasSubstr(named));
      EXPECT_THAT(refused.error().detail, HasSubstr("store.accept_corruption=true"));
    }
    EXPECT_FALSE(must(verify_log(disk, test_root)).whole());
  }
  /// Goes on with `bodies` when accepted, and at the next start without being asked again.
  void expect_accepted(const std::vector<std::string>& bodies, bool below_checkpoint = false) {
    options.accept_corruption = true;
    {
      disk.process_killed();
      live_store live{disk, options};
      EXPECT_EQ(live.found.bodies(), bodies);
      EXPECT_FALSE(live.store.report.lost.empty());
      live.append(a_message("goes on"));
    }
    options.accept_corruption = false;
    collector found;
    must(run(found));
    auto more = bodies;
    more.emplace_back("goes on");
    EXPECT_EQ(found.bodies(), more);
    EXPECT_EQ(found.lost.empty(), below_checkpoint) << "what is replayed stays told";
    const auto verified = must(verify_log(disk, test_root));
    EXPECT_TRUE(verified.whole()) << verified.text();
    EXPECT_FALSE(verified.accepted.empty());
  }
};

TEST_F(LostFiles, AFirstSegmentThatIsGoneIsNamed) {
  fill_segments(3);
  must(disk.remove(segment_path(0)));
  expect_refused("0 to 65536 (no file holds these positions)");
  expect_accepted({large('b'), large('c')});
}

TEST_F(LostFiles, AnOnlySegmentThatIsGoneIsNamed) {
  fill_segments(1);
  must(disk.remove(segment_path(0)));
  expect_refused("0 to 65536 (no file holds these positions)");
  expect_accepted({});
}

TEST_F(LostFiles, AWholeLogThatIsGoneIsNamed) {
  fill_segments(3);
  remove_log();
  expect_refused("0 to 196608 (no file holds these positions)");
  expect_accepted({});
}

TEST_F(LostFiles, ALastSegmentThatIsGoneIsNamed) {
  fill_segments(3);
  must(disk.remove(segment_path(2 * segment_bytes_min)));
  expect_refused("to 196608 (no file holds these positions)");
  expect_accepted({large('a'), large('b')});
}

TEST_F(LostFiles, ADamagedHeadIsReplacedWhenAcceptedAndItsBytesAreKept) {
  fill_segments(3);
  disk.flip_bit(segment_path(segment_bytes_min), 40, 1);
  expect_refused("65536 to 131072");
  expect_accepted({large('a'), large('c')});
  EXPECT_TRUE(must(disk.exists(segment_path(segment_bytes_min) + ".damaged")));
}

TEST_F(LostFiles, ASegmentCutInTheMiddleOfARecordIsNamed) {
  fill_segments(1);
  truncate(0, 4096);
  expect_refused("64 to 65536");
  expect_accepted({});
}

TEST_F(LostFiles, ASegmentCutBetweenTwoRecordsIsNamed) {
  position second;
  {
    live_store live{disk};
    live.append(a_message("one"));
    second = live.append(a_message("two"));
  }
  truncate(0, second.value);
  expect_refused(std::to_string(second.value) + " to 65536 (");
  expect_accepted({"one"});
}

TEST_F(LostFiles, ASegmentCutShorterThanItsHeadIsNamed) {
  fill_segments(2);
  truncate(0, 20);
  expect_refused("0 to 65536 (");
  expect_accepted({large('b')});
}

TEST_F(LostFiles, ACutBehindTheLogsEndLosesNothingAndIsToldByVerify) {
  {
    live_store live{disk};
    live.append(a_message("one"));
  }
  truncate(0, 8192);
  const auto verified = must(verify_log(disk, test_root));
  EXPECT_FALSE(verified.whole());
  EXPECT_THAT(verified.text(), HasSubstr("has 8192 bytes, where at least 65536 must be"));
  collector found;
  must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("one"));
  EXPECT_TRUE(must(verify_log(disk, test_root)).whole());
}

TEST_F(LostFiles, ALossBelowTheCheckpointIsNamedToo) {
  {
    live_store live{disk};
    position last;
    for (int i = 0; i < 3; ++i)
      last = live.append(a_message(large('x')));
    auto writer = must(
        checkpoint_writer::begin(disk, paths().checkpoints(), {test_store_id, 0, last, last, 0}));
    must(writer.commit());
    auto run = must(run_writer::begin(disk, paths().runs(), test_store_id, {64}, last, 0));
    must(run.commit());
  }
  must(disk.remove(segment_path(0)));
  expect_refused("0 to 65536 (no file holds these positions)");
  expect_accepted({large('x')}, true);
}

TEST_F(LostFiles, AStoreThatNeverHadALogStartsEmpty) {
  { must(store_directory::open(disk, test_root, test_store_id, 1)); }
  collector found;
  const auto store = must(run(found));
  EXPECT_EQ(store.report.end, position{segment_header_bytes});
}

TEST_F(LostFiles, WithoutANoteTheLogsBeginIsAskedForAllTheSame) {
  fill_segments(2);
  must(disk.remove(paths().log_note(0)));
  must(disk.remove(segment_path(0)));
  expect_refused("0 to 65536 (");
}

TEST_F(LostFiles, WithoutANoteAnEmptyLogIsRefused) {
  fill_segments(1);
  must(disk.remove(paths().log_note(0)));
  remove_log();
  expect_refused("log-00.note is missing");
  options.accept_corruption = true;
  collector found;
  const auto store = must(run(found));
  EXPECT_EQ(store.report.end, position{segment_header_bytes});
  EXPECT_TRUE(must(disk.exists(paths().log_note(0))));
}

TEST_F(LostFiles, AMissingNoteIsMadeAgainAndTold) {
  fill_segments(2);
  must(disk.remove(paths().log_note(0)));
  EXPECT_FALSE(must(verify_log(disk, test_root)).whole());
  {
    collector found;
    const auto store = must(run(found));
    EXPECT_THAT(store.report.text(), HasSubstr("log-00.note is missing"));
  }
  EXPECT_TRUE(must(verify_log(disk, test_root)).whole());
}

TEST_F(LostFiles, ADamagedNoteIsMadeAgainAndTold) {
  fill_segments(2);
  for (const std::uint64_t slot : {0, 4096})
    disk.flip_bit(paths().log_note(0), slot + 33, 0);
  {
    collector found;
    const auto store = must(run(found));
    EXPECT_THAT(store.report.text(), HasSubstr("log-00.note"));
  }
  EXPECT_TRUE(must(verify_log(disk, test_root)).whole());
}

TEST_F(LostFiles, RetiredSegmentsAreNoLoss) {
  {
    live_store live{disk};
    for (int i = 0; i < 4; ++i)
      live.append(a_message(large(static_cast<char>('a' + i))));
    EXPECT_GT(must(live.store.log->retire({2 * segment_bytes_min})), 0u);
  }
  collector found;
  must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre(large('c'), large('d')));
  EXPECT_TRUE(must(verify_log(disk, test_root)).whole());
  must(disk.remove(segment_path(2 * segment_bytes_min)));
  expect_refused("131072 to 196672 (no file holds these positions)");
}

TEST_F(LostFiles, ARetirementThatWasCutOffLeavesNoLoss) {
  for (std::uint64_t step = 1; step <= 7; ++step) {
    testing::sim_disk other;
    std::mt19937_64 random{step};
    {
      live_store live{other};
      for (int i = 0; i < 4; ++i)
        live.append(a_message(large(static_cast<char>('a' + i))));
      other.fail_at(other.operations() + step, testing::disk_fault::power_off);
      (void)live.store.log->retire({3 * segment_bytes_min});
    }
    other.power_cut(random);
    collector found;
    const auto store = recover(other, test_root, options, found);
    ASSERT_TRUE(store) << step << ": " << to_string(store.error());
    EXPECT_EQ(found.bodies().back(), large('d')) << step;
  }
}

TEST_F(LostFiles, ASegmentThatOthersFollowHasItsWholeSize) {
  auto wide = options;
  wide.segments.segment_bytes = 4 * segment_bytes_min;
  wide.segments.first_prepared_bytes = segment_bytes_min;
  {
    live_store live{disk, wide};
    for (int i = 0; i < 8; ++i)
      live.append(a_message(large('x')));
  }
  EXPECT_EQ(disk.content(segment_path(0)).size(), 4 * segment_bytes_min);
}

// -- an ordered end ----------------------------------------------------------------

class OrderedEnd : public LostFiles {
protected:
  position end;

  void SetUp() override {
    options.segments.segment_bytes = 4 * segment_bytes_min;
    options.segments.first_prepared_bytes = 4 * segment_bytes_min;
    live_store live{disk, options};
    live.append(a_message("one"));
    end = live.builder.tail();
    must(live.store.log->note_end(end));
  }
};

TEST_F(OrderedEnd, IsNotSearchedForATail) {
  // Far behind the end, where no writer would begin: only a search of everything would find it.
  const auto noise = std::vector<std::byte>(64, std::byte{7});
  disk.overwrite(segment_path(0), 3 * segment_bytes_min, noise);
  collector found;
  const auto store = must(run(found));
  EXPECT_EQ(store.report.end, end);
  EXPECT_EQ(store.report.cut_from, position{});
}

TEST_F(OrderedEnd, IsSearchedWhenBytesFollowAllTheSame) {
  disk.overwrite(segment_path(0), end.value, std::vector<std::byte>(64, std::byte{7}));
  collector found;
  const auto store = must(run(found));
  EXPECT_EQ(store.report.end, end);
  EXPECT_EQ(store.report.cut_from, end);
}

TEST_F(OrderedEnd, CountsOnlyUntilTheNextStart) {
  {
    collector found;
    must(run(found));
  }
  disk.overwrite(segment_path(0), 3 * segment_bytes_min, std::vector<std::byte>(64, std::byte{7}));
  collector found;
  EXPECT_EQ(must(run(found)).report.cut_from, end) << "a crash may have left anything";
}

TEST_F(OrderedEnd, KeepsTheEpochThoughNothingIsReplayed) {
  {
    const live_store live{disk, options};
    auto writer = must(
        checkpoint_writer::begin(disk, paths().checkpoints(), {test_store_id, 0, end, end, 0}));
    must(writer.commit());
    auto run = must(run_writer::begin(disk, paths().runs(), test_store_id, {64}, end, 0));
    must(run.commit());
  }
  for (std::uint32_t epoch = 2; epoch < 5; ++epoch) {
    collector found;
    const auto store = must(run(found));
    EXPECT_EQ(store.report.records, 0u);
    EXPECT_EQ(store.report.last_epoch, epoch);
  }
}

TEST_F(OrderedEnd, ProvesWhatWasDurable) {
  disk.overwrite(segment_path(0), 64, std::vector<std::byte>(256));
  expect_refused("64 to " + std::to_string(end.value));
}

} // namespace
} // namespace handfast::storage
