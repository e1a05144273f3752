#include "storage/recovery.hpp"
#include "storage/run_writer.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Recovery : public ::testing::Test {
protected:
  testing::sim_disk disk;
  recovery_options options = live_store::default_options();

  result<recovered_store> run(collector& found) {
    disk.process_killed();
    return recover(disk, test_root, options, found);
  }

  void checkpoint(live_store& live, position start, bool with_run = true) {
    const auto& paths = live.store.directory.paths();
    if (with_run) {
      auto writer = must(run_writer::begin(disk, paths.runs(), test_store_id,
                                           live.store.report.scan_from, start, 0));
      must(writer.commit());
    }
    auto writer = must(checkpoint_writer::begin(disk, paths.checkpoints(),
                                                {test_store_id, 0, start, live.builder.tail(), 0}));
    must(writer.add_slice("state", std::as_bytes(std::span{"folded", 6})));
    must(writer.commit());
  }
};

TEST_F(Recovery, MakesANewStoreReadyToWrite) {
  const live_store live{disk};
  EXPECT_TRUE(live.store.report.created);
  EXPECT_EQ(live.store.report.end, position{segment_header_bytes});
  EXPECT_GT(live.store.log->prepared_ahead(), 0u);
  EXPECT_THAT(live.store.report.text(), HasSubstr("new store"));
}

TEST_F(Recovery, ReplaysWhatWasDurable) {
  position end;
  {
    live_store live{disk};
    live.append(a_message("one"));
    live.append(a_half("two"));
    live.append(a_decision({200}));
    end = live.builder.tail();
  }
  collector found;
  const auto store = must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("one", "two"));
  EXPECT_EQ(found.records.size(), 3u);
  EXPECT_EQ(store.report.end, end);
  EXPECT_EQ(store.report.records, 3u);
  EXPECT_EQ(store.report.last_epoch, 1u);
  EXPECT_EQ(store.report.cut_from, position{});
  EXPECT_THAT(store.report.text(), HasSubstr("ended cleanly"));
}

TEST_F(Recovery, HandsOverBatchesOfTheAskedSize) {
  {
    live_store live{disk};
    for (int i = 0; i < 100; ++i)
      live.append(a_message(std::string(1000, 'x')));
  }
  options.batch_bytes = 10'000;
  collector found;
  must(run(found));
  EXPECT_GT(found.batches.size(), 8u);
  EXPECT_EQ(found.records.size(), 100u);
  for (std::size_t i = 1; i < found.batches.size(); ++i)
    EXPECT_EQ(found.batches[i]->from, found.batches[i - 1]->to);
}

TEST_F(Recovery, CutsATornTailForGood) {
  position torn;
  {
    live_store live{disk};
    live.append(a_message("kept"));
    torn = live.add(a_message(std::string(3000, 't')));
    live.add(a_message("behind the torn one"));
    live.write();
  }
  disk.flip_bit(segment_path(0), torn.value + 4, 7);
  {
    collector found;
    const auto store = must(run(found));
    EXPECT_THAT(found.bodies(), ElementsAre("kept"));
    EXPECT_EQ(store.report.cut_from, torn);
    EXPECT_GT(store.report.cut_bytes, 3000u);
    EXPECT_EQ(store.report.end, torn);
    EXPECT_THAT(store.report.text(), HasSubstr("torn tail"));
  }
  collector found;
  const auto store = must(run(found));
  EXPECT_EQ(store.report.cut_from, position{}) << "nothing is left to cut";
  EXPECT_EQ(store.report.end, torn);
}

TEST_F(Recovery, CutsATailWhosePayloadNeverArrived) {
  position torn;
  {
    live_store live{disk};
    live.append(a_message("kept"));
    torn = live.add(a_message(std::string(3000, 't')));
    live.write();
  }
  disk.overwrite(segment_path(0), torn.value + 1024, std::vector<std::byte>(512));
  collector found;
  const auto store = must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("kept"));
  EXPECT_TRUE(found.damaged.empty()) << "an unsynced body is torn, not damaged";
  EXPECT_EQ(store.report.cut_from, torn);
}

