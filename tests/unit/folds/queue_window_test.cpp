#include "actors/folds/queue_window.hpp"
#include "messages/assert.hpp"

#include <gtest/gtest.h>

namespace handfast {
namespace {

using namespace std::chrono_literals;
using ack = queue_window::ack;

constexpr queue_key orders{topic_id{16}, queue_no{0}};
constexpr queue_window::time_point start{};

std::vector<visible_entry> entries(std::uint64_t from, std::uint64_t to) {
  std::vector<visible_entry> made;
  for (auto n = from; n < to; ++n)
    made.push_back({position{4096 + n * 100}, 100, 0, queue_offset{n}, 0});
  return made;
}

queue_window filled(std::uint64_t count) {
  queue_window window{orders};
  window.take(entries(0, count), queue_offset{0}, queue_offset{count});
  return window;
}

acknowledgement done(std::uint64_t offset, std::uint64_t lease) {
  return {orders, queue_offset{offset}, lease, handling::done};
}

acknowledgement handed_back(std::uint64_t offset, std::uint64_t lease) {
  return {orders, queue_offset{offset}, lease, handling::failed};
}

TEST(QueueWindow, HandsEachMessageOutOnce) {
  auto window = filled(2);
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.hand_out(2, 2, start).entry.offset, queue_offset{1});
  EXPECT_EQ(window.peek(), nullptr);
  EXPECT_EQ(window.leased(), 2U);
}

TEST(QueueWindow, IsDoneWithWhatIsAcknowledged) {
  auto window = filled(2);
  (void)window.hand_out(1, 1, start);
  EXPECT_EQ(window.acknowledge(done(0, 1)), ack::accepted);
  EXPECT_EQ(window.progress().base(), 1U);
  EXPECT_EQ(window.acknowledge(done(0, 1)), ack::accepted) << "a repeat";
  EXPECT_EQ(window.leased(), 0U);
}

TEST(QueueWindow, HandsOutAgainWhatWasHandedBack) {
  auto window = filled(2);
  (void)window.hand_out(1, 1, start);
  EXPECT_EQ(window.acknowledge(handed_back(0, 1)), ack::accepted);
  const auto again = window.hand_out(2, 2, start);
  EXPECT_EQ(again.entry.offset, queue_offset{0});
  EXPECT_EQ(again.attempts, 2U);
}

TEST(QueueWindow, HandsOutAgainWhenTheLeaseEnds) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start + 30s);
  EXPECT_EQ(window.expire(start + 29s), 0U);
  EXPECT_EQ(window.next_expiry(), start + 30s);
  EXPECT_EQ(window.expire(start + 30s), 1U);
  EXPECT_EQ(window.hand_out(2, 2, start + 60s).attempts, 2U);
}

TEST(QueueWindow, CountsALateAcknowledgement) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start + 30s);
  window.expire(start + 30s);
  EXPECT_EQ(window.acknowledge(done(0, 1)), ack::late);
  EXPECT_EQ(window.progress().base(), 1U);
  EXPECT_EQ(window.peek(), nullptr);
}

TEST(QueueWindow, DoesNotCountALateOneWhenAnotherMemberHoldsTheMessage) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start + 30s);
  window.expire(start + 30s);
  (void)window.hand_out(2, 2, start + 60s);
  EXPECT_EQ(window.acknowledge(done(0, 1)), ack::late);
  EXPECT_EQ(window.progress().base(), 0U);
  EXPECT_EQ(window.acknowledge(done(0, 2)), ack::accepted);
  EXPECT_EQ(window.progress().base(), 1U);
}

TEST(QueueWindow, IgnoresALateHandBack) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start + 30s);
  window.expire(start + 30s);
  EXPECT_EQ(window.acknowledge(handed_back(0, 1)), ack::late);
  EXPECT_EQ(window.hand_out(2, 2, start + 60s).attempts, 2U);
}

TEST(QueueWindow, DoesNotKnowMessagesThatAreNotThereYet) {
  auto window = filled(1);
  EXPECT_EQ(window.acknowledge(done(1, 9)), ack::unknown);
  EXPECT_FALSE(window.progress().is_done(1));
}

TEST(QueueWindow, AcceptsAnAcknowledgementFromBeforeARestart) {
  auto window = filled(3);
  EXPECT_EQ(window.acknowledge(done(1, 77)), ack::late);
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{2});
}

TEST(QueueWindow, FreesAllThatALostMemberHeld) {
  auto window = filled(3);
  (void)window.hand_out(1, 1, start);
  (void)window.hand_out(2, 2, start);
  (void)window.hand_out(3, 1, start);
  EXPECT_EQ(window.release(1), 2U);
  EXPECT_EQ(window.leased(), 1U);
  EXPECT_EQ(window.hand_out(4, 2, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.hand_out(5, 2, start).entry.offset, queue_offset{2});
}

TEST(QueueWindow, PausesWhenTooManyAreOutstanding) {
  auto window = filled(queue_window::outstanding_max + 1);
  for (std::uint64_t n = 0; n < queue_window::outstanding_max; ++n)
    (void)window.hand_out(n + 1, 1, start);
  EXPECT_EQ(window.peek(), nullptr);
  EXPECT_EQ(window.acknowledge(done(5, 6)), ack::accepted);
  EXPECT_EQ(window.peek(), nullptr) << "the oldest is what counts";
  EXPECT_EQ(window.acknowledge(done(0, 1)), ack::accepted);
  EXPECT_NE(window.peek(), nullptr);
}

TEST(QueueWindow, SkipsWhatIsDoneAlready) {
  queue_progress progress;
  progress.advance_to(1);
  progress.mark_done(2);
  queue_window window{orders, progress};
  EXPECT_EQ(window.next(), queue_offset{1});
  window.take(entries(1, 4), queue_offset{0}, queue_offset{4});
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{1});
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{3});
}

TEST(QueueWindow, CountsLostOffsetsAsDone) {
  queue_window window{orders};
  auto found = entries(0, 1);
  found.push_back(entries(9, 10).front());
  window.take(found, queue_offset{0}, queue_offset{10});
  EXPECT_FALSE(window.queue_has_more());
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{9});
  EXPECT_EQ(window.acknowledge(done(9, 2)), ack::accepted);
  EXPECT_EQ(window.progress().base(), 0U);
  EXPECT_EQ(window.acknowledge(done(0, 1)), ack::accepted);
  EXPECT_EQ(window.progress().base(), 10U);
}

TEST(QueueWindow, StartsBehindWhatRetentionTook) {
  queue_window window{orders};
  window.take(entries(7, 9), queue_offset{7}, queue_offset{9});
  EXPECT_EQ(window.progress().base(), 7U);
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{7});
}

TEST(QueueWindow, WantsMoreOnceTheQueueHasGrown) {
  auto window = filled(1);
  EXPECT_FALSE(window.queue_has_more());
  window.grew(queue_offset{2});
  EXPECT_TRUE(window.queue_has_more());
  EXPECT_EQ(window.next(), queue_offset{1});
}

} // namespace
} // namespace handfast
