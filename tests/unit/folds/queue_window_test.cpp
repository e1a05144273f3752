#include "actors/folds/queue_window.hpp"
#include "messages/assert.hpp"
#include "messages/properties.hpp"

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

const failure_rules rules{.delivery_max = 3, .backoff_min_ms = 1'000, .backoff_max_ms = 60'000};
const filter everything;

queue_window filled(std::uint64_t count) {
  queue_window window{orders, rules};
  window.take(entries(0, count), queue_offset{0}, queue_offset{count}, everything);
  return window;
}

/// The counts of failed deliveries become durable at `now`.
void write_counts(queue_window& window, queue_window::time_point now = start) {
  window.counts_durable(window.take_counted(), now);
}

acknowledgement done(std::uint64_t offset, std::uint64_t lease) {
  return {orders, queue_offset{offset}, lease, handling::done};
}

acknowledgement failed(std::uint64_t offset, std::uint64_t lease) {
  return {orders, queue_offset{offset}, lease, handling::failed};
}

acknowledgement saying(handling what, std::uint64_t offset, std::uint64_t lease) {
  return {orders, queue_offset{offset}, lease, what};
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
  EXPECT_EQ(window.acknowledge(done(0, 1), start), ack::accepted);
  EXPECT_EQ(window.progress().base(), 1U);
  EXPECT_EQ(window.acknowledge(done(0, 1), start), ack::accepted) << "a repeat";
  EXPECT_EQ(window.leased(), 0U);
}

/// A record that held offset 1 may be damaged so that nobody knows how far the next one is.
TEST(QueueWindow, PassesOverAnyNumberOfLostOffsetsOnceAllBeforeIsDone) {
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  queue_window window{orders, rules};
  auto both = entries(0, 1);
  both.push_back({position{90'000}, 100, 0, queue_offset{far}, 0});
  const auto take = [&] { window.take(both, queue_offset{0}, queue_offset{far + 1}, everything); };
  take();
  (void)window.hand_out(1, 1, start);
  EXPECT_EQ(window.peek(), nullptr);
  EXPECT_FALSE(window.has_room());
  EXPECT_EQ(window.acknowledge(done(0, 1), start), ack::accepted);
  EXPECT_TRUE(window.has_room());
  take();
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{far});
  EXPECT_EQ(window.acknowledge(done(far, 2), start), ack::accepted);
  EXPECT_EQ(window.progress().base(), far + 1);
  EXPECT_EQ(window.progress().ranges(), 0U);
}

TEST(QueueWindow, HandsOutAtOnceWhatWasReturned) {
  auto window = filled(2);
  (void)window.hand_out(1, 1, start);
  EXPECT_EQ(window.acknowledge(saying(handling::returned, 0, 1), start), ack::accepted);
  EXPECT_EQ(window.take_changes(), queue_window::urgency::nothing);
  const auto again = window.hand_out(2, 2, start);
  EXPECT_EQ(again.entry.offset, queue_offset{0});
  EXPECT_EQ(again.attempts, 1U) << "it was not worked on";
}

TEST(QueueWindow, HandsOutLaterWhatWasReturnedForLater) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start);
  auto later = saying(handling::returned, 0, 1);
  later.retry_ms = 250;
  EXPECT_EQ(window.acknowledge(later, start), ack::accepted);
  EXPECT_EQ(window.peek(), nullptr);
  EXPECT_EQ(window.next_expiry(), start + 250ms);
  window.expire(start + 250ms);
  EXPECT_EQ(window.hand_out(2, 2, start + 250ms).attempts, 1U) << "it was not worked on";
}

TEST(QueueWindow, WritesTheCountOfAFailureBeforeItHandsOutAgain) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start);
  EXPECT_EQ(window.acknowledge(failed(0, 1), start), ack::accepted);
  EXPECT_EQ(window.take_changes(), queue_window::urgency::now);
  window.expire(start + 1h);
  EXPECT_EQ(window.peek(), nullptr);
  EXPECT_EQ(window.progress().attempts(0), 1U);
  write_counts(window, start + 1h);
  EXPECT_EQ(window.hand_out(2, 2, start + 1h).attempts, 2U);
}

