#include "messages/filter/filter.hpp"
#include "messages/properties.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <vector>

namespace {

/// Allocations of this thread, to show that evaluating makes none.
thread_local std::size_t allocations = 0;

} // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size))
    return memory;
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace handfast {
namespace {

using known_properties = std::map<std::string, std::string>;
using answer = std::optional<bool>;

answer negation(answer a) {
  return a ? answer{!*a} : std::nullopt;
}

/// A filter as a tree that says by itself, in the plainest way, what it means.
struct tree {
  virtual ~tree() = default;
  [[nodiscard]] virtual std::string print(std::mt19937_64& random) const = 0;
  [[nodiscard]] virtual answer evaluate(const known_properties& of) const = 0;
};
using tree_ptr = std::unique_ptr<tree>;

std::size_t below(std::mt19937_64& random, std::size_t limit) {
  return random() % limit;
}

std::string in_random_case(std::mt19937_64& random, std::string word) {
  if (below(random, 3) == 0)
    std::ranges::transform(word, word.begin(), [](char c) { return static_cast<char>(c | 0x20); });
  return word;
}

std::string blank(std::mt19937_64& random) {
  constexpr std::array<const char*, 5> blanks{" ", "  ", "\t", " /* why */ ", "\n"};
  return blanks[below(random, blanks.size())];
}

std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char c : text)
    made.append(c == '\'' ? 2 : 1, c);
  return made + "'";
}

std::optional<std::string> find(const known_properties& in, const std::string& name) {
  const auto found = in.find(name);
  return found == in.end() ? std::nullopt : std::optional{found->second};
}

std::optional<double> plain_number(const std::string& text) {
  char* end = nullptr;
  const auto number = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional{number};
}

struct joined : tree {
  std::vector<tree_ptr> parts;
  bool all = false;

  std::string print(std::mt19937_64& random) const override {
    std::string made;
    for (const auto& part : parts) {
      if (!made.empty())
        made += blank(random) + in_random_case(random, all ? "AND" : "OR") + blank(random);
      made += "(" + part->print(random) + ")";
    }
    return made;
  }
  answer evaluate(const known_properties& of) const override {
    bool unknown = false;
    for (const auto& part : parts) {
      const auto next = part->evaluate(of);
      if (next && *next != all)
        return !all;
      unknown = unknown || !next;
    }
    return unknown ? std::nullopt : answer{all};
  }
};

struct negated : tree {
  tree_ptr part;

  std::string print(std::mt19937_64& random) const override {
    return in_random_case(random, "NOT") + " (" + part->print(random) + ")";
  }
  answer evaluate(const known_properties& of) const override {
    return negation(part->evaluate(of));
  }
};

struct number_test : tree {
  std::string name;
  std::string sign;
  std::string number;

  std::string print(std::mt19937_64& random) const override {
    return name + blank(random) + sign + blank(random) + number;
  }
  answer evaluate(const known_properties& of) const override {
    const auto text = find(of, name);
    const auto value = text ? plain_number(*text) : std::nullopt;
    const auto other = *plain_number(number);
    if (!value)
      return std::nullopt;
    if (sign == "=")
      return *value == other;
    if (sign == "<>")
      return *value != other;
    if (sign == "<")
      return *value < other;
    if (sign == "<=")
      return *value <= other;
    return sign == ">" ? *value > other : *value >= other;
  }
};

struct between_test : tree {
  std::string name;
  int low = 0;
  int high = 0;
  bool is_not = false;

  std::string print(std::mt19937_64& random) const override {
    return name + " " + in_random_case(random, is_not ? "NOT BETWEEN" : "BETWEEN") + " " +
           std::to_string(low) + in_random_case(random, " AND ") + std::to_string(high);
  }
  answer evaluate(const known_properties& of) const override {
    const auto text = find(of, name);
    const auto value = text ? plain_number(*text) : std::nullopt;
    if (!value)
      return std::nullopt;
    return (*value >= low && *value <= high) != is_not;
  }
};

/// `how` is =, <>, IN, CONTAINS, STARTSWITH, ENDSWITH, LIKE or IS NULL.
struct text_test : tree {
  std::string name;
  std::string how;
  std::string text;
  bool is_not = false;

