#pragma once

/// The Cap'n Proto part of records. For `record_codec` only.

#include "messages/log_record.hpp"

#include <span>

namespace handfast::storage {

/// Words that `write_meta` will fill.
std::size_t meta_words_of(const record_content& content);

/// Writes the Cap'n Proto part into `into`: zeroed, aligned to 8, of exactly
/// `meta_words_of(content)` words.
void write_meta(const record_content& content, std::span<std::byte> into);

/// Reads the Cap'n Proto part of a record of `type` with `payload_bytes` behind it; sets all of
/// `content` but payload and its CRC. False if it makes no sense. Never throws for its input;
/// allocates only what fits `meta`.
bool read_meta(record_type type, std::span<const std::byte> meta, std::size_t payload_bytes,
               record_content& content);

/// Whether `type` is one of this version and has content of this alternative.
bool fits(record_type type, const record_content& content);

} // namespace handfast::storage