TEST(QueueWindow, WritesARefusedCountAgain) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start);
  (void)window.acknowledge(failed(0, 1), start);
  (void)window.take_changes();
  window.counts_refused(window.take_counted());
  EXPECT_EQ(window.take_changes(), queue_window::urgency::now);
  EXPECT_EQ(window.take_counted(), std::vector<std::uint64_t>{0});
}

TEST(QueueWindow, WaitsForTheBackOffOfAFailure) {
  auto window = filled(2);
  (void)window.hand_out(1, 1, start);
  (void)window.acknowledge(failed(0, 1), start);
  write_counts(window);
  EXPECT_EQ(window.failed(), 1U);
  EXPECT_EQ(window.next_expiry(), start + 10s) << "RocketMQ's first wait";
  EXPECT_EQ(window.hand_out(2, 1, start + 90s).entry.offset, queue_offset{1});
  window.expire(start + 10s);
  EXPECT_EQ(window.hand_out(3, 1, start + 100s).entry.offset, queue_offset{0});
}

TEST(QueueWindow, WaitsAsLongAsTheConsumerAsks) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start);
  auto asked = failed(0, 1);
  asked.retry_ms = 250;
  (void)window.acknowledge(asked, start);
  write_counts(window);
  EXPECT_EQ(window.next_expiry(), start + 250ms);
}

TEST(QueueWindow, GrowsItsBackOffLikeRocketMqWithinTheBounds) {
  const failure_rules node;
  EXPECT_EQ(node.wait(1), 10s);
  EXPECT_EQ(node.wait(2), 30s);
  EXPECT_EQ(node.wait(3), 1min);
  EXPECT_EQ(node.wait(16), 2h);
  EXPECT_EQ(node.wait(500), 2h);
  const failure_rules short_ones{16, 5, 20};
  EXPECT_EQ(short_ones.wait(1), 20ms);
  const failure_rules long_ones{16, 15'000, 60'000};
  EXPECT_EQ(long_ones.wait(1), 15s);
}

TEST(QueueWindow, HandsOutAgainWhenTheLeaseEnds) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start + 30s);
  EXPECT_EQ(window.expire(start + 29s), 0U);
  EXPECT_EQ(window.next_expiry(), start + 30s);
  EXPECT_EQ(window.expire(start + 30s), 1U);
  EXPECT_EQ(window.peek(), nullptr) << "before the count is durable";
  write_counts(window, start + 30s);
  EXPECT_EQ(window.hand_out(2, 2, start + 60s).attempts, 2U);
}

TEST(QueueWindow, CountsALateAcknowledgement) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start + 30s);
  window.expire(start + 30s);
  EXPECT_EQ(window.acknowledge(done(0, 1), start), ack::late);
  EXPECT_EQ(window.progress().base(), 1U);
  EXPECT_EQ(window.peek(), nullptr);
}

TEST(QueueWindow, DoesNotCountALateOneWhenAnotherMemberHoldsTheMessage) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start + 30s);
  window.expire(start + 30s);
  write_counts(window, start + 30s);
  (void)window.hand_out(2, 2, start + 60s);
  EXPECT_EQ(window.acknowledge(done(0, 1), start), ack::late);
  EXPECT_EQ(window.progress().base(), 0U);
  EXPECT_EQ(window.acknowledge(done(0, 2), start), ack::accepted);
  EXPECT_EQ(window.progress().base(), 1U);
}

TEST(QueueWindow, IgnoresALateHandBack) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start + 30s);
  window.expire(start + 30s);
  EXPECT_EQ(window.acknowledge(failed(0, 1), start), ack::late);
  write_counts(window, start + 30s);
  EXPECT_EQ(window.hand_out(2, 2, start + 60s).attempts, 2U);
}

TEST(QueueWindow, DoesNotKnowMessagesThatAreNotThereYet) {
  auto window = filled(1);
  EXPECT_EQ(window.acknowledge(done(1, 9), start), ack::unknown);
  EXPECT_FALSE(window.progress().is_done(1));
}

