#include "config/units.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

using namespace handfast;
using namespace handfast::config;
using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Durations, AreReadInEveryUnit) {
  EXPECT_EQ(parse_duration("500ms"), std::chrono::milliseconds{500ms});
  EXPECT_EQ(parse_duration("2s"), std::chrono::milliseconds{2s});
  EXPECT_EQ(parse_duration("5m"), std::chrono::milliseconds{5min});
  EXPECT_EQ(parse_duration("1h"), std::chrono::milliseconds{1h});
  EXPECT_EQ(parse_duration("3d"), std::chrono::milliseconds{72h});
  EXPECT_EQ(parse_duration("10 s"), std::chrono::milliseconds{10s});
}

TEST(Durations, MayBeABareZeroOnly) {
  EXPECT_EQ(parse_duration("0"), std::chrono::milliseconds{0});
  EXPECT_FALSE(parse_duration("6"));
}

TEST(Durations, OfABadUnitListTheUnits) {
  for (auto text : {"6", "6 seconds", "6S", "s", "", "-6s", "1.5s", "6s ", "6s7ms"}) {
    auto read = parse_duration(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ec::config_invalid);
    EXPECT_THAT(read.error().detail, HasSubstr("ms, s, m, h, d")) << text;
  }
}

TEST(Durations, TooLongToCountAreRefused) {
  EXPECT_THAT(parse_duration("9223372036854775807d").error().detail, HasSubstr("too large"));
  EXPECT_FALSE(parse_duration("99999999999999999999s"));
}

TEST(Durations, AreWrittenInTheLargestUnitThatDividesThem) {
  EXPECT_EQ(format_duration(0ms), "0s");
  EXPECT_EQ(format_duration(1500ms), "1500ms");
  EXPECT_EQ(format_duration(90s), "90s");
  EXPECT_EQ(format_duration(72h), "3d");
}

TEST(Sizes, AreReadInEveryUnit) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("7B"), 7U);
  EXPECT_EQ(parse_size("4KiB"), 4096U);
  EXPECT_EQ(parse_size("16MiB"), 16U << 20);
  EXPECT_EQ(parse_size("1GiB"), 1U << 30);
  EXPECT_EQ(parse_size("2TiB"), 2ULL << 40);
  EXPECT_EQ(parse_size("1KB"), 1000U);
  EXPECT_EQ(parse_size("5MB"), 5'000'000U);
  EXPECT_EQ(parse_size("1GB"), 1'000'000'000U);
  EXPECT_EQ(parse_size("1TB"), 1'000'000'000'000U);
}

TEST(Sizes, OfABadUnitListTheUnits) {
  for (auto text : {"16Mb", "16mib", "MiB", "", "-1", "1.5GiB", "1 GiB "}) {
    auto read = parse_size(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().detail, HasSubstr("KiB, MiB, GiB, TiB, KB, MB, GB, TB")) << text;
  }
}

TEST(Sizes, AreReadBackAsWritten) {
  for (std::uint64_t bytes :
       {0ULL, 1ULL, 1000ULL, 1024ULL, 32'767ULL, 5'000'000ULL, 1ULL << 30, 3ULL << 40})
    EXPECT_EQ(parse_size(format_size(bytes)), bytes) << format_size(bytes);
  EXPECT_EQ(format_size(256U << 20), "256MiB");
  EXPECT_EQ(format_size(1'000'000'000), "1GB");
}
