#pragma once

/// The real disk.

#include "storage/file_system.hpp"

#include <functional>
#include <sys/types.h>

namespace handfast::storage {

/// Plain files through pread, pwritev and fdatasync. A call that a signal interrupts is repeated; a
/// short write is continued once; a failed write or sync is reported and never repeated. Safe from
/// any thread.
class posix_file_system final : public file_system {
public:
  result<std::unique_ptr<file>> open(const std::string& path, open_mode mode) override;
  result<bool> exists(const std::string& path) override;
  result<std::vector<std::string>> list(const std::string& directory) override;
  result<void> make_directories(const std::string& directory) override;
  result<void> remove(const std::string& path) override;
  result<void> rename(const std::string& from, const std::string& to) override;
  result<void> sync_directory(const std::string& directory) override;
  result<std::unique_ptr<file_lock>> lock(const std::string& path) override;
  result<disk_space> space(const std::string& directory) override;
};

/// Like pwritev: bytes written, or -1 with errno.
using vector_writer = std::function<ssize_t(const iovec* pieces, int count, std::uint64_t offset)>;

/// Writes all `pieces` through `writer`: splits them into calls that the kernel accepts, repeats
/// interrupted calls, and continues each call once after a short write; a second short write is
/// ec::io_error. `path` only names the file in errors.
result<void> write_fully(const vector_writer& writer, std::span<const iovec> pieces,
                         std::uint64_t offset, const std::string& path);

} // namespace handfast::storage
