#include "messages/filter/filter.hpp"
#include "messages/limits.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string fault_of(std::string_view text) {
  const auto made = parse_sql_filter(text);
  EXPECT_FALSE(made) << text;
  if (made)
    return "";
  EXPECT_EQ(made.error().code, ec::bad_request);
  return made.error().detail;
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i)
    all += part;
  return all;
}

TEST(SqlFaults, NameTheFilterThePlaceAndWhatIsWanted) {
  EXPECT_EQ(fault_of("a = AND"), "filter 'a = AND' at character 5: expected a property or a value "
                                 "after '=', found 'AND'; a reserved word or a name with other "
                                 "characters than letters, digits, _ and $ goes into backquotes");
  EXPECT_EQ(fault_of("a ="), "filter 'a =' at character 4: expected a property or a value after "
                             "'=', found the end of the filter");
}

TEST(SqlFaults, CountCharactersAndNotBytes) {
  EXPECT_THAT(fault_of("a = 'gr\u00fcn' AND"), HasSubstr("at character 15:"));
}

TEST(SqlFaults, SayHowOtherLanguagesSignsAreWrittenHere) {
  EXPECT_THAT(fault_of("a == 1"), HasSubstr("write = once"));
  EXPECT_THAT(fault_of("a != 1"), AllOf(HasSubstr("at character 3"), HasSubstr("write <>")));
  EXPECT_THAT(fault_of("a = 1 && b = 1"), HasSubstr("write AND"));
  EXPECT_THAT(fault_of("a = 1 || b = 1"), HasSubstr("write OR"));
  EXPECT_THAT(fault_of("a = \"red\""), HasSubstr("into single quotes"));
  EXPECT_THAT(fault_of("a = b % 2"), HasSubstr("does not calculate"));
  EXPECT_THAT(fault_of("trace.id = 1"), HasSubstr("backquotes"));
}

TEST(SqlFaults, AskForACondition) {
  EXPECT_THAT(fault_of("vip"), HasSubstr("write = TRUE or IS NOT NULL"));
  EXPECT_THAT(fault_of("a = 1 AND 'x'"), HasSubstr("expected a comparison after ''x''"));
  EXPECT_THAT(fault_of("NULL"), HasSubstr("write IS NULL"));
  EXPECT_THAT(fault_of("a = NULL"), HasSubstr("nothing is equal to NULL"));
}

TEST(SqlFaults, RefuseToCompareConditions) {
  EXPECT_THAT(fault_of("(a = 1) = (b = 1)"), HasSubstr("can't be compared"));
  EXPECT_THAT(fault_of("1 < a < 3"), HasSubstr("expected AND, OR or the end of the filter"));
  EXPECT_THAT(fault_of("(a = 1) IS NULL"), HasSubstr("expected a property before 'IS'"));
  EXPECT_THAT(fault_of("'x' IN ('x')"), HasSubstr("expected a property before 'IN'"));
  EXPECT_THAT(fault_of("a = NOT b"), HasSubstr("found 'NOT'"));
}

TEST(SqlFaults, RefuseAnOrderOfText) {
  EXPECT_THAT(fault_of("a > '5'"), HasSubstr("write a number without quotes"));
  EXPECT_THAT(fault_of("TRUE <= a"), HasSubstr("only numbers have an order"));
  EXPECT_THAT(fault_of("a BETWEEN 'a' AND 'b'"), HasSubstr("only numbers have an order"));
  EXPECT_THAT(fault_of("TRUE = 1"), HasSubstr("never equal to a number"));
}

TEST(SqlFaults, RefuseBoundsTheWrongWayRound) {
  EXPECT_THAT(fault_of("a BETWEEN 5 AND 3"), HasSubstr("exchange the bounds"));
  EXPECT_THAT(fault_of("a BETWEEN 5 OR 3"), HasSubstr("AND and the upper bound"));
}

TEST(SqlFaults, RefuseAListOfAnythingButText) {
  EXPECT_THAT(fault_of("a IN (1, 2)"), HasSubstr("write a number in quotes too"));
  EXPECT_THAT(fault_of("a IN ()"), HasSubstr("a text in single quotes"));
  EXPECT_THAT(fault_of("a IN 'x'"), HasSubstr("write IN ('a', 'b')"));
  EXPECT_THAT(fault_of("a IN ('x' 'y')"), HasSubstr("expected , or )"));
}

