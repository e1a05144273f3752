#pragma once

/// Cuts the text of an SQL filter into words. Steps on the way from text to `condition`: this, then
/// `sql_parser`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace handfast::sql {

enum class token_kind : std::uint8_t {
  end,
  word,        ///< a keyword or the name of a property
  quoted_word, ///< the name of a property in backquotes
  text,        ///< in single quotes
  integer,
  decimal,
  symbol, ///< = <> < <= > >= ( ) , + -
  fault,  ///< nothing of these; `remedy` of the token says what to do
};

/// A window into the filter's text.
struct token {
  token_kind kind = token_kind::end;
  std::string_view raw; ///< with its quotes
  std::size_t at = 0;   ///< byte in the filter's text
  std::string_view remedy;

  /// Whether it is that symbol.
  [[nodiscard]] bool is(std::string_view symbol) const {
    return kind == token_kind::symbol && raw == symbol;
  }
  /// Whether it is that word, in whatever case; `upper` is in upper case.
  [[nodiscard]] bool is_word(std::string_view upper) const;
  /// A word that can't be a property's name unless it stands in backquotes.
  [[nodiscard]] bool is_reserved() const;
  /// What quotes hold, each doubled one of them once; `raw` for a token without quotes.
  [[nodiscard]] std::string unquoted() const;
};

/// Total: any bytes give tokens, the last of them `end`. Not thread-safe.
class lexer {
public:
  explicit lexer(std::string_view text) : text_{text} {}

  /// Takes the next token; after `end` it is `end` for ever.
  token next();

private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const;
  /// Blanks and comments; false in front of a comment without end.
  bool skip_blanks();
  token take(token_kind kind, std::size_t length);
  token fault(std::size_t length, std::string_view remedy);
  token quoted(char quote, token_kind kind, std::string_view remedy);
  token number();
  token symbol();

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Whether `a` and `b` are equal when ASCII letters count the same in upper and lower case.
bool equal_in_any_case(std::string_view a, std::string_view b);

} // namespace handfast::sql
