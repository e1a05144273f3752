#pragma once

/// The floor's log: prepared segments, written and synced by the thread that serves. Nothing is
/// ever read back.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace handfast::bench {

/// Appends to zero-filled files of `segment_bytes`, so that fdatasync has no metadata to write, as
/// in the real log. Each segment is used once: recycled ones would be in the page cache already.
/// Failures end the program.
class floor_log {
public:
  static constexpr std::size_t segment_bytes = std::size_t{256} << 20;

  /// Prepares `ahead` bytes in `directory`, which must exist.
  floor_log(std::string directory, std::size_t ahead);
  /// Removes its files.
  ~floor_log();
  floor_log(const floor_log&) = delete;
  floor_log& operator=(const floor_log&) = delete;

  /// Room for a record of `bytes` at the end of the batch, zeroed only behind its last byte up to a
  /// multiple of 8. The position is where it will stand.
  struct place {
    std::byte* at;
    std::uint64_t position;
  };
  place append(std::size_t bytes);
  /// Writes and syncs the batch.
  void commit();
  [[nodiscard]] bool empty() const { return batch_.empty(); }

private:
  int prepare(std::size_t number);

  std::string directory_;
  std::vector<int> segments_; ///< descriptors; used ones are closed
  std::size_t current_ = 0;
  std::uint64_t written_ = 0; ///< in the current segment
  std::uint64_t base_ = 0;    ///< position of the current segment
  std::vector<std::byte> batch_;
};

} // namespace handfast::bench
