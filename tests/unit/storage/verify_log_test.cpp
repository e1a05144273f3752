#include "storage/run_writer.hpp"
#include "storage/verify_log.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast::storage {
namespace {

using ::testing::HasSubstr;

class VerifyLog : public ::testing::Test {
protected:
  testing::sim_disk disk;
  std::vector<position> at;
  position end;

  void SetUp() override {
    live_store live{disk};
    for (std::uint64_t i = 0; i < 5; ++i) {
      auto half = a_half("body " + std::to_string(i));
      std::get<message_record>(half.content).offset = queue_offset{i};
      at.push_back(live.append(half));
    }
    end = live.builder.tail();
  }
};

TEST_F(VerifyLog, CallsAWholeStoreSound) {
  const auto report = must(verify_log(disk, test_root));
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.records, 5u);
  EXPECT_EQ(report.end, end);
  EXPECT_EQ(report.torn_bytes, 0u);
  EXPECT_THAT(report.text(), HasSubstr("sound"));
}

TEST_F(VerifyLog, ChangesNothing) {
  const auto before = disk.operations();
  must(verify_log(disk, test_root));
  EXPECT_EQ(disk.operations(), before);
}

TEST_F(VerifyLog, NamesLostPositions) {
  disk.flip_bit(segment_path(0), at[2].value + 24, 0);
  const auto report = must(verify_log(disk, test_root));
  EXPECT_FALSE(report.sound());
  ASSERT_EQ(report.lost.size(), 1u);
  EXPECT_EQ(report.lost[0].from, at[2]);
  EXPECT_EQ(report.lost[0].to, at[3]);
  EXPECT_EQ(report.records, 4u);
}

TEST_F(VerifyLog, NamesADamagedBody) {
  disk.flip_bit(segment_path(0), at[1].value + 140, 0);
  const auto report = must(verify_log(disk, test_root));
  ASSERT_EQ(report.damaged.size(), 1u);
  EXPECT_EQ(report.damaged[0].at, at[1]);
  EXPECT_THAT(report.text(), HasSubstr("NOT sound"));
}

TEST_F(VerifyLog, ATornTailIsSound) {
  disk.flip_bit(segment_path(0), at[4].value + 24, 0);
  const auto report = must(verify_log(disk, test_root));
  EXPECT_TRUE(report.sound());
  EXPECT_GT(report.torn_bytes, 0u);
  EXPECT_EQ(report.end, at[4]);
}

TEST_F(VerifyLog, TellsOfLossesAcceptedEarlier) {
  disk.flip_bit(segment_path(0), at[2].value + 24, 0);
  auto options = live_store::default_options();
  options.accept_corruption = true;
  { const live_store accepted{disk, options}; }
  const auto report = must(verify_log(disk, test_root));
  EXPECT_TRUE(report.sound());
  ASSERT_EQ(report.accepted.size(), 1u);
  EXPECT_EQ(report.accepted[0].from, at[2]);
}

TEST_F(VerifyLog, NamesDamagedCheckpointsAndRuns) {
  disk.put_file("/data/checkpoints/0000000000000001.ckpt", "not a checkpoint at all, is it");
  disk.put_file("/data/runs/0000000000000040-0000000000000400.run", "nor is this a derived run!");
  const auto report = must(verify_log(disk, test_root));
  EXPECT_EQ(report.damaged_files.size(), 2u);
}

TEST_F(VerifyLog, ChecksEveryBlockOfEveryRun) {
  auto run = must(run_writer::begin(disk, "/data/runs", test_store_id, {64}, end, 0));
  const std::vector<queue_entry> entries(1'000, queue_entry{at[0], 200, 0, 0});
  must(run.add_entries({{17}, {2}}, {0}, entries));
  const auto path = must(run.commit());
  EXPECT_EQ(must(verify_log(disk, test_root)).runs, 1u);
  disk.flip_bit(path, 4 * run_block_bytes + 77, 3);
  const auto report = must(verify_log(disk, test_root));
  EXPECT_EQ(report.runs, 0u);
  ASSERT_EQ(report.damaged_files.size(), 1u);
  EXPECT_EQ(report.damaged_files[0].reason, path + " is damaged at byte 16384");
}

TEST_F(VerifyLog, NamesWholeRecordsThatSayWhatCannotBe) {
  position wrong;
  {
    disk.process_killed();
    live_store live{disk};
    wrong = live.append(a_decision({4'096}));
  }
  const auto report = must(verify_log(disk, test_root));
  EXPECT_TRUE(report.whole());
  EXPECT_FALSE(report.sound());
  ASSERT_FALSE(report.impossible.empty());
  EXPECT_EQ(report.impossible[0].at, wrong);
  EXPECT_THAT(report.text(), HasSubstr("impossible record at " + std::to_string(wrong.value)));
}

TEST_F(VerifyLog, SaysWhenThereIsNoStore) {
  EXPECT_EQ(code_of(verify_log(disk, "/elsewhere")), ec::not_our_directory);
}

} // namespace
} // namespace handfast::storage
