#include "actors/folds/progress_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace handfast {
namespace {

constexpr group_id billing{7};
constexpr queue_key orders{topic_id{16}, queue_no{2}};

TEST(QueueProgress, MovesItsBaseOverWhatIsDone) {
  queue_progress p;
  EXPECT_TRUE(p.mark_done(1));
  EXPECT_TRUE(p.mark_done(2));
  EXPECT_EQ(p.base(), 0U);
  EXPECT_EQ(p.ranges(), 1U);
  EXPECT_TRUE(p.mark_done(0));
  EXPECT_EQ(p.base(), 3U);
  EXPECT_EQ(p.ranges(), 0U);
}

TEST(QueueProgress, SaysWhenSomethingWasDoneBefore) {
  queue_progress p;
  p.mark_done(5);
  EXPECT_FALSE(p.mark_done(5));
  p.advance_to(3);
  EXPECT_FALSE(p.mark_done(2));
}

TEST(QueueProgress, JoinsNeighbours) {
  queue_progress p;
  p.mark_done(10);
  p.mark_done(12);
  EXPECT_EQ(p.ranges(), 2U);
  p.mark_done(11);
  EXPECT_EQ(p.ranges(), 1U);
  p.advance_to(10);
  EXPECT_EQ(p.base(), 13U);
}

TEST(QueueProgress, TakesRangesThatOverlapWhatIsDone) {
  queue_progress p;
  p.mark_done(5);
  p.mark_done(8);
  p.count_attempt(6);
  p.mark_done(3, 8);
  EXPECT_EQ(p.ranges(), 1U);
  EXPECT_TRUE(p.is_done(3) && p.is_done(8));
  EXPECT_FALSE(p.is_done(2) || p.is_done(9));
  EXPECT_EQ(p.attempts(6), 0U);
  p.mark_done(0, 3);
  EXPECT_EQ(p.base(), 9U);
  p.mark_done(20, 30);
  p.mark_done(22, 25);
  EXPECT_TRUE(p.is_done(29));
  EXPECT_EQ(p.ranges(), 1U);
}

TEST(QueueProgress, AgreesWithAPlainSetOnRandomOrders) {
  std::mt19937 random{17};
  for (int round = 0; round < 50; ++round) {
    queue_progress p;
    std::set<std::uint64_t> done;
    for (int n = 0; n < 100; ++n) {
      const std::uint64_t offset = random() % 120;
      EXPECT_EQ(p.mark_done(offset), done.insert(offset).second);
    }
    for (std::uint64_t offset = 0; offset < 130; ++offset)
      EXPECT_EQ(p.is_done(offset), done.count(offset) == 1);
    queue_progress back;
    back.assign(p.record(billing, orders));
    for (std::uint64_t offset = 0; offset < 130; ++offset)
      EXPECT_EQ(back.is_done(offset), done.count(offset) == 1);
  }
}

TEST(QueueProgress, ForgetsAttemptsOfWhatIsDone) {
  queue_progress p;
  p.count_attempt(4);
  p.count_attempt(4);
  EXPECT_EQ(p.attempts(4), 2U);
  p.mark_done(4);
  EXPECT_EQ(p.attempts(4), 0U);
}

TEST(ProgressTable, TakesEntriesOfItsGroupOnly) {
  progress_table table{billing};
  queue_progress p;
  p.advance_to(9);
  table.apply(progress_record{
      {p.record(billing, orders), p.record(group_id{8}, {topic_id{17}, queue_no{0}})}});
  EXPECT_EQ(table.queues().size(), 1U);
  EXPECT_EQ(table.find(orders)->base(), 9U);
  EXPECT_TRUE(table.knows(orders.topic));
  EXPECT_FALSE(table.knows(topic_id{17}));
}

TEST(ProgressTable, ReplacesWithEachEntry) {
  progress_table table{billing};
  queue_progress p;
  p.mark_done(3);
  table.apply(p.record(billing, orders));
  p.advance_to(4);
  table.apply(p.record(billing, orders));
  EXPECT_EQ(table.find(orders)->base(), 4U);
  EXPECT_EQ(table.find(orders)->ranges(), 0U);
}

TEST(ProgressTable, ComesBackFromItsSlices) {
  progress_table table{billing};
  for (std::uint32_t n = 0; n < 20'000; ++n) {
    queue_progress p;
    p.advance_to(n);
    p.mark_done(n + 5);
    p.count_attempt(n + 7);
    table.apply(p.record(
        billing, {topic_id{16 + n / 1000}, queue_no{static_cast<std::uint16_t>(n % 1000)}}));
  }
  auto back = table.emptied();
  std::string cursor;
  int parts = 0;
  do {
    back.load(progress_table::slice_prefix(billing), table.save(cursor));
    ++parts;
  } while (!cursor.empty());
  EXPECT_GT(parts, 1);
  ASSERT_EQ(back.queues().size(), 20'000U);
  const auto* p = back.find({topic_id{16 + 12}, queue_no{345}});
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->base(), 12'345U);
  EXPECT_TRUE(p->is_done(12'350));
  EXPECT_EQ(p->attempts(12'352), 1U);
}

TEST(ProgressTable, KnowsItsSlicesByName) {
  EXPECT_EQ(progress_table::group_of_slice("group/7/"), billing);
  EXPECT_EQ(progress_table::group_of_slice("group/71/"), group_id{71});
  EXPECT_EQ(progress_table::group_of_slice("group/7"), group_id{});
  EXPECT_EQ(progress_table::group_of_slice("topics"), group_id{});
}

dead_letter_record letter_of(group_id group, std::uint64_t offset) {
  dead_letter_record letter;
  letter.group = group;
  letter.topic = orders.topic;
  letter.queue = orders.queue;
  letter.offset = queue_offset{offset};
  return letter;
}

TEST(ProgressTable, EndsAMessageWithItsDeadLetter) {
  progress_table table{billing};
  queue_progress p;
  p.count_attempt(0);
  table.apply(p.record(billing, orders));
  table.apply(letter_of(billing, 0));
  EXPECT_EQ(table.find(orders)->base(), 1U);
  EXPECT_EQ(table.find(orders)->attempted(), 0U);
  table.apply(letter_of(billing, 0));
  EXPECT_EQ(table.find(orders)->base(), 1U) << "a repeat changes nothing";
}

TEST(ProgressTable, IgnoresDeadLettersOfOtherGroups) {
  progress_table table{billing};
  table.apply(letter_of(group_id{99}, 0));
  EXPECT_EQ(table.find(orders), nullptr);
}

TEST(QueueProgress, CountsWhatIsNotDone) {
  queue_progress p;
  p.advance_to(2);
  p.mark_done(4, 6);
  EXPECT_EQ(p.not_done_below(2), 0U);
  EXPECT_EQ(p.not_done_below(5), 2U);
  EXPECT_EQ(p.not_done_below(10), 6U);
}

} // namespace
} // namespace handfast
