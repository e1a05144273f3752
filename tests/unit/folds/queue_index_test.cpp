#include "actors/folds/queue_index.hpp"

#include <gtest/gtest.h>

namespace handfast {
namespace {

constexpr queue_key orders{topic_id{16}, queue_no{2}};

visible_entry entry(std::uint64_t offset) {
  return {position{1000 + offset * 100}, 100, static_cast<std::uint32_t>(offset),
          queue_offset{offset}, 5'000 + offset};
}

log_record message_at(std::uint64_t at, std::uint64_t offset, queue_key queue = orders) {
  message_record m;
  m.topic = queue.topic;
  m.queue = queue.queue;
  m.offset = queue_offset{offset};
  log_record record;
  record.type = record_type::message;
  record.at = position{at};
  record.length = 100;
  record.content = m;
  return record;
}

TEST(QueueIndex, GivesEntriesByOffset) {
  queue_index index{orders};
  for (std::uint64_t n = 0; n < 5; ++n)
    index.add(entry(n));
  EXPECT_EQ(index.end(), queue_offset{5});
  const auto found = index.read(queue_offset{3}, 10);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], entry(3));
  EXPECT_TRUE(index.read(queue_offset{5}, 10).empty());
  EXPECT_TRUE(index.read(queue_offset{9}, 10).empty());
}

TEST(QueueIndex, IgnoresWhatItHas) {
  queue_index index{orders};
  index.add(entry(0));
  index.add(entry(0));
  EXPECT_EQ(index.end(), queue_offset{1});
}

TEST(QueueIndex, PassesOverOffsetsThatWereLost) {
  queue_index index{orders};
  for (const std::uint64_t n : {0, 1, 3, 4, 900'000'000, 900'000'001})
    index.add(entry(n));
  EXPECT_EQ(index.end(), queue_offset{900'000'002});
  EXPECT_EQ(index.in_memory(), 6U);
  const auto all = index.read(queue_offset{0}, 100);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[2], entry(3));
  EXPECT_EQ(all[5], entry(900'000'001));
  EXPECT_EQ(index.read(queue_offset{2}, 1), std::vector{entry(3)});
  EXPECT_EQ(index.read(queue_offset{3}, 1), std::vector{entry(3)});
  EXPECT_EQ(index.read(queue_offset{5'000}, 1), std::vector{entry(900'000'000)});
}

TEST(QueueIndex, GivesToARunWhatStandsAroundLostOffsets) {
  queue_index index{orders};
  for (const std::uint64_t n : {0, 2})
    index.add(entry(n));
  EXPECT_EQ(index.take_unsaved().size(), 2U);
  index.add(entry(7));
  index.saved();
  EXPECT_EQ(index.memory_first(), queue_offset{3});
  EXPECT_EQ(index.in_memory(), 1U);
  EXPECT_EQ(index.read(queue_offset{3}, 9), std::vector{entry(7)});
  index.add(entry(8));
  EXPECT_EQ(index.read(queue_offset{8}, 9), std::vector{entry(8)});
}

TEST(QueueIndex, BeginsAtTheEndOfItsSliceWhenTheNextOffsetsWereLost) {
  queue_index before{orders};
  before.add(entry(0));
  queue_index index{orders};
  index.load(queue_index::slice_name(orders), before.save());
  index.add(entry(5));
  EXPECT_EQ(index.memory_first(), queue_offset{1});
  EXPECT_EQ(index.read(queue_offset{1}, 9), std::vector{entry(5)});
}

TEST(QueueIndex, TakesItsOwnPlainMessages) {
  queue_index index{orders};
  index.apply(message_at(4096, 0));
  index.apply(message_at(4196, 0, {topic_id{16}, queue_no{3}}));
  EXPECT_EQ(index.end(), queue_offset{1});
  EXPECT_EQ(index.read(queue_offset{0}, 1)[0].at, position{4096});
}

TEST(QueueIndex, LeavesDelayedMessagesToTheirRelease) {
  queue_index index{orders};
  auto delayed = message_at(4096, 0);
  std::get<message_record>(delayed.content).delay_ms = 1'000;
  index.apply(delayed);
  EXPECT_EQ(index.end(), queue_offset{0});
  log_record release;
  release.type = record_type::release;
  release.at = position{8192};
  release.content =
      release_record{{{position{4096}, orders.topic, orders.queue, queue_offset{0}, 100, 7}}, {}};
  index.apply(release);
  EXPECT_EQ(index.end(), queue_offset{1});
}

TEST(QueueIndex, TakesCommittedMessages) {
  queue_index index{orders};
  log_record decided;
  decided.type = record_type::decide;
  decided.at = position{8192};
  decided.length = 200;
  decided.time_ms = 77;
  decide_record content;
  content.entries = {{position{4096}, orders.topic, orders.queue, queue_offset{0}, 100, 7},
                     {position{4296}, topic_id{17}, queue_no{0}, queue_offset{0}, 100, 0}};
  decided.content = content;
  index.apply(decided);
  const auto found = index.read(queue_offset{0}, 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, position{4096});
  EXPECT_EQ(found[0].visible_ms, 77U);
}

TEST(QueueIndex, GivesARunAllThatNoRunHas) {
  queue_index index{orders};
  index.add(entry(0));
  index.add(entry(1));
  EXPECT_EQ(index.take_unsaved().size(), 2U);
  EXPECT_EQ(index.take_unsaved().size(), 2U) << "the run may have failed";
}

TEST(QueueIndex, ForgetsWhatARunHolds) {
  queue_index index{orders};
  index.add(entry(0));
  (void)index.take_unsaved();
  index.add(entry(1));
  index.saved();
  EXPECT_EQ(index.memory_first(), queue_offset{1});
  EXPECT_EQ(index.end(), queue_offset{2});
  EXPECT_EQ(index.in_memory(), 1U);
  (void)index.take_unsaved();
  index.saved();
  EXPECT_EQ(index.in_memory(), 0U);
  index.add(entry(2));
  EXPECT_EQ(index.read(queue_offset{2}, 1)[0], entry(2));
}

TEST(QueueIndex, ForgetsNothingThatItDidNotGive) {
  queue_index index{orders};
  index.add(entry(0));
  index.saved();
  EXPECT_EQ(index.in_memory(), 1U);
}

TEST(QueueIndex, BeginsWhereReplayBeginsThoughTheSliceWasTakenLater) {
  queue_index before{orders};
  for (std::uint64_t n = 0; n < 10; ++n)
    before.add(entry(n));
  queue_index index{orders};
  index.load(queue_index::slice_name(orders), before.save());
  EXPECT_EQ(index.end(), queue_offset{10});
  index.add(entry(7)); // replay begins before the slice was taken
  EXPECT_EQ(index.memory_first(), queue_offset{7});
  EXPECT_EQ(index.end(), queue_offset{8});
  index.add(entry(8));
  EXPECT_EQ(index.read(queue_offset{7}, 9).size(), 2U);
}

TEST(QueueIndex, KeepsItsEndWhenNothingIsReplayed) {
  queue_index before{orders};
  before.add(entry(0));
  queue_index index{orders};
  index.load(queue_index::slice_name(orders), before.save());
  EXPECT_EQ(index.end(), queue_offset{1});
  index.add(entry(1));
  EXPECT_EQ(index.end(), queue_offset{2});
}

TEST(QueueIndex, IgnoresSlicesOfOtherQueues) {
  queue_index before{{topic_id{16}, queue_no{21}}};
  before.add(entry(0));
  queue_index index{orders};
  index.load(queue_index::slice_name(before.key()), before.save());
  EXPECT_EQ(index.end(), queue_offset{0});
}

TEST(QueueIndex, NamesItsSliceByItsKey) {
  EXPECT_EQ(queue_index::slice_name(orders), "queue/16/2");
  EXPECT_EQ(queue_index::key_of_slice("queue/16/2"), orders);
  EXPECT_EQ(queue_index::key_of_slice("queue/16/2x").topic, topic_id{});
  EXPECT_EQ(queue_index::key_of_slice("group/16/2").topic, topic_id{});
}

} // namespace
} // namespace handfast
