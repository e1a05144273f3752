#include "messages/filter/filter.hpp"
#include "messages/limits.hpp"
#include "messages/properties.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

using ::testing::HasSubstr;

std::string with_tag(std::string_view tag) {
  return *property_builder{}.set("KEYS", "k1").set(property_keys::tags, tag).build();
}

filter tags(std::string_view text) {
  auto made = parse_tag_filter(text);
  EXPECT_TRUE(made) << made.error().detail;
  return made.value_or(filter{});
}

TEST(TagFilter, WantsEverythingByAStarOrNothing) {
  for (const auto* text : {"*", "", "  ", " * ", "A || *"}) {
    const auto all = tags(text);
    EXPECT_TRUE(all.wants_all()) << text;
    EXPECT_FALSE(all.needs_properties());
    EXPECT_TRUE(all.may_match(0));
    EXPECT_TRUE(all.matches(""));
    EXPECT_TRUE(all.matches(with_tag("B")));
    EXPECT_EQ(all.text(), "*");
  }
}

TEST(TagFilter, IsEverythingWhenNobodyMadeIt) {
  EXPECT_TRUE(filter{}.wants_all());
  EXPECT_EQ(filter{}.kind(), filter_kind::tags);
  EXPECT_EQ(filter{}, tags("*"));
}

TEST(TagFilter, WantsOneOfItsTags) {
  const auto wanted = tags("paid||  refunded ||");
  EXPECT_TRUE(wanted.matches(with_tag("paid")));
  EXPECT_TRUE(wanted.matches(with_tag("refunded")));
  EXPECT_FALSE(wanted.matches(with_tag("shipped")));
  EXPECT_FALSE(wanted.matches(with_tag("pai")));
  EXPECT_TRUE(wanted.needs_properties());
  EXPECT_EQ(wanted.kind(), filter_kind::tags);
}

TEST(TagFilter, DoesNotWantAMessageWithoutATag) {
  EXPECT_FALSE(tags("A").matches(""));
  EXPECT_FALSE(tags("A").matches(*property_builder{}.set("KEYS", "A").build()));
  EXPECT_FALSE(tags("A").may_match(0));
}

TEST(TagFilter, RejectsByTheHashAlone) {
  const auto wanted = tags("A || B || 🚀");
  EXPECT_TRUE(wanted.may_match(tag_hash("A")));
  EXPECT_TRUE(wanted.may_match(tag_hash("🚀")));
  EXPECT_FALSE(wanted.may_match(tag_hash("C")));
}

TEST(TagFilter, TellsTagsOfTheSameHashApart) {
  ASSERT_EQ(tag_hash("Aa"), tag_hash("BB"));
  const auto wanted = tags("Aa");
  EXPECT_TRUE(wanted.may_match(tag_hash("BB")));
  EXPECT_FALSE(wanted.matches(with_tag("BB")));
  EXPECT_TRUE(wanted.matches(with_tag("Aa")));
}

TEST(TagFilter, TakesASingleBarAsPartOfATag) {
  EXPECT_TRUE(tags("A|B").matches(with_tag("A|B")));
  EXPECT_FALSE(tags("A|B").matches(with_tag("A")));
}

TEST(TagFilter, ReadsTheTagWithoutATerminator) {
  EXPECT_TRUE(tags("A").matches("TAGS\x01"
                                "A"));
}

TEST(TagFilter, KeepsItsText) {
  EXPECT_EQ(tags("  B||A ").text(), "B||A");
}

TEST(TagFilter, IsEqualByItsSetOfTags) {
  EXPECT_EQ(tags("A || B"), tags("B||A||B"));
  EXPECT_NE(tags("A || B"), tags("A"));
  EXPECT_NE(tags("A"), tags("*"));
  EXPECT_NE(tags("A"), *parse_sql_filter("A = 'A'"));
}

TEST(TagFilter, RefusesBarsWithoutTags) {
  const auto made = parse_tag_filter(" || || ");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ec::bad_request);
  EXPECT_THAT(made.error().detail, HasSubstr("'|| ||' names no tag"));
  EXPECT_THAT(made.error().detail, HasSubstr("A || B"));
}

TEST(TagFilter, RefusesATagThatNoMessageCanHave) {
  const auto made = parse_tag_filter("A || b\x01");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().detail, HasSubstr("'b\\x01'"));
}

TEST(TagFilter, RefusesMoreThanTheLimits) {
  std::string many;
  for (std::size_t i = 0; i <= limits::filter_values_max; ++i)
    many += "t" + std::to_string(i) + "||";
  const auto too_many = parse_tag_filter(many);
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().detail, HasSubstr("has 1025 tags, at most 1024"));
  const auto too_long = parse_tag_filter(std::string(limits::filter_bytes_max + 1, 'x'));
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().detail, HasSubstr("has 16385 bytes, at most 16384"));
  EXPECT_TRUE(parse_tag_filter(std::string(limits::filter_bytes_max, 'x')));
}

} // namespace
} // namespace handfast