TEST(QueueWindow, AcceptsAnAcknowledgementFromBeforeARestart) {
  auto window = filled(3);
  EXPECT_EQ(window.acknowledge(done(1, 77), start), ack::late);
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{2});
}

TEST(QueueWindow, FreesAllThatALostMemberHeld) {
  auto window = filled(3);
  (void)window.hand_out(1, 1, start);
  (void)window.hand_out(2, 2, start);
  (void)window.hand_out(3, 1, start);
  EXPECT_EQ(window.release(1, start), 2U);
  EXPECT_EQ(window.leased(), 1U);
  write_counts(window);
  EXPECT_EQ(window.hand_out(4, 2, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.hand_out(5, 2, start).entry.offset, queue_offset{2});
}

TEST(QueueWindow, PausesWhenTooManyAreOutstanding) {
  auto window = filled(queue_window::outstanding_max + 1);
  for (std::uint64_t n = 0; n < queue_window::outstanding_max; ++n) {
    (void)window.hand_out(n + 1, 1, start);
    if (n > 0)
      (void)window.acknowledge(done(n, n + 1), start);
  }
  EXPECT_EQ(window.peek(), nullptr) << "the oldest is what counts";
  EXPECT_TRUE(window.paused());
  EXPECT_EQ(window.acknowledge(done(0, 1), start), ack::accepted);
  EXPECT_NE(window.peek(), nullptr);
  EXPECT_FALSE(window.paused());
}

TEST(QueueWindow, SkipsWhatIsDoneAlready) {
  queue_progress progress;
  progress.advance_to(1);
  progress.mark_done(2);
  queue_window window{orders, rules, progress};
  EXPECT_EQ(window.next(), queue_offset{1});
  window.take(entries(1, 4), queue_offset{0}, queue_offset{4}, everything);
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{1});
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{3});
}

TEST(QueueWindow, CountsLostOffsetsAsDone) {
  queue_window window{orders, rules};
  auto found = entries(0, 1);
  found.push_back(entries(9, 10).front());
  window.take(found, queue_offset{0}, queue_offset{10}, everything);
  EXPECT_FALSE(window.queue_has_more());
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{9});
  EXPECT_EQ(window.acknowledge(done(9, 2), start), ack::accepted);
  EXPECT_EQ(window.progress().base(), 0U);
  EXPECT_EQ(window.acknowledge(done(0, 1), start), ack::accepted);
  EXPECT_EQ(window.progress().base(), 10U);
}

TEST(QueueWindow, StartsBehindWhatRetentionTook) {
  queue_window window{orders, rules};
  EXPECT_EQ(window.take(entries(7, 9), queue_offset{7}, queue_offset{9}, everything), 0U);
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

TEST(QueueWindow, PausesBeforeItsProgressOutgrowsARecord) {
  auto window = filled(queue_window::outstanding_max);
  std::uint64_t lease = 0;
  while (window.peek())
    (void)window.hand_out(++lease, 1, start);
  EXPECT_EQ(lease, queue_window::unsettled_max);
  EXPECT_TRUE(window.paused());
  for (std::uint64_t n = 1; n < lease; n += 2) // every other one: the most ranges there can be
    (void)window.acknowledge(done(n, n + 1), start);
  EXPECT_LE(window.progress().ranges() + window.leased(), queue_window::unsettled_max);
}

TEST(QueueWindow, LetsDieWhatFailsTooOften) {
  auto window = filled(1);
  for (std::uint64_t n = 1; n <= rules.delivery_max; ++n) {
    (void)window.hand_out(n, 1, start);
    (void)window.acknowledge(failed(0, n), start - 1h);
    write_counts(window);
  }
  EXPECT_EQ(window.peek(), nullptr);
  const auto dead = window.take_dead(10);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].attempts, rules.delivery_max);
  EXPECT_FALSE(dead[0].refused);
  EXPECT_FALSE(window.progress().is_done(0)) << "before it is moved";
  EXPECT_TRUE(window.take_dead(10).empty()) << "each is given once";
  window.not_buried(queue_offset{0});
  EXPECT_EQ(window.take_dead(10).size(), 1U);
  window.buried(queue_offset{0});
  EXPECT_EQ(window.progress().base(), 1U);
  EXPECT_EQ(window.dead(), 0U);
}