  std::string print(std::mt19937_64& random) const override {
    if (how == "IS NULL")
      return name + " " + in_random_case(random, is_not ? "IS NOT NULL" : how);
    const auto spelled = in_random_case(random, is_not ? "NOT " + how : how);
    if (how == "IN")
      return name + " " + spelled + blank(random) + "('other'," + quoted(text) + ")";
    return name + " " + spelled + " " + quoted(text);
  }
  answer evaluate(const known_properties& of) const override {
    const auto value = find(of, name);
    if (how == "IS NULL")
      return value.has_value() == is_not;
    if (!value)
      return std::nullopt;
    return holds(*value) != is_not;
  }
  [[nodiscard]] bool holds(const std::string& value) const {
    if (how == "=")
      return value == text;
    if (how == "<>")
      return value != text;
    if (how == "IN")
      return value == "other" || value == text;
    if (how == "CONTAINS")
      return value.find(text) != std::string::npos;
    if (how == "STARTSWITH")
      return value.starts_with(text);
    if (how == "ENDSWITH")
      return value.ends_with(text);
    return like(value, text);
  }
  static bool like(std::string_view value, std::string_view pattern) {
    if (pattern.empty())
      return value.empty();
    if (pattern.front() == '%')
      return like(value, pattern.substr(1)) || (!value.empty() && like(value.substr(1), pattern));
    return !value.empty() && (pattern.front() == '_' || pattern.front() == value.front()) &&
           like(value.substr(1), pattern.substr(1));
  }
};

class grower {
public:
  explicit grower(std::uint64_t seed) : random_{seed} {}

  std::mt19937_64& random() { return random_; }

  tree_ptr tree_of(std::size_t depth) {
    switch (depth == 0 ? below(random_, 4) : below(random_, 8)) {
    case 0:
      return number();
    case 1:
      return between();
    case 2:
    case 3:
      return text();
    case 4: {
      auto made = std::make_unique<negated>();
      made->part = tree_of(depth - 1);
      return made;
    }
    default: {
      auto made = std::make_unique<joined>();
      made->all = below(random_, 2) == 0;
      const auto parts = 2 + below(random_, 2);
      while (made->parts.size() < parts)
        made->parts.push_back(tree_of(depth - 1));
      return made;
    }
    }
  }

  known_properties properties() {
    known_properties made;
    for (const auto* name : names) {
      if (below(random_, 4) != 0)
        made[name] = below(random_, 2) == 0 ? std::to_string(int_value()) : letters(1);
    }
    return made;
  }

private:
  static constexpr std::array<const char*, 4> names{"a", "b_1", "$c", "TAGS"};

  std::string name() { return names[below(random_, names.size())]; }
  int int_value() { return static_cast<int>(below(random_, 9)) - 4; }
  std::string letters(std::size_t least) {
    std::string made;
    const auto size = least + below(random_, 4);
    while (made.size() < size)
      made += "ab'-"[below(random_, 4)];
    return made;
  }

  tree_ptr number() {
    constexpr std::array<const char*, 6> signs{"=", "<>", "<", "<=", ">", ">="};
    auto made = std::make_unique<number_test>();
    made->name = name();
    made->sign = signs[below(random_, signs.size())];
    made->number = std::to_string(int_value()) + (below(random_, 3) == 0 ? ".5" : "");
    return made;
  }
  tree_ptr between() {
    auto made = std::make_unique<between_test>();
    made->name = name();
    made->low = int_value();
    made->high = made->low + static_cast<int>(below(random_, 4));
    made->is_not = below(random_, 2) == 0;
    return made;
  }
  tree_ptr text() {
    constexpr std::array<const char*, 8> ways{"=",          "<>",       "IN",   "CONTAINS",
                                              "STARTSWITH", "ENDSWITH", "LIKE", "IS NULL"};
    auto made = std::make_unique<text_test>();
    made->name = name();
    made->how = ways[below(random_, ways.size())];
    made->text = letters(1);
    if (made->how == "LIKE") {
      for (auto& c : made->text)
        c = below(random_, 3) == 0 ? "%_"[below(random_, 2)] : c;
    }
    made->is_not =
        made->how.size() > 2 ? below(random_, 2) == 0 : made->how == "IN" && below(random_, 2) == 0;
    return made;
  }