TEST_F(Recovery, StopsAtCorruptionAndNamesThePositions) {
  position lost;
  position next;
  {
    live_store live{disk};
    live.append(a_message("one"));
    lost = live.append(a_message("two"));
    next = live.append(a_message("three"));
    live.append(a_mark());
  }
  disk.flip_bit(segment_path(0), lost.value + 24, 0);
  collector found;
  const auto refused = run(found);
  ASSERT_EQ(code_of(refused), ec::corrupt);
  EXPECT_THAT(refused.error().detail,
              HasSubstr(std::to_string(lost.value) + " to " + std::to_string(next.value)));
  collector again;
  EXPECT_EQ(code_of(run(again)), ec::corrupt) << "nothing was changed";
}

TEST_F(Recovery, NamesAllLostPositionsAtOnce) {
  std::vector<position> at;
  {
    live_store live{disk};
    for (int i = 0; i < 6; ++i)
      at.push_back(live.append(a_message("body")));
    live.append(a_mark());
  }
  disk.flip_bit(segment_path(0), at[1].value + 24, 0);
  disk.flip_bit(segment_path(0), at[4].value + 24, 0);
  collector found;
  const auto refused = run(found);
  ASSERT_EQ(code_of(refused), ec::corrupt);
  for (const auto i : {1u, 4u})
    EXPECT_THAT(refused.error().detail,
                HasSubstr(std::to_string(at[i].value) + " to " + std::to_string(at[i + 1].value)));
}

TEST_F(Recovery, GoesOnOverCorruptionWhenAccepted) {
  position lost;
  position next;
  {
    live_store live{disk};
    live.append(a_message("one"));
    lost = live.append(a_message("two"));
    next = live.append(a_message("three"));
    live.append(a_mark());
  }
  disk.flip_bit(segment_path(0), lost.value + 24, 0);
  options.accept_corruption = true;
  {
    collector found;
    const auto store = must(run(found));
    EXPECT_THAT(found.bodies(), ElementsAre("one", "three"));
    ASSERT_EQ(found.lost.size(), 1u);
    EXPECT_EQ(found.lost[0].from, lost);
    EXPECT_EQ(found.lost[0].to, next);
    EXPECT_THAT(store.report.text(), HasSubstr("LOST"));
  }
  options.accept_corruption = false;
  collector found;
  must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("one", "three")) << "accepting is durable";
  ASSERT_EQ(found.lost.size(), 1u) << "and stays told";
  EXPECT_EQ(found.lost[0].from, lost);
}

TEST_F(Recovery, CountsTheCheckpointAsADurableMark) {
  position last;
  {
    live_store live{disk};
    live.append(a_message("one"));
    last = live.append(a_message("two"));
    checkpoint(live, last);
  }
  disk.flip_bit(segment_path(0), last.value + 24, 0);
  collector found;
  EXPECT_EQ(code_of(run(found)), ec::corrupt) << "no later header tells, but the checkpoint does";
}

TEST_F(Recovery, QuarantinesOneBodyAlone) {
  position bad;
  {
    live_store live{disk};
    live.append(a_message("one"));
    bad = live.append(a_half("damaged"));
    live.append(a_message("three"));
  }
  disk.flip_bit(segment_path(0), bad.value + 140, 0);
  collector found;
  const auto store = must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("one", "", "three"));
  ASSERT_EQ(found.damaged.size(), 1u);
  EXPECT_EQ(found.damaged[0].at, bad);
  EXPECT_EQ(found.damaged[0].reason, decode_status::bad_payload);
  ASSERT_EQ(found.damaged_records.size(), 1u);
  EXPECT_EQ(found.damaged_records[0].type, record_type::half);
  EXPECT_EQ(store.report.quarantined, 1u);
}

