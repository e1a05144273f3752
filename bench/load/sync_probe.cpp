#include "bench/load/histogram.hpp"
#include "bench/load/load.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace handfast::bench {

namespace {

constexpr std::size_t block = 4096;

tl::unexpected<error> io_failure(const std::string& what) {
  return fail(ec::io_error, what + ": " + std::strerror(errno));
}

} // namespace

result<sync_probe> fdatasync_probe(const std::string& directory, int rounds) {
  auto path = directory + "/sync-probe-" + std::to_string(::getpid());
  int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    return io_failure(path);
  ::unlink(path.c_str());
  std::vector<char> zeros(block * static_cast<std::size_t>(rounds));
  std::vector<char> data(block, 'x');
  histogram times;
  bool failed = ::pwrite(fd, zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size()) ||
                ::fsync(fd) != 0;
  for (int i = 0; i < rounds && !failed; ++i) {
    auto begin = std::chrono::steady_clock::now();
    failed = ::pwrite(fd, data.data(), block, static_cast<off_t>(block) * i) !=
                 static_cast<ssize_t>(block) ||
             ::fdatasync(fd) != 0;
    times.record(static_cast<std::uint64_t>(
        std::chrono::nanoseconds{std::chrono::steady_clock::now() - begin}.count()));
  }
  auto result_or_failure =
      failed ? result<sync_probe>{io_failure(path)}
             : result<sync_probe>{sync_probe{static_cast<double>(times.at(0.5)) / 1e3,
                                             static_cast<double>(times.at(0.99)) / 1e3}};
  ::close(fd);
  return result_or_failure;
}

} // namespace handfast::bench
