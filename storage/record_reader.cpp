#include "storage/record_reader.hpp"

#include <algorithm>
#include <numeric>

namespace handfast::storage {

namespace {

/// Records further apart are not read together.
constexpr std::uint64_t gap_bytes = 4 * limits::kib;
constexpr std::uint64_t run_bytes_max = 256 * limits::kib;

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

void record_reader::try_read_all(std::span<const spot> places, const visitor& found) const {
  std::vector<std::uint32_t> order(places.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t n) { return places[n].at; });
  for (std::size_t first = 0; first < order.size();) {
    const auto begin = places[order[first]].at;
    auto end = begin + places[order[first]].length;
    auto last = first + 1;
    for (; last < order.size(); ++last) {
      const auto& next = places[order[last]];
      const bool near = next.at <= end + gap_bytes;
      if (!near || next.at.value + next.length - begin.value > run_bytes_max)
        break;
      end = std::max(end, next.at + next.length);
    }
    try_read_run(places, std::span{order}.subspan(first, last - first), found);
    first = last;
  }
}

/// What can't be read together is tried one by one: a run may reach over the end of a segment.
void record_reader::try_read_run(std::span<const spot> places, std::span<const std::uint32_t> run,
                                 const visitor& found) const {
  const auto begin = places[run.front()].at;
  auto end = begin;
  for (const auto n : run)
    end = std::max(end, places[n].at + places[n].length);
  const auto holder = log_.find(begin);
  const bool whole = holder && begin >= holder->first() && end <= holder->end() && begin < end;
  auto bytes = make_buffer(whole && run.size() > 1 ? end.value - begin.value : 0);
  const auto got = bytes.size == 0 ? result<std::optional<std::size_t>>{std::nullopt}
                                   : holder->try_read(begin, {bytes.bytes.get(), bytes.size});
  const bool together = got && *got && **got == bytes.size;
  record_header header;
  log_record record;
  for (const auto n : run) {
    const auto& [at, length] = places[n];
    if (!together) {
      if (auto one = try_read(at, length); one && *one)
        found(n, **one);
      continue;
    }
    if (at.value % record_alignment != 0)
      continue;
    const auto part = bytes.span().subspan(at.value - begin.value, length);
    if (codec_.decode(part, at, bytes.owner(), header, record) == decode_status::ok &&
        header.type != record_type::pad)
      found(n, record);
  }
}

} // namespace handfast::storage
