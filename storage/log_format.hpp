#pragma once

/// Constants of the log's files; `docs/format-log.md` explains them. A change of any needs a new
/// `log_format_version`.

#include "messages/ids.hpp"
#include "messages/limits.hpp"

#include <cstddef>
#include <cstdint>

namespace handfast::storage {

constexpr std::uint32_t log_format_version = 1;

/// Records stand at multiples of this.
constexpr std::size_t record_alignment = 8;
constexpr std::size_t record_header_bytes = 40;
/// The Cap'n Proto part counts its words in 16 bits.
constexpr std::size_t record_meta_words_max = 0xffff;
constexpr std::size_t record_meta_bytes_max = record_meta_words_max * 8;
/// The longest payload: all properties and the largest body that a configuration may allow.
constexpr std::size_t record_payload_bytes_max = limits::frame_bytes_max;
/// `durable_lag` of a record whose writer did not know a durable position near enough.
constexpr std::uint32_t durable_lag_unknown = 0xffff'ffff;

/// Offsets in the record header.
namespace record_field {
constexpr std::size_t crc =
    0; ///< u32, CRC-32C from `crc_seed`, over the rest of the header and the Cap'n Proto part
constexpr std::size_t length =
    4; ///< u32, header + Cap'n Proto part + payload, without the zeros behind
constexpr std::size_t type = 8;         ///< u8
constexpr std::size_t flags = 9;        ///< u8
constexpr std::size_t meta_words = 10;  ///< u16
constexpr std::size_t epoch = 12;       ///< u32
constexpr std::size_t at = 16;          ///< u64
constexpr std::size_t time_ms = 24;     ///< u64
constexpr std::size_t durable_lag = 32; ///< u32
constexpr std::size_t payload_crc = 36; ///< u32
} // namespace record_field

namespace record_flags {
/// A PAD that stands for records that were lost and whose loss an operator accepted.
constexpr std::uint8_t accepted_loss = 1;
} // namespace record_flags

constexpr std::size_t segment_header_bytes = 64;
constexpr std::uint64_t segment_bytes_min = 64 * limits::kib;
constexpr std::uint64_t segment_bytes_max = 1024 * limits::mib;

constexpr std::uint64_t align_record(std::uint64_t bytes) {
  return (bytes + (record_alignment - 1)) & ~std::uint64_t{record_alignment - 1};
}

} // namespace handfast::storage
