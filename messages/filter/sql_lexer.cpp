#include "messages/filter/sql_lexer.hpp"

#include <algorithm>
#include <array>

namespace handfast::sql {

namespace {

constexpr std::array<std::string_view, 10> reserved{"NOT",  "AND",   "OR",   "BETWEEN", "IN",
                                                    "TRUE", "FALSE", "NULL", "IS",      "CONTAINS"};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool opens_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

constexpr bool goes_on(char c) {
  return opens_word(c) || is_digit(c);
}

constexpr char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

constexpr std::string_view remedy_for(char c) {
  switch (c) {
  case '!':
    return "write <> for unequal";
  case '&':
    return "write AND";
  case '|':
    return "write OR; lists of tags such as A || B belong to a filter of kind TAG";
  case '"':
    return "put a text into single quotes, the name of a property into backquotes if it needs any";
  case '*':
  case '/':
  case '%':
    return "this dialect does not calculate; let the producer set the property that is compared";
  default:
    return "put a text into single quotes, and the name of a property into backquotes if it has "
           "other characters than letters, digits, _ and $";
  }
}

} // namespace

bool equal_in_any_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return upper(x) == upper(y); });
}

bool token::is_word(std::string_view wanted) const {
  return kind == token_kind::word && equal_in_any_case(raw, wanted);
}

bool token::is_reserved() const {
  return std::ranges::any_of(reserved, [this](auto word) { return is_word(word); });
}

std::string token::unquoted() const {
  if (kind != token_kind::text && kind != token_kind::quoted_word)
    return std::string{raw};
  std::string inside;
  for (std::size_t i = 1; i + 1 < raw.size(); ++i) {
    inside += raw[i];
    if (raw[i] == raw.front())
      ++i;
  }
  return inside;
}

char lexer::peek(std::size_t ahead) const {
  return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
}

bool lexer::skip_blanks() {
  constexpr std::string_view blanks = " \t\n\r\f";
  while (at_ < text_.size()) {
    if (blanks.find(peek()) != std::string_view::npos) {
      ++at_;
    } else if (peek() == '-' && peek(1) == '-') {
      at_ = std::min(text_.find_first_of("\n\r", at_), text_.size());
    } else if (peek() == '/' && peek(1) == '*') {
      const auto end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos)
        return false;
      at_ = end + 2;
    } else {
      break;
    }
  }
  return true;
}

token lexer::take(token_kind kind, std::size_t length) {
  const token taken{kind, text_.substr(at_, length), at_, {}};
  at_ += taken.raw.size();
  return taken;
}

token lexer::fault(std::size_t length, std::string_view remedy) {
  auto taken = take(token_kind::fault, length);
  taken.remedy = remedy;
  at_ = text_.size();
  return taken;
}

token lexer::quoted(char quote, token_kind kind, std::string_view remedy) {
  auto end = at_ + 1;
  while ((end = text_.find(quote, end)) != std::string_view::npos) {
    if (end + 1 == text_.size() || text_[end + 1] != quote)
      return take(kind, end + 1 - at_);
    end += 2;
  }
  return fault(std::string_view::npos, remedy);
}

token lexer::number() {
  std::size_t length = 0;
  const auto digits = [&] {
    while (is_digit(peek(length)))
      ++length;
  };
  auto kind = token_kind::integer;
  digits();
  if (peek(length) == '.') {
    kind = token_kind::decimal;
    ++length;
    digits();
  }
  if (upper(peek(length)) == 'E') {
    const std::size_t sign = peek(length + 1) == '+' || peek(length + 1) == '-' ? 2 : 1;
    if (is_digit(peek(length + sign))) {
      kind = token_kind::decimal;
      length += sign;
      digits();
    }
  }
  const bool is_long = kind == token_kind::integer && upper(peek(length)) == 'L';
  auto after = length + (is_long ? 1 : 0);
  if (goes_on(peek(after)) || peek(after) == '.') {
    while (goes_on(peek(after)) || peek(after) == '.')
      ++after;
    return fault(after, "this is neither a number nor a name; a text goes into single quotes, the "
                        "name of a property that begins with a digit into backquotes");
  }
  const auto taken = take(kind, length);
  at_ += is_long ? 1 : 0;
  return taken;
}

token lexer::symbol() {
  for (const std::string_view two : {"<>", "<=", ">="}) {
    if (text_.substr(at_, 2) == two)
      return take(token_kind::symbol, 2);
  }
  constexpr std::string_view single = "=<>(),+-";
  if (single.find(peek()) != std::string_view::npos)
    return take(token_kind::symbol, 1);
  return fault(1, remedy_for(peek()));
}

token lexer::next() {
  if (!skip_blanks())
    return fault(2, "end the comment with */");
  if (at_ == text_.size())
    return {token_kind::end, {}, at_, {}};
  const char c = peek();
  if (opens_word(c)) {
    std::size_t length = 1;
    while (goes_on(peek(length)))
      ++length;
    return take(token_kind::word, length);
  }
  if (is_digit(c) || (c == '.' && is_digit(peek(1))))
    return number();
  if (c == '\'')
    return quoted(c, token_kind::text, "end the text with ', and write '' for a ' inside it");
  if (c == '`')
    return quoted(c, token_kind::quoted_word, "end the name with a backquote");
  return symbol();
}

} // namespace handfast::sql
