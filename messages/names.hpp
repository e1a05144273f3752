#pragma once

/// The one grammar of topic and group names, checked at every door before a name reaches an actor.

#include "messages/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace handfast {

/// What a name stands for; only used to say so in an error.
enum class name_kind : std::uint8_t { topic, group };

/// Whether `c` may stand in a name: ASCII letters and digits, '_', '-', '%' and '|'. So no name is
/// ever a path, a label with blanks, or looks different from what it is.
constexpr bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '%' || c == '|';
}

/// Accepts 1 to `limits::name_chars_max` characters for which `is_name_char` holds; the prefix of a
/// dead-letter topic is not counted. Otherwise
/// `ec::bad_name`, with the kind, the name (shortened and made printable), the offending character
/// and its place, or the limit.
result<void> valid_name(name_kind kind, std::string_view name);

/// What the names of dead-letter topics begin with; the group's name follows. Only the node makes
/// and writes such topics.
constexpr std::string_view dead_letter_prefix = "%DLQ%";
constexpr bool is_dead_letter_topic(std::string_view topic) {
  return topic.substr(0, dead_letter_prefix.size()) == dead_letter_prefix;
}
std::string dead_letter_topic_of(std::string_view group);

/// `text` for an error or log line: at most 64 characters in single quotes, anything but printable
/// ASCII as `\xNN`.
std::string printable(std::string_view text);

} // namespace handfast
