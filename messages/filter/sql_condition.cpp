#include "messages/filter/sql_condition.hpp"

#include "messages/assert.hpp"
#include "messages/filter/sql_lexer.hpp"
#include "messages/properties.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace handfast::sql {

namespace {

using number = std::variant<std::int64_t, double>;
/// An operand in sight of a message; monostate is NULL.
using value = std::variant<std::monostate, std::int64_t, double, bool, std::string_view>;

// Both kinds of numbers fit it exactly, so no comparison is blurred by a conversion.
using wide_number = long double;
static_assert(std::numeric_limits<wide_number>::digits >= 63);

wide_number widened(const number& n) {
  return std::visit([](auto x) { return static_cast<wide_number>(x); }, n);
}

value value_of(const operand& from, const property_values& values) {
  if (const auto* p = std::get_if<property_ref>(&from)) {
    const auto text = values.of(*p);
    return text ? value{*text} : value{};
  }
  if (const auto* text = std::get_if<std::string>(&from))
    return std::string_view{*text};
  if (const auto* whole = std::get_if<std::int64_t>(&from))
    return *whole;
  if (const auto* fraction = std::get_if<double>(&from))
    return *fraction;
  return std::get<bool>(from);
}

std::optional<number> as_number(const value& v) {
  if (const auto* whole = std::get_if<std::int64_t>(&v))
    return *whole;
  if (const auto* fraction = std::get_if<double>(&v))
    return *fraction;
  if (const auto* text = std::get_if<std::string_view>(&v))
    return number_in(*text);
  return std::nullopt;
}

std::optional<bool> as_bool(const value& v) {
  if (const auto* flag = std::get_if<bool>(&v))
    return *flag;
  if (const auto* text = std::get_if<std::string_view>(&v))
    return equal_in_any_case(*text, "true");
  return std::nullopt;
}

bool is_null(const value& v) {
  return std::holds_alternative<std::monostate>(v);
}

template <class Compare>
truth compare_numbers(const value& a, const value& b, Compare compare) {
  const auto left = as_number(a);
  const auto right = as_number(b);
  if (!left || !right)
    return truth::unknown;
  return of(compare(widened(*left), widened(*right)));
}

truth equal(const value& a, const value& b) {
  if (is_null(a) || is_null(b))
    return truth::unknown;
  const auto* text = std::get_if<std::string_view>(&a);
  const auto* other = std::get_if<std::string_view>(&b);
  if (text && other)
    return of(*text == *other);
  if (std::holds_alternative<bool>(a) || std::holds_alternative<bool>(b)) {
    const auto left = as_bool(a);
    const auto right = as_bool(b);
    return left && right ? of(*left == *right) : truth::unknown;
  }
  return compare_numbers(a, b, std::equal_to<>{});
}

bool contains(std::string_view text, std::string_view part) {
  // memmem and not find: its time is linear whatever the two look like.
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

truth evaluate_text(const condition& c, std::string_view text) {
  switch (c.what) {
  case operation::one_of:
    return of(std::binary_search(c.values.begin(), c.values.end(), text, std::less<>{}));
  case operation::contains:
    return of(contains(text, std::get<std::string>(c.right)));
  case operation::starts_with:
    return of(text.starts_with(std::get<std::string>(c.right)));
  case operation::ends_with:
    return of(text.ends_with(std::get<std::string>(c.right)));
  default:
    HANDFAST_ASSERT(c.what == operation::like_pattern && c.pattern != nullptr);
    return of(c.pattern->matches(text));
  }
}

truth evaluate_parts(const condition& c, const property_values& values) {
  const bool all = c.what == operation::all_of;
  const auto decided = all ? truth::no : truth::yes;
  auto answer = opposite(decided);
  for (const auto& part : c.parts) {
    const auto next = evaluate(part, values);
    if (next == decided)
      return decided;
    answer = all ? std::min(answer, next) : std::max(answer, next);
  }
  return answer;
}

} // namespace

property_values::property_values(std::string_view encoded, const std::vector<std::string>& names) {
  HANDFAST_ASSERT(names.size() <= found_.size());
  std::array<bool, limits::filter_properties_max> seen{};
  auto missing = names.size();
  while (missing > 0) {
    const auto pair = next_property(encoded);
    if (!pair)
      return;
    const auto at = std::find(names.begin(), names.end(), pair->key);
    if (at == names.end())
      continue;
    const auto place = static_cast<std::size_t>(at - names.begin());
    if (std::exchange(seen[place], true))
      continue;
    --missing;
    if (!pair->value.empty())
      found_[place] = pair->value;
  }
}

truth evaluate(const condition& c, const property_values& values) {
  switch (c.what) {
  case operation::constant:
    return c.answer;
  case operation::all_of:
  case operation::any_of:
    return evaluate_parts(c, values);
  case operation::none_of:
    return opposite(evaluate(c.parts.front(), values));
  case operation::equal:
    return equal(value_of(c.left, values), value_of(c.right, values));
  case operation::less:
    return compare_numbers(value_of(c.left, values), value_of(c.right, values), std::less<>{});
  case operation::less_or_equal:
    return compare_numbers(value_of(c.left, values), value_of(c.right, values),
                           std::less_equal<>{});
  case operation::is_null:
    return of(!values.of(std::get<property_ref>(c.left)));
  default:
    const auto text = values.of(std::get<property_ref>(c.left));
    return text ? evaluate_text(c, *text) : truth::unknown;
  }
}

std::optional<std::variant<std::int64_t, double>> number_in(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-')
    text.remove_prefix(1);
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole);
      read.ec == std::errc{} && read.ptr == end)
    return whole;
  double fraction = 0;
  const auto read = std::from_chars(text.data(), end, fraction);
  if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(fraction))
    return std::nullopt;
  return fraction;
}

} // namespace handfast::sql