TEST(QueueWindow, LetsDieAtOnceWhatAConsumerRefuses) {
  auto window = filled(1);
  (void)window.hand_out(1, 1, start);
  EXPECT_EQ(window.acknowledge(saying(handling::dead_letter, 0, 1), start), ack::accepted);
  EXPECT_TRUE(window.is_dead(queue_offset{0}));
  EXPECT_TRUE(window.take_dead(1).at(0).refused);
}

TEST(QueueWindow, FindsTheDeadAgainAfterARestart) {
  queue_progress progress;
  for (std::uint32_t n = 0; n < rules.delivery_max; ++n)
    progress.count_attempt(1);
  queue_window window{orders, rules, progress};
  window.take(entries(0, 2), queue_offset{0}, queue_offset{2}, everything);
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.peek(), nullptr);
  EXPECT_EQ(window.take_dead(1).size(), 1U);
}

TEST(QueueWindow, IsDoneWithWhatTheFilterDoesNotWant) {
  const auto red = parse_tag_filter("red");
  ASSERT_TRUE(red);
  auto found = entries(0, 6);
  found[2].tag_hash = found[5].tag_hash = tag_hash("red");
  queue_window window{orders, rules};
  window.take(found, queue_offset{0}, queue_offset{6}, *red);
  EXPECT_EQ(window.progress().base(), 2U);
  EXPECT_EQ(window.progress().ranges(), 1U);
  EXPECT_EQ(window.take_changes(), queue_window::urgency::lazy);
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{2});
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{5});
}

TEST(QueueWindow, AsksForHeadsBeforeItHandsOut) {
  queue_window window{orders, rules};
  window.read_as({false, true});
  window.take(entries(0, 3), queue_offset{0}, queue_offset{3}, everything);
  EXPECT_EQ(window.peek(), nullptr);
  EXPECT_EQ(window.take_unread(2).size(), 2U);
  EXPECT_EQ(window.take_unread(2).size(), 1U);
  EXPECT_TRUE(window.take_unread(2).empty()) << "each is given once";
  window.learnt(queue_offset{0}, false, 0);
  window.learnt(queue_offset{1}, true, 0);
  EXPECT_EQ(window.progress().base(), 1U);
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{1});
  EXPECT_EQ(window.peek(), nullptr);
  window.forget_questions();
  EXPECT_EQ(window.take_unread(2).size(), 1U);
}

TEST(QueueWindow, CountsWhatWentBeforeItWasDone) {
  auto window = filled(4);
  (void)window.hand_out(1, 1, start);
  (void)window.hand_out(2, 1, start);
  (void)window.acknowledge(done(1, 2), start);
  EXPECT_EQ(window.take(entries(4, 6), queue_offset{4}, queue_offset{6}, everything), 3U);
  EXPECT_EQ(window.progress().base(), 4U);
  EXPECT_EQ(window.leased(), 0U);
  EXPECT_EQ(window.hand_out(3, 1, start).entry.offset, queue_offset{4});
}

TEST(QueueWindow, GoesBackAndForgetsWhatWasSaid) {
  auto window = filled(3);
  (void)window.hand_out(1, 1, start);
  (void)window.hand_out(2, 1, start);
  (void)window.acknowledge(done(0, 1), start);
  (void)window.acknowledge(failed(1, 2), start);
  window.reset(queue_offset{0}, 2);
  EXPECT_EQ(window.progress().base(), 0U);
  EXPECT_EQ(window.progress().attempted(), 0U);
  EXPECT_EQ(window.acknowledge(done(1, 2), start), ack::late);
  EXPECT_FALSE(window.progress().is_done(1)) << "a lease of before the reset has no say";
  EXPECT_EQ(window.next(), queue_offset{0});
  window.take(entries(0, 3), queue_offset{0}, queue_offset{3}, everything);
  EXPECT_EQ(window.hand_out(3, 1, start).attempts, 1U);
  EXPECT_EQ(window.acknowledge(done(0, 3), start), ack::accepted);
}

