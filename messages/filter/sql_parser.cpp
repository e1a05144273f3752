#include "messages/filter/sql_parser.hpp"

#include "messages/filter/sql_lexer.hpp"
#include "messages/names.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace handfast::sql {

namespace {

constexpr std::string_view name_in_backquotes =
    "a reserved word or a name with other characters than letters, digits, _ and $ goes into "
    "backquotes";

std::string shown(const token& t) {
  return t.kind == token_kind::end ? "the end of the filter" : printable(t.raw);
}

condition negated(condition c) {
  condition made;
  made.what = operation::none_of;
  made.parts.push_back(std::move(c));
  return made;
}

condition pair_of(operation what, condition a, condition b) {
  condition made;
  made.what = what;
  made.parts.push_back(std::move(a));
  made.parts.push_back(std::move(b));
  return made;
}

condition comparison(operation what, operand left, operand right) {
  condition made;
  made.what = what;
  made.left = std::move(left);
  made.right = std::move(right);
  return made;
}

bool is_number(const operand& o) {
  return std::holds_alternative<std::int64_t>(o) || std::holds_alternative<double>(o);
}

/// What an expression turned out to be: a condition, or something to compare.
struct expression {
  token begins;
  std::optional<condition> as_condition;
  operand value;
};

/// Recursive descent, one function for each rule of `docs/filters.md`. After the first fault the
/// rest of the text counts as its end, so that every rule comes to an end by itself; what the rules
/// made by then is thrown away.
class parser {
public:
  explicit parser(std::string_view text) : text_{text}, lexer_{text} { advance(); }

  result<program> run() {
    auto root = as_condition(any_of());
    if (next_.kind != token_kind::end)
      fault(next_, "AND, OR or the end of the filter", "");
    std::sort(properties_.begin(), properties_.end(), by_place);
    if (problem_)
      return tl::unexpected<error>{*std::move(problem_)};
    program made{std::move(root), {}};
    for (auto& known : properties_)
      made.properties.push_back(std::move(known.name));
    return made;
  }

private:
  struct known_property {
    std::string name;
    std::size_t place = 0;
  };

  static bool by_place(const known_property& a, const known_property& b) {
    return a.place < b.place;
  }

  // -- words ------------------------------------------------------------------------

  void advance() {
    next_ = problem_ ? token{} : lexer_.next();
    if (next_.kind == token_kind::fault)
      fault(next_, "", next_.remedy);
  }

  token taken() {
    const auto here = next_;
    advance();
    return here;
  }

  bool take_word(std::string_view upper) {
    const bool there = next_.is_word(upper);
    if (there)
      advance();
    return there;
  }

  bool take_symbol(std::string_view symbol) {
    const bool there = next_.is(symbol);
    if (there)
      advance();
    return there;
  }

  // -- faults -----------------------------------------------------------------------

  [[nodiscard]] std::size_t character_at(std::size_t byte) const {
    return 1 + static_cast<std::size_t>(std::ranges::count_if(text_.substr(0, byte), [](char c) {
             return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
           }));
  }

  /// Only the first counts: it is the cause of the others.
  void give_up(std::size_t at, const std::string& what) {
    if (!problem_)
      problem_ = error{ec::bad_request, "filter " + printable(text_) + " at character " +
                                            std::to_string(character_at(at)) + ": " + what};
    next_ = {};
  }

  void fault(const token& found, std::string_view wanted, std::string_view remedy) {
    std::string what;
    if (!wanted.empty())
      what.append("expected ").append(wanted).append(", ");
    what += "found " + shown(found);
    if (!remedy.empty())
      what.append("; ").append(remedy);
    give_up(found.at, what);
  }

  bool count_condition(const token& at, std::size_t more = 1) {
    conditions_ += more;
    if (conditions_ > limits::filter_conditions_max)
      give_up(at.at, "more than " + std::to_string(limits::filter_conditions_max) +
                         " conditions; use IN for several values of one property, or let the "
                         "producer set a property that says what is wanted");
    return !problem_;
  }

  bool count_search(const token& at) {
    if (++searches_ > limits::filter_searches_max)
      give_up(at.at, "more than " + std::to_string(limits::filter_searches_max) +
                         " CONTAINS and LIKE; use STARTSWITH, ENDSWITH or IN where they do, or let "
                         "the producer set a property that says what is wanted");
    return !problem_;
  }

