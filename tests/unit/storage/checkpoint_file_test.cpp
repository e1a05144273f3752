#include "storage/checkpoint_file.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast::storage {
namespace {

constexpr const char* folder = "/data/checkpoints";

class CheckpointFile : public ::testing::Test {
protected:
  testing::sim_disk disk;

  std::uint64_t write(std::uint64_t start, std::string_view content) {
    auto writer = must(
        checkpoint_writer::begin(disk, folder, {test_store_id, 0, {start}, {start + 8}, 1234}));
    must(writer.add_slice("half", std::as_bytes(std::span{content.data(), content.size()})));
    must(writer.add_slice("empty", {}));
    return must(writer.commit());
  }

  loaded_checkpoint load() { return must(load_newest_checkpoint(disk, folder, test_store_id)); }

  static std::string path(int generation) {
    return std::string{folder} + "/000000000000000" + std::to_string(generation) + ".ckpt";
  }
};

TEST_F(CheckpointFile, NoneIsNoError) {
  EXPECT_FALSE(load().newest.has_value());
}

TEST_F(CheckpointFile, ComesBackAsWritten) {
  write(4096, "the pending ones");
  const auto found = load().newest;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->info.start, position{4096});
  EXPECT_EQ(found->info.durable, position{4104});
  EXPECT_EQ(found->info.generation, 1u);
  ASSERT_EQ(found->slices.size(), 2u);
  EXPECT_EQ(found->slices[0].name, "half");
  EXPECT_EQ(found->slices[0].bytes.text(), "the pending ones");
  EXPECT_TRUE(found->slices[1].bytes.empty());
}

TEST_F(CheckpointFile, TakesLargeAndManySlices) {
  auto writer = must(checkpoint_writer::begin(disk, folder, {test_store_id, 0, {64}, {64}, 0}));
  const std::vector<std::byte> large(3 * limits::mib + 5, std::byte{7});
  must(writer.add_slice("large", large));
  for (int i = 0; i < 1000; ++i)
    must(writer.add_slice("part", std::span{large}.first(static_cast<std::size_t>(i))));
  must(writer.commit());
  const auto found = load().newest;
  ASSERT_TRUE(found);
  ASSERT_EQ(found->slices.size(), 1001u);
  EXPECT_EQ(found->slices[0].bytes.size(), large.size());
  EXPECT_EQ(found->slices[1000].bytes.size(), 999u);
}

TEST_F(CheckpointFile, KeepsTwo) {
  for (int i = 1; i <= 4; ++i)
    write(static_cast<std::uint64_t>(i) * 1000, "x");
  EXPECT_EQ(must(disk.list(folder)).size(), 2u);
  EXPECT_EQ(load().newest->info.start, position{4000});
  EXPECT_EQ(load().oldest_start, position{3000});
}

TEST_F(CheckpointFile, FallsBackToTheOlderOne) {
  write(1000, "older");
  write(2000, "newer");
  disk.flip_bit(path(2), 86, 3);
  const auto loaded = load();
  EXPECT_EQ(loaded.newest->info.start, position{1000});
  ASSERT_EQ(loaded.damaged.size(), 1u);
  EXPECT_EQ(loaded.damaged[0].path, path(2));
}

TEST_F(CheckpointFile, FallsBackToNone) {
  write(1000, "older");
  write(2000, "newer");
  disk.flip_bit(path(1), 20, 3);
  disk.flip_bit(path(2), 70, 3);
  const auto loaded = load();
  EXPECT_FALSE(loaded.newest);
  EXPECT_EQ(loaded.damaged.size(), 2u);
}

TEST_F(CheckpointFile, NoticesEveryFlippedBit) {
  const auto size = write(1000, "abc");
  for (std::uint64_t byte = 0; byte < size; ++byte)
    for (unsigned bit = 0; bit < 8; ++bit) {
      disk.flip_bit(path(1), byte, bit);
      const auto loaded = load_newest_checkpoint(disk, folder, test_store_id);
      const bool found =
          loaded && loaded->newest && loaded->newest->slices.at(0).bytes.text() != "abc";
      EXPECT_FALSE(found) << "byte " << byte;
      disk.flip_bit(path(1), byte, bit);
    }
}

TEST_F(CheckpointFile, NoticesEveryMissingEnd) {
  write(1000, "abc");
  const auto whole = disk.content(path(1));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    disk.put_file(path(1), {reinterpret_cast<const char*>(whole.data()), n});
    EXPECT_FALSE(load().newest) << n;
  }
}

TEST_F(CheckpointFile, RefusesAnotherStore) {
  write(1000, "abc");
  EXPECT_FALSE(must(load_newest_checkpoint(disk, folder, 5)).newest);
}

TEST_F(CheckpointFile, IsWholeOrNotThereAfterACutAtAnyStep) {
  for (std::uint64_t step = 1; step < 16; ++step)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      testing::sim_disk other;
      std::mt19937_64 random{seed};
      const auto write_one = [&](std::uint64_t start) -> result<std::uint64_t> {
        auto writer =
            checkpoint_writer::begin(other, folder, {test_store_id, 0, {start}, {start}, 0});
        if (!writer)
          return tl::unexpected{writer.error()};
        return writer->add_slice("s", std::as_bytes(std::span{"content", 7})).and_then([&] {
          return writer->commit();
        });
      };
      must(write_one(1000));
      other.fail_at(other.operations() + step, testing::disk_fault::power_off);
      const bool committed = write_one(2000).has_value();
      other.power_cut(random);
      const auto loaded = must(load_newest_checkpoint(other, folder, test_store_id));
      ASSERT_TRUE(loaded.newest) << "step " << step << " seed " << seed;
      EXPECT_TRUE(loaded.damaged.empty());
      if (committed) {
        EXPECT_EQ(loaded.newest->info.start, position{2000});
      }
    }
}

} // namespace
} // namespace handfast::storage
