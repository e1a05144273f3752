#include "storage/record_codec.hpp"

#include "messages/assert.hpp"
#include "storage/crc32c.hpp"
#include "storage/little_endian.hpp"
#include "storage/record_meta.hpp"

namespace handfast::storage {

namespace {

const message_record* message_in(const record_content& content) {
  if (const auto* message = std::get_if<message_record>(&content))
    return message;
  if (const auto* move = std::get_if<move_record>(&content))
    return &move->message;
  if (const auto* dead = std::get_if<dead_letter_record>(&content))
    return &dead->message;
  return nullptr;
}

message_record* message_in(record_content& content) {
  return const_cast<message_record*>(message_in(std::as_const(content)));
}

record_header read_header(const std::byte* from) {
  record_header header;
  header.crc = get<std::uint32_t>(from + record_field::crc);
  header.length = get<std::uint32_t>(from + record_field::length);
  header.type = static_cast<record_type>(get<std::uint8_t>(from + record_field::type));
  header.flags = get<std::uint8_t>(from + record_field::flags);
  header.meta_words = get<std::uint16_t>(from + record_field::meta_words);
  header.epoch = get<std::uint32_t>(from + record_field::epoch);
  header.at = {get<std::uint64_t>(from + record_field::at)};
  header.time_ms = get<std::uint64_t>(from + record_field::time_ms);
  header.durable_lag = get<std::uint32_t>(from + record_field::durable_lag);
  header.payload_crc = get<std::uint32_t>(from + record_field::payload_crc);
  return header;
}

/// Writes the header with its CRC; the Cap'n Proto part must be in place behind it.
void write_header(const record_header& header, std::uint32_t seed, std::span<std::byte> head) {
  auto* to = head.data();
  put(to + record_field::length, header.length);
  put(to + record_field::type, static_cast<std::uint8_t>(header.type));
  put(to + record_field::flags, header.flags);
  put(to + record_field::meta_words, header.meta_words);
  put(to + record_field::epoch, header.epoch);
  put(to + record_field::at, header.at.value);
  put(to + record_field::time_ms, header.time_ms);
  put(to + record_field::durable_lag, header.durable_lag);
  put(to + record_field::payload_crc, header.payload_crc);
  put(to + record_field::crc, crc32c(head.subspan(record_field::length), seed));
}

bool lengths_are_possible(const record_header& header) {
  if (header.length < header.head_bytes() || header.length > segment_bytes_max)
    return false;
  return header.type == record_type::pad || header.payload_bytes() <= record_payload_bytes_max;
}

bool is_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % record_alignment == 0;
}

} // namespace

std::string_view name_of(decode_status s) {
  switch (s) {
  case decode_status::ok:
    return "ok";
  case decode_status::not_a_record:
    return "not a record";
  case decode_status::torn:
    return "torn";
  case decode_status::bad_header:
    return "wrong checksum of the header";
  case decode_status::bad_payload:
    return "wrong checksum of the payload";
  case decode_status::undecodable:
    return "content that cannot be decoded";
  }
  return "invalid";
}

record_codec::record_codec(std::uint64_t store_id) : seed_{crc_seed(store_id)} {}

const shared_bytes& record_codec::payload_of(const log_record& record) {
  static const shared_bytes none;
  const auto* message = message_in(record.content);
  return message ? message->payload : none;
}

result<record_size> record_codec::size_of(const log_record& record) {
  HANDFAST_ASSERT(fits(record.type, record.content));
  const auto words = meta_words_of(record.content);
  if (words > record_meta_words_max)
    return fail(ec::bad_request, "a " + std::string{name_of(record.type)} + " record with " +
                                     std::to_string(words * 8) + " bytes of fields; at most " +
                                     std::to_string(record_meta_bytes_max) +
                                     " fit: split it into several records");
  const auto payload = payload_of(record).size();
  if (payload > record_payload_bytes_max)
    return fail(ec::body_too_large,
                std::to_string(payload) + " bytes of properties and body; at most " +
                    std::to_string(record_payload_bytes_max) + " can be stored");
  if (const auto* message = message_in(record.content))
    if (message->properties_size > payload || message->properties_size > 0xffff)
      return fail(ec::properties_too_large, std::to_string(message->properties_size) +
                                                " bytes of properties in a payload of " +
                                                std::to_string(payload));
  const auto head = record_header_bytes + words * 8;
  return record_size{static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(payload),
                     static_cast<std::uint32_t>(align_record(head + payload))};
}