  /// Counts one level while it lives.
  class nesting {
  public:
    nesting(parser& of, const token& at) : of_{of} {
      if (++of_.depth_ > limits::filter_depth_max)
        of_.give_up(at.at, "nested deeper than " + std::to_string(limits::filter_depth_max) +
                               " levels; leave out parentheses that change nothing");
    }
    ~nesting() { --of_.depth_; }
    nesting(const nesting&) = delete;
    nesting& operator=(const nesting&) = delete;

  private:
    parser& of_;
  };

  condition as_condition(expression e) {
    if (e.as_condition)
      return *std::move(e.as_condition);
    if (const auto* flag = std::get_if<bool>(&e.value)) {
      condition constant;
      constant.answer = of(*flag);
      count_condition(e.begins);
      return constant;
    }
    if (std::holds_alternative<property_ref>(e.value))
      fault(next_, "a comparison after " + shown(e.begins),
            "write = TRUE or IS NOT NULL to ask for the property itself");
    else
      fault(next_, "a comparison after " + shown(e.begins), "");
    return {};
  }

  operand as_operand(expression e, std::string_view of_what) {
    if (e.as_condition && !problem_)
      fault(e.begins, "a property or a value " + std::string{of_what},
            "a condition can't be compared; join conditions with AND or OR");
    return std::move(e.value);
  }

  // -- rules ------------------------------------------------------------------------

  expression any_of() { return joined("OR", operation::any_of, &parser::all_of); }
  expression all_of() { return joined("AND", operation::all_of, &parser::maybe_not); }

  expression joined(std::string_view by, operation what, expression (parser::*part)()) {
    auto first = (this->*part)();
    if (!next_.is_word(by))
      return first;
    condition made;
    made.what = what;
    const auto begins = first.begins;
    made.parts.push_back(as_condition(std::move(first)));
    while (take_word(by))
      made.parts.push_back(as_condition((this->*part)()));
    return {begins, std::move(made), {}};
  }

  expression maybe_not() {
    if (!next_.is_word("NOT"))
      return predicate();
    const auto begins = taken();
    const nesting level{*this, begins};
    return {begins, negated(as_condition(maybe_not())), {}};
  }

  expression predicate() {
    auto left = primary("a property or a value");
    const auto at = next_;
    if (take_word("IS"))
      return {left.begins, null_test(std::move(left), at), {}};
    if (at.kind == token_kind::symbol && at.raw.find_first_of("=<>") == 0)
      return {left.begins, relation(std::move(left), taken()), {}};
    const auto begins = left.begins;
    const bool is_not = take_word("NOT");
    auto tested = text_test(std::move(left), next_);
    if (tested.as_condition && is_not && !problem_)
      tested.as_condition = negated(*std::move(tested.as_condition));
    else if (is_not && !tested.as_condition)
      fault(next_, "BETWEEN, IN, LIKE, CONTAINS, STARTSWITH or ENDSWITH after NOT", "");
    tested.begins = begins;
    return tested;
  }

  /// The tests that NOT can stand before; what is none of them comes back as it is.
  expression text_test(expression left, const token at) {
    if (take_word("BETWEEN"))
      return {left.begins, between(std::move(left), at), {}};
    condition made;
    if (take_word("IN"))
      made.what = operation::one_of;
    else if (take_word("CONTAINS"))
      made.what = operation::contains;
    else if (take_word("STARTSWITH"))
      made.what = operation::starts_with;
    else if (take_word("ENDSWITH"))
      made.what = operation::ends_with;
    else if (take_word("LIKE"))
      made.what = operation::like_pattern;
    else
      return left;
    const auto begins = left.begins;
    made.left = property_of(std::move(left), at);
    const bool search = made.what == operation::contains || made.what == operation::like_pattern;
    if (!count_condition(at) || (search && !count_search(at)))
      return {begins, std::move(made), {}};
    if (made.what == operation::one_of)
      made.values = value_list();
    else if (made.what == operation::like_pattern)
      made.pattern = pattern();
    else
      made.right = searched(at);
    return {begins, std::move(made), {}};
  }