TEST_F(Recovery, StartsFromTheCheckpoint) {
  {
    live_store live{disk};
    live.append(a_message("folded"));
    const auto start = live.append(a_message("replayed"));
    checkpoint(live, start);
  }
  collector found;
  const auto store = must(run(found));
  ASSERT_EQ(found.slices.size(), 1u);
  EXPECT_EQ(found.slices[0].second, "folded");
  EXPECT_THAT(found.bodies(), ElementsAre("replayed"));
  EXPECT_EQ(store.report.checkpoint_generation, 1u);
  EXPECT_EQ(store.runs.runs.size(), 1u);
}

TEST_F(Recovery, FallsBackToTheOlderCheckpointThenToNone) {
  {
    live_store live{disk};
    live.append(a_message("one"));
    const auto two = live.append(a_message("two"));
    checkpoint(live, two);
    const auto three = live.append(a_message("three"));
    checkpoint(live, three);
  }
  const auto folder = store_paths{test_root}.checkpoints();
  disk.flip_bit(folder + "/0000000000000002.ckpt", 70, 0);
  {
    collector found;
    const auto store = must(run(found));
    EXPECT_THAT(found.bodies(), ElementsAre("two", "three"));
    EXPECT_EQ(store.report.damaged_files.size(), 1u);
  }
  disk.flip_bit(folder + "/0000000000000001.ckpt", 70, 0);
  collector found;
  const auto store = must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("one", "two", "three"));
  EXPECT_TRUE(found.slices.empty());
}

TEST_F(Recovery, ReplaysFromBeforeAMissingRun) {
  {
    live_store live{disk};
    live.append(a_message("one"));
    const auto start = live.append(a_message("two"));
    checkpoint(live, start, false);
  }
  collector found;
  const auto store = must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("one", "two"));
  EXPECT_LT(store.report.scan_from, store.report.checkpoint_start);
  EXPECT_THAT(store.report.text(), HasSubstr("index files are missing"));
}

TEST_F(Recovery, ReplaysAllWhenToldToIgnoreCheckpoints) {
  {
    live_store live{disk};
    live.append(a_message("one"));
    const auto start = live.append(a_message("two"));
    checkpoint(live, start);
  }
  options.ignore_checkpoints = true;
  collector found;
  must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("one", "two"));
  EXPECT_TRUE(found.slices.empty());
}