void record_codec::encode(const log_record& record, const record_size& size,
                          std::uint32_t durable_lag, std::span<std::byte> head) const {
  HANDFAST_ASSERT(head.size() == size.head && is_aligned(head.data()));
  HANDFAST_ASSERT(record.at.value % record_alignment == 0);
  write_meta(record.content, head.subspan(record_header_bytes));
  record_header header;
  header.length = size.head + size.payload;
  header.type = record.type;
  header.meta_words = static_cast<std::uint16_t>((size.head - record_header_bytes) / 8);
  header.epoch = record.epoch;
  header.at = record.at;
  header.time_ms = record.time_ms;
  header.durable_lag = durable_lag;
  const auto* message = message_in(record.content);
  header.payload_crc = message ? message->payload_crc : 0;
  write_header(header, seed_, head);
}

void record_codec::encode_pad(position at, std::uint32_t length, std::uint32_t epoch,
                              wall_ms time_ms, std::uint32_t durable_lag, std::uint8_t flags,
                              std::span<std::byte, record_header_bytes> into) const {
  HANDFAST_ASSERT(length >= record_header_bytes && length % record_alignment == 0);
  record_header header;
  header.length = length;
  header.type = record_type::pad;
  header.flags = flags;
  header.epoch = epoch;
  header.at = at;
  header.time_ms = time_ms;
  header.durable_lag = durable_lag;
  write_header(header, seed_, into);
}

decode_status record_codec::check_head(std::span<const std::byte> bytes, position at,
                                       record_header& header) const {
  if (bytes.size() < record_header_bytes)
    return decode_status::torn;
  header = read_header(bytes.data());
  if (header.at != at || !lengths_are_possible(header))
    return decode_status::not_a_record;
  if (bytes.size() < header.head_bytes())
    return decode_status::torn;
  const auto covered = bytes.first(header.head_bytes()).subspan(record_field::length);
  if (crc32c(covered, seed_) != header.crc)
    return decode_status::bad_header;
  return decode_status::ok;
}

decode_status record_codec::decode(std::span<const std::byte> bytes, position at,
                                   const std::shared_ptr<const std::byte>& owner,
                                   record_header& header, log_record& record) const {
  HANDFAST_ASSERT(is_aligned(bytes.data()));
  if (const auto status = check_head(bytes, at, header); status != decode_status::ok)
    return status;
  if (header.type != record_type::pad && bytes.size() < header.length)
    return decode_status::torn;
  record.type = header.type;
  record.at = at;
  record.length = static_cast<std::uint32_t>(header.stored_bytes());
  record.epoch = header.epoch;
  record.time_ms = header.time_ms;
  record.cookie = 0;
  const auto meta = bytes.first(header.head_bytes()).subspan(record_header_bytes);
  const auto payload_bytes = header.payload_bytes();
  if (!read_meta(header.type, meta, payload_bytes, record.content))
    return decode_status::undecodable;
  auto* message = message_in(record.content);
  if (message == nullptr)
    return decode_status::ok;
  message->payload_crc = header.payload_crc;
  message->payload = {};
  const auto payload = bytes.subspan(header.head_bytes(), payload_bytes);
  if (crc32c(payload) != header.payload_crc) {
    message->properties_size = 0; // there are none any more
    return decode_status::bad_payload;
  }
  message->payload = {std::shared_ptr<const std::byte>{owner, payload.data()}, payload.size()};
  return decode_status::ok;
}

} // namespace handfast::storage
