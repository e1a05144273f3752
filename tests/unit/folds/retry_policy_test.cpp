#include "actors/folds/retry_policy.hpp"

#include <gmock/gmock.h>
#include <limits>

namespace handfast {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint64_t> waits(const retry_policy& policy, std::uint32_t most = 100) {
  std::vector<std::uint64_t> all;
  for (std::uint32_t failures = 1; failures <= most; ++failures) {
    const auto wait = policy.next_wait_ms(failures);
    if (!wait)
      break;
    all.push_back(*wait);
  }
  return all;
}

TEST(RetryPolicy, IsThatOfRocketMqByDefault) {
  EXPECT_THAT(waits(retry_policy{}),
              ElementsAre(10'000, 30'000, 60'000, 120'000, 180'000, 240'000, 300'000, 360'000,
                          420'000, 480'000, 540'000, 600'000, 1'200'000, 1'800'000, 3'600'000,
                          7'200'000));
}

TEST(RetryPolicy, EndsWithDeadLettersForGood) {
  const retry_policy policy;
  EXPECT_EQ(policy.next_wait_ms(16), 7'200'000u);
  EXPECT_EQ(policy.next_wait_ms(17), std::nullopt);
  EXPECT_EQ(policy.next_wait_ms(std::numeric_limits<std::uint32_t>::max()), std::nullopt);
}

TEST(RetryPolicy, StaysAtTheLastWaitOfItsTable) {
  EXPECT_THAT(waits(retry_policy{{5, 7}, 4}), ElementsAre(5, 7, 7, 7));
}

TEST(RetryPolicy, NeedNotTryAgainAtAll) {
  EXPECT_THAT(waits(retry_policy{{5}, 0}), ElementsAre());
}

TEST(RetryPolicy, MayTryForEver) {
  const retry_policy policy{{5}, retry_policy::retries_unlimited};
  EXPECT_EQ(policy.next_wait_ms(std::numeric_limits<std::uint32_t>::max()), 5u);
}

TEST(RetryPolicy, GrowsUpToTheLongestWait) {
  EXPECT_THAT(waits(retry_policy::growing(100, 1'000, 2, 6)),
              ElementsAre(100, 200, 400, 800, 1'000, 1'000));
  EXPECT_THAT(waits(retry_policy::growing(100, 1'000, 1.5, 3)), ElementsAre(100, 150, 225));
}

TEST(RetryPolicy, GrowsByNothingWithoutEnd) {
  EXPECT_THAT(waits(retry_policy::growing(100, 1'000, 1, 3)), ElementsAre(100, 100, 100));
  EXPECT_THAT(waits(retry_policy::growing(0, 1'000, 2, 3)), ElementsAre(0, 0, 0));
}

TEST(RetryPolicy, NeverExceedsTheLongestWait) {
  constexpr auto longest = std::uint64_t{1} << 40;
  for (const double factor : {1.001, 1.9, 1e30, 1e300})
    for (const auto wait :
         waits(retry_policy::growing(3, longest, factor, retry_policy::retries_unlimited), 2'000))
      ASSERT_LE(wait, longest) << factor;
}

TEST(RetryPolicy, LetsTheConsumerChooseTheWaitButNotTheNumber) {
  const retry_policy policy{{5}, 2};
  EXPECT_EQ(policy.next_wait_ms(1, 77), 77u);
  EXPECT_EQ(policy.next_wait_ms(2, 0), 0u);
  EXPECT_EQ(policy.next_wait_ms(3, 77), std::nullopt);
}

TEST(RetryPolicy, RefusesRulesThatAreNone) {
  EXPECT_THROW((retry_policy{{}, 2}), invariant_broken);
  EXPECT_THROW(retry_policy::growing(2, 1, 2), invariant_broken);
  EXPECT_THROW(retry_policy::growing(1, 2, 0.5), invariant_broken);
  EXPECT_THROW((void)retry_policy{}.next_wait_ms(0), invariant_broken);
}

} // namespace
} // namespace handfast
