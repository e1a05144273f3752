#include "runtime/cli/values.hpp"

#include "config/address.hpp"
#include "config/units.hpp"
#include "messages/assert.hpp"
#include "messages/dates.hpp"
#include "messages/durations.hpp"
#include "messages/filter/filter.hpp"
#include "messages/names.hpp"
#include "runtime/cli/console.hpp"
#include "runtime/cli/suggest.hpp"

#include <charconv>
#include <cmath>

namespace handfast::cli {

namespace {

using check = std::function<std::string(const std::string&)>;

/// CLI11 shows a validator's description in the help, which says enough by the type names.
CLI::Validator unnamed(check what) {
  return {[what = std::move(what)](std::string& text) { return what(text); }, ""};
}

/// 1,000 days: any longer wait is a slip, and milliseconds stay far from their bounds.
constexpr double seconds_max = 86'400'000;

} // namespace

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max) {
  return unnamed([min, max](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc{} && end == text.data() + text.size() && value >= min && value <= max)
      return {};
    return "takes a whole number from " + std::to_string(min) + " to " + std::to_string(max) +
           ", not " + printable(text);
  });
}

CLI::Validator one_of(std::vector<std::string> allowed) {
  return unnamed([allowed = std::move(allowed)](const std::string& text) -> std::string {
    std::string list;
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      if (allowed[i] == text)
        return {};
      list += (i == 0 ? "" : i + 1 == allowed.size() ? " or " : ", ") + allowed[i];
    }
    auto meant = nearest(text, allowed);
    return "takes " + list + ", not " + printable(text) +
           (meant ? "; did you mean '" + *meant + "'?" : "");
  });
}

CLI::Validator server_address() {
  return unnamed([](const std::string& text) -> std::string {
    auto parsed = config::parse_address(text);
    if (parsed && !parsed->is_off() && parsed->port != 0)
      return {};
    return "takes HOST:PORT such as 127.0.0.1:7310, not " + printable(text);
  });
}

result<std::chrono::milliseconds> parse_seconds(const std::string& text) {
  double value = 0;
  auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (problem == std::errc{} && end == text.data() + text.size()) {
    // 0 often means "as the node has it", which a tiny value must not come to mean.
    if (value == 0 || (value >= 0.001 && value <= seconds_max))
      return std::chrono::milliseconds{std::llround(value * 1000)};
  } else if (auto duration = config::parse_duration(text);
             duration && duration->count() <= static_cast<std::int64_t>(seconds_max) * 1000) {
    return *duration;
  }
  return fail(
      ec::bad_request,
      "takes seconds such as 5 or 0.5, or a duration such as 500ms, at least a millisecond, not " +
          printable(text));
}

CLI::Validator seconds() {
  return unnamed([](const std::string& text) -> std::string {
    auto parsed = parse_seconds(text);
    return parsed ? std::string{} : parsed.error().detail;
  });
}

CLI::Validator duration() {
  return unnamed([](const std::string& text) -> std::string {
    if (duration_from_text(text))
      return {};
    return "takes a number with a unit, such as 500ms, 90s, 2m, 3h or 4d, not " + printable(text);
  });
}

CLI::Validator date() {
  return unnamed([](const std::string& text) -> std::string {
    if (date_from_text(text))
      return {};
    return "takes a date in UTC, such as 2027-05-01T08:30:00Z, not " + printable(text);
  });
}

CLI::Validator transaction() {
  return unnamed([](const std::string& text) -> std::string {
    if (parse_transaction_id(text))
      return {};
    return "takes a transaction's id, 24 hex digits as `handfast tx list` prints them, not " +
           printable(text);
  });
}

CLI::Validator open_transaction() {
  return unnamed([](const std::string& text) -> std::string {
    if (parse_transaction_id(text) == transaction_id{})
      return "takes the id of an open transaction; all zeros stand for none";
    return {};
  });
}

CLI::Validator property() {
  return unnamed([](const std::string& text) -> std::string {
    const auto sign = text.find('=');
    if (sign == std::string::npos || sign == 0)
      return "takes a name and a value such as amount=150, not " + printable(text);
    return {};
  });
}

result<start_point> parse_start(const std::string& text, wall_ms now) {
  if (text == "earliest")
    return start_point{start_from::earliest, 0};
  if (text == "latest")
    return start_point{start_from::latest, 0};
  constexpr std::string_view prefix = "offset:";
  std::uint64_t offset = 0;
  if (text.starts_with(prefix)) {
    const auto* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data() + prefix.size(), end, offset);
    if (problem == std::errc{} && stop == end)
      return start_point{start_from::offset, offset};
  } else if (const auto date = date_from_text(text)) {
    return start_point{start_from::time, *date};
  } else if (const auto ago = duration_from_text(text)) {
    const auto ms = static_cast<wall_ms>(ago->count());
    return start_point{start_from::time, now > ms ? now - ms : 0};
  }
  return fail(ec::bad_request, "takes earliest, latest, offset:N, a date such as "
                               "2026-11-30T08:30:00Z, or how long ago such as 30m, not " +
                                   printable(text));
}

start_point start_of(const std::string& text) {
  const auto parsed = parse_start(text, system_wall());
  HANDFAST_ASSERT(parsed.has_value());
  return *parsed;
}

CLI::Validator start() {
  return unnamed([](const std::string& text) -> std::string {
    auto parsed = parse_start(text, 0);
    return parsed ? std::string{} : parsed.error().detail;
  });
}

CLI::Validator tag_filter() {
  return unnamed([](const std::string& text) -> std::string {
    auto parsed = parse_tag_filter(text);
    return parsed ? std::string{} : "takes tags such as 'a || b': " + parsed.error().detail;
  });
}

CLI::Validator sql_filter() {
  return unnamed([](const std::string& text) -> std::string {
    auto parsed = parse_sql_filter(text);
    return parsed ? std::string{}
                  : "takes a condition such as \"amount > 100\": " + parsed.error().detail;
  });
}

transaction_id id_of(const std::string& text) {
  auto id = parse_transaction_id(text);
  HANDFAST_ASSERT(id.has_value());
  return *id;
}

} // namespace handfast::cli
