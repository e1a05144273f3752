#include "actors/folds/decision_rules.hpp"
#include "actors/folds/half_fold.hpp"
#include "messages/limits.hpp"
#include "tests/unit/folds/transaction_records.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

using namespace test;

std::vector<log_record> a_busy_log() {
  std::vector<log_record> log{topic_put_at(1, orders, 4), half_at(100), half_at(200),
                              half_at(300, position{100}), half_at(400)};
  log.push_back(checked_at(500, 200, 1));
  log.push_back(rollback_at(600, {400}));
  log.push_back(checked_at(700, 200, 2));
  log.push_back(reopen_at(800, 400, {{position{400}, orders, queue_no{1}, {}, 256, 5}}));
  log.push_back(half_at(900, position{400})); // too late: ignored
  return log;
}

std::vector<std::uint64_t> ids_in(const half_fold& fold) {
  std::vector<std::uint64_t> ids;
  for (pending_table::place p = 0; p < fold.pending.end(); ++p)
    if (fold.pending.at(p).id != position{})
      ids.push_back(fold.pending.at(p).id.value);
  std::sort(ids.begin(), ids.end());
  return ids;
}

const pending_entry& entry(const half_fold& fold, std::uint64_t id) {
  return fold.pending.at(fold.pending.find(position{id}));
}

TEST(HalfFold, FoldsWhatIsPending) {
  half_fold fold;
  for (const auto& r : a_busy_log())
    fold.apply(r);
  EXPECT_THAT(ids_in(fold), ::testing::ElementsAre(100, 200, 800));
  EXPECT_EQ(entry(fold, 100).messages, 2);
  EXPECT_EQ(entry(fold, 200).attempts, 2);
  EXPECT_EQ(fold.asks.of(position{200}).size(), 2u);
}

TEST(HalfFold, ApplyingTheLogAgainChangesNothing) {
  half_fold fold;
  for (int round = 0; round < 2; ++round)
    for (const auto& r : a_busy_log())
      fold.apply(r);
  EXPECT_THAT(ids_in(fold), ::testing::ElementsAre(100, 200, 800));
  EXPECT_EQ(entry(fold, 100).messages, 2);
}

// A checkpoint is taken slice by slice while records go on being applied; replay from its start
// must give the same fold.
TEST(HalfFold, AFuzzyCheckpointAndReplayGiveTheSameFold) {
  const auto log = a_busy_log();
  for (std::size_t start = 0; start < log.size(); ++start) {
    for (std::size_t later = start; later < log.size(); ++later) {
      half_fold fold;
      for (std::size_t i = 0; i < start; ++i)
        fold.apply(log[i]);
      std::vector<std::pair<std::string, std::string>> slices;
      std::string cursor;
      slices.push_back(fold.save_slice(cursor));
      for (std::size_t i = start; i < later; ++i)
        fold.apply(log[i]);
      while (!cursor.empty())
        slices.push_back(fold.save_slice(cursor));

      auto loaded = fold.emptied();
      for (const auto& [name, bytes] : slices)
        loaded.load(name, bytes);
      for (std::size_t i = start; i < log.size(); ++i)
        loaded.apply(log[i]);
      for (std::size_t i = later; i < log.size(); ++i)
        fold.apply(log[i]);
      ASSERT_EQ(ids_in(loaded), ids_in(fold)) << start << " " << later;
      EXPECT_EQ(entry(loaded, 100).messages, 2);
      EXPECT_EQ(entry(loaded, 200).attempts, 2);
      EXPECT_EQ(loaded.rules.admits({orders, queue_no{3}}), ec::ok);
    }
  }
}

TEST(HalfFold, QuarantinesTheTransactionOfADamagedBody) {
  half_fold fold;
  fold.mark_damaged(position{300}, position{100});
  for (const auto& r : a_busy_log())
    fold.apply(r);
  EXPECT_EQ(entry(fold, 100).state, pending_state::quarantined);
  EXPECT_EQ(entry(fold, 200).state, pending_state::pending);
}

TEST(HalfFold, QuarantinesLaterToo) {
  half_fold fold;
  fold.apply(half_at(100));
  fold.mark_damaged(position{100}, {});
  EXPECT_EQ(entry(fold, 100).state, pending_state::quarantined);
}

TEST(TopicRules, AdmitsOnlyQueuesOfTopicsThatExist) {
  topic_rules rules;
  rules.apply(std::get<meta_record>(topic_put_at(1, orders, 4).content));
  EXPECT_EQ(rules.admits({orders, queue_no{3}}), ec::ok);
  EXPECT_EQ(rules.admits({orders, queue_no{4}}), ec::unknown_queue);
  EXPECT_EQ(rules.admits({payments, queue_no{0}}), ec::unknown_topic);
  EXPECT_EQ(rules.admits({half_view_topic, queue_no{0}}), ec::read_only_topic);
  rules.apply({meta_change::topic_deleted, orders.value, {}, 0, {}});
  EXPECT_EQ(rules.admits({orders, queue_no{3}}), ec::unknown_topic);
}

