#include "storage/posix_file_system.hpp"
#include "storage/store_directory.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

namespace handfast::storage {
namespace {

using ::testing::HasSubstr;

class StoreDirectory : public ::testing::Test {
protected:
  testing::sim_disk disk;

  result<store_directory> open() { return store_directory::open(disk, test_root, 42, 1000); }
};

TEST_F(StoreDirectory, MakesANewStore) {
  const auto made = must(open());
  EXPECT_TRUE(made.created());
  EXPECT_EQ(made.identity(), (store_identity{1, 42, 1000}));
}

TEST_F(StoreDirectory, KeepsTheIdentityOfAnOldOne) {
  must(open());
  const auto again = must(store_directory::open(disk, test_root, 77, 2000));
  EXPECT_FALSE(again.created());
  EXPECT_EQ(again.identity().store_id, 42u);
}

TEST_F(StoreDirectory, RefusesASecondProcess) {
  const auto first = must(open());
  const auto second = open();
  ASSERT_EQ(code_of(second), ec::directory_in_use);
  EXPECT_THAT(second.error().detail, HasSubstr(test_root));
}

TEST_F(StoreDirectory, RefusesASecondProcessAlsoWhenTheLockFileWasRemoved) {
  const auto root = ::testing::TempDir() + "handfast-locked-" + std::to_string(::getpid());
  posix_file_system real;
  {
    const auto first = must(store_directory::open(real, root, 42, 1000));
    must(real.remove(first.paths().lock()));
    EXPECT_EQ(code_of(store_directory::open(real, root, 42, 1000)), ec::directory_in_use);
  }
  EXPECT_EQ(code_of(store_directory::open(real, root, 42, 1000)), ec::ok);
  std::filesystem::remove_all(root);
}

TEST_F(StoreDirectory, IsFreeAgainWhenTheFirstIsGone) {
  { const auto first = must(open()); }
  EXPECT_EQ(code_of(open()), ec::ok);
}

TEST_F(StoreDirectory, RefusesAForeignFolderAndNamesTheFile) {
  must(disk.make_directories(test_root));
  disk.put_file("/data/holiday.jpg", "...");
  const auto refused = open();
  ASSERT_EQ(code_of(refused), ec::not_our_directory);
  EXPECT_THAT(refused.error().detail, HasSubstr("holiday.jpg"));
  EXPECT_EQ(must(disk.list(test_root)).size(), 1u) << "nothing was put there";
}

TEST_F(StoreDirectory, RefusesANewerFormatAndNamesBoth) {
  must(disk.make_directories(test_root));
  disk.put_file("/data/handfast-store", "HANDFAST\nformat 9\nsomething new\n");
  const auto refused = open();
  ASSERT_EQ(code_of(refused), ec::newer_format);
  EXPECT_THAT(refused.error().detail, HasSubstr("format 9"));
  EXPECT_THAT(refused.error().detail, HasSubstr("up to 1"));
}

TEST_F(StoreDirectory, RefusesAReadOnlyDisk) {
  disk.set_read_only(true);
  const auto refused = open();
  ASSERT_EQ(code_of(refused), ec::not_writable);
  EXPECT_THAT(refused.error().detail, HasSubstr(test_root));
}

TEST_F(StoreDirectory, ReportsADamagedIdentity) {
  must(open());
  disk.flip_bit("/data/handfast-store", 30, 0);
  EXPECT_EQ(code_of(open()), ec::corrupt);
}

TEST_F(StoreDirectory, ReportsALogWithoutIdentity) {
  must(disk.make_directories("/data/log"));
  disk.put_file("/data/log/0000000000000000.seg", "...");
  EXPECT_EQ(code_of(open()), ec::corrupt);
}

TEST_F(StoreDirectory, CanBeMadeAfterACutAtAnyStep) {
  for (std::uint64_t step = 1; step < 30; ++step)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      testing::sim_disk other;
      std::mt19937_64 random{seed};
      other.fail_at(step, testing::disk_fault::power_off);
      const auto first = store_directory::open(other, test_root, 42, 1000);
      other.power_cut(random);
      const auto second = store_directory::open(other, test_root, 43, 1000);
      ASSERT_TRUE(second) << "step " << step << " seed " << seed << ": "
                          << to_string(second.error());
      if (first) {
        EXPECT_EQ(second->identity().store_id, 42u);
      }
    }
}

TEST_F(StoreDirectory, InspectChangesNothing) {
  EXPECT_EQ(code_of(store_directory::inspect(disk, test_root)), ec::not_our_directory);
  const auto held = must(open());
  EXPECT_EQ(must(store_directory::inspect(disk, test_root)).store_id, 42u);
}

} // namespace
} // namespace handfast::storage