  property_ref property_of(expression left, const token& before) {
    if (const auto* p = std::get_if<property_ref>(&left.value); p && !left.as_condition)
      return *p;
    fault(left.begins, "a property before " + shown(before), name_in_backquotes);
    return {};
  }

  condition null_test(expression left, const token& at) {
    condition made;
    made.what = operation::is_null;
    made.left = property_of(std::move(left), at);
    count_condition(at);
    const bool is_not = take_word("NOT");
    if (!take_word("NULL"))
      fault(next_, is_not ? "NULL" : "NULL or NOT NULL", "compare with = for any other value");
    return is_not ? negated(std::move(made)) : made;
  }

  condition relation(expression first, const token& sign) {
    auto left = as_operand(std::move(first), "before " + shown(sign));
    if (next_.is("=")) {
      fault(next_, "a property or a value", "write = once, <= or >=");
      return {};
    }
    const auto at = next_;
    auto right =
        as_operand(primary("a property or a value after " + shown(sign)), "after " + shown(sign));
    if (!count_condition(sign))
      return {};
    if (sign.is("=") || sign.is("<>")) {
      check_equality(left, right, at);
      auto made = comparison(operation::equal, std::move(left), std::move(right));
      return sign.is("=") ? made : negated(std::move(made));
    }
    check_order(left, sign);
    check_order(right, sign);
    const auto what = sign.raw.ends_with('=') ? operation::less_or_equal : operation::less;
    if (sign.raw.starts_with('>'))
      std::swap(left, right);
    return comparison(what, std::move(left), std::move(right));
  }

  void check_equality(const operand& left, const operand& right, const token& at) {
    const bool flag = std::holds_alternative<bool>(left) || std::holds_alternative<bool>(right);
    if (flag && (is_number(left) || is_number(right)))
      fault(at, "two values that can be equal", "TRUE and FALSE are never equal to a number");
  }

  /// Text has no order here: whose alphabet would it be?
  void check_order(const operand& o, const token& sign) {
    if (is_number(o) || std::holds_alternative<property_ref>(o))
      return;
    fault(sign, "= or <> beside a text, TRUE or FALSE",
          "only numbers have an order; write a number without quotes");
  }

  condition between(expression first, const token& at) {
    auto value = as_operand(std::move(first), "before BETWEEN");
    auto low = as_operand(primary("the lower bound after BETWEEN"), "after BETWEEN");
    if (!take_word("AND"))
      fault(next_, "AND and the upper bound of BETWEEN", "");
    auto high = as_operand(primary("the upper bound after AND"), "after AND");
    for (const auto* o : {&value, &low, &high})
      check_order(*o, at);
    if (is_number(low) && is_number(high) && !ordered(low, high))
      fault(at, "a lower bound that is not above the upper one", "exchange the bounds");
    count_condition(at, 2);
    return pair_of(operation::all_of, comparison(operation::less_or_equal, std::move(low), value),
                   comparison(operation::less_or_equal, value, std::move(high)));
  }

  static bool ordered(const operand& low, const operand& high) {
    return evaluate(comparison(operation::less_or_equal, low, high), property_values{{}, {}}) ==
           truth::yes;
  }

  std::vector<std::string> value_list() {
    std::vector<std::string> values;
    if (!take_symbol("(")) {
      fault(next_, "( after IN", "write IN ('a', 'b')");
      return values;
    }
    do {
      const auto at = next_;
      values.push_back(text("a text in single quotes", "write a number in quotes too: '5'"));
      if (++values_ > limits::filter_values_max)
        give_up(at.at, "more than " + std::to_string(limits::filter_values_max) +
                           " values in lists; let the producer set a property or a tag that "
                           "says what is wanted");
    } while (take_symbol(","));
    if (!take_symbol(")"))
      fault(next_, ", or ) in the list after IN", "");
    std::ranges::sort(values);
    return values;
  }

  std::string searched(const token& before) {
    const auto at = next_;
    auto part = text("a text in single quotes after " + shown(before),
                     "a property can only be searched for a text");
    if (part.empty() && !problem_)
      fault(at, "a text that is not empty",
            "write IS NOT NULL to ask whether the property is there");
    return part;
  }

