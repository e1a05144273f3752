#pragma once

/// One file of the log: a slice of positions that opens with a header and is filled with zeros
/// ahead of use.

#include "messages/ids.hpp"
#include "storage/file_system.hpp"
#include "storage/log_format.hpp"

#include <atomic>
#include <cstdint>

namespace handfast::storage {

/// What a segment's header says.
struct segment_header {
  std::uint64_t store_id = 0;
  position base;          ///< of the file's first byte
  std::uint64_t size = 0; ///< bytes when wholly prepared, header included
};

/// How room is made before it is written to.
enum class room : std::uint8_t {
  zeroed,   ///< real zeros: the fastest syncs later, but every byte is written twice
  reserved, ///< see `file::reserve`
};

/// An open segment. Reads are safe from any thread; `write` and `prepare` belong to `segment_set`.
class segment {
public:
  segment(std::unique_ptr<file> content, const segment_header& header, std::uint64_t prepared)
      : content_{std::move(content)}, header_{header}, prepared_{prepared} {}

  [[nodiscard]] position base() const { return header_.base; }
  [[nodiscard]] std::uint64_t size() const { return header_.size; }
  /// Of the first record.
  [[nodiscard]] position first() const { return header_.base + segment_header_bytes; }
  /// Just behind; the base of the next one.
  [[nodiscard]] position end() const { return header_.base + header_.size; }
  [[nodiscard]] bool holds(position p) const { return p >= base() && p < end(); }
  /// Just behind the last byte that exists in the file so far.
  [[nodiscard]] position prepared_end() const {
    return header_.base + prepared_.load(std::memory_order_acquire);
  }

  /// Reads from `at` up to `into.size()` bytes; fewer at the end of the prepared part.
  result<std::size_t> read(position at, std::span<std::byte> into) const;
  /// The same from memory only; nothing if the disk would be needed.
  result<std::optional<std::size_t>> try_read(position at, std::span<std::byte> into) const;

  /// Writes inside the prepared part.
  result<void> write(position at, std::span<const iovec> pieces);
  result<void> sync() { return content_->sync(); }
  /// Writes zeros over [from, to), inside the prepared part.
  result<void> erase(position from, position to);
  /// Makes room up to `to` (clamped to the end); durable with the next sync. One thread at a time.
  result<void> prepare(position to, room how);

private:
  std::unique_ptr<file> content_;
  segment_header header_;
  std::atomic<std::uint64_t> prepared_;
};

/// Makes the file of a new segment, with its header and zeros for `prepared` bytes, and syncs it.
result<std::unique_ptr<segment>> create_segment(file_system& disk, const std::string& path,
                                                const segment_header& header,
                                                std::uint64_t prepared);
/// Opens one that exists. ec::corrupt for a damaged header or one of another store or base,
/// ec::newer_format.
result<std::unique_ptr<segment>> open_segment(file_system& disk, const std::string& path,
                                              std::uint64_t store_id, position base,
                                              open_mode mode);

} // namespace handfast::storage
