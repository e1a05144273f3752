#include "messages/filter/like_pattern.hpp"

#include <gmock/gmock.h>

namespace handfast::sql {
namespace {

using ::testing::HasSubstr;

bool fits(std::string_view text, std::string_view pattern, std::optional<char> escape = {}) {
  const auto made = like_pattern::compile(pattern, escape);
  EXPECT_TRUE(made) << made.error();
  return made && made->matches(text);
}

TEST(LikePattern, WithoutSignsIsEquality) {
  EXPECT_TRUE(fits("red", "red"));
  EXPECT_FALSE(fits("reddish", "red"));
  EXPECT_FALSE(fits("re", "red"));
  EXPECT_FALSE(fits("Red", "red"));
  EXPECT_TRUE(fits("", ""));
  EXPECT_FALSE(fits("r", ""));
}

TEST(LikePattern, TakesAPercentForAnything) {
  EXPECT_TRUE(fits("reddish", "red%"));
  EXPECT_TRUE(fits("red", "red%"));
  EXPECT_TRUE(fits("infrared", "%red"));
  EXPECT_TRUE(fits("infrareds", "%r%r%d%"));
  EXPECT_FALSE(fits("infrads", "%r%r%d%"));
  EXPECT_TRUE(fits("", "%"));
  EXPECT_TRUE(fits("anything", "%%"));
  EXPECT_TRUE(fits("aab", "%ab"));
}

TEST(LikePattern, TakesAnUnderscoreForOneCharacter) {
  EXPECT_TRUE(fits("red", "r_d"));
  EXPECT_FALSE(fits("rd", "r_d"));
  EXPECT_FALSE(fits("reed", "r_d"));
  EXPECT_TRUE(fits("reed", "r__d"));
  EXPECT_FALSE(fits("", "_"));
}

TEST(LikePattern, CountsCharactersOfUtf8) {
  EXPECT_TRUE(fits("gr\u00fcn", "gr_n"));
  EXPECT_TRUE(fits("\U0001F680", "_"));
  EXPECT_FALSE(fits("\U0001F680", "__"));
  EXPECT_TRUE(fits("gr\u00fcn", "%\u00fc%"));
}

TEST(LikePattern, TakesEscapedSignsForThemselves) {
  EXPECT_TRUE(fits("50%", "50!%", '!'));
  EXPECT_FALSE(fits("500", "50!%", '!'));
  EXPECT_TRUE(fits("a_b", "a!_b", '!'));
  EXPECT_FALSE(fits("axb", "a!_b", '!'));
  EXPECT_TRUE(fits("wow!", "wow!!", '!'));
  EXPECT_TRUE(fits("100%x", "100%%_", '%'));
}

TEST(LikePattern, RefusesAnEscapeBeforeAnythingElse) {
  for (const auto* pattern : {"a!", "a!b"}) {
    const auto made = like_pattern::compile(pattern, '!');
    ASSERT_FALSE(made) << pattern;
    EXPECT_THAT(made.error(), HasSubstr("'!'"));
  }
}

TEST(LikePattern, HasRoomForSixtyThreeBytes) {
  const std::string most(63, 'x');
  EXPECT_TRUE(fits("a" + most + "b", "%" + most + "%"));
  EXPECT_FALSE(fits(most.substr(1), most));
  const auto made = like_pattern::compile(most + "_", {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error(), HasSubstr("more than 63 bytes"));
  EXPECT_THAT(made.error(), HasSubstr("CONTAINS"));
}

TEST(LikePattern, IsTotalOverBytesThatAreNoText) {
  EXPECT_TRUE(fits("a\x80\xff", "a%"));
  EXPECT_FALSE(fits("\x80", "_"));
}

} // namespace
} // namespace handfast::sql
