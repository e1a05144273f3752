#pragma once

/// What one write and one sync bring to the disk.

#include "messages/log_record.hpp"
#include "storage/segment_set.hpp"

namespace handfast::storage {

/// Memory for the heads of a batch's records: chunks that stay where they are, zeroed as they are
/// handed out.
class batch_arena {
public:
  /// `bytes` zero bytes, aligned to 8. Behind the previous ones if `follows_last()` is true for
  /// them.
  std::span<std::byte> allocate(std::size_t bytes);
  /// Forgets all bytes but keeps the first chunk for reuse.
  void clear();

private:
  struct chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t capacity = 0;
  };
  std::vector<chunk> chunks_;
  std::size_t used_ = 0; ///< of the last chunk
};

/// Records that are written and synced together. Made by `batch_builder` on the log's thread, moved
/// to the writer's thread, which calls `write` then `sync`. Keeps alive all that its pieces point
/// to.
class write_batch {
public:
  write_batch() = default;
  write_batch(write_batch&&) noexcept = default;
  write_batch& operator=(write_batch&&) noexcept = default;

  /// Where the bytes begin: the end of the batch before.
  [[nodiscard]] position from() const { return from_; }
  /// Where the next batch begins; durable up to here after `sync`.
  [[nodiscard]] position to() const { return to_; }
  [[nodiscard]] std::uint64_t bytes() const { return to_.value - from_.value; }
  [[nodiscard]] bool empty() const { return from_ == to_; }
  /// The records, ready for dispatch once the batch is durable. Without PADs. Null in an empty
  /// batch.
  [[nodiscard]] const std::shared_ptr<const record_batch>& records() const { return records_; }

  /// Writes all bytes. ec::disk_full: nothing was written, may be called again later. Other errors
  /// are final.
  result<void> write(segment_set& log) const;
  /// Makes them durable. Errors are final. Batches that were only written before may lie in earlier
  /// segments: one `log.sync(from of the first, to of the last)` takes all of them.
  result<void> sync(segment_set& log) const { return log.sync(from_, to_); }

private:
  friend class batch_builder;
  /// Pieces that go one behind the other from `at`, inside one segment.
  struct run {
    position at;
    std::size_t first = 0; ///< in `pieces_`
    std::size_t count = 0;
  };

  position from_;
  position to_;
  std::vector<run> runs_;
  std::vector<iovec> pieces_;
  batch_arena arena_;
  std::shared_ptr<const record_batch> records_;
};

} // namespace handfast::storage
