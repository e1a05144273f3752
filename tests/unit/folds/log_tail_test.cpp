#include "actors/folds/log_tail.hpp"

#include <gtest/gtest.h>

#include <random>

namespace handfast {
namespace {

constexpr queue_key orders{topic_id{20}, queue_no{1}};
constexpr queue_key other{topic_id{20}, queue_no{2}};

log_record message_at(std::uint64_t at, queue_key queue, std::uint64_t offset) {
  message_record m;
  m.topic = queue.topic;
  m.queue = queue.queue;
  m.offset = queue_offset{offset};
  log_record r{record_type::message, position{at}, 100, 1, 1000 + at, std::move(m), 0};
  return r;
}

log_record half_at(std::uint64_t at, std::uint64_t half_offset) {
  auto r = message_at(at, orders, half_offset);
  r.type = record_type::half;
  return r;
}

log_record decide_at(std::uint64_t at, std::uint64_t op_offset, std::vector<index_entry> entries) {
  decide_record d;
  d.op_offset = queue_offset{op_offset};
  d.entries = std::move(entries);
  return {record_type::decide, position{at}, 100, 1, 1000 + at, std::move(d), 0};
}

TEST(QueueHeads, GiveDenseOffsetsForEachQueue) {
  queue_heads heads;
  EXPECT_EQ(heads.take(orders), queue_offset{0});
  EXPECT_EQ(heads.take(orders), queue_offset{1});
  EXPECT_EQ(heads.take(other), queue_offset{0});
  EXPECT_EQ(heads.next(orders), queue_offset{2});
}

TEST(QueueHeads, GiveAnOffsetAgainThatWasPutBack) {
  queue_heads heads;
  (void)heads.take(orders);
  (void)heads.take(orders);
  heads.put_back(orders);
  EXPECT_EQ(heads.take(orders), queue_offset{1});
}

TEST(QueueHeads, SaveOnlyWhatIsDurable) {
  queue_heads heads;
  for (int i = 0; i < 5; ++i)
    (void)heads.take(orders);
  heads.set_durable(orders, queue_offset{3});
  queue_heads loaded;
  ASSERT_TRUE(loaded.load(heads.save()));
  EXPECT_EQ(loaded.next(orders), queue_offset{3});
}

TEST(QueueHeads, FollowEveryRecordThatUsesUpOffsets) {
  queue_heads heads;
  heads.apply(message_at(100, orders, 4));
  heads.apply(half_at(200, 8));
  heads.apply(
      decide_at(300, 2, {{position{200}, other.topic, other.queue, queue_offset{6}, 100, 0}}));
  EXPECT_EQ(heads.next(orders), queue_offset{5});
  EXPECT_EQ(heads.next(other), queue_offset{7});
  EXPECT_EQ(heads.next(queue_heads::half_view), queue_offset{9});
  EXPECT_EQ(heads.next(queue_heads::op_view), queue_offset{3});
}

TEST(QueueHeads, NeverGoBackWhenRecordsComeAgain) {
  queue_heads heads;
  heads.apply(message_at(900, orders, 8));
  heads.apply(message_at(100, orders, 0));
  EXPECT_EQ(heads.next(orders), queue_offset{9});
}

TEST(ViewSamples, KeepEvery64thEntryOfBothViews) {
  view_samples samples;
  for (std::uint64_t i = 0; i < 130; ++i)
    samples.apply(half_at(1000 + i * 8, i));
  samples.apply(decide_at(5000, 64, {}));
  ASSERT_EQ(samples.unsaved().size(), 4u);
  EXPECT_EQ(samples.unsaved()[1],
            (sampled_view_entry{queue_heads::half_view, queue_offset{64}, position{1512}}));
  EXPECT_EQ(samples.unsaved()[3],
            (sampled_view_entry{queue_heads::op_view, queue_offset{64}, position{5000}}));
  samples.saved(position{1513});
  EXPECT_EQ(samples.unsaved().size(), 2u);
}

TEST(UntakenEntries, AreGivenToTheQueueThatTakesThem) {
  log_tail tail;
  tail.apply(message_at(100, orders, 0));
  tail.apply(message_at(200, orders, 1));
  tail.apply(message_at(300, other, 0));
  const auto taken = tail.untaken.take(orders);
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[1].at, position{200});
  EXPECT_TRUE(tail.untaken.take(orders).empty());
  EXPECT_FALSE(tail.untaken.empty());
}

TEST(UntakenEntries, ForgetWhatARunHolds) {
  log_tail tail;
  tail.apply(message_at(100, orders, 0));
  tail.apply(message_at(300, other, 0));
  const auto saved = tail.untaken.all();
  tail.apply(message_at(400, orders, 1));
  tail.untaken.forget(saved);
  const auto left = tail.untaken.all();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].second.offset, queue_offset{1});
}

