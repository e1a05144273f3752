#include "storage/posix_file_system.hpp"

#include "messages/assert.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace handfast::storage {

namespace {

/// Repeats `call` while a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto outcome = call();
  while (outcome < 0 && errno == EINTR)
    outcome = call();
  return outcome;
}

ec code_of(int number) {
  switch (number) {
  case ENOSPC:
    return ec::disk_full;
  case EACCES:
  case EPERM:
  case EROFS:
    return ec::not_writable;
  default:
    return ec::io_error;
  }
}

tl::unexpected<error> failed(const char* what, const std::string& path, int number = errno) {
  return fail(code_of(number), std::string{what} + " " + path + ": " + std::strerror(number));
}

class descriptor {
public:
  explicit descriptor(int number) : number_{number} {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  [[nodiscard]] int get() const { return number_; }

private:
  int number_;
};

class posix_lock final : public file_lock {
public:
  explicit posix_lock(int number) : descriptor_{number} {}

private:
  descriptor descriptor_;
};

class posix_file final : public file {
public:
  posix_file(int number, std::string path) : descriptor_{number}, path_{std::move(path)} {}

  result<std::size_t> read(std::span<std::byte> into, std::uint64_t offset) const override {
    std::size_t got = 0;
    while (got < into.size()) {
      const auto n = uninterrupted([&] {
        return ::pread(descriptor_.get(), into.data() + got, into.size() - got,
                       static_cast<off_t>(offset + got));
      });
      if (n < 0)
        return failed("cannot read", path_);
      if (n == 0)
        break;
      got += static_cast<std::size_t>(n);
    }
    return got;
  }

  result<std::optional<std::size_t>> try_read(std::span<std::byte> into,
                                              std::uint64_t offset) const override {
    const iovec piece{into.data(), into.size()};
    const auto n = uninterrupted([&] {
      return ::preadv2(descriptor_.get(), &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    });
    if (n < 0) {
      if (errno == EAGAIN || errno == EOPNOTSUPP || errno == ENOSYS)
        return std::nullopt;
      return failed("cannot read", path_);
    }
    const auto got = static_cast<std::size_t>(n);
    if (got == into.size())
      return got;
    // Short: the end of the file, or the rest is not in memory.
    const auto bytes = size();
    if (!bytes)
      return tl::unexpected{bytes.error()};
    if (offset + got >= *bytes)
      return got;
    return std::nullopt;
  }

  result<void> write(std::span<const iovec> pieces, std::uint64_t offset) override {
    return write_fully(
        [this](const iovec* first, int count, std::uint64_t at) {
          return ::pwritev(descriptor_.get(), first, count, static_cast<off_t>(at));
        },
        pieces, offset, path_);
  }

  result<void> sync() override {
    if (uninterrupted([&] { return ::fdatasync(descriptor_.get()); }) != 0)
      return fail(ec::io_error, "cannot sync " + path_ + ": " + std::strerror(errno));
    return {};
  }

  result<std::uint64_t> size() const override {
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0)
      return failed("cannot examine", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  result<void> reserve(std::uint64_t from, std::uint64_t to) override {
    const auto done = uninterrupted([&] {
      return ::fallocate(descriptor_.get(), 0, static_cast<off_t>(from),
                         static_cast<off_t>(to - from));
    });
    if (done == 0)
      return {};
    const int why = errno;
    if (why == EOPNOTSUPP || why == ENOSYS)
      return fail(ec::not_supported, path_ + ": " + std::strerror(why));
    // What it took before it failed goes back, for those who need room more.
    if (why == ENOSPC)
      if (auto given_back = truncate(from); !given_back)
        return given_back;
    return failed("cannot reserve room in", path_, why);
  }

  result<void> truncate(std::uint64_t size) override {
    const auto done =
        uninterrupted([&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(size)); });
    if (done != 0)
      return failed("cannot set the size of", path_);
    return {};
  }

private:
  descriptor descriptor_;
  std::string path_;
};

int flags_of(open_mode mode) {
  switch (mode) {
  case open_mode::read:
    return O_RDONLY | O_CLOEXEC;
  case open_mode::read_write:
    return O_RDWR | O_CLOEXEC;
  case open_mode::create:
    return O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
  }
  fail_invariant("unknown open_mode", __FILE__, __LINE__);
}

/// Writes one call's worth of pieces; continues once after a short write. Returns the bytes
/// written.
result<std::size_t> write_once(const vector_writer& writer, std::span<iovec> pieces,
                               std::uint64_t offset, const std::string& path) {
  std::size_t total = 0;
  for (const auto& piece : pieces)
    total += piece.iov_len;
  std::size_t done = 0;
  for (int attempt = 0; attempt < 2 && done < total; ++attempt) {
    const auto n = uninterrupted(
        [&] { return writer(pieces.data(), static_cast<int>(pieces.size()), offset + done); });
    if (n < 0)
      return failed("cannot write", path);
    auto skip = static_cast<std::size_t>(n);
    HANDFAST_ASSERT(skip <= total - done);
    done += skip;
    while (!pieces.empty() && skip >= pieces.front().iov_len) {
      skip -= pieces.front().iov_len;
      pieces = pieces.subspan(1);
    }
    if (skip > 0) {
      pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + skip;
      pieces.front().iov_len -= skip;
    }
  }
  if (done < total)
    return fail(ec::io_error, "cannot write " + path + ": two short writes in a row");
  return total;
}

} // namespace

result<void> write_fully(const vector_writer& writer, std::span<const iovec> pieces,
                         std::uint64_t offset, const std::string& path) {
  std::array<iovec, IOV_MAX> call;
  while (!pieces.empty()) {
    const auto count = std::min<std::size_t>(pieces.size(), call.size());
    std::copy_n(pieces.begin(), count, call.begin());
    const auto written = write_once(writer, std::span{call.data(), count}, offset, path);
    if (!written)
      return tl::unexpected{written.error()};
    offset += *written;
    pieces = pieces.subspan(count);
  }
  return {};
}

result<std::unique_ptr<file>> posix_file_system::open(const std::string& path, open_mode mode) {
  const int number = uninterrupted([&] { return ::open(path.c_str(), flags_of(mode), 0640); });
  if (number < 0)
    return failed("cannot open", path);
  return std::make_unique<posix_file>(number, path);
}

result<bool> posix_file_system::exists(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0)
    return true;
  if (errno == ENOENT || errno == ENOTDIR)
    return false;
  return failed("cannot examine", path);
}

