#include "storage/record_reader.hpp"

#include <algorithm>
#include <array>

namespace handfast::storage {

namespace {

/// Read at first when the length is not known: most small records fit.
constexpr std::size_t guess_bytes = 4 * limits::kib;

struct buffer {
  std::shared_ptr<std::byte[]> bytes;
  std::size_t size = 0;

  [[nodiscard]] std::span<const std::byte> span() const { return {bytes.get(), size}; }
  [[nodiscard]] std::shared_ptr<const std::byte> owner() const { return {bytes, bytes.get()}; }
};

buffer make_buffer(std::size_t size) {
  return {std::make_shared_for_overwrite<std::byte[]>(size), size};
}

std::string place(position at) {
  return "position " + std::to_string(at.value);
}

result<log_record> settle(decode_status status, const record_header& header, position at,
                          log_record&& record) {
  switch (status) {
  case decode_status::ok:
    if (header.type == record_type::pad)
      break;
    return std::move(record);
  case decode_status::not_a_record:
    break;
  case decode_status::torn:
  case decode_status::bad_header:
  case decode_status::bad_payload:
  case decode_status::undecodable:
    return fail(ec::corrupt, place(at) + ": " + std::string{name_of(status)});
  }
  return fail(ec::position_not_found, place(at));
}

} // namespace

result<log_record> record_reader::read(position at, std::uint32_t length_hint) const {
  const auto holder = log_.find(at);
  if (!holder || at < holder->first() || at.value % record_alignment != 0)
    return fail(ec::position_not_found, place(at));
  record_header header;
  log_record record;
  auto status = decode_status::torn;
  std::size_t wanted = length_hint >= record_header_bytes ? length_hint : guess_bytes;
  // At most a guess, then the head, then the whole: the length is believed once the head's CRC is
  // right.
  for (std::size_t before = 0; status == decode_status::torn && wanted > before;) {
    const auto rest = static_cast<std::size_t>(holder->end().value - at.value);
    auto bytes = make_buffer(std::min(wanted, rest));
    const auto got = holder->read(at, {bytes.bytes.get(), bytes.size});
    if (!got)
      return tl::unexpected{got.error()};
    bytes.size = *got;
    status = codec_.decode(bytes.span(), at, bytes.owner(), header, record);
    before = bytes.size;
    if (bytes.size >= record_header_bytes)
      wanted = bytes.size < header.head_bytes() ? header.head_bytes() : header.length;
  }
  return settle(status, header, at, std::move(record));
}

result<std::optional<log_record>> record_reader::try_read(position at, std::uint32_t length) const {
  const auto holder = log_.find(at);
  if (!holder || at < holder->first() || at.value % record_alignment != 0 ||
      length < record_header_bytes || at + length > holder->end())
    return fail(ec::position_not_found, place(at));
  auto bytes = make_buffer(length);
  const auto got = holder->try_read(at, {bytes.bytes.get(), bytes.size});
  if (!got)
    return tl::unexpected{got.error()};
  if (!*got)
    return std::optional<log_record>{};
  bytes.size = **got;
  record_header header;
  log_record record;
  const auto status = codec_.decode(bytes.span(), at, bytes.owner(), header, record);
  return settle(status, header, at, std::move(record)).map([](log_record&& found) {
    return std::optional<log_record>{std::move(found)};
  });
}

} // namespace handfast::storage
