#include "messages/durations.hpp"

#include "messages/names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace handfast {

namespace {

struct unit {
  std::string_view name;
  std::uint64_t milliseconds;
};

// Smallest first: formatting walks from the end.
constexpr std::array units{unit{"ms", 1}, unit{"s", 1'000}, unit{"m", 60'000}, unit{"h", 3'600'000},
                           unit{"d", 86'400'000}};
constexpr std::uint64_t value_max = std::numeric_limits<std::int64_t>::max();

tl::unexpected<error> misread(std::string_view text) {
  return fail(ec::bad_request,
              printable(text) +
                  " is not a whole number with one of the units ms, s, m, h, d, such as 500ms "
                  "or 2s");
}

} // namespace

result<std::chrono::milliseconds> duration_from_text(std::string_view text) {
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, count);
  if (problem != std::errc{})
    return misread(text);
  std::string_view name{stop, static_cast<std::size_t>(end - stop)};
  while (name.starts_with(' '))
    name.remove_prefix(1);
  if (name.empty() && count == 0)
    return std::chrono::milliseconds{0};
  const auto known = std::ranges::find(units, name, &unit::name);
  if (known == units.end())
    return misread(text);
  if (count > value_max / known->milliseconds)
    return fail(ec::bad_request, printable(text) + " is too large to count");
  return std::chrono::milliseconds{count * known->milliseconds};
}

std::string text_of_duration(std::chrono::milliseconds value) {
  if (value.count() == 0)
    return "0s";
  const auto amount = static_cast<std::uint64_t>(value.count());
  auto at = units.rbegin();
  while (amount % at->milliseconds != 0)
    ++at;
  return std::to_string(amount / at->milliseconds) + std::string{at->name};
}

} // namespace handfast
