#include "storage/record_meta_flat.hpp"

#include "messages/assert.hpp"
#include "messages/capnp_words.hpp"
#include "messages/log_schema.capnp.h"
#include "messages/place_or_due.hpp"
#include "storage/record_meta.hpp"

namespace handfast::storage {

namespace {

namespace schema = log_schema;
using namespace capnp_words;

/// A root pointer and its struct.
template <class Struct>
constexpr std::size_t root_words = 1 + capnp::sizeInWords<Struct>();

} // namespace

std::size_t flat_words_of(const message_record&) {
  return root_words<schema::Message>;
}

void write_flat(const message_record& from, std::span<std::byte> into) {
  HANDFAST_ASSERT(from.properties_size <= 0xffff);
  writer{into, flat_words_of(from)}
      .put(struct_word(0, size_of<schema::Message>))
      .put(from.born_ms)
      .put(from.offset.value)
      .put(from.producer.value)
      .put(from.sequence.value)
      .put(from.transaction.value)
      .put(from.delay_ms)
      .put(word_of(from.topic.value, from.group.value))
      .put(word_of(from.sys_flag, from.timeout_ms))
      .put(word_of(from.tag_hash, from.order_hash))
      .put(word_of(from.queue.value, from.flags, static_cast<std::uint16_t>(from.properties_size),
                   0));
}

std::size_t flat_words_of(const decide_record& record) {
  return root_words<schema::Decide> + list_words<schema::Decision>(record.decisions.size()) +
         list_words<schema::IndexEntry>(record.entries.size());
}

void write_flat(const decide_record& from, std::span<std::byte> into) {
  const auto decisions = from.decisions.size();
  const auto entries = from.entries.size();
  writer to{into, flat_words_of(from)};
  to.put(struct_word(0, size_of<schema::Decide>)).put(from.op_offset.value);
  to.put(list_pointer<schema::Decision>(1, decisions))
      .put(list_pointer<schema::IndexEntry>(list_words<schema::Decision>(decisions), entries));
  if (decisions != 0)
    to.put(struct_word(decisions, size_of<schema::Decision>));
  for (const auto& one : from.decisions)
    to.put(one.transaction.value)
        .put(word_of(one.group.value,
                     one.messages | std::uint32_t{static_cast<std::uint8_t>(one.result)} << 16 |
                         std::uint32_t{static_cast<std::uint8_t>(one.by)} << 24));
  if (entries != 0)
    to.put(struct_word(entries, size_of<schema::IndexEntry>));
  for (const auto& one : from.entries)
    to.put(one.at.value)
        .put(place_or_due(one.offset, one.due_ms).value)
        .put(word_of(one.topic.value, one.length))
        .put(word_of(one.tag_hash, one.queue.value));
}

} // namespace handfast::storage