result<std::vector<std::string>> posix_file_system::list(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir(directory.c_str()), ::closedir};
  if (!open)
    return failed("cannot list", directory);
  std::vector<std::string> names;
  errno = 0;
  while (const auto* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..")
      names.push_back(name);
    errno = 0;
  }
  if (errno != 0)
    return failed("cannot list", directory);
  std::sort(names.begin(), names.end());
  return names;
}

result<void> posix_file_system::make_directories(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0750) == 0)
    return sync_directory(parent_directory(directory));
  if (errno == ENOENT && parent_directory(directory) != directory)
    return make_directories(parent_directory(directory)).and_then([&]() -> result<void> {
      if (::mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST)
        return failed("cannot make the folder", directory);
      return sync_directory(parent_directory(directory));
    });
  struct stat status {};
  const int number = errno;
  const bool there = ::stat(directory.c_str(), &status) == 0;
  if (number == EEXIST && there && S_ISDIR(status.st_mode))
    return {};
  if (number == EEXIST && there)
    return fail(ec::not_our_directory, directory + " is a file, not a folder");
  if (number == ENOTDIR)
    return fail(ec::not_our_directory,
                "a part of the path " + directory + " is a file, not a folder");
  if (number == ENOENT)
    return fail(ec::not_writable, "no folder can be made at " + directory);
  return failed("cannot make the folder", directory, number);
}

result<void> posix_file_system::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0)
    return failed("cannot remove", path);
  return {};
}

result<void> posix_file_system::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    return failed("cannot rename", from);
  return {};
}

result<void> posix_file_system::sync_directory(const std::string& directory) {
  const descriptor open{
      uninterrupted([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); })};
  if (open.get() < 0)
    return failed("cannot open the folder", directory);
  if (uninterrupted([&] { return ::fsync(open.get()); }) != 0)
    return fail(ec::io_error, "cannot sync " + directory + ": " + std::strerror(errno));
  return {};
}

result<std::unique_ptr<file_lock>> posix_file_system::lock(const std::string& path) {
  int number =
      uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640); });
  if (number < 0 && errno == EISDIR)
    number =
        uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (number < 0)
    return failed("cannot open", path);
  auto held = std::make_unique<posix_lock>(number);
  if (uninterrupted([&] { return ::flock(number, LOCK_EX | LOCK_NB); }) != 0) {
    if (errno == EWOULDBLOCK)
      return fail(ec::directory_in_use, path + " is locked by another process");
    return failed("cannot lock", path);
  }
  return held;
}

result<disk_space> posix_file_system::space(const std::string& directory) {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0)
    return failed("cannot examine", directory);
  return disk_space{std::uint64_t{status.f_blocks} * status.f_frsize,
                    std::uint64_t{status.f_bavail} * status.f_frsize};
}

} // namespace handfast::storage