TEST(SqlFaults, RefuseASearchForNothing) {
  EXPECT_THAT(fault_of("a CONTAINS ''"), HasSubstr("IS NOT NULL"));
  EXPECT_THAT(fault_of("a CONTAINS b"), HasSubstr("after 'CONTAINS'"));
  EXPECT_THAT(fault_of("a LIKE 'x!' ESCAPE '!'"), HasSubstr("escape character"));
  EXPECT_THAT(fault_of("a LIKE 'x' ESCAPE 'ab'"), HasSubstr("one ASCII character"));
  EXPECT_THAT(fault_of("a LIKE '" + std::string(64, 'x') + "'"), HasSubstr("more than 63 bytes"));
  EXPECT_THAT(fault_of("a NOT = 1"), HasSubstr("after NOT"));
}

TEST(SqlFaults, NameWhatWasNotClosed) {
  EXPECT_THAT(fault_of("a = 'red"), HasSubstr("end the text with '"));
  EXPECT_THAT(fault_of("`a = 1"), HasSubstr("backquote"));
  EXPECT_THAT(fault_of("a = 1 /* why"), HasSubstr("end the comment"));
  EXPECT_THAT(fault_of("b = 1 AND (a = 1"), HasSubstr(") for the ( at character 11"));
  EXPECT_THAT(fault_of("a = 1)"), HasSubstr("expected AND, OR or the end"));
}

TEST(SqlFaults, RefuseNumbersThatDoNotFit) {
  EXPECT_THAT(fault_of("a = 9223372036854775808"), HasSubstr("is outside -9223372036854775808"));
  EXPECT_THAT(fault_of("a = -9223372036854775809"), HasSubstr("with .0 behind it"));
  EXPECT_THAT(fault_of("a = 1e999"), HasSubstr("too large or too small"));
  EXPECT_THAT(fault_of("a = 1e-999"), HasSubstr("too large or too small"));
  EXPECT_THAT(fault_of("a = 5x"), HasSubstr("neither a number nor a name"));
  EXPECT_THAT(fault_of("a = 1.2.3"), HasSubstr("found '1.2.3'"));
  EXPECT_THAT(fault_of("a = -b"), HasSubstr("only a number can have a sign"));
}

TEST(SqlFaults, KeepNestingWithinItsBound) {
  const auto most = limits::filter_depth_max;
  EXPECT_TRUE(parse_sql_filter(repeated("(", most) + "a = 1" + repeated(")", most)));
  EXPECT_THAT(fault_of(repeated("(", most + 1) + "a = 1" + repeated(")", most + 1)),
              AllOf(HasSubstr("at character 33"), HasSubstr("deeper than 32 levels")));
  EXPECT_THAT(fault_of(repeated("NOT ", most + 1) + "a = 1"), HasSubstr("deeper than 32"));
  EXPECT_THAT(fault_of(repeated("(", limits::filter_bytes_max)), HasSubstr("deeper than 32"));
}

TEST(SqlFaults, KeepCountsWithinTheirBounds) {
  const auto chain = [](std::size_t n) { return "a = 1" + repeated(" OR a = 1", n - 1); };
  EXPECT_TRUE(parse_sql_filter(chain(limits::filter_conditions_max)));
  EXPECT_THAT(fault_of(chain(limits::filter_conditions_max + 1)),
              AllOf(HasSubstr("more than 128 conditions"), HasSubstr("IN")));
  EXPECT_THAT(fault_of("TRUE" + repeated(" AND a BETWEEN 1 AND 2", 64)), HasSubstr("128"));

  const auto searches = [](std::size_t n) {
    return "TRUE" + repeated(" OR a CONTAINS 'x' OR a NOT LIKE 'x'", n / 2);
  };
  EXPECT_TRUE(parse_sql_filter(searches(limits::filter_searches_max)));
  EXPECT_THAT(fault_of(searches(limits::filter_searches_max + 2)),
              AllOf(HasSubstr("more than 16 CONTAINS and LIKE"), HasSubstr("STARTSWITH")));

  std::string names = "p0 = 1";
  for (std::size_t i = 1; i <= limits::filter_properties_max; ++i)
    names += " OR p" + std::to_string(i) + " = 1";
  EXPECT_THAT(fault_of(names), HasSubstr("more than 32 different properties"));

  const auto list = "a IN ('x'" + repeated(",'x'", limits::filter_values_max) + ")";
  EXPECT_THAT(fault_of(list), HasSubstr("more than 1024 values"));
  EXPECT_THAT(fault_of(std::string(limits::filter_bytes_max + 1, 'x')), HasSubstr("16385 bytes"));
}

} // namespace
} // namespace handfast