  std::shared_ptr<const like_pattern> pattern() {
    const auto at = next_;
    const auto form = text("a pattern in single quotes after LIKE", "");
    std::optional<char> escape;
    if (take_word("ESCAPE")) {
      const auto escape_at = next_;
      const auto one = text("one character in single quotes after ESCAPE", "");
      if (one.size() == 1 && static_cast<unsigned char>(one.front()) < 0x80)
        escape = one.front();
      else if (!problem_)
        fault(escape_at, "one ASCII character after ESCAPE", "write ESCAPE '!'");
    }
    const auto made = like_pattern::compile(form, escape);
    if (made)
      return std::make_shared<const like_pattern>(*made);
    give_up(at.at, made.error());
    return nullptr;
  }

  std::string text(const std::string& wanted, std::string_view remedy) {
    if (next_.kind == token_kind::text)
      return taken().unquoted();
    fault(next_, wanted, remedy);
    return {};
  }

  expression primary(std::string_view wanted) {
    const auto begins = next_;
    if (begins.is("(")) {
      const nesting level{*this, begins};
      advance();
      auto inside = any_of();
      if (!take_symbol(")"))
        fault(next_, ") for the ( at character " + std::to_string(character_at(begins.at)), "");
      inside.begins = begins;
      return inside;
    }
    if (begins.is("-") || begins.is("+"))
      return {begins, {}, signed_number(taken())};
    switch (begins.kind) {
    case token_kind::integer:
    case token_kind::decimal:
      return {begins, {}, number(taken(), std::string{begins.raw})};
    case token_kind::text:
      return {begins, {}, taken().unquoted()};
    case token_kind::word:
    case token_kind::quoted_word:
      return {begins, {}, word(begins, wanted)};
    default:
      fault(begins, wanted, "");
      return {begins, {}, false};
    }
  }

  operand word(const token& t, std::string_view wanted) {
    if (t.is_word("TRUE") || t.is_word("FALSE")) {
      advance();
      return t.is_word("TRUE");
    }
    if (t.is_word("NULL"))
      fault(t, wanted, "nothing is equal to NULL; write IS NULL or IS NOT NULL");
    else if (t.is_reserved())
      fault(t, wanted, name_in_backquotes);
    if (problem_)
      return false;
    advance();
    return property(t);
  }

  operand property(const token& t) {
    auto name = t.unquoted();
    if (name.empty())
      fault(t, "the name of a property in backquotes", "");
    const auto known = std::ranges::lower_bound(properties_, name, {}, &known_property::name);
    if (known != properties_.end() && known->name == name)
      return property_ref{known->place};
    const auto place = properties_.size();
    if (place == limits::filter_properties_max) {
      give_up(t.at, "more than " + std::to_string(limits::filter_properties_max) +
                        " different properties; let the producer set one that says what is "
                        "wanted");
      return false;
    }
    properties_.insert(known, {std::move(name), place});
    return property_ref{place};
  }

  operand signed_number(const token& sign) {
    if (next_.kind != token_kind::integer && next_.kind != token_kind::decimal) {
      fault(next_, "a number after " + shown(sign), "only a number can have a sign");
      return false;
    }
    const auto digits = taken();
    return number(digits, std::string{sign.raw}.append(digits.raw));
  }

  /// `written` is the token with its sign.
  operand number(const token& t, const std::string& written) {
    const auto read = number_in(written);
    if (!read)
      give_up(t.at, printable(written) + " is too large or too small for a decimal number of 64 "
                                         "bits; write one from 1e-307 to 1e308");
    else if (t.kind == token_kind::integer && std::holds_alternative<double>(*read))
      give_up(t.at, printable(written) +
                        " is outside -9223372036854775808 to 9223372036854775807; write " +
                        printable(t.raw) + " with .0 behind it to compare approximately");
    if (problem_)
      return false;
    if (t.kind == token_kind::decimal)
      return std::visit([](auto x) { return operand{static_cast<double>(x)}; }, *read);
    return std::get<std::int64_t>(*read);
  }

  std::string_view text_;
  lexer lexer_;
  token next_;
  std::optional<error> problem_;
  std::vector<known_property> properties_; ///< by name while parsing
  std::size_t conditions_ = 0;
  std::size_t searches_ = 0;
  std::size_t values_ = 0;
  std::size_t depth_ = 0;
};

} // namespace

result<program> parse(std::string_view text) {
  return parser{text}.run();
}

} // namespace handfast::sql
