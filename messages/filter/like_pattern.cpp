#include "messages/filter/like_pattern.hpp"

#include "messages/limits.hpp"
#include "messages/names.hpp"

namespace handfast::sql {

namespace {

static_assert(limits::like_elements_max < 64, "one bit each, and one for nothing met yet");

constexpr bool continues_character(unsigned byte) {
  return (byte & 0xC0U) == 0x80U;
}

constexpr std::uint64_t bit(unsigned n) {
  return std::uint64_t{1} << n;
}

} // namespace

void like_pattern::add_byte(unsigned char byte) {
  step_[byte] |= bit(++elements_);
}

void like_pattern::add_any_character() {
  ++elements_;
  for (unsigned byte = 0; byte < step_.size(); ++byte) {
    if (!continues_character(byte))
      step_[byte] |= bit(elements_);
  }
  continues_ |= bit(elements_);
}

tl::expected<like_pattern, std::string> like_pattern::compile(std::string_view pattern,
                                                              std::optional<char> escape) {
  like_pattern made;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool escaped = c == escape;
    if (escaped) {
      ++i;
      if (i == pattern.size() || (pattern[i] != '%' && pattern[i] != '_' && pattern[i] != c))
        return tl::unexpected{"the escape character " + printable({&c, 1}) + " in pattern " +
                              printable(pattern) +
                              " stands before none of %, _ and itself; write it twice to mean it"};
    } else if (c == '%') {
      made.stay_ |= bit(made.elements_);
      continue;
    }
    if (made.elements_ == limits::like_elements_max)
      return tl::unexpected{"pattern " + printable(pattern) + " has more than " +
                            std::to_string(limits::like_elements_max) +
                            " bytes besides %; use STARTSWITH, ENDSWITH or CONTAINS, which have "
                            "no such limit, or several patterns with AND"};
    if (c == '_' && !escaped)
      made.add_any_character();
    else
      made.add_byte(static_cast<unsigned char>(pattern[i]));
  }
  return made;
}

bool like_pattern::matches(std::string_view text) const {
  std::uint64_t met = bit(0);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const auto kept = continues_character(byte) ? stay_ | continues_ : stay_;
    met = ((met << 1) & step_[byte]) | (met & kept);
    if (met == 0)
      return false;
  }
  return (met & bit(elements_)) != 0;
}

} // namespace handfast::sql
