#pragma once

/// The seam between the store and the disk. Production uses `posix_file_system`; tests use a
/// simulated disk that forgets and tears what was not synced.
///
/// Errors: ec::disk_full when there is no room, ec::not_writable when rights are missing or the
/// file system is read-only, ec::directory_in_use for a lock that another process holds,
/// ec::io_error for all else. After a failed write or sync nobody may assume anything about the
/// file's unsynced bytes: never repeat the call, stop the shard.

#include "messages/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/uio.h>
#include <vector>

namespace handfast::storage {

/// An open file. Reads are safe from any thread, also beside writes; at most one thread writes a
/// given range at a time.
class file {
public:
  virtual ~file() = default;

  /// Reads up to `into.size()` bytes from `offset`; fewer only at the end of the file.
  virtual result<std::size_t> read(std::span<std::byte> into, std::uint64_t offset) const = 0;
  /// The same, but nothing when the bytes are not in memory, so that the call would wait for the
  /// disk.
  virtual result<std::optional<std::size_t>> try_read(std::span<std::byte> into,
                                                      std::uint64_t offset) const = 0;
  /// Writes all pieces one behind the other from `offset`, or fails. Durable after the next `sync`.
  virtual result<void> write(std::span<const iovec> pieces, std::uint64_t offset) = 0;
  /// Makes everything written so far durable, with the size (fdatasync).
  virtual result<void> sync() = 0;
  virtual result<std::uint64_t> size() const = 0;
  /// Cuts the file, or extends it by a hole that reads as zeros.
  virtual result<void> truncate(std::uint64_t size) = 0;
  /// Takes room for [from, to), which must begin where the file ends, and reads as zeros. Takes
  /// milliseconds however large it is, but later writes there change metadata, so that their syncs
  /// take about twice as long as over `fill_zeros`. Durable after the next `sync`. ec::disk_full
  /// and ec::not_supported (by this file system) change nothing.
  virtual result<void> reserve(std::uint64_t from, std::uint64_t to) = 0;

  /// Writes one piece.
  result<void> write(std::span<const std::byte> bytes, std::uint64_t offset) {
    const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    return write(std::span{&piece, 1}, offset);
  }
  /// Writes real zeros (not a hole) over [from, to), so that later writes there change no metadata.
  result<void> fill_zeros(std::uint64_t from, std::uint64_t to);
};

/// Held as long as it lives; the operating system releases it when the process ends in any way.
class file_lock {
public:
  virtual ~file_lock() = default;
};

/// How `open` treats a file.
enum class open_mode : std::uint8_t {
  read,       ///< must exist
  read_write, ///< must exist
  create,     ///< emptied if it exists
};

/// Bytes of a file system, as an unprivileged user sees them.
struct disk_space {
  std::uint64_t capacity = 0;
  std::uint64_t available = 0;
};

/// Names and files. All calls are safe from any thread. Changes of names are durable after
/// `sync_directory`.
class file_system {
public:
  virtual ~file_system() = default;

  virtual result<std::unique_ptr<file>> open(const std::string& path, open_mode mode) = 0;
  virtual result<bool> exists(const std::string& path) = 0;
  /// Names in `directory`, sorted, without "." and "..".
  virtual result<std::vector<std::string>> list(const std::string& directory) = 0;
  /// Makes `directory` and its parents where they are missing, each made durable in its parent.
  virtual result<void> make_directories(const std::string& directory) = 0;
  virtual result<void> remove(const std::string& path) = 0;
  /// Replaces `to` if it exists, in one step.
  virtual result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual result<void> sync_directory(const std::string& directory) = 0;
  /// Takes the exclusive lock on `path`, a folder or a file, which is made if missing, without
  /// waiting.
  virtual result<std::unique_ptr<file_lock>> lock(const std::string& path) = 0;
  virtual result<disk_space> space(const std::string& directory) = 0;
};

/// The part of `path` before its last '/'; "." without one.
std::string parent_directory(const std::string& path);
/// Writes `bytes` so that after a crash `path` has either its old content or all of the new: aside
/// under `path` + ".tmp", sync, rename, sync of the directory.
result<void> replace_file(file_system& disk, const std::string& path,
                          std::span<const std::byte> bytes);
/// The whole content; ec::corrupt if it is longer than `bytes_max`, checked before anything is
/// allocated.
result<std::vector<std::byte>> read_whole(const file& from, std::uint64_t bytes_max);

} // namespace handfast::storage