TEST_F(Recovery, NamesALostSegment) {
  {
    live_store live{disk};
    for (int i = 0; i < 4; ++i)
      live.append(a_message(std::string(50'000, 'x')));
  }
  must(disk.remove(segment_path(2 * segment_bytes_min)));
  collector found;
  const auto refused = run(found);
  ASSERT_EQ(code_of(refused), ec::corrupt);
  EXPECT_THAT(refused.error().detail, HasSubstr(std::to_string(2 * segment_bytes_min) + " to "));
}

TEST_F(Recovery, RefusesALogThatIsShorterThanTheCheckpointKnows) {
  {
    live_store live{disk};
    position last;
    for (int i = 0; i < 4; ++i)
      last = live.append(a_message(std::string(50'000, 'x')));
    checkpoint(live, last);
  }
  for (const auto& name : must(disk.list(store_paths{test_root}.log())))
    must(disk.remove(store_paths{test_root}.log() + "/" + name));
  must(disk.remove(store_paths{test_root}.log_note(0)));
  for (const bool accept : {false, true}) {
    options.accept_corruption = accept;
    collector found;
    const auto refused = run(found);
    ASSERT_EQ(code_of(refused), ec::corrupt) << accept;
    EXPECT_THAT(refused.error().detail, HasSubstr(accept ? "was durable" : "is missing"));
  }
}

TEST_F(Recovery, GoesOnOverALostSegmentWhenAccepted) {
  {
    live_store live{disk};
    for (int i = 0; i < 4; ++i)
      live.append(a_message(std::string(50'000, static_cast<char>('a' + i))));
  }
  must(disk.remove(segment_path(2 * segment_bytes_min)));
  options.accept_corruption = true;
  collector found;
  const auto store = must(run(found));
  EXPECT_EQ(found.records.size(), 3u);
  EXPECT_EQ(store.report.lost.size(), 1u);
}

TEST_F(Recovery, TakesADamagedHeadOfTheLastSegmentForCorruption) {
  {
    live_store live{disk};
    live.append(a_message(std::string(50'000, 'x')));
    live.append(a_message(std::string(50'000, 'y')));
  }
  disk.flip_bit(segment_path(segment_bytes_min), 40, 1);
  collector found;
  EXPECT_EQ(code_of(run(found)), ec::corrupt);
  options.accept_corruption = true;
  collector again;
  disk.process_killed();
  live_store live{disk, options};
  EXPECT_EQ(live.found.records.size(), 1u);
  live.append(a_message("goes on"));
}

TEST_F(Recovery, SkipsStaleBytesBehindTheEnd) {
  // A valid record of this store, but for another position, stands just behind the end.
  position end;
  {
    live_store live{disk};
    const auto one = live.append(a_message("one"));
    end = live.builder.tail();
    const auto all = disk.content(segment_path(0));
    disk.overwrite(segment_path(0), end.value,
                   std::span{all}.subspan(one.value, end.value - one.value));
  }
  collector found;
  const auto store = must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("one"));
  EXPECT_EQ(store.report.end, end);
  EXPECT_EQ(store.report.cut_from, end);
}

TEST_F(Recovery, WritesGoOnWhereTheLogEnded) {
  for (int round = 0; round < 50; ++round) {
    disk.process_killed();
    live_store live{disk};
    EXPECT_EQ(live.found.records.size(), static_cast<std::size_t>(round));
    EXPECT_EQ(live.store.report.last_epoch, static_cast<std::uint32_t>(round));
    live.append(a_message(std::string(3000, 'r')));
  }
}

TEST_F(Recovery, StartsOnAFullDisk) {
  {
    live_store live{disk};
    live.append(a_message("one"));
  }
  const auto space = must(disk.space("/"));
  disk.set_capacity(space.capacity - space.available);
  collector found;
  must(run(found));
  EXPECT_THAT(found.bodies(), ElementsAre("one"));
}

TEST_F(Recovery, ASecondProcessIsRefused) {
  const live_store live{disk};
  collector found;
  EXPECT_EQ(code_of(recover(disk, test_root, options, found)), ec::directory_in_use);
}

TEST_F(Recovery, SurvivesAnyBytesInTheLog) {
  std::mt19937_64 random{11};
  for (int round = 0; round < 300; ++round) {
    testing::sim_disk other;
    {
      live_store live{other};
      for (int i = 0; i < 20; ++i)
        live.append(a_half("body " + std::to_string(i)));
    }
    std::vector<std::byte> noise(1 + random() % 600);
    for (auto& b : noise)
      b = static_cast<std::byte>(random());
    other.overwrite(segment_path(0), random() % 5000, noise);
    other.process_killed();
    collector found;
    options.accept_corruption = round % 2 == 0;
    EXPECT_NO_THROW((void)recover(other, test_root, options, found)) << round;
  }
}

TEST_F(Recovery, MeasuresWithTheClockItWasGiven) {
  auto ticks = std::make_shared<int>(0);
  options.clock = [ticks] { return std::chrono::milliseconds{++*ticks}; };
  collector found;
  const auto store = must(run(found));
  EXPECT_EQ(store.report.opening, std::chrono::milliseconds{1});
  EXPECT_EQ(store.report.replaying, std::chrono::milliseconds{1});
}

} // namespace
} // namespace handfast::storage
