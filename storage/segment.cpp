#include "storage/segment.hpp"

#include "messages/assert.hpp"
#include "storage/file_head.hpp"
#include "storage/little_endian.hpp"

#include <algorithm>
#include <array>

namespace handfast::storage {

namespace {

constexpr std::uint64_t segment_magic = 0x544e4d4745534648; // "HFSEGMNT"
constexpr std::size_t base_at = 24;
constexpr std::size_t size_at = 32;

using header_bytes = std::array<std::byte, segment_header_bytes>;

header_bytes encode(const segment_header& header) {
  header_bytes bytes{};
  put(bytes.data() + base_at, header.base.value);
  put(bytes.data() + size_at, header.size);
  seal_head(bytes, {segment_magic, log_format_version, header.store_id});
  return bytes;
}

result<segment_header> decode(std::span<const std::byte> bytes, const std::string& path,
                              std::uint64_t store_id, position base) {
  if (auto checked = check_head(bytes, {segment_magic, log_format_version, store_id}, path);
      !checked)
    return tl::unexpected{checked.error()};
  const segment_header header{store_id,
                              {get<std::uint64_t>(bytes.data() + base_at)},
                              get<std::uint64_t>(bytes.data() + size_at)};
  if (header.base != base)
    return fail(ec::corrupt, path + " holds the log from " + std::to_string(header.base.value) +
                                 ", not from " + std::to_string(base.value));
  if (header.size < segment_bytes_min || header.size > segment_bytes_max ||
      header.size % record_alignment != 0)
    return fail(ec::corrupt, path + " claims " + std::to_string(header.size) + " bytes");
  return header;
}

} // namespace

result<std::size_t> segment::read(position at, std::span<std::byte> into) const {
  HANDFAST_ASSERT(holds(at));
  const auto offset = at.value - header_.base.value;
  const auto prepared = prepared_.load(std::memory_order_acquire);
  if (offset >= prepared)
    return 0;
  return content_->read(into.first(std::min<std::size_t>(into.size(), prepared - offset)), offset);
}

result<std::optional<std::size_t>> segment::try_read(position at, std::span<std::byte> into) const {
  HANDFAST_ASSERT(holds(at));
  const auto offset = at.value - header_.base.value;
  const auto prepared = prepared_.load(std::memory_order_acquire);
  if (offset >= prepared)
    return std::optional<std::size_t>{0};
  return content_->try_read(into.first(std::min<std::size_t>(into.size(), prepared - offset)),
                            offset);
}

result<void> segment::write(position at, std::span<const iovec> pieces) {
  std::uint64_t bytes = 0;
  for (const auto& piece : pieces)
    bytes += piece.iov_len;
  HANDFAST_ASSERT(at >= first() && at + bytes <= prepared_end());
  return content_->write(pieces, at.value - header_.base.value);
}

result<void> segment::erase(position from, position to) {
  HANDFAST_ASSERT(from >= first() && from <= to && to <= prepared_end());
  return content_->fill_zeros(from.value - header_.base.value, to.value - header_.base.value);
}

result<void> segment::prepare(position to, room how) {
  HANDFAST_ASSERT(to >= base());
  const auto from = prepared_.load(std::memory_order_relaxed);
  const auto until = std::min(to.value - header_.base.value, header_.size);
  if (until <= from)
    return {};
  auto made =
      how == room::zeroed ? content_->fill_zeros(from, until) : content_->reserve(from, until);
  return made.map([&] { prepared_.store(until, std::memory_order_release); });
}

result<std::unique_ptr<segment>> create_segment(file_system& disk, const std::string& path,
                                                const segment_header& header,
                                                std::uint64_t prepared) {
  HANDFAST_ASSERT(prepared >= segment_header_bytes && prepared <= header.size);
  auto content = disk.open(path, open_mode::create);
  if (!content)
    return tl::unexpected{content.error()};
  const auto bytes = encode(header);
  auto& to = **content;
  auto done = to.write(bytes, 0)
                  .and_then([&] { return to.fill_zeros(segment_header_bytes, prepared); })
                  .and_then([&] { return to.sync(); });
  if (!done) {
    // Give the room back; the first error is the one that matters.
    (void)disk.remove(path);
    return tl::unexpected{done.error()};
  }
  return std::make_unique<segment>(std::move(*content), header, prepared);
}

result<std::unique_ptr<segment>> open_segment(file_system& disk, const std::string& path,
                                              std::uint64_t store_id, position base,
                                              open_mode mode) {
  HANDFAST_ASSERT(mode != open_mode::create);
  auto content = disk.open(path, mode);
  if (!content)
    return tl::unexpected{content.error()};
  header_bytes bytes{};
  const auto got = (*content)->read(bytes, 0);
  if (!got)
    return tl::unexpected{got.error()};
  const auto header = decode(std::span{bytes}.first(*got), path, store_id, base);
  if (!header)
    return tl::unexpected{header.error()};
  const auto size = (*content)->size();
  if (!size)
    return tl::unexpected{size.error()};
  const auto prepared = std::min(*size, header->size) & ~std::uint64_t{record_alignment - 1};
  return std::make_unique<segment>(std::move(*content), *header, prepared);
}

} // namespace handfast::storage
