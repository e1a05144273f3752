#include "messages/filter/filter.hpp"
#include "messages/properties.hpp"

#include <gmock/gmock.h>
#include <initializer_list>
#include <utility>

namespace handfast {
namespace {

using pairs = std::initializer_list<std::pair<std::string_view, std::string_view>>;

filter sql(std::string_view text) {
  auto made = parse_sql_filter(text);
  EXPECT_TRUE(made) << made.error().detail;
  return made.value_or(filter{});
}

std::string message(pairs properties) {
  property_builder builder;
  for (const auto& [key, value] : properties)
    builder.set(key, value);
  return *builder.build();
}

bool wants(std::string_view text, pairs properties) {
  return sql(text).matches(message(properties));
}

TEST(SqlFilter, WantsEverythingWhenEmpty) {
  EXPECT_TRUE(sql("").wants_all());
  EXPECT_TRUE(sql("  ").wants_all());
  EXPECT_TRUE(sql("*").wants_all());
}

TEST(SqlFilter, ComparesText) {
  EXPECT_TRUE(wants("color = 'red'", {{"color", "red"}}));
  EXPECT_FALSE(wants("color = 'red'", {{"color", "Red"}}));
  EXPECT_TRUE(wants("color <> 'red'", {{"color", "blue"}}));
  EXPECT_TRUE(wants("'it''s' = say", {{"say", "it's"}}));
  EXPECT_FALSE(wants("size = '5'", {{"size", "05"}}));
}

TEST(SqlFilter, ComparesNumbersByValue) {
  EXPECT_TRUE(wants("size = 5", {{"size", "05"}}));
  EXPECT_TRUE(wants("size = 5", {{"size", "5.0"}}));
  EXPECT_TRUE(wants("size > 5", {{"size", "5.5"}}));
  EXPECT_FALSE(wants("size > 5", {{"size", "5"}}));
  EXPECT_TRUE(wants("size >= 5 AND size <= 5", {{"size", "+5"}}));
  EXPECT_TRUE(wants("-3 < size", {{"size", "-2"}}));
  EXPECT_TRUE(wants("size < .5e1", {{"size", "4.9"}}));
  EXPECT_TRUE(wants("size = 10L", {{"size", "10"}}));
  EXPECT_TRUE(wants("size = 1.e1", {{"size", "10"}}));
}

TEST(SqlFilter, ComparesWholeNumbersOf64BitsExactly) {
  EXPECT_TRUE(wants("n = 9223372036854775807", {{"n", "9223372036854775807"}}));
  EXPECT_FALSE(wants("n = 9223372036854775807", {{"n", "9223372036854775806"}}));
  EXPECT_TRUE(wants("n = -9223372036854775808", {{"n", "-9223372036854775808"}}));
  EXPECT_TRUE(wants("n > 9223372036854775807", {{"n", "9223372036854775808"}}));
}

TEST(SqlFilter, DoesNotKnowTheNumberOfOtherText) {
  for (const auto* text : {"many", "5x", " 5", "0x5", "inf", "nan", "+-5", "-", "1e999"}) {
    EXPECT_FALSE(wants("size > 1", {{"size", text}})) << text;
    EXPECT_FALSE(wants("NOT size > 1", {{"size", text}})) << text;
    EXPECT_TRUE(wants("size > 1 OR color = 'red'", {{"size", text}, {"color", "red"}}));
  }
}

TEST(SqlFilter, ComparesWithTrueAndFalse) {
  EXPECT_TRUE(wants("vip = TRUE", {{"vip", "True"}}));
  EXPECT_FALSE(wants("vip = true", {{"vip", "yes"}}));
  EXPECT_TRUE(wants("vip = FALSE", {{"vip", "yes"}}));
  EXPECT_TRUE(wants("vip <> TRUE", {{"vip", "false"}}));
  EXPECT_FALSE(wants("vip = FALSE", {}));
}

TEST(SqlFilter, ComparesTwoProperties) {
  EXPECT_TRUE(wants("a = b", {{"a", "x"}, {"b", "x"}}));
  EXPECT_FALSE(wants("a = b", {{"a", "1"}, {"b", "1.0"}}));
  EXPECT_TRUE(wants("a < b", {{"a", "9"}, {"b", "10"}}));
  EXPECT_FALSE(wants("a < b", {{"a", "x"}, {"b", "y"}}));
}

TEST(SqlFilter, HasNoAnswerForAPropertyThatIsNotThere) {
  for (const auto* text : {"a = 'x'", "a <> 'x'", "NOT a = 'x'", "a > 1", "a IN ('x')",
                           "a NOT IN ('x')", "a BETWEEN 1 AND 2", "a NOT BETWEEN 1 AND 2",
                           "a CONTAINS 'x'", "a NOT CONTAINS 'x'", "a NOT LIKE 'x'", "a = b"})
    EXPECT_FALSE(wants(text, {{"other", "x"}})) << text;
}

TEST(SqlFilter, TakesThreeValuesThroughAndAndOr) {
  const pairs known{{"k", "1"}};
  EXPECT_TRUE(wants("u = 1 OR k = 1", known));
  EXPECT_FALSE(wants("u = 1 OR k = 2", known));
  EXPECT_FALSE(wants("u = 1 AND k = 1", known));
  EXPECT_TRUE(wants("NOT (u = 1 AND k = 2)", known));
  EXPECT_FALSE(wants("NOT (u = 1 OR k = 2)", known));
}

TEST(SqlFilter, AsksWhetherAPropertyIsThere) {
  EXPECT_TRUE(wants("a IS NULL", {}));
  EXPECT_FALSE(wants("a IS NULL", {{"a", "x"}}));
  EXPECT_TRUE(wants("a is not null", {{"a", "x"}}));
  EXPECT_TRUE(sql("a IS NULL").matches("a\x01\x02"));
}

TEST(SqlFilter, TakesTheFirstOfTwoPairsWithOneKey) {
  EXPECT_TRUE(sql("a = 'x' AND b = 'z'")
                  .matches("a\x01x\x02"
                           "a\x01y\x02"
                           "b\x01z\x02"));
}

TEST(SqlFilter, LooksBetweenBounds) {
  EXPECT_TRUE(wants("n BETWEEN 1 AND 3", {{"n", "1"}}));
  EXPECT_TRUE(wants("n BETWEEN 1 AND 3 AND m = 1", {{"n", "3"}, {"m", "1"}}));
  EXPECT_FALSE(wants("n BETWEEN 1 AND 3", {{"n", "3.01"}}));
  EXPECT_TRUE(wants("n NOT BETWEEN -1 AND 3", {{"n", "-2"}}));
  EXPECT_TRUE(wants("n BETWEEN low AND high", {{"n", "2"}, {"low", "1"}, {"high", "3"}}));
}

TEST(SqlFilter, LooksInLists) {
  EXPECT_TRUE(wants("region IN ('eu', 'us')", {{"region", "us"}}));
  EXPECT_FALSE(wants("region IN ('eu', 'us')", {{"region", "u"}}));
  EXPECT_TRUE(wants("region NOT IN ('eu', 'us')", {{"region", "asia"}}));
}

TEST(SqlFilter, SearchesText) {
  EXPECT_TRUE(wants("title CONTAINS 'fast'", {{"title", "handfast!"}}));
  EXPECT_TRUE(wants("title NOT CONTAINS 'slow'", {{"title", "handfast!"}}));
  EXPECT_TRUE(wants("title STARTSWITH 'hand'", {{"title", "handfast!"}}));
  EXPECT_TRUE(wants("title not endswith 'hand'", {{"title", "handfast!"}}));
  EXPECT_TRUE(wants("title LIKE '%fast_'", {{"title", "handfast!"}}));
  EXPECT_TRUE(wants("title LIKE '%!%' ESCAPE '!'", {{"title", "50%"}}));
  EXPECT_FALSE(wants("title NOT LIKE 'h%'", {{"title", "handfast!"}}));
}

TEST(SqlFilter, BindsNotWeakerThanComparisonsAndAndStrongerThanOr) {
  EXPECT_TRUE(wants("NOT a = 1", {{"a", "2"}}));
  EXPECT_TRUE(wants("a = 1 OR b = 1 AND c = 1", {{"a", "1"}, {"b", "0"}, {"c", "0"}}));
  EXPECT_FALSE(wants("(a = 1 OR b = 1) AND c = 1", {{"a", "1"}, {"b", "0"}, {"c", "0"}}));
  EXPECT_FALSE(wants("NOT a = 1 AND b = 1", {{"a", "2"}, {"b", "2"}}));
}

TEST(SqlFilter, TakesParenthesesAroundOperands) {
  EXPECT_TRUE(wants("((a)) > (1)", {{"a", "2"}}));
  EXPECT_TRUE(wants("a BETWEEN (1) AND (3)", {{"a", "2"}}));
}

TEST(SqlFilter, ReadsTagsAndKeysLikeAnyProperty) {
  EXPECT_TRUE(wants("(TAGS is not null and TAGS in ('TagA', 'TagB')) and (a is not null and a "
                    "between 0 and 3)",
                    {{"TAGS", "TagB"}, {"a", "3"}}));
  EXPECT_TRUE(sql("TAGS = 'A'").may_match(0));
}

TEST(SqlFilter, TakesNamesInBackquotes) {
  EXPECT_TRUE(wants("`trace-id` = 'x'", {{"trace-id", "x"}}));
  EXPECT_TRUE(wants("`in` = 'x' AND `a``b` = 'y'", {{"in", "x"}, {"a`b", "y"}}));
  EXPECT_TRUE(wants("like LIKE 'x' AND escape = 'y'", {{"like", "x"}, {"escape", "y"}}));
}

TEST(SqlFilter, TellsUpperFromLowerCaseInNamesOnly) {
  EXPECT_TRUE(wants("a iN ('x') aNd A Is NuLL", {{"a", "x"}}));
}

TEST(SqlFilter, SkipsComments) {
  EXPECT_TRUE(wants("a = 1 -- the first\n AND /* both */ b = 2 -- done", {{"a", "1"}, {"b", "2"}}));
}

TEST(SqlFilter, MayBeConstant) {
  EXPECT_TRUE(sql("TRUE").matches(""));
  EXPECT_FALSE(sql("false").matches(""));
  EXPECT_TRUE(sql("1 < 2.5 AND 'a' = 'a' AND TRUE = TRUE").matches(""));
  EXPECT_FALSE(sql("TRUE").needs_properties());
  EXPECT_FALSE(sql("TRUE").wants_all());
  EXPECT_TRUE(sql("a = 1").needs_properties());
}

TEST(SqlFilter, IsEqualByItsText) {
  EXPECT_EQ(sql(" a = 1"), sql("a = 1 "));
  EXPECT_NE(sql("a = 1"), sql("a = 2"));
  EXPECT_NE(sql("a = 1"), filter{});
  EXPECT_EQ(sql("a = 1").kind(), filter_kind::sql);
  EXPECT_EQ(sql(" a = 1 ").text(), "a = 1");
}

TEST(SqlFilter, IsTotalOverBytesThatAreNoProperties) {
  const auto wanted = sql("a = 'x' OR b IS NOT NULL");
  for (const std::string_view bytes :
       {"\x01", "\x02", "\x01\x02\x01", "a", "a\x02", "\xff\xfe", "b\x01"})
    EXPECT_FALSE(wanted.matches(bytes));
}

} // namespace
} // namespace handfast
