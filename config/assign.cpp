// Reading and writing single values by their row of the option table.

#include "config/options.hpp"
#include "config/units.hpp"
#include "messages/assert.hpp"
#include "messages/names.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <type_traits>

namespace handfast::config {

namespace {

template <class T>
concept is_choice = std::is_enum_v<T>;

tl::unexpected<error> misread(std::string_view text, std::string_view wanted) {
  return fail(ec::config_invalid, printable(text) + " is not " + std::string{wanted});
}

std::string number_text(double value) {
  std::array<char, 32> digits{};
  auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  HANDFAST_ASSERT(problem == std::errc{});
  std::string text(digits.data(), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// A bound in the form of the row's values.
std::string bound_text(const option& row, std::uint64_t value) {
  switch (row.kind) {
  case option_kind::duration:
    return format_duration(milliseconds{value});
  case option_kind::size:
    return format_size(value);
  case option_kind::number:
    return number_text(static_cast<double>(value));
  default:
    return std::to_string(value);
  }
}

template <class T>
result<void> check_bounds(const option& row, T value, std::string_view text) {
  if (value < static_cast<T>(row.bounds.min))
    return fail(ec::config_invalid,
                printable(text) + " is under the minimum of " + bound_text(row, row.bounds.min));
  if (value > static_cast<T>(row.bounds.max))
    return fail(ec::config_invalid,
                printable(text) + " is over the maximum of " + bound_text(row, row.bounds.max));
  return {};
}

template <class T>
result<T> parse_digits(std::string_view text, std::string_view wanted) {
  T value{};
  const char* end = text.data() + text.size();
  auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || stop != end)
    return misread(text, wanted);
  return value;
}

// One `parse` per type of member; bounds that fit the type are checked by `store`.

result<milliseconds> parse(const option&, std::string_view text, std::type_identity<milliseconds>) {
  return parse_duration(text);
}

result<std::uint64_t> parse(const option& row, std::string_view text,
                            std::type_identity<std::uint64_t>) {
  return row.kind == option_kind::size ? parse_size(text)
                                       : parse_digits<std::uint64_t>(text, form_of(row.kind));
}

result<double> parse(const option& row, std::string_view text, std::type_identity<double>) {
  return parse_digits<double>(text, form_of(row.kind));
}

result<bool> parse(const option& row, std::string_view text, std::type_identity<bool>) {
  if (text != "true" && text != "false")
    return misread(text, form_of(row.kind));
  return text == "true";
}

result<address> parse(const option&, std::string_view text, std::type_identity<address>) {
  return parse_address(text);
}

result<std::filesystem::path> parse(const option& row, std::string_view text,
                                    std::type_identity<std::filesystem::path>) {
  if (text.size() < row.bounds.min)
    return fail(ec::config_invalid, "the path is empty");
  return std::filesystem::path{text};
}

template <is_choice T>
result<T> parse(const option& row, std::string_view text, std::type_identity<T>) {
  for (std::size_t i = 0; i < row.choices.size(); ++i) {
    if (row.choices[i] == text)
      return static_cast<T>(i);
  }
  return misread(text, "one of " + range_of(row));
}

result<void> store(const option& row, std::string_view text, milliseconds& to) {
  auto value = parse(row, text, std::type_identity<milliseconds>{});
  if (!value)
    return tl::unexpected<error>{value.error()};
  return check_bounds(row, static_cast<std::uint64_t>(value->count()), text).map([&] {
    to = *value;
  });
}

/// Counts are read as 64 bits, so that the row's bounds speak, not the member's width.
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) result<void> store(const option& row, std::string_view text,
                                                    T& to) {
  auto value = parse(row, text, std::type_identity<std::uint64_t>{});
  if (!value)
    return tl::unexpected<error>{value.error()};
  return check_bounds(row, *value, text).map([&] { to = static_cast<T>(*value); });
}

result<void> store(const option& row, std::string_view text, double& to) {
  auto value = parse(row, text, std::type_identity<double>{});
  if (!value)
    return tl::unexpected<error>{value.error()};
  if (*value != *value)
    return misread(text, form_of(row.kind));
  return check_bounds(row, *value, text).map([&] { to = *value; });
}

template <class T>
result<void> store(const option& row, std::string_view text, T& to) {
  return parse(row, text, std::type_identity<T>{}).map([&](const T& value) { to = value; });
}

template <class T>
std::string show(const option& row, const T& value) {
  if constexpr (std::is_same_v<T, milliseconds>)
    return format_duration(value);
  else if constexpr (std::is_same_v<T, address>)
    return to_string(value);
  else if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_same_v<T, std::filesystem::path>)
    return value.string();
  else if constexpr (std::is_same_v<T, double>)
    return number_text(value);
  else if constexpr (is_choice<T>)
    return std::string{row.choices[static_cast<std::size_t>(value)]};
  else
    return bound_text(row, value);
}

} // namespace

result<void> assign(const option& row, settings& to, std::string_view text) {
  auto done = std::visit([&](auto member) { return store(row, text, member(to)); }, row.member);
  return std::move(done).map_error([&](error e) {
    e.detail = std::string{row.key} + ": " + e.detail;
    return e;
  });
}

std::string text_of(const option& row, const settings& from) {
  auto copy = from;
  return std::visit([&](auto member) { return show(row, member(copy)); }, row.member);
}

std::string default_of(const option& row) {
  return text_of(row, settings{});
}

std::string range_of(const option& row) {
  switch (row.kind) {
  case option_kind::duration:
  case option_kind::size:
  case option_kind::integer:
  case option_kind::number:
    return bound_text(row, row.bounds.min) + " to " + bound_text(row, row.bounds.max);
  case option_kind::boolean:
    return "true, false";
  case option_kind::address:
    return "HOST:PORT or empty";
  case option_kind::path:
    return row.bounds.min == 0 ? "a path or empty" : "a path";
  case option_kind::choice:
    break;
  }
  std::string all;
  for (auto one : row.choices)
    all += (all.empty() ? "" : ", ") + std::string{one};
  return all;
}

std::string_view form_of(option_kind kind) {
  switch (kind) {
  case option_kind::duration:
    return "a duration in quotes, such as \"500ms\" or \"2s\"";
  case option_kind::size:
    return "a size, such as \"16MiB\" or a number of bytes";
  case option_kind::integer:
    return "a whole number without a sign";
  case option_kind::number:
    return "a number, such as 1.5";
  case option_kind::boolean:
    return "true or false";
  case option_kind::address:
    return "an address in quotes, such as \"127.0.0.1:7310\"";
  case option_kind::choice:
    return "a word in quotes";
  case option_kind::path:
    return "a path in quotes";
  }
  return "invalid";
}

} // namespace handfast::config