TEST(LogTail, IsTheSameFromACheckpointAndReplayAsFromFullReplay) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random{seed};
    log_tail full;
    std::vector<log_record> log;
    std::uint64_t offsets[2] = {0, 0};
    std::uint64_t halves = 0;
    std::uint64_t sequence = 0;
    for (std::uint64_t at = 1000; log.size() < 300; at += 8) {
      const auto which = random() % 2;
      auto r = random() % 3 == 0 ? half_at(at, halves++)
                                 : message_at(at, which ? other : orders, offsets[which]++);
      auto& m = std::get<message_record>(r.content);
      m.producer = producer_id{1 + random() % 5};
      m.sequence = sequence_no{++sequence};
      log.push_back(std::move(r));
    }
    // Parts are saved one after another while records go on being applied; replay begins where the
    // first part was taken.
    log_tail live;
    log_tail loaded;
    std::size_t start = 0;
    std::string cursor;
    bool done = false;
    const auto begin = random() % 200;
    for (std::size_t i = 0; i < log.size(); ++i) {
      live.apply(log[i]);
      full.apply(log[i]);
      if (i < begin || done || random() % 3 != 0)
        continue;
      if (start == 0)
        start = i;
      const auto part = live.save(cursor, log[i].at + 1);
      for (const auto& slice : part.slices)
        loaded.load(slice.name, slice.bytes);
      cursor = part.cursor;
      done = cursor.empty();
    }
    ASSERT_TRUE(done);
    for (std::size_t i = start; i < log.size(); ++i)
      loaded.apply(log[i]);
    for (const auto queue : {orders, other, queue_heads::half_view})
      ASSERT_EQ(loaded.heads.next(queue), full.heads.next(queue)) << seed;
    ASSERT_EQ(loaded.windows.ids(), full.windows.ids());
    for (const auto id : full.windows.ids())
      ASSERT_EQ(loaded.windows.save(id, position{~0ull}), full.windows.save(id, position{~0ull}));
    ASSERT_EQ(loaded.newest_ms, full.newest_ms);
  }
}

TEST(LogTail, IgnoresSlicesOfOthers) {
  log_tail tail;
  tail.load("queue/20/1", "whatever");
  EXPECT_EQ(tail.heads.queues(), 0u);
}

TEST(LogTail, KeepsWhatIsQuarantinedOverCheckpointsOnceEach) {
  log_tail tail;
  const quarantined_item item{position{4'096}, "half", "bad payload", {position{4'096}, 7}};
  tail.quarantine(item);
  tail.quarantine(item);
  log_tail loaded;
  for (const auto& slice : tail.save("", position{8'192}).slices)
    loaded.load(slice.name, slice.bytes);
  ASSERT_EQ(loaded.quarantined.size(), 1u);
  EXPECT_EQ(loaded.quarantined[0].at, item.at);
  EXPECT_EQ(loaded.quarantined[0].what, "half");
  EXPECT_EQ(loaded.quarantined[0].why, "bad payload");
  EXPECT_EQ(loaded.quarantined[0].transaction, item.transaction);
}

TEST(LogTail, RefusesASliceThatMakesNoSense) {
  log_tail tail;
  EXPECT_THROW(tail.load("commit_log/heads", "x"), std::logic_error);
}

} // namespace
} // namespace handfast
