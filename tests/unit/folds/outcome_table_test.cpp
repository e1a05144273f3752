#include "actors/folds/outcome_table.hpp"
#include "tests/unit/folds/transaction_records.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

using namespace test;

index_entry body_at(std::uint64_t at) {
  return {position{at}, orders, queue_no{1}, {}, 256, 5};
}

outcome_table reloaded(const outcome_table& table) {
  outcome_table loaded;
  std::string cursor;
  do {
    const auto [name, bytes] = table.save_slice(cursor);
    loaded.load(name, bytes);
  } while (!cursor.empty());
  return loaded;
}

TEST(OutcomeTable, KeepsOutcomeAndPlaceOfTheFirstMessage) {
  outcome_table table;
  table.apply(commit_at(1'000, 8, 41));
  const auto* found = table.find(position{8});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->result, outcome::committed);
  EXPECT_EQ(found->decided_at, position{1'000});
  EXPECT_EQ(found->offset, queue_offset{41});
  EXPECT_EQ(found->topic, orders);
}

TEST(OutcomeTable, TheFirstOutcomeStays) {
  outcome_table table;
  table.apply(rollback_at(1'000, {8}));
  table.apply(commit_at(1'100, 8, 1));
  EXPECT_EQ(table.find(position{8})->result, outcome::rolled_back);
  EXPECT_EQ(table.size(), 1u);
}

TEST(OutcomeTable, ForgetsTheOldestButNothingThatMustStay) {
  outcome_table table;
  for (std::uint64_t i = 1; i <= 10; ++i)
    table.apply(rollback_at(1'000 + i, {i}));
  table.evict(4, position{1'004});
  EXPECT_EQ(table.size(), 7u);
  EXPECT_EQ(table.evicted(), position{1'003});
  table.evict(4, position{2'000});
  EXPECT_EQ(table.size(), 4u);
  EXPECT_EQ(table.find(position{6}), nullptr);
  ASSERT_NE(table.find(position{7}), nullptr);
  EXPECT_EQ(*table.age_of(position{7}), 0u);
}

TEST(OutcomeTable, VisitsWhatNoRunHas) {
  outcome_table table;
  for (std::uint64_t i = 1; i <= 6; ++i)
    table.apply(rollback_at(1'000 + i, {i}));
  table.saved_below(position{1'003});
  std::vector<std::uint64_t> seen;
  table.each_unsaved(position{1'006}, [&](const auto& e) { seen.push_back(e.transaction.value); });
  EXPECT_THAT(seen, ::testing::ElementsAre(3, 4, 5));
}

TEST(OutcomeTable, LinksAGivenUpOneToItsSuccessorForEver) {
  outcome_table table;
  table.apply(reopen_at(500, 8, {{position{8}, orders, {}, {}, 1, 1}}));
  table.apply(reopen_at(600, 8, {{position{8}, orders, {}, {}, 1, 1}}));
  EXPECT_EQ(table.reopened_as(position{8}), position{500});
  EXPECT_EQ(reloaded(table).reopened_as(position{8}), position{500});
}

TEST(OutcomeTable, ComesBackFromItsSlices) {
  outcome_table table;
  for (std::uint64_t i = 1; i <= 40'000; ++i)
    table.apply(rollback_at(100'000 + i, {i}));
  table.apply(commit_at(200'000, 60'000, 17));
  table.saved_below(position{100'011});
  const auto loaded = reloaded(table);
  EXPECT_EQ(loaded.size(), table.size() - 10);
  EXPECT_EQ(loaded.find(position{10}), nullptr);
  ASSERT_NE(loaded.find(position{60'000}), nullptr);
  EXPECT_EQ(loaded.find(position{60'000})->offset, queue_offset{17});
}

TEST(OutcomeTable, ReplayOnTopOfSlicesChangesNothing) {
  outcome_table table;
  for (std::uint64_t i = 1; i <= 10; ++i)
    table.apply(rollback_at(1'000 + i, {i}));
  table.saved_below(position{1'005});
  auto loaded = reloaded(table);
  for (std::uint64_t i = 1; i <= 12; ++i)
    loaded.apply(rollback_at(1'000 + i, {i}));
  EXPECT_EQ(loaded.size(), 8u); // 5 to 12; what a run has stays there
  EXPECT_EQ(loaded.evicted(), position{1'004});
}

TEST(OutcomeTable, SplitsTheEntriesOfARecordByDecision) {
  const auto record = decide_at(1'000,
                                {{position{8}, outcome::committed, origin::producer, 2, shop},
                                 {position{9}, outcome::rolled_back, origin::producer, 0, shop},
                                 {position{10}, outcome::committed, origin::producer, 1, shop}},
                                {body_at(8), body_at(81), body_at(10)});
  const auto& decide = std::get<decide_record>(record.content);
  EXPECT_EQ(entries_of(decide, position{8}).size(), 2u);
  EXPECT_EQ(entries_of(decide, position{9}).size(), 0u);
  ASSERT_EQ(entries_of(decide, position{10}).size(), 1u);
  EXPECT_EQ(entries_of(decide, position{10}).front().at, position{10});
}

TEST(OutcomeTable, RefusesARecordWithTooFewEntries) {
  outcome_table table;
  EXPECT_ANY_THROW(
      table.apply(decide_at(1, {{position{8}, outcome::committed, origin::producer, 2, shop}})));
}

} // namespace
} // namespace handfast
