#pragma once

/// SQL's LIKE, in time linear in the text whatever the pattern.

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace handfast::sql {

/// `%` stands for any characters, `_` for one character of UTF-8, everything else for itself. All
/// prefixes of the pattern are followed at once, one bit each. Immutable.
class like_pattern {
public:
  /// After `escape`, the characters `%`, `_` and `escape` stand for themselves. Otherwise a
  /// sentence that says what is wrong with the pattern.
  static tl::expected<like_pattern, std::string> compile(std::string_view pattern,
                                                         std::optional<char> escape);

  /// Whether the whole of `text` fits. Never allocates.
  [[nodiscard]] bool matches(std::string_view text) const;

private:
  like_pattern() = default;
  void add_byte(unsigned char byte);
  void add_any_character();

  /// Bit i: the first i elements have been met.
  std::array<std::uint64_t, 256> step_{}; ///< bits that a byte leads to
  std::uint64_t stay_ = 0;                ///< followed by `%`: any byte keeps them
  std::uint64_t continues_ = 0;           ///< behind `_`: bytes 10xxxxxx belong to it
  unsigned elements_ = 0;
};

} // namespace handfast::sql
