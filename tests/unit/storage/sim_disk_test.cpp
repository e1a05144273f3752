#include "tests/support/sim_disk.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <algorithm>

namespace handfast::testing {
namespace {

using storage::code_of;
using storage::must;
using storage::open_mode;

class SimDisk : public ::testing::Test {
protected:
  sim_disk disk;
  std::mt19937_64 random{1};

  std::vector<std::byte> filled(std::size_t size, int value) {
    return std::vector<std::byte>(size, static_cast<std::byte>(value));
  }
};

TEST_F(SimDisk, KeepsWhatWasSynced) {
  auto content = must(disk.open("/a", open_mode::create));
  must(content->write(filled(5000, 1), 0));
  must(content->sync());
  must(disk.sync_directory("/"));
  for (int i = 0; i < 20; ++i)
    disk.power_cut(random);
  EXPECT_EQ(disk.content("/a"), filled(5000, 1));
}

TEST_F(SimDisk, KeepsDropsAndTearsUnsyncedSectors) {
  auto content = must(disk.open("/a", open_mode::create));
  must(content->write(filled(512 * 300, 1), 0));
  must(content->sync());
  must(disk.sync_directory("/"));
  must(content->write(filled(512 * 300, 2), 0));
  disk.power_cut(random);
  const auto left = disk.content("/a");
  int kept = 0;
  int dropped = 0;
  int torn = 0;
  for (std::size_t at = 0; at < left.size(); at += 512) {
    const auto news =
        std::count(left.begin() + static_cast<std::ptrdiff_t>(at),
                   left.begin() + static_cast<std::ptrdiff_t>(at + 512), std::byte{2});
    ++(news == 512 ? kept : news == 0 ? dropped : torn);
  }
  EXPECT_GT(kept, 50);
  EXPECT_GT(dropped, 50);
  EXPECT_GT(torn, 50);
}

TEST_F(SimDisk, ForgetsNamesThatNoDirectorySyncFollowed) {
  int forgotten = 0;
  for (int i = 0; i < 40; ++i) {
    const auto path = "/f" + std::to_string(i);
    must(must(disk.open(path, open_mode::create))->sync());
    disk.power_cut(random);
    forgotten += must(disk.exists(path)) ? 0 : 1;
  }
  EXPECT_GT(forgotten, 5);
  EXPECT_LT(forgotten, 35);
}

TEST_F(SimDisk, RenamesInOneStep) {
  for (int i = 0; i < 40; ++i) {
    sim_disk other;
    auto content = must(other.open("/tmp", open_mode::create));
    must(content->write(filled(10, 1), 0));
    must(content->sync());
    must(other.sync_directory("/"));
    must(other.rename("/tmp", "/final"));
    other.power_cut(random);
    EXPECT_NE(must(other.exists("/tmp")), must(other.exists("/final")));
  }
}

TEST_F(SimDisk, ChoosesBySeedAlone) {
  const auto once = [&] {
    sim_disk other;
    std::mt19937_64 seeded{9};
    auto content = must(other.open("/a", open_mode::create));
    must(other.sync_directory("/"));
    must(content->write(filled(20'000, 3), 0));
    other.power_cut(seeded);
    return other.content("/a");
  };
  EXPECT_EQ(once(), once());
}

TEST_F(SimDisk, AKilledProcessLosesNothing) {
  auto content = must(disk.open("/a", open_mode::create));
  must(content->write(filled(5000, 1), 0));
  disk.process_killed();
  EXPECT_EQ(disk.content("/a"), filled(5000, 1));
  EXPECT_EQ(code_of(content->size()), ec::io_error) << "its files are dead";
}

TEST_F(SimDisk, FailsWhereItIsTold) {
  auto content = must(disk.open("/a", open_mode::create));
  disk.fail_at(disk.operations() + 1, disk_fault::io_error);
  EXPECT_EQ(code_of(content->write(filled(10, 1), 0)), ec::io_error);
  EXPECT_TRUE(disk.content("/a").empty());
  disk.fail_at(disk.operations() + 1, disk_fault::short_write);
  EXPECT_EQ(code_of(content->write(filled(10, 1), 0)), ec::io_error);
  EXPECT_EQ(disk.content("/a").size(), 5u);
  disk.fail_at(disk.operations() + 1, disk_fault::disk_full);
  EXPECT_EQ(code_of(content->write(filled(10, 1), 0)), ec::disk_full);
}

TEST_F(SimDisk, NothingWorksWhileThePowerIsOff) {
  auto content = must(disk.open("/a", open_mode::create));
  disk.fail_at(disk.operations() + 1, disk_fault::power_off);
  EXPECT_FALSE(content->sync());
  EXPECT_FALSE(content->write(filled(10, 1), 0));
  EXPECT_FALSE(disk.open("/b", open_mode::create));
  disk.power_cut(random);
  EXPECT_TRUE(disk.open("/b", open_mode::create));
}

TEST_F(SimDisk, HasACapacity) {
  disk.set_capacity(100);
  auto content = must(disk.open("/a", open_mode::create));
  must(content->write(filled(60, 1), 0));
  EXPECT_EQ(code_of(content->write(filled(60, 1), 60)), ec::disk_full);
  must(disk.remove("/a"));
  must(must(disk.open("/b", open_mode::create))->write(filled(100, 1), 0));
}

TEST_F(SimDisk, ShowsEveryStep) {
  std::vector<std::string> steps;
  disk.on_step([&](std::uint64_t, disk_operation operation, const std::string& path) {
    steps.push_back(std::string{name_of(operation)} + " " + path);
  });
  must(storage::replace_file(disk, "/a", filled(3, 1)));
  EXPECT_EQ(steps, (std::vector<std::string>{"create /a.tmp", "write /a.tmp", "sync /a.tmp",
                                             "rename /a.tmp", "sync_directory /"}));
}

} // namespace
} // namespace handfast::testing
