#include "messages/delay_levels.hpp"
#include "messages/durations.hpp"
#include "messages/limits.hpp"
#include "messages/properties.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// 2024-02-29T12:00:00Z
constexpr wall_ms noon = 1'709'208'000'000;

std::uint64_t delay(std::string_view text) {
  const auto read = parse_delay(text, noon);
  EXPECT_TRUE(read) << read.error().detail;
  return read.value_or(0);
}

std::string fault(std::string_view text) {
  const auto read = parse_delay(text, noon);
  EXPECT_FALSE(read) << text << " is " << *read;
  if (read)
    return "";
  EXPECT_EQ(read.error().code, ec::bad_request);
  return read.error().detail;
}

result<std::uint64_t> asked(std::string_view key, std::string_view value) {
  return requested_delay(*property_builder{}.set(key, value).build(), noon);
}

TEST(DelayLevels, AreThoseOfRocketMq) {
  std::string names;
  for (const auto ms : delay_levels_ms)
    names += text_of_duration(std::chrono::milliseconds{ms}) + " ";
  EXPECT_EQ(names, "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h ");
}

TEST(DelayLevels, EndAtTheLast) {
  EXPECT_EQ(delay_of_level(0), 0u);
  EXPECT_EQ(delay_of_level(-1), 0u);
  EXPECT_EQ(delay_of_level(1), 1'000u);
  EXPECT_EQ(delay_of_level(18), 7'200'000u);
  EXPECT_EQ(delay_of_level(99), 7'200'000u);
}

TEST(Delay, IsALevelADurationOrADate) {
  EXPECT_EQ(delay("3"), 10'000u);
  EXPECT_EQ(delay("0"), 0u);
  EXPECT_EQ(delay("2s"), 2'000u);
  EXPECT_EQ(delay("90m"), 5'400'000u);
  EXPECT_EQ(delay("3d"), 259'200'000u);
  EXPECT_EQ(delay("1ms"), 1u);
  EXPECT_EQ(delay("2024-02-29T12:00:05Z"), 5'000u);
  EXPECT_EQ(delay("2024-02-29T12:01Z"), 60'000u);
  EXPECT_EQ(delay("2024-02-29T12:00:00.25Z"), 250u);
  EXPECT_EQ(delay("2024-03-01T12:00:00Z"), 86'400'000u);
}

TEST(Delay, IsNoneUntilADateInThePast) {
  EXPECT_EQ(delay("2024-02-29T11:59:59Z"), 0u);
  EXPECT_EQ(delay("1970-01-01T00:00Z"), 0u);
}

TEST(Delay, LastsThreeYearsAtMost) {
  EXPECT_EQ(delay("1096d"), 94'694'400'000u);
  EXPECT_EQ(delay("2027-03-01T12:00:00Z"), 94'694'400'000u);
  EXPECT_THAT(fault("1097d"), AllOf(HasSubstr("'1097d'"), HasSubstr("1096d (three years)"),
                                    HasSubstr("send the message later")));
  EXPECT_THAT(fault("2027-03-01T12:00:00.001Z"), HasSubstr("more than 1096d"));
  EXPECT_THAT(fault("99999999999999999999d"), HasSubstr("units"));
}

TEST(Delay, RefusesOtherFormsWithTheRightOnes) {
  for (const auto* text : {"", "soon", "-2s", "2 weeks", "1.5s", "s"})
    EXPECT_THAT(fault(text), AllOf(HasSubstr("ms, s, m, h, d"), HasSubstr("level from 0 to 18"),
                                   HasSubstr("2027-05-01T08:30:00Z")))
        << text;
  EXPECT_THAT(fault("19"), AllOf(HasSubstr("'19' is no level"), HasSubstr("such as 90s")));
}

TEST(Delay, RefusesDatesThatAreNoneOrNotInUtc) {
  for (const auto* text :
       {"2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z",
        "2024-03-01T24:00:00Z", "2024-03-01T00:60:00Z", "2024-03-01T00:00:60Z", "2024-03-01",
        "2024-03-01T00:00:00", "2024-03-01T00:00:00+01:00", "2024-03-01 00:00:00Z",
        "2024-03-01T00:00:00.Z", "2024-03-01T00:00:00.1234Z", "2024-3-1T00:00:00Z",
        "2024-03-01T00:00:00Zx", "1969-12-31T00:00:00Z", "2024-"})
    EXPECT_THAT(fault(text), HasSubstr("is no date in UTC")) << text;
}

TEST(RequestedDelay, IsNoneWithoutAProperty) {
  EXPECT_EQ(*requested_delay("", noon), 0u);
  EXPECT_EQ(*asked("KEYS", "k"), 0u);
}

TEST(RequestedDelay, ComesFromALevelOrATimer) {
  EXPECT_EQ(*asked("DELAY", "4"), 30'000u);
  EXPECT_EQ(*asked("DELAY", "0"), 0u);
  EXPECT_EQ(*asked("DELAY", "99"), 7'200'000u);
  EXPECT_EQ(*asked("TIMER_DELAY_SEC", "7"), 7'000u);
  EXPECT_EQ(*asked("TIMER_DELAY_MS", "7"), 7u);
  EXPECT_EQ(*asked("TIMER_DELIVER_MS", std::to_string(noon + 9)), 9u);
  EXPECT_EQ(*asked("TIMER_DELIVER_MS", "5"), 0u);
}

TEST(RequestedDelay, PrefersTheLevelThenTheDurations) {
  property_builder both;
  both.set("TIMER_DELIVER_MS", std::to_string(noon + 9)).set("TIMER_DELAY_MS", "5");
  EXPECT_EQ(*requested_delay(*both.build(), noon), 5u);
  both.set("DELAY", "1");
  EXPECT_EQ(*requested_delay(*both.build(), noon), 1'000u);
}

TEST(RequestedDelay, RefusesWhatIsNoNumberOrTooLong) {
  for (const auto* key : {"DELAY", "TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"}) {
    const auto read = asked(key, "soon");
    ASSERT_FALSE(read) << key;
    EXPECT_THAT(read.error().detail, AllOf(HasSubstr(key), HasSubstr("'soon'")));
  }
  EXPECT_EQ(*asked("TIMER_DELAY_SEC", "94694400"), 94'694'400'000u);
  EXPECT_THAT(asked("TIMER_DELAY_SEC", "94694401").error().detail, HasSubstr("0 to 94694400"));
  EXPECT_FALSE(asked("TIMER_DELAY_SEC", "18446744073709551615"));
  EXPECT_FALSE(asked("TIMER_DELIVER_MS", "18446744073709551615"));
}

} // namespace
} // namespace handfast
