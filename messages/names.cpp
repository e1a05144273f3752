#include "messages/names.hpp"

#include "messages/limits.hpp"

#include <algorithm>
#include <string>

namespace handfast {

namespace {

constexpr std::size_t shown_max = 64;

std::string_view text_of(name_kind kind) {
  return kind == name_kind::topic ? "topic" : "group";
}

bool is_printable(char c) {
  return c >= 0x20 && c < 0x7f;
}

void append_char(std::string& to, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (is_printable(c)) {
    to += c;
    return;
  }
  auto byte = static_cast<unsigned char>(c);
  to += "\\x";
  to += digits[byte >> 4];
  to += digits[byte & 15];
}

} // namespace

std::string printable(std::string_view text) {
  std::string shown = "'";
  for (char c : text.substr(0, shown_max))
    append_char(shown, c);
  if (text.size() > shown_max)
    shown += "...";
  shown += '\'';
  return shown;
}

std::string dead_letter_topic_of(std::string_view group) {
  return std::string{dead_letter_prefix} + std::string{group};
}

result<void> valid_name(name_kind kind, std::string_view name) {
  std::string what{text_of(kind)};
  if (name.empty())
    return fail(ec::bad_name, what + " name is empty");
  const bool dead_letters = kind == name_kind::topic && is_dead_letter_topic(name);
  if (name.size() > limits::name_chars_max + (dead_letters ? dead_letter_prefix.size() : 0))
    return fail(ec::bad_name, what + " name " + printable(name) + " has " +
                                  std::to_string(name.size()) + " characters, at most " +
                                  std::to_string(limits::name_chars_max) + " are allowed");
  auto bad = std::find_if_not(name.begin(), name.end(), is_name_char);
  if (bad != name.end())
    return fail(ec::bad_name, what + " name " + printable(name) + " has " + printable({&*bad, 1}) +
                                  " as character " + std::to_string(bad - name.begin() + 1));
  return {};
}

} // namespace handfast
