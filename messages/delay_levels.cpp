#include "messages/delay_levels.hpp"

#include "messages/dates.hpp"
#include "messages/durations.hpp"
#include "messages/limits.hpp"
#include "messages/names.hpp"
#include "messages/properties.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>

namespace handfast {

namespace {

constexpr std::uint64_t delay_max_ms =
    std::chrono::duration_cast<std::chrono::milliseconds>(limits::delay_max).count();

std::string longest() {
  return text_of_duration(limits::delay_max) + " (three years)";
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end)
    return std::nullopt;
  return number;
}

std::uint64_t until(wall_ms date, wall_ms now) {
  return date > now ? date - now : 0;
}

result<std::uint64_t> within_limit(std::string_view text, std::uint64_t delay_ms) {
  if (delay_ms <= delay_max_ms)
    return delay_ms;
  return fail(ec::bad_request, "delay " + printable(text) + " ends more than " + longest() +
                                   " from now; let a job of yours send the message later");
}

result<std::uint64_t> delay_of_known_level(std::string_view text) {
  const auto level = whole_number(text);
  if (level && *level <= delay_levels_ms.size())
    return delay_of_level(static_cast<std::int64_t>(*level));
  return fail(ec::bad_request, "delay " + printable(text) + " is no level: there are 1 (1s) to " +
                                   std::to_string(delay_levels_ms.size()) +
                                   " (2h), and 0 for none; write a unit behind a number that is a "
                                   "duration, such as 90s");
}

tl::unexpected<error> unwanted(std::string_view key, std::string_view value,
                               const std::string& wanted) {
  return fail(ec::bad_request, "property " + std::string{key} + " is " + printable(value) + ", " +
                                   wanted + " is wanted");
}

/// A property that counts `unit_ms` milliseconds.
result<std::uint64_t> timer_delay(std::string_view key, std::string_view value,
                                  std::uint64_t unit_ms) {
  const auto count = whole_number(value);
  if (!count || *count > delay_max_ms / unit_ms)
    return unwanted(key, value,
                    "a whole number of " + std::string{unit_ms == 1 ? "milliseconds" : "seconds"} +
                        " from 0 to " + std::to_string(delay_max_ms / unit_ms) + ", " + longest() +
                        ",");
  return *count * unit_ms;
}

result<std::uint64_t> timer_date(std::string_view key, std::string_view value, wall_ms now) {
  const auto date = whole_number(value);
  if (!date || until(*date, now) > delay_max_ms)
    return unwanted(key, value,
                    "a time in milliseconds since 1970, at most " + longest() + " from now,");
  return until(*date, now);
}

/// The value, if it is there and not empty.
std::optional<std::string_view> value_of(std::string_view properties, std::string_view key) {
  const auto value = find_property(properties, key);
  return value && !value->empty() ? value : std::nullopt;
}

} // namespace

std::uint64_t delay_of_level(std::int64_t level) {
  if (level <= 0)
    return 0;
  const auto last = static_cast<std::int64_t>(delay_levels_ms.size());
  return delay_levels_ms[static_cast<std::size_t>(std::min(level, last) - 1)];
}

result<std::uint64_t> parse_delay(std::string_view text, wall_ms now) {
  if (text.size() > 4 && text[4] == '-') {
    if (const auto date = date_from_text(text))
      return within_limit(text, until(*date, now));
    return fail(ec::bad_request, "delay " + printable(text) +
                                     " is no date in UTC; write it like 2027-05-01T08:30:00Z");
  }
  if (!text.empty() && std::ranges::all_of(text, is_digit))
    return delay_of_known_level(text);
  const auto duration = duration_from_text(text);
  if (!duration)
    return fail(ec::bad_request, "delay " + duration.error().detail +
                                     ", nor a level from 0 to 18, nor a date such as "
                                     "2027-05-01T08:30:00Z");
  return within_limit(text, static_cast<std::uint64_t>(duration->count()));
}

result<std::uint64_t> requested_delay(std::string_view properties, wall_ms now) {
  if (const auto value = value_of(properties, property_keys::delay_level)) {
    std::int64_t level = 0;
    const char* end = value->data() + value->size();
    const auto [stop, problem] = std::from_chars(value->data(), end, level);
    if (problem != std::errc{} || stop != end)
      return unwanted(property_keys::delay_level, *value, "a level from 0 (none) to 18 (2h)");
    if (level > 0)
      return delay_of_level(level);
  }
  if (const auto value = value_of(properties, property_keys::timer_delay_seconds))
    return timer_delay(property_keys::timer_delay_seconds, *value, 1'000);
  if (const auto value = value_of(properties, property_keys::timer_delay_ms))
    return timer_delay(property_keys::timer_delay_ms, *value, 1);
  if (const auto value = value_of(properties, property_keys::timer_deliver_ms))
    return timer_date(property_keys::timer_deliver_ms, *value, now);
  return 0U;
}

} // namespace handfast
