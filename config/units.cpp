#include "config/units.hpp"

#include "messages/durations.hpp"
#include "messages/names.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace handfast::config {

namespace {

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

// Smallest first: formatting walks from the end.
constexpr std::array size_units{
    unit{"B", 1},
    unit{"KB", 1'000},
    unit{"KiB", 1ULL << 10},
    unit{"MB", 1'000'000},
    unit{"MiB", 1ULL << 20},
    unit{"GB", 1'000'000'000},
    unit{"GiB", 1ULL << 30},
    unit{"TB", 1'000'000'000'000},
    unit{"TiB", 1ULL << 40},
};

constexpr std::uint64_t value_max = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view size_forms =
    "a whole number of bytes, or one with a unit of B, KiB, MiB, "
    "GiB, TiB, KB, MB, GB, TB, such as 16MiB";

struct amount {
  std::uint64_t count = 0;
  std::string_view unit;
};

std::optional<amount> split(std::string_view text) {
  amount found;
  const char* end = text.data() + text.size();
  auto [stop, problem] = std::from_chars(text.data(), end, found.count);
  if (problem != std::errc{})
    return std::nullopt;
  found.unit = std::string_view{stop, static_cast<std::size_t>(end - stop)};
  while (found.unit.starts_with(' '))
    found.unit.remove_prefix(1);
  return found;
}

const unit* find_unit(std::string_view name) {
  for (const auto& candidate : size_units) {
    if (candidate.name == name)
      return &candidate;
  }
  return nullptr;
}

tl::unexpected<error> misread(std::string_view text) {
  return fail(ec::config_invalid, printable(text) + " is not " + std::string{size_forms});
}

result<std::uint64_t> multiply(std::string_view text, std::uint64_t count, std::uint64_t factor) {
  if (count > value_max / factor)
    return fail(ec::config_invalid, printable(text) + " is too large to count");
  return count * factor;
}

std::string in_largest_unit(std::uint64_t bytes) {
  auto at = size_units.rbegin();
  while (bytes % at->factor != 0)
    ++at;
  return std::to_string(bytes / at->factor) + std::string{at->name};
}

} // namespace

result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  return duration_from_text(text).map_error([](error e) {
    return error{ec::config_invalid, std::move(e.detail)};
  });
}

result<std::uint64_t> parse_size(std::string_view text) {
  auto parts = split(text);
  if (!parts)
    return misread(text);
  if (parts->unit.empty())
    return multiply(text, parts->count, 1);
  const auto* known = find_unit(parts->unit);
  return known ? multiply(text, parts->count, known->factor) : misread(text);
}

std::string format_duration(std::chrono::milliseconds value) {
  return text_of_duration(value);
}

std::string format_size(std::uint64_t bytes) {
  return bytes == 0 ? "0" : in_largest_unit(bytes);
}

} // namespace handfast::config
