#include "messages/limits.hpp"
#include "messages/names.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

using namespace handfast;
using testing::AllOf;
using testing::HasSubstr;

namespace {

std::string refusal(std::string_view name) {
  auto checked = valid_name(name_kind::topic, name);
  if (checked)
    return "accepted";
  EXPECT_EQ(checked.error().code, ec::bad_name);
  return checked.error().detail;
}

} // namespace

TEST(Names, OfLettersDigitsAndFourSignsAreAccepted) {
  for (auto name : {"a", "orders", "Orders_2024-EU", "%RETRY%group", "a|b", "0"})
    EXPECT_TRUE(valid_name(name_kind::topic, name)) << name;
}

TEST(Names, OfTheLongestLengthAreAccepted) {
  EXPECT_TRUE(valid_name(name_kind::group, std::string(limits::name_chars_max, 'x')));
}

TEST(Names, ThatAreTooLongNameTheLimit) {
  EXPECT_THAT(refusal(std::string(limits::name_chars_max + 1, 'x')),
              AllOf(HasSubstr("128 characters"), HasSubstr("at most 127")));
}

TEST(Names, ThatAreHugeAreShownShortened) {
  EXPECT_LT(refusal(std::string(1 << 20, 'x')).size(), 200U);
}

TEST(Names, ThatAreEmptyAreRefused) {
  EXPECT_EQ(refusal(""), "topic name is empty");
}

TEST(Names, ThatLookLikePathsAreRefused) {
  for (auto name : {"../x", "a/b", ".", "a\\b", "~"})
    EXPECT_NE(refusal(name), "accepted") << name;
}

TEST(Names, NameTheOffendingCharacterAndItsPlace) {
  EXPECT_EQ(refusal("my topic"), "topic name 'my topic' has ' ' as character 3");
  EXPECT_EQ(refusal(std::string_view{"a\0b", 3}),
            "topic name 'a\\x00b' has '\\x00' as character 2");
  EXPECT_EQ(refusal("\xc3\xa4"), "topic name '\\xc3\\xa4' has '\\xc3' as character 1");
}

TEST(Names, SayWhichKindTheyAre) {
  EXPECT_THAT(valid_name(name_kind::group, "").error().detail, HasSubstr("group name"));
}
