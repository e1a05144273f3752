#include "config/options.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <set>

using namespace handfast;
using namespace handfast::config;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

result<void> assign(std::string_view key, settings& to, std::string_view text) {
  const auto* row = find_option(key);
  EXPECT_NE(row, nullptr) << key;
  return assign(*row, to, text);
}

std::string refusal(std::string_view key, std::string_view text) {
  settings to;
  auto done = assign(key, to, text);
  if (done)
    return "accepted";
  EXPECT_EQ(done.error().code, ec::config_invalid);
  return done.error().detail;
}

} // namespace

TEST(OptionTable, HasTheKeysThatWerePromised) {
  for (auto key :
       {"store.dir", "store.segment_size", "listen.native", "listen.http", "transaction.timeout",
        "transaction.check_interval", "transaction.check_max", "transaction.give_up", "insecure",
        "topic.auto_create", "topic.default_queues", "topic.max", "log.level", "log.format"})
    EXPECT_NE(find_option(key), nullptr) << key;
}

TEST(OptionTable, NamesEachKeyOnceWithHelpThatEndsInAFullStop) {
  std::set<std::string_view> seen;
  for (const auto& row : options()) {
    EXPECT_TRUE(seen.insert(row.key).second) << row.key;
    EXPECT_THAT(std::string{row.help}, testing::EndsWith(".")) << row.key;
    EXPECT_EQ(row.help.find('|'), std::string_view::npos) << row.key << " breaks the page's table";
  }
}

TEST(OptionTable, HasASectionInOnePieceEach) {
  std::set<std::string_view> closed;
  std::string_view current;
  for (const auto& row : options()) {
    auto section = row.key.substr(0, row.key.find('.'));
    if (section == current)
      continue;
    EXPECT_TRUE(closed.insert(section).second) << row.key;
    current = section;
  }
}

TEST(OptionTable, AcceptsItsOwnDefaults) {
  for (const auto& row : options()) {
    settings to;
    auto done = config::assign(row, to, default_of(row));
    EXPECT_TRUE(done) << row.key << ": " << (done ? "" : done.error().detail);
    EXPECT_EQ(text_of(row, to), default_of(row));
  }
}

TEST(OptionTable, ReachesADifferentMemberByEachKey) {
  for (const auto& row : options()) {
    settings changed;
    const auto* other = row.kind == option_kind::duration  ? "7m"
                        : row.kind == option_kind::size    ? "7MiB"
                        : row.kind == option_kind::integer ? "7"
                        : row.kind == option_kind::number  ? "7.5"
                        : row.kind == option_kind::boolean
                            ? (default_of(row) == "true" ? "false" : "true")
                        : row.kind == option_kind::address ? "127.0.0.7:7"
                        : row.kind == option_kind::choice  ? row.choices.back().data()
                                                           : "seven";
    ASSERT_TRUE(config::assign(row, changed, other)) << row.key;
    for (const auto& each : options())
      EXPECT_EQ(text_of(each, changed), &each == &row ? other : default_of(each)) << row.key;
  }
}

TEST(OptionTable, TakesItsDefaultsFromTheLimits) {
  settings defaults;
  EXPECT_EQ(defaults.limits.body, limits::body_bytes_max);
  EXPECT_EQ(defaults.transaction.pending_max, limits::pending_max);
  EXPECT_EQ(defaults.transaction.checks.timeout, 6s);
  EXPECT_EQ(default_of(*find_option("transaction.remember")), "3d");
  EXPECT_EQ(default_of(*find_option("listen.native")), "127.0.0.1:7310");
}

TEST(OptionValues, AreStoredByKind) {
  settings to;
  EXPECT_TRUE(assign("transaction.timeout", to, "2s"));
  EXPECT_EQ(to.transaction.checks.timeout, 2s);
  EXPECT_TRUE(assign("store.segment_size", to, "16MiB"));
  EXPECT_EQ(to.store.segment_size, 16U << 20);
  EXPECT_TRUE(assign("transaction.check_backoff", to, "1.5"));
  EXPECT_EQ(to.transaction.checks.check_backoff, 1.5);
  EXPECT_TRUE(assign("transaction.give_up", to, "park"));
  EXPECT_EQ(to.transaction.give_up, give_up_action::park);
  EXPECT_TRUE(assign("log.level", to, "debug"));
  EXPECT_EQ(to.log.level, log_level::debug);
  EXPECT_TRUE(assign("listen.http", to, ""));
  EXPECT_TRUE(to.listen.http.is_off());
  EXPECT_TRUE(assign("topic.auto_create", to, "false"));
  EXPECT_FALSE(to.topic.auto_create);
}

TEST(OptionValues, OutOfBoundsNameTheLimit) {
  EXPECT_THAT(refusal("store.segment_size", "4KiB"), HasSubstr("under the minimum of 1MiB"));
  EXPECT_THAT(refusal("store.segment_size", "5GiB"), HasSubstr("over the maximum of 4GiB"));
  EXPECT_THAT(refusal("transaction.timeout", "31d"), HasSubstr("over the maximum of 30d"));
  EXPECT_THAT(refusal("topic.default_queues", "0"), HasSubstr("under the minimum of 1"));
  EXPECT_THAT(refusal("topic.default_queues", "5000000000"), HasSubstr("over the maximum of 1024"));
  EXPECT_THAT(refusal("transaction.check_backoff", "0.5"), HasSubstr("under the minimum of 1.0"));
}

TEST(OptionValues, OfTheWrongKindSayWhatIsWanted) {
  EXPECT_THAT(refusal("transaction.check_max", "many"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("transaction.check_max", "-1"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("transaction.check_backoff", "nan"), HasSubstr("number"));
  EXPECT_THAT(refusal("transaction.check_backoff", "inf"), HasSubstr("maximum"));
  EXPECT_THAT(refusal("insecure", "yes"), HasSubstr("true or false"));
  EXPECT_THAT(refusal("transaction.give_up", "abort"), HasSubstr("rollback, commit, keep, park"));
  EXPECT_THAT(refusal("store.dir", ""), HasSubstr("empty"));
}

TEST(OptionValues, ThatAreRefusedBeginWithTheKeyAndChangeNothing) {
  settings to;
  auto done = assign("transaction.timeout", to, "6");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().detail, StartsWith("transaction.timeout: '6'"));
  EXPECT_EQ(to.transaction.checks.timeout, 6s);
}

TEST(NearestKeys, AreFoundThroughSlipsOfTheHand) {
  EXPECT_EQ(nearest_key("transaction.timeot"), "transaction.timeout");
  EXPECT_EQ(nearest_key("transactions.check_max"), "transaction.check_max");
  EXPECT_EQ(nearest_key("store.segmentsize"), "store.segment_size");
  EXPECT_EQ(nearest_key("listen.htp"), "listen.http");
  EXPECT_EQ(nearest_key("unsecure"), "insecure");
}

TEST(NearestKeys, AreFoundWithoutTheirSection) {
  EXPECT_EQ(nearest_key("segment_size"), "store.segment_size");
  EXPECT_EQ(nearest_key("auto_create"), "topic.auto_create");
}

TEST(NearestKeys, TakeAnyInput) {
  EXPECT_FALSE(nearest_key("").empty());
  EXPECT_FALSE(nearest_key(std::string(1 << 20, 'x')).empty());
}
