#pragma once

/// CRC-32C (Castagnoli), the only checksum of Handfast's files.

#include <cstddef>
#include <cstdint>
#include <span>

namespace handfast::storage {

/// The CRC-32C of `bytes`, or of `before` followed by `bytes` when `before` is the CRC of what
/// precedes. Pure; safe from any thread.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// What a CRC of this store starts from: the CRC of its id. Nobody who does not know the id can
/// forge bytes that pass.
std::uint32_t crc_seed(std::uint64_t store_id);

} // namespace handfast::storage
