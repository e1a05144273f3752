#pragma once

/// How every binary file of a store begins, in all versions of its format: u64 magic, u32 version,
/// u32 CRC-32C over the rest of the head, u64 id of the store.

#include "messages/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace handfast::storage {

constexpr std::size_t head_version_at = 8;
constexpr std::size_t head_crc_at = 12;
constexpr std::size_t head_store_at = 16;
/// Where a format's own fields begin.
constexpr std::size_t head_own_at = 24;

struct file_head {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint64_t store_id = 0;
};

/// Writes the common fields into `head`, the CRC over all of it last.
void seal_head(std::span<std::byte> head, const file_head& fields);

/// ec::corrupt if `head` is too short, damaged, or of another store or kind than `expected`;
/// ec::newer_format, naming both versions, if its version is above `expected.version`.
result<void> check_head(std::span<const std::byte> head, const file_head& expected,
                        const std::string& path);

} // namespace handfast::storage
