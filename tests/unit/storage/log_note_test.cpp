#include "storage/log_note.hpp"
#include "tests/unit/storage/store_fixture.hpp"

namespace handfast::storage {
namespace {

constexpr const char* path = "/log-00.note";

class LogNote : public ::testing::Test {
protected:
  testing::sim_disk disk;
  log_note first{0, {64}, {128}, 1024, 512, {200}, false, 3};

  result<log_note_file> open(std::uint64_t store = test_store_id) {
    return log_note_file::open(disk, path, store, open_mode::read_write);
  }
  void SetUp() override { must(log_note_file::make(disk, path, test_store_id, first)); }
};

TEST_F(LogNote, KeepsWhatItWasMadeWith) {
  EXPECT_EQ(must(open()).last(), first);
  EXPECT_EQ(first.end(), position{128 + 1024});
  EXPECT_EQ(log_note{}.end(), position{}) << "there is no segment yet";
}

TEST_F(LogNote, GivesTheLastOneOfMany) {
  auto file = must(open());
  for (std::uint64_t i = 1; i <= 5; ++i)
    must(file.write({0, {64 * i}, {128 * i}, 2048, 1024, {200 * i}, i == 5, 4}));
  const log_note last{5, {320}, {640}, 2048, 1024, {1000}, true, 4};
  EXPECT_EQ(file.last(), last);
  EXPECT_EQ(must(open()).last(), last);
}

TEST_F(LogNote, GivesTheOneBeforeWhenTheLastIsTorn) {
  auto file = must(open());
  must(file.write({0, {64}, {128}, 1024, 600, {}, false, 3}));
  const auto before = file.last();
  must(file.write({0, {64}, {128}, 1024, 700, {}, false, 3}));
  disk.flip_bit(path, 56, 1); // notes with even numbers stand at the file's begin
  EXPECT_EQ(must(open()).last(), before);
}

TEST_F(LogNote, SurvivesAPowerCutAtAnyWrite) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    testing::sim_disk other;
    std::mt19937_64 random{seed};
    must(log_note_file::make(other, path, test_store_id, first));
    {
      auto file = must(log_note_file::open(other, path, test_store_id, open_mode::read_write));
      must(file.write({0, {64}, {128}, 1024, 600, {}, false, 3}));
      other.fail_at(other.operations() + 1 + random() % 2, testing::disk_fault::power_off);
      (void)file.write({0, {64}, {128}, 1024, 700, {}, false, 3});
    }
    other.power_cut(random);
    const auto found =
        must(log_note_file::open(other, path, test_store_id, open_mode::read)).last();
    EXPECT_TRUE(found.prepared == 600 || found.prepared == 700) << seed;
  }
}

TEST_F(LogNote, SaysWhenBothAreDamaged) {
  disk.flip_bit(path, 30, 1);
  ASSERT_EQ(code_of(open()), ec::corrupt);
  EXPECT_NE(open().error().detail.find(path), std::string::npos);
}

TEST_F(LogNote, IsOfOneStore) {
  EXPECT_EQ(code_of(open(test_store_id + 1)), ec::corrupt);
}

} // namespace
} // namespace handfast::storage