TEST(QueueWindow, FindsWhatAMemberHoldsInARange) {
  auto window = filled(4);
  for (std::uint64_t n = 0; n < 4; ++n)
    (void)window.hand_out(n + 1, n == 1 ? 2 : 1, start);
  acknowledgement range{orders, queue_offset{0}, 0, handling::done, queue_offset{3}};
  const auto held = window.held_in(range, 1);
  ASSERT_EQ(held.size(), 2U);
  EXPECT_EQ(held[0].offset, queue_offset{0});
  EXPECT_EQ(held[1].offset, queue_offset{2});
  EXPECT_EQ(held[1].lease, 3U);
}

/// Ordered, with the keys given.
queue_window ordered(const std::vector<std::uint32_t>& keys) {
  queue_window window{orders, rules};
  window.read_as({true, true});
  window.take(entries(0, keys.size()), queue_offset{0}, queue_offset{keys.size()}, everything);
  (void)window.take_unread(keys.size());
  for (std::uint64_t n = 0; n < keys.size(); ++n)
    window.learnt(queue_offset{n}, true, order_lanes::key_of(keys[n] != 0, keys[n]));
  return window;
}

TEST(QueueWindow, HandsOutOneMessageOfAKeyAtATime) {
  auto window = ordered({5, 5, 6, 0, 0});
  EXPECT_EQ(window.hand_out(1, 1, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{2});
  EXPECT_EQ(window.hand_out(3, 1, start).entry.offset, queue_offset{3}) << "without a key";
  EXPECT_EQ(window.peek(), nullptr);
  (void)window.acknowledge(done(3, 3), start);
  EXPECT_EQ(window.hand_out(4, 1, start).entry.offset, queue_offset{4});
  (void)window.acknowledge(done(0, 1), start);
  EXPECT_EQ(window.hand_out(5, 1, start).entry.offset, queue_offset{1});
}

TEST(QueueWindow, HoldsAKeyBackWhileItsFailureWaits) {
  auto window = ordered({5, 5, 6});
  (void)window.hand_out(1, 1, start);
  (void)window.acknowledge(failed(0, 1), start);
  write_counts(window);
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{2});
  EXPECT_EQ(window.peek(), nullptr);
  window.expire(start + 10s);
  const auto again = window.hand_out(3, 1, start + 10s);
  EXPECT_EQ(again.entry.offset, queue_offset{0}) << "it comes again first";
  EXPECT_EQ(again.attempts, 2U);
}

TEST(QueueWindow, LetsAKeyGoOnBehindItsDeadLetter) {
  auto window = ordered({5, 5});
  (void)window.hand_out(1, 1, start);
  (void)window.acknowledge(saying(handling::dead_letter, 0, 1), start);
  EXPECT_EQ(window.peek(), nullptr);
  ASSERT_EQ(window.take_dead(1).size(), 1U);
  window.buried(queue_offset{0});
  EXPECT_EQ(window.hand_out(2, 1, start).entry.offset, queue_offset{1});
}

TEST(QueueWindow, KeepsTheOrderWhenAMemberIsLost) {
  auto window = ordered({5, 6, 5});
  (void)window.hand_out(1, 1, start);
  (void)window.hand_out(2, 1, start);
  EXPECT_EQ(window.release(1, start), 2U);
  write_counts(window);
  EXPECT_EQ(window.hand_out(3, 2, start).entry.offset, queue_offset{0});
  EXPECT_EQ(window.hand_out(4, 2, start).entry.offset, queue_offset{1});
  EXPECT_EQ(window.peek(), nullptr);
}

TEST(QueueWindow, GoesOnWithAKeyWhoseFirstWasAcknowledgedLate) {
  auto window = ordered({5, 5, 5});
  EXPECT_EQ(window.acknowledge(done(1, 99), start), ack::late) << "from before a restart";
  EXPECT_EQ(window.hand_out(1, 1, start + 30s).entry.offset, queue_offset{0});
  window.expire(start + 30s);
  EXPECT_EQ(window.acknowledge(done(0, 1), start), ack::late);
  EXPECT_EQ(window.hand_out(2, 1, start + 60s).entry.offset, queue_offset{2});
}

} // namespace
} // namespace handfast
