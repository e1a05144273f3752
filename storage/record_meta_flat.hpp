#pragma once

/// The Cap'n Proto part of the record types that every transaction writes, put down word by word.
/// Cap'n Proto's own builder spends several times as long on a message of a known shape, nearly all
/// of it on keeping account of segments; the bytes are the same, and tests compare them. For
/// `record_meta_write.cpp` only.

#include "messages/log_record.hpp"

#include <span>

namespace handfast::storage {

/// Words that `write_flat` fills: root pointer, data, and lists.
std::size_t flat_words_of(const message_record& record);
std::size_t flat_words_of(const decide_record& record);

/// `into` has exactly as many words and is aligned to 8.
void write_flat(const message_record& record, std::span<std::byte> into);
void write_flat(const decide_record& record, std::span<std::byte> into);

} // namespace handfast::storage
