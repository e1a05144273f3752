#include "messages/limits.hpp"
#include "messages/properties.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

using namespace handfast;
using namespace std::string_literals;
using testing::HasSubstr;

namespace {

constexpr std::string_view two = "TAGS\x01"
                                 "paid\x02"
                                 "KEYS\x01o-1 o-2\x02";

std::string immunity(std::string_view seconds) {
  return property_builder{}.set(property_keys::check_immunity, seconds).build().value();
}

} // namespace

TEST(PropertyLookup, FindsValuesInPlace) {
  auto found = find_property(two, property_keys::keys);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, "o-1 o-2");
  EXPECT_GE(found->data(), two.data());
  EXPECT_LE(found->data() + found->size(), two.data() + two.size());
}

TEST(PropertyLookup, FindsNothingForAPartOfAKeyOrAValue) {
  EXPECT_FALSE(find_property(two, "TAG"));
  EXPECT_FALSE(find_property(two, "AGS"));
  EXPECT_FALSE(find_property(two, "paid"));
  EXPECT_FALSE(find_property("", "TAGS"));
}

TEST(PropertyLookup, AcceptsAMissingLastTerminator) {
  EXPECT_EQ(find_property(two.substr(0, two.size() - 1), property_keys::keys), "o-1 o-2");
}

TEST(PropertyLookup, IsSafeOnAnyBytes) {
  EXPECT_FALSE(find_property("\x01\x01\x02\x02\x01", "TAGS"));
  EXPECT_EQ(find_property("lonely", "lonely"), "");
  EXPECT_EQ(find_property("a\x01"
                          "b\x01"
                          "c\x02",
                          "a"),
            "b\x01"
            "c");
}

TEST(PropertyChecks, AcceptWholePairs) {
  EXPECT_TRUE(check_properties(""));
  EXPECT_TRUE(check_properties(two));
  EXPECT_TRUE(check_properties(two.substr(0, two.size() - 1)));
  EXPECT_TRUE(check_properties("a\x01\x02"));
}

TEST(PropertyChecks, RefuseBrokenPairs) {
  for (auto broken :
       {"a"s, "a\x02"s, "\x01v\x02"s, "a\x01"s + "b\x01"s + "c\x02"s, std::string{two} + "x"}) {
    auto checked = check_properties(broken);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ec::bad_request);
  }
}

TEST(PropertyChecks, RefuseMoreThanTheLimitAndNameIt) {
  std::string value(limits::properties_bytes_max - 3, 'v');
  auto most = "k\x01" + value + "\x02";
  EXPECT_TRUE(check_properties(most));
  auto checked = check_properties(most + "k\x01v\x02");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ec::properties_too_large);
  EXPECT_THAT(checked.error().detail, HasSubstr("32767"));
}

TEST(CheckImmunity, IsReadInSeconds) {
  EXPECT_EQ(check_immunity_ms(immunity("60")), 60'000U);
  EXPECT_EQ(check_immunity_ms(immunity("2592000")), 2'592'000'000U);
  EXPECT_EQ(check_immunity_ms(immunity("0")), 0U);
}

TEST(CheckImmunity, IsZeroWhereTheMessageSaysNothing) {
  EXPECT_EQ(check_immunity_ms(two), 0U);
}

TEST(CheckImmunity, OutsideItsFormIsRefused) {
  for (auto text : {"soon", "-1", "1.5", "60s", "2592001", "99999999999999"}) {
    auto read = check_immunity_ms(immunity(text));
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ec::bad_request);
    EXPECT_THAT(read.error().detail, HasSubstr(text));
  }
}

TEST(TagHashes, OfAsciiAreThirtyOneTimesPlusChar) {
  EXPECT_EQ(tag_hash(""), 0U);
  EXPECT_EQ(tag_hash("a"), 97U);
  EXPECT_EQ(tag_hash("ab"), 97U * 31 + 98);
  EXPECT_EQ(tag_hash("TagA"), 2'598'919U);
}

TEST(TagHashes, WrapAroundAsInJava) {
  EXPECT_EQ(tag_hash("polygenelubricants"), 0x8000'0000U);
}

TEST(TagHashes, CountUtf16Units) {
  EXPECT_EQ(tag_hash("\xc3\xa4"), 0xE4U);
  EXPECT_EQ(tag_hash("\xe2\x82\xac"), 0x20ACU);
  EXPECT_EQ(tag_hash("\xf0\x9f\x98\x80"), 0xD83DU * 31 + 0xDE00U);
}

TEST(TagHashes, ExistForBytesThatAreNotUtf8) {
  EXPECT_EQ(tag_hash("\xff"), 0xFFFDU);
  EXPECT_EQ(tag_hash("\xc3"), 0xFFFDU);
  EXPECT_EQ(tag_hash("\xc3"
                     "a"),
            0xFFFDU * 31 + 97);
  EXPECT_EQ(tag_hash("\xed\xa0\x80"), (0xFFFDU * 31 + 0xFFFDU) * 31 + 0xFFFDU);
}

TEST(PropertyBuilder, BuildsWhatTheLookupReads) {
  auto built = property_builder{}.set("TAGS", "paid").set("KEYS", "o-1 o-2").build();
  EXPECT_EQ(built, std::string{two});
}

TEST(PropertyBuilder, KeepsTheLastValueOfAKey) {
  auto built = property_builder{two}.set("TAGS", "late").build().value();
  EXPECT_EQ(find_property(built, "TAGS"), "late");
  EXPECT_EQ(find_property(built, "KEYS"), "o-1 o-2");
  EXPECT_EQ(built.find("paid"), std::string::npos);
}

TEST(PropertyBuilder, CompletesAMissingLastTerminator) {
  auto built = property_builder{two.substr(0, two.size() - 1)}.set("a", "b").build().value();
  EXPECT_EQ(find_property(built, "KEYS"), "o-1 o-2");
  EXPECT_EQ(find_property(built, "a"), "b");
}

TEST(PropertyBuilder, ErasesEveryPairOfAKey) {
  auto built = property_builder{"a\x01x\x02z\x01y\x02"
                                "a\x01z\x02"}
                   .erase("a")
                   .build();
  EXPECT_EQ(built, "z\x01y\x02"s);
}

TEST(PropertyBuilder, LeavesEmptyValuesOut) {
  EXPECT_EQ(property_builder{}.set("a", "x").set("a", "").build(), ""s);
}

TEST(PropertyBuilder, RefusesSeparatorsAndEmptyKeys) {
  EXPECT_EQ(property_builder{}.set("", "v").build().error().code, ec::bad_request);
  EXPECT_EQ(property_builder{}.set("k", "v\x02w").build().error().code, ec::bad_request);
  EXPECT_EQ(property_builder{}.set("k\x01", "v").build().error().code, ec::bad_request);
}

TEST(PropertyBuilder, RefusesMoreThanTheLimit) {
  auto built = property_builder{}.set("k", std::string(limits::properties_bytes_max, 'v')).build();
  EXPECT_EQ(built.error().code, ec::properties_too_large);
}
