#include "bench/floor_log.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace handfast::bench {

namespace {

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "handfast-floor: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(3);
}

void write_all(int fd, const std::byte* from, std::size_t count, std::uint64_t at) {
  while (count > 0) {
    auto wrote = ::pwrite(fd, from, count, static_cast<off_t>(at));
    if (wrote < 0)
      give_up("pwrite");
    from += wrote;
    at += static_cast<std::uint64_t>(wrote);
    count -= static_cast<std::size_t>(wrote);
  }
}

} // namespace

floor_log::floor_log(std::string directory, std::size_t ahead) : directory_{std::move(directory)} {
  auto count = (ahead + segment_bytes - 1) / segment_bytes;
  for (std::size_t i = 0; i < count || i == 0; ++i)
    segments_.push_back(prepare(i));
}

floor_log::~floor_log() {
  for (int fd : segments_)
    ::close(fd);
}

/// The file has no name any more when this returns, so that nothing is left behind however the
/// program ends.
int floor_log::prepare(std::size_t number) {
  auto path = directory_ + "/floor-" + std::to_string(::getpid()) + "-" + std::to_string(number);
  int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    give_up(path);
  ::unlink(path.c_str());
  static const std::vector<std::byte> zeros(std::size_t{4} << 20);
  for (std::size_t at = 0; at < segment_bytes; at += zeros.size())
    write_all(fd, zeros.data(), zeros.size(), at);
  if (::fsync(fd) != 0)
    give_up("fsync");
  return fd;
}

floor_log::place floor_log::append(std::size_t bytes) {
  auto padded = (bytes + 7) & ~std::size_t{7};
  if (written_ + batch_.size() + padded > segment_bytes) {
    commit();
    ::fdatasync(segments_[current_]);
    ++current_;
    if (current_ == segments_.size()) {
      std::fprintf(stderr, "handfast-floor: prepared segments are used up; give --prepare more\n");
      segments_.push_back(prepare(current_));
    }
    base_ += segment_bytes;
    written_ = 0;
  }
  auto at = batch_.size();
  batch_.resize(at + padded);
  return {batch_.data() + at, 4096 + base_ + written_ + at};
}

void floor_log::commit() {
  if (batch_.empty())
    return;
  write_all(segments_[current_], batch_.data(), batch_.size(), written_);
  if (::fdatasync(segments_[current_]) != 0)
    give_up("fdatasync");
  written_ += batch_.size();
  batch_.clear();
}

} // namespace handfast::bench
