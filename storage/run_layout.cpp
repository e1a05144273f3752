#include "storage/run_layout.hpp"

#include "storage/crc32c.hpp"
#include "storage/little_endian.hpp"

#include <charconv>
#include <cstdio>

namespace handfast::storage::run_layout {

namespace {
constexpr std::size_t hex_digits = 16;
}

std::uint32_t seed_of(const run_info& info) {
  std::array<std::byte, 16> range;
  put(range.data(), info.from.value);
  put(range.data() + 8, info.to.value);
  return crc32c(range, crc_seed(info.store_id));
}

std::uint32_t block_crc(std::span<const std::byte> block, std::uint64_t offset,
                        std::uint32_t seed) {
  std::array<std::byte, sizeof offset> place;
  put(place.data(), offset);
  return crc32c(block.first(block_crc_at), crc32c(place, seed));
}

std::string name_of(position from, position to) {
  char text[2 * hex_digits + 2];
  std::snprintf(text, sizeof text, "%016llx-%016llx", static_cast<unsigned long long>(from.value),
                static_cast<unsigned long long>(to.value));
  return text + std::string{suffix};
}

std::optional<std::pair<position, position>> parse_name(const std::string& name) {
  constexpr auto length = 2 * hex_digits + 1;
  if (name.size() != length + suffix.size() || !name.ends_with(suffix) || name[hex_digits] != '-')
    return std::nullopt;
  std::pair<position, position> range;
  const auto* text = name.data();
  const auto first = std::from_chars(text, text + hex_digits, range.first.value, 16);
  const auto second = std::from_chars(text + hex_digits + 1, text + length, range.second.value, 16);
  if (first.ptr != text + hex_digits || second.ptr != text + length)
    return std::nullopt;
  return range;
}

void put_entry(std::byte* at, const queue_entry& entry) {
  put(at, entry.at.value);
  put(at + 8, entry.length);
  put(at + 12, entry.tag_hash);
  put(at + 16, entry.visible_ms);
}

queue_entry get_entry(const std::byte* at) {
  return {{get<std::uint64_t>(at)},
          get<std::uint32_t>(at + 8),
          get<std::uint32_t>(at + 12),
          get<std::uint64_t>(at + 16)};
}

void put_extent(std::byte* at, const queue_extent& extent) {
  put(at, extent.key.topic.value);
  put(at + 4, extent.key.queue.value);
  put(at + 6, std::uint16_t{0});
  put(at + 8, extent.first.value);
  put(at + 16, extent.count);
  put(at + 24, extent.index);
}

queue_extent get_extent(const std::byte* at) {
  return {{{get<std::uint32_t>(at)}, {get<std::uint16_t>(at + 4)}},
          {get<std::uint64_t>(at + 8)},
          get<std::uint64_t>(at + 16),
          get<std::uint64_t>(at + 24)};
}

void put_outcome(std::byte* at, const stored_outcome& outcome) {
  put(at, outcome.transaction.value);
  put(at + 8, outcome.decided_at.value);
  put(at + 16, outcome.time_ms);
  put(at + 24, outcome.reopened_as.value);
  put(at + 32, outcome.group.value);
  put(at + 36, outcome.messages);
  put(at + 38, static_cast<std::uint8_t>(outcome.result));
  put(at + 39, static_cast<std::uint8_t>(outcome.by));
}

stored_outcome get_outcome(const std::byte* at) {
  stored_outcome outcome;
  outcome.transaction = {get<std::uint64_t>(at)};
  outcome.decided_at = {get<std::uint64_t>(at + 8)};
  outcome.time_ms = get<std::uint64_t>(at + 16);
  outcome.reopened_as = {get<std::uint64_t>(at + 24)};
  outcome.group = {get<std::uint32_t>(at + 32)};
  outcome.messages = get<std::uint16_t>(at + 36);
  outcome.result = static_cast<handfast::outcome>(get<std::uint8_t>(at + 38));
  outcome.by = static_cast<origin>(get<std::uint8_t>(at + 39));
  return outcome;
}

void put_sample(std::byte* at, const view_sample& sample) {
  put(at, sample.offset.value);
  put(at + 8, sample.at.value);
}

view_sample get_sample(const std::byte* at) {
  return {{get<std::uint64_t>(at)}, {get<std::uint64_t>(at + 8)}};
}

} // namespace handfast::storage::run_layout
