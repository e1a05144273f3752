#include "tests/journeys/journal_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace handfast::proof {

namespace {

[[noreturn]] void fail_with_errno(const std::string& what) {
  throw std::system_error{errno, std::generic_category(), what};
}

} // namespace

journal_file::journal_file(const std::string& path)
    : file_{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)} {
  if (file_ < 0)
    fail_with_errno(path);
}

journal_file::~journal_file() {
  ::close(file_);
}

std::uint64_t journal_file::add(event e) {
  const std::lock_guard lock{mutex_};
  const auto now = clock::now();
  e.at_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now - start_).count());
  const auto line = line_of(e) + "\n";
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    fail_with_errno("writing the journal");
  if (now - last_sync_ > std::chrono::milliseconds{100}) {
    last_sync_ = now;
    ::fdatasync(file_);
  }
  return journal_.add(std::move(e));
}

std::uint64_t journal_file::size() {
  const std::lock_guard lock{mutex_};
  return journal_.size();
}

std::vector<event> journal_file::events() {
  const std::lock_guard lock{mutex_};
  return journal_.events();
}

void journal_file::sync() {
  const std::lock_guard lock{mutex_};
  ::fdatasync(file_);
}

} // namespace handfast::proof