  std::mt19937_64 random_;
};

std::string encoded(const known_properties& properties) {
  property_builder builder;
  for (const auto& [key, value] : properties)
    builder.set(key, value);
  return *builder.build();
}

TEST(FilterFuzz, AgreesWithAPlainReadingOfRandomTrees) {
  grower grow{20'240'611};
  std::size_t wanted = 0;
  for (int i = 0; i < 3'000; ++i) {
    const auto tree = grow.tree_of(below(grow.random(), 4));
    const auto text = tree->print(grow.random());
    const auto made = parse_sql_filter(text);
    ASSERT_TRUE(made) << text << '\n' << made.error().detail;
    for (int j = 0; j < 10; ++j) {
      const auto properties = grow.properties();
      const auto expected = tree->evaluate(properties) == answer{true};
      ASSERT_EQ(made->matches(encoded(properties)), expected)
          << text << "\nover " << testing::PrintToString(properties);
      wanted += expected ? 1 : 0;
    }
  }
  EXPECT_GT(wanted, 5'000u); // or the comparison says little
  EXPECT_LT(wanted, 25'000u);
}

TEST(FilterFuzz, AnswersForDamagedFiltersAndMessages) {
  grower grow{7};
  auto& random = grow.random();
  const std::string signs = "()'`,=<>!-+*/%_. \t\n0e9aANDORNOT\x01\x02\x80\xff";
  std::size_t accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto text = grow.tree_of(below(random, 3))->print(random);
    for (auto cuts = below(random, 4); cuts > 0 && !text.empty(); --cuts) {
      const auto at = below(random, text.size());
      if (below(random, 2) == 0)
        text.erase(at, 1 + below(random, 3));
      else
        text.insert(at, 1, signs[below(random, signs.size())]);
    }
    const auto made = parse_sql_filter(text);
    if (!made) {
      ASSERT_EQ(made.error().code, ec::bad_request) << text;
      ASSERT_NE(made.error().detail.find("at character "), std::string::npos) << text;
      continue;
    }
    ++accepted;
    std::string message;
    for (auto size = below(random, 40); size > 0; --size)
      message += "ab\x01\x02\xff"[below(random, 5)];
    (void)made->matches(message);
  }
  EXPECT_GT(accepted, 5'000u);
  EXPECT_LT(accepted, 15'000u);
}

TEST(FilterFuzz, AnswersForAnyWordsAndAnyBytes) {
  std::mt19937_64 random{11};
  const std::vector<std::string> words{
      "(",  ")",    "NOT", "AND", "OR", "a",    "'x'",      "5",    "-",      "=",
      "<",  ">=",   "IN",  "IS",  ",",  "NULL", "BETWEEN",  "LIKE", "ESCAPE", "TRUE",
      "''", "1e99", "`q`", "--",  "/*", "*/",   "CONTAINS", "+",    "\"",     "'",
  };
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (auto count = below(random, 12); count > 0; --count)
      text += words[below(random, words.size())] + (below(random, 4) == 0 ? "" : " ");
    if (const auto made = parse_sql_filter(text))
      (void)made->matches("a\x01x\x02");
    for (auto& c : text)
      c = static_cast<char>(random());
    (void)parse_sql_filter(text);
    (void)parse_tag_filter(text);
  }
}

TEST(FilterFuzz, EvaluatesWithoutAllocating) {
  const auto sql = parse_sql_filter(
      "a > 1.5 AND (b IN ('x', 'y') OR c LIKE '%long%') AND d CONTAINS 'z' AND NOT e IS NULL");
  const auto tags = parse_tag_filter("A || B");
  ASSERT_TRUE(sql && tags);
  const auto message = encoded({{"a", "2"},
                                {"b", "a value that fits no small string"},
                                {"c", "so long a text"},
                                {"d", "xyz"},
                                {"e", "1"},
                                {"TAGS", "B"}});
  const auto before = allocations;
  const bool by_sql = sql->matches(message);
  const bool by_tag = tags->may_match(tag_hash("B")) && tags->matches(message);
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(by_sql);
  EXPECT_TRUE(by_tag);
}

} // namespace
} // namespace handfast
