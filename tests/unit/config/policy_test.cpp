#include "config/policy.hpp"

#include <gtest/gtest.h>

using namespace handfast;
using namespace handfast::config;
using namespace std::chrono_literals;

namespace {

policy_override all(int level) {
  return {.timeout = level * 1s,
          .check_interval = level * 10s,
          .check_backoff = level * 1.5,
          .check_max = static_cast<std::uint32_t>(level),
          .check_total_age = level * 1h};
}

policy as_policy(const policy_override& full) {
  return {*full.timeout, *full.check_interval, *full.check_backoff, *full.check_max,
          *full.check_total_age};
}

} // namespace

TEST(Policies, TakeTheNearestLevelThatSaysSomething) {
  const policy node;
  const policy_override none;
  struct row {
    policy_override group, topic, message;
    policy expected;
  };
  for (const auto& [group, topic, message, expected] :
       {row{none, none, none, node}, row{all(2), none, none, as_policy(all(2))},
        row{none, all(3), none, as_policy(all(3))}, row{all(2), all(3), none, as_policy(all(3))},
        row{none, none, all(4), as_policy(all(4))}, row{all(2), none, all(4), as_policy(all(4))},
        row{all(2), all(3), all(4), as_policy(all(4))}})
    EXPECT_EQ(merge(node, group, topic, message), expected);
}

TEST(Policies, AreMergedValueByValue) {
  policy_override group{.check_interval = 5s, .check_max = 3};
  policy_override topic{.check_max = 7, .check_total_age = 1h};
  policy_override message{.timeout = 60s};
  policy expected{60s, 5s, 1.0, 7, 1h};
  EXPECT_EQ(merge(policy{}, group, topic, message), expected);
}

TEST(Policies, TakeStoredAttributesWhereTheyAreNotZero) {
  attributes stored;
  EXPECT_EQ(override_of(stored), policy_override{});
  stored.transaction_timeout_ms = 1500;
  stored.check_interval_ms = 20;
  stored.check_max = 2;
  auto said = override_of(stored);
  EXPECT_EQ(said.timeout, std::chrono::milliseconds{1500ms});
  EXPECT_EQ(said.check_interval, std::chrono::milliseconds{20ms});
  EXPECT_EQ(said.check_max, 2U);
  EXPECT_FALSE(said.check_backoff);
}

TEST(Policies, OfAMessageSetItsTimeoutOnly) {
  EXPECT_EQ(override_of_message(0), policy_override{});
  EXPECT_EQ(override_of_message(9), (policy_override{.timeout = 9ms}));
}

TEST(CheckWaits, StartWithTheTimeoutAndGoOnWithTheInterval) {
  policy rules;
  EXPECT_EQ(wait_before_check(rules, 0), 6s);
  EXPECT_EQ(wait_before_check(rules, 1), 30s);
  EXPECT_EQ(wait_before_check(rules, 14), 30s);
}

TEST(CheckWaits, GrowByTheBackoff) {
  policy rules{.check_interval = 10s, .check_backoff = 2.0};
  EXPECT_EQ(wait_before_check(rules, 1), 10s);
  EXPECT_EQ(wait_before_check(rules, 2), 20s);
  EXPECT_EQ(wait_before_check(rules, 4), 80s);
}

TEST(CheckWaits, NeverGrowBeyondTheLimit) {
  policy rules{.check_interval = 10s, .check_backoff = 100.0};
  EXPECT_EQ(wait_before_check(rules, 5), check_wait_max);
  EXPECT_EQ(wait_before_check(rules, 4'000'000'000U), check_wait_max);
}

TEST(GiveUpActions, HaveTheNamesOfTheConfiguration) {
  EXPECT_EQ(name_of(give_up_action::roll_back), "rollback");
  EXPECT_EQ(name_of(give_up_action::commit), "commit");
  EXPECT_EQ(name_of(give_up_action::keep), "keep");
  EXPECT_EQ(name_of(give_up_action::park), "park");
}
