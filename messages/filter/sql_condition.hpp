#pragma once

/// What an SQL filter means: a tree of conditions, and its truth for one message's properties.

#include "messages/filter/like_pattern.hpp"
#include "messages/limits.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace handfast::sql {

/// Kleene's three values, in the order in which AND takes the smallest and OR the largest.
enum class truth : std::uint8_t { no = 0, unknown = 1, yes = 2 };

constexpr truth of(bool answer) {
  return answer ? truth::yes : truth::no;
}
constexpr truth opposite(truth t) {
  return static_cast<truth>(2 - static_cast<int>(t));
}

/// A property by its place in the filter's list of names.
struct property_ref {
  std::size_t place = 0;
};

/// What stands on a side of a comparison.
using operand = std::variant<property_ref, std::int64_t, double, bool, std::string>;

enum class operation : std::uint8_t {
  constant, ///< `answer`
  all_of,   ///< of `parts`
  any_of,   ///< of `parts`
  none_of,  ///< `parts` has one
  equal,    ///< this and the next two: `left` and `right`
  less,
  less_or_equal,
  is_null,      ///< this and those below: `left`, which is a property
  one_of,       ///< `values`, sorted
  contains,     ///< this and the next two: the text in `right`
  starts_with,  //
  ends_with,    //
  like_pattern, ///< `pattern`
};

struct condition {
  operation what = operation::constant;
  truth answer = truth::unknown;
  std::vector<condition> parts;
  operand left;
  operand right;
  std::vector<std::string> values;
  std::shared_ptr<const sql::like_pattern> pattern;
};

/// The values of the properties that a filter names, found in one pass; absent or empty ones are
/// NULL, since producers can't store an empty value.
class property_values {
public:
  property_values(std::string_view encoded, const std::vector<std::string>& names);

  [[nodiscard]] std::optional<std::string_view> of(property_ref p) const { return found_[p.place]; }

private:
  std::array<std::optional<std::string_view>, limits::filter_properties_max> found_;
};

/// Total; never allocates. Goes no deeper than the conditions are nested.
truth evaluate(const condition& c, const property_values& values);

/// The number that the whole of `text` is, exact for whole numbers of 64 bits; nothing for other
/// text, infinities and what no double holds.
std::optional<std::variant<std::int64_t, double>> number_in(std::string_view text);

} // namespace handfast::sql