TEST(TopicRules, MergesMessageTopicGroupAndNode) {
  topic_rules rules;
  attributes of_topic;
  of_topic.check_max = 3;
  attributes of_group;
  of_group.check_interval_ms = 700;
  rules.apply({meta_change::topic_put, orders.value, "o", 4, of_topic});
  rules.apply({meta_change::group_put, shop.value, "s", 0, of_group});
  const auto p = rules.policy_of({}, orders, shop, 1'234);
  EXPECT_EQ(p.timeout.count(), 1'234);
  EXPECT_EQ(p.check_interval.count(), 700);
  EXPECT_EQ(p.check_max, 3u);
  EXPECT_EQ(rules.policy_of({}, payments, group_id{1}, 0).check_max, 15u);
}

TEST(TopicRules, GiveTheTimeoutOfTheMergedRules) {
  topic_rules rules;
  attributes options;
  options.transaction_timeout_ms = 800;
  rules.apply({meta_change::topic_put, orders.value, "o", 4, options});
  options.transaction_timeout_ms = 900;
  rules.apply({meta_change::group_put, shop.value, "s", 0, options});
  for (const auto topic : {orders, payments})
    for (const auto group : {shop, group_id{1}})
      for (const std::uint32_t own : {0, 1'234})
        EXPECT_EQ(rules.timeout_of({}, topic, group, own),
                  rules.policy_of({}, topic, group, own).timeout);
}

TEST(TopicRules, ComeBackFromTheirSlice) {
  topic_rules rules;
  attributes options;
  options.transaction_timeout_ms = 99;
  rules.apply({meta_change::topic_put, orders.value, "orders", 4, options});
  rules.apply({meta_change::group_put, shop.value, "shop", 0, options});
  topic_rules loaded;
  loaded.load(rules.save());
  EXPECT_EQ(loaded.topic_name(orders), "orders");
  EXPECT_EQ(loaded.group_name(shop), "shop");
  EXPECT_EQ(loaded.policy_of({}, orders, group_id{1}, 0).timeout.count(), 99);
}

TEST(AskHistory, KeepsTheNewestOfEachAndForgetsTheOldestTransactions) {
  ask_history asks{2};
  for (std::uint16_t i = 1; i <= 20; ++i)
    asks.add(position{1}, {i, i, 0, {}, {}});
  EXPECT_EQ(asks.of(position{1}).size(), limits::asks_remembered);
  EXPECT_EQ(asks.of(position{1}).back().attempt, 20);
  asks.answer(position{1}, "unknown");
  EXPECT_EQ(asks.of(position{1}).back().answer, "unknown");
  asks.add(position{2}, {});
  asks.add(position{3}, {});
  EXPECT_TRUE(asks.of(position{1}).empty());
  EXPECT_EQ(asks.size(), 2u);
}

TEST(AskHistory, SaysOfWhichItKnowsAllAsks) {
  ask_history asks{2};
  EXPECT_FALSE(asks.knows(position{500}));
  asks.begin_at(position{100});
  asks.begin_at(position{900});
  EXPECT_FALSE(asks.knows(position{92})) << "asked before this history began, perhaps";
  EXPECT_TRUE(asks.knows(position{100}));
  asks.add(position{92}, {});
  EXPECT_TRUE(asks.knows(position{92}));
  asks.add(position{200}, {});
  asks.add(position{300}, {}); // forgets the first
  asks.add(position{400}, {}); // and the second
  EXPECT_FALSE(asks.knows(position{92}));
  EXPECT_FALSE(asks.knows(position{200}));
  EXPECT_TRUE(asks.knows(position{300}));
  EXPECT_TRUE(asks.knows(position{208}));
}

TEST(DecisionRules, OnlyTheOppositeIsAConflict) {
  EXPECT_EQ(verdict_on(outcome::committed, outcome::committed), ec::ok);
  EXPECT_EQ(verdict_on(outcome::committed, outcome::rolled_back), ec::conflict_committed);
  EXPECT_EQ(verdict_on(outcome::rolled_back, outcome::committed), ec::conflict_rolled_back);
  EXPECT_EQ(verdict_on(outcome::given_up, outcome::committed), ec::conflict_given_up);
  EXPECT_EQ(verdict_on(outcome::given_up, outcome::rolled_back), ec::ok);
  EXPECT_EQ(verdict_on(outcome::committed, outcome::pending), ec::ok);
}

TEST(DecisionRules, OperatorsDecideForAnyGroup) {
  decide_request r;
  r.group = group_id{1};
  EXPECT_FALSE(may_decide(r, shop));
  r.by = origin::admin;
  EXPECT_TRUE(may_decide(r, shop));
}

} // namespace
} // namespace handfast
