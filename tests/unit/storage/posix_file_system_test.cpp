#include "storage/posix_file_system.hpp"
#include "storage/verify_log.hpp"
#include "tests/support/own_folder.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace handfast::storage {
namespace {

class PosixFileSystem : public ::testing::Test {
protected:
  const test::own_folder own;
  posix_file_system disk;
  const std::string root = own.path().string();

  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span{text.data(), text.size()});
  }
};

TEST_F(PosixFileSystem, WritesAndReads) {
  auto content = must(disk.open(root + "/a", open_mode::create));
  must(content->write(bytes("hello"), 3));
  must(content->sync());
  EXPECT_EQ(must(content->size()), 8u);
  std::array<std::byte, 16> into{};
  EXPECT_EQ(must(content->read(into, 3)), 5u);
  EXPECT_EQ(must(content->try_read(into, 3)), std::optional<std::size_t>{5u});
  EXPECT_EQ(must(content->read(into, 100)), 0u);
}

TEST_F(PosixFileSystem, WritesMorePiecesThanOneCallTakes) {
  const std::string text = "0123456789";
  const std::vector<iovec> pieces(3000, iovec{const_cast<char*>(text.data()), text.size()});
  auto content = must(disk.open(root + "/a", open_mode::create));
  must(content->write(pieces, 0));
  EXPECT_EQ(must(content->size()), 30'000u);
}

TEST_F(PosixFileSystem, FillsWithZeros) {
  auto content = must(disk.open(root + "/a", open_mode::create));
  must(content->write(std::vector<std::byte>(3 * limits::mib, std::byte{1}), 0));
  must(content->fill_zeros(100, 2 * limits::mib + 1));
  std::array<std::byte, 2> edge{};
  must(content->read(edge, 99));
  EXPECT_EQ(edge, (std::array{std::byte{1}, std::byte{0}}));
  must(content->read(edge, 2 * limits::mib));
  EXPECT_EQ(edge, (std::array{std::byte{0}, std::byte{1}}));
}

TEST_F(PosixFileSystem, ReservesRoomThatReadsAsZeros) {
  auto content = must(disk.open(root + "/a", open_mode::create));
  must(content->write(std::vector<std::byte>(100, std::byte{1}), 0));
  must(content->reserve(100, 5 * limits::mib));
  must(content->sync());
  EXPECT_EQ(must(content->size()), 5 * limits::mib);
  std::array<std::byte, 2> edge{};
  must(content->read(edge, 99));
  EXPECT_EQ(edge, (std::array{std::byte{1}, std::byte{0}}));
}

TEST_F(PosixFileSystem, MakesNestedFolders) {
  must(disk.make_directories(root + "/x/y/z"));
  must(disk.make_directories(root + "/x/y/z"));
  EXPECT_TRUE(must(disk.exists(root + "/x/y/z")));
}

TEST_F(PosixFileSystem, ListsSorted) {
  for (const auto* name : {"/b", "/a", "/c"})
    must(disk.open(root + name, open_mode::create));
  EXPECT_EQ(must(disk.list(root)), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(PosixFileSystem, LocksOnce) {
  auto held = must(disk.lock(root + "/lock"));
  EXPECT_EQ(code_of(disk.lock(root + "/lock")), ec::directory_in_use);
  held.reset();
  EXPECT_EQ(code_of(disk.lock(root + "/lock")), ec::ok);
}

TEST_F(PosixFileSystem, LocksAFolderToo) {
  auto held = must(disk.lock(root));
  EXPECT_EQ(code_of(disk.lock(root)), ec::directory_in_use);
  held.reset();
  EXPECT_EQ(code_of(disk.lock(root)), ec::ok);
}

TEST_F(PosixFileSystem, SaysThatAFileIsNoFolder) {
  must(disk.open(root + "/file", open_mode::create));
  for (const auto* path : {"/file", "/file/inside"}) {
    const auto refused = disk.make_directories(root + path);
    ASSERT_EQ(code_of(refused), ec::not_our_directory);
    EXPECT_NE(refused.error().detail.find("is a file, not a folder"), std::string::npos);
  }
}

TEST_F(PosixFileSystem, NamesWhatCannotBeOpened) {
  const auto missing = disk.open(root + "/none", open_mode::read);
  ASSERT_EQ(code_of(missing), ec::io_error);
  EXPECT_NE(missing.error().detail.find(root + "/none"), std::string::npos);
}

TEST_F(PosixFileSystem, KnowsTheRoomLeft) {
  const auto space = must(disk.space(root));
  EXPECT_GT(space.capacity, 0u);
  EXPECT_LE(space.available, space.capacity);
}

TEST_F(PosixFileSystem, CarriesAWholeStore) {
  auto options = live_store::default_options();
  {
    collector found;
    const auto store = must(recover(disk, root + "/data", options, found));
    const record_codec codec{test_store_id};
    batch_builder builder{codec, store.log->layout(), store.report.end};
    for (int i = 0; i < 200; ++i)
      must(builder.add(a_half(std::string(1000, 'p'))));
    const auto batch = builder.take();
    must(batch.write(*store.log));
    must(batch.sync(*store.log));
    while (must(store.log->prepare_step(limits::mib)))
      ;
  }
  collector found;
  must(recover(disk, root + "/data", options, found));
  EXPECT_EQ(found.records.size(), 200u);
  EXPECT_TRUE(must(verify_log(disk, root + "/data")).whole());
}

TEST_F(PosixFileSystem, ServesAWriterAPreparerAndReadersAtOnce) {
  collector found;
  const auto store = must(recover(disk, root + "/data", live_store::default_options(), found));
  const record_codec codec{test_store_id};
  std::atomic<std::uint64_t> durable{store.report.end.value};
  std::atomic<bool> done{false};
  std::thread preparer{[&] {
    while (!done)
      must(store.log->prepare_step(16 * limits::kib));
  }};
  std::thread reader{[&] {
    std::uint64_t seen = 0;
    while (!done || seen == 0) {
      log_scanner scanner{*store.log, codec, store.report.end, {.to = {durable.load()}}};
      seen = 0;
      while (const auto batch = must(scanner.next_batch(64 * limits::kib, false)))
        seen += batch->records.size();
    }
  }};
  batch_builder builder{codec, store.log->layout(), store.report.end};
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 10; ++j)
      must(builder.add(a_message(std::string(1000, 'w'))));
    const auto batch = builder.take();
    must(batch.write(*store.log));
    must(batch.sync(*store.log));
    durable = batch.to().value;
  }
  done = true;
  preparer.join();
  reader.join();
  log_scanner scanner{*store.log, codec, store.report.end, {.to = {durable.load()}}};
  EXPECT_EQ(must(scanner.next_batch(64 * limits::mib, false))->records.size(), 600u);
}

/// A writer that takes what the script says: a count of bytes, or a negative errno.
class scripted_writer {
public:
  explicit scripted_writer(std::vector<ssize_t> script) : script_{std::move(script)} {}

  ssize_t operator()(const iovec* pieces, int count, std::uint64_t offset) {
    std::size_t total = 0;
    for (int i = 0; i < count; ++i)
      total += pieces[i].iov_len;
    offsets.push_back(offset);
    const auto next = calls < script_.size() ? script_[calls] : static_cast<ssize_t>(total);
    ++calls;
    if (next < 0) {
      errno = static_cast<int>(-next);
      return -1;
    }
    auto left = static_cast<std::size_t>(next);
    for (int i = 0; i < count && left > 0; ++i) {
      const auto take = std::min(left, pieces[i].iov_len);
      got.append(static_cast<const char*>(pieces[i].iov_base), take);
      left -= take;
    }
    return next;
  }

  std::string got;
  std::vector<std::uint64_t> offsets;
  std::size_t calls = 0;

private:
  std::vector<ssize_t> script_;
};

class WriteFully : public ::testing::Test {
protected:
  result<void> write(scripted_writer& writer) {
    std::string one = "abc";
    std::string two = "defgh";
    const std::array pieces{iovec{one.data(), 3}, iovec{two.data(), 5}};
    return write_fully([&](const iovec* p, int n, std::uint64_t at) { return writer(p, n, at); },
                       pieces, 100, "file");
  }
};

TEST_F(WriteFully, ContinuesAShortWriteOnce) {
  for (const ssize_t cut : {0, 1, 3, 4, 7}) {
    scripted_writer writer{{cut}};
    EXPECT_EQ(code_of(write(writer)), ec::ok);
    EXPECT_EQ(writer.got, "abcdefgh");
    EXPECT_EQ(writer.offsets.back(), 100u + static_cast<std::uint64_t>(cut));
  }
}

TEST_F(WriteFully, GivesUpAfterASecondShortWrite) {
  scripted_writer writer{{2, 2}};
  EXPECT_EQ(code_of(write(writer)), ec::io_error);
  EXPECT_EQ(writer.calls, 2u);
}

TEST_F(WriteFully, RepeatsAnInterruptedCall) {
  scripted_writer writer{{-EINTR, -EINTR}};
  EXPECT_EQ(code_of(write(writer)), ec::ok);
  EXPECT_EQ(writer.got, "abcdefgh");
}

TEST_F(WriteFully, NeverRepeatsAFailedCall) {
  scripted_writer writer{{-EIO}};
  EXPECT_EQ(code_of(write(writer)), ec::io_error);
  EXPECT_EQ(writer.calls, 1u);
}

TEST_F(WriteFully, TellsAFullDiskApart) {
  scripted_writer writer{{-ENOSPC}};
  EXPECT_EQ(code_of(write(writer)), ec::disk_full);
}

} // namespace
} // namespace handfast::storage
