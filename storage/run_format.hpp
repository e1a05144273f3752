#pragma once

/// Derived runs: what one stretch of the log made visible or decided, in one file.
/// `docs/format-checkpoint.md` has the layout.

#include "messages/log_record.hpp"

#include <array>
#include <cstddef>

namespace handfast::storage {

constexpr std::uint32_t run_format_version = 1;
/// Every so many-th entry of the half and op views is in a run; readers scan the log from there.
constexpr std::uint64_t view_sample_stride = 64;

/// One message of a queue. The offset follows from its place.
struct queue_entry {
  position at;              ///< of the record that holds the body
  std::uint32_t length = 0; ///< of that whole record
  std::uint32_t tag_hash = 0;
  wall_ms visible_ms = 0; ///< when it became visible
  friend bool operator==(const queue_entry&, const queue_entry&) = default;
};

/// A decided transaction.
struct stored_outcome {
  position transaction; ///< position that opened it
  group_id group;
  outcome result = outcome::pending;
  origin by = origin::producer;
  std::uint16_t messages = 0;
  position decided_at;  ///< of the DECIDE record
  wall_ms time_ms = 0;  ///< of the DECIDE record
  position reopened_as; ///< the new transaction if it was opened again, else none
  friend bool operator==(const stored_outcome&, const stored_outcome&) = default;
};

/// Where one entry of a view stands in the log.
struct view_sample {
  queue_offset offset;
  position at;
  friend bool operator==(const view_sample&, const view_sample&) = default;
};

/// The two views whose entries are records of the log.
enum class view : std::uint8_t { half, op };

/// Consecutive entries of one queue inside a run.
struct queue_extent {
  queue_key key;
  queue_offset first;
  std::uint64_t count = 0;
  std::uint64_t index = 0; ///< of the first entry, in the section
  friend bool operator==(const queue_extent&, const queue_extent&) = default;
};

/// Bytes of one item of each section, and blocks: each section is a row of blocks with a CRC of
/// their own.
constexpr std::size_t run_block_bytes = 4096;
constexpr std::size_t run_block_trailer_bytes = 8;
enum class run_section : std::uint8_t { entries, extents, outcomes, half_view, op_view };
constexpr std::size_t run_sections = 5;
constexpr std::array<std::size_t, run_sections> run_item_bytes{24, 32, 40, 16, 16};
constexpr std::size_t run_items_per_block(run_section s) {
  return (run_block_bytes - run_block_trailer_bytes) / run_item_bytes[static_cast<std::size_t>(s)];
}

/// Items of one section and where its first block stands in the file.
struct run_section_place {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

/// What stands in the first block of a run.
struct run_info {
  std::uint64_t store_id = 0;
  position from; ///< what it holds comes from records in [from, to)
  position to;
  std::uint64_t created_ms = 0;
  std::array<run_section_place, run_sections> sections;
};

} // namespace handfast::storage
