#include "actors/folds/delay_fold.hpp"
#include "messages/place_or_due.hpp"
#include "messages/record_rule.hpp"
#include "tests/unit/folds/transaction_records.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

log_record message_at(std::uint64_t at, std::uint64_t delay_ms, topic_id topic = orders) {
  auto r = half_at(at, {}, topic);
  r.type = record_type::message;
  auto& m = std::get<message_record>(r.content);
  m.delay_ms = delay_ms;
  m.offset = delay_ms == 0 ? queue_offset{3} : place_or_due({}, 1'000'000 + at + delay_ms);
  return r;
}

index_entry due(std::uint64_t at, wall_ms when, topic_id topic = orders) {
  return {position{at}, topic, queue_no{1}, {}, 256, 5, when};
}

log_record release_at(std::uint64_t at, std::vector<index_entry> entries,
                      std::vector<position> cancelled = {}) {
  log_record r;
  r.type = record_type::release;
  r.at = position{at};
  r.content = release_record{std::move(entries), std::move(cancelled)};
  return r;
}

std::vector<std::pair<std::uint64_t, wall_ms>> waiting(const delay_fold& fold) {
  std::vector<delayed_entry> all;
  due_place after;
  while (fold.waiting.page(after, 1'000, all)) {
  }
  std::vector<std::pair<std::uint64_t, wall_ms>> found;
  for (const auto& e : all)
    found.emplace_back(e.at.value, e.due);
  return found;
}

using waits = std::pair<std::uint64_t, wall_ms>;

TEST(DelayFold, KeepsThePlainMessageUntilTheMomentThatItSays) {
  delay_fold fold;
  fold.apply(message_at(8, 500));
  fold.apply(message_at(16, 0));
  EXPECT_THAT(waiting(fold), ElementsAre(waits{8, 1'000'008 + 500}));
  const auto* entry = fold.waiting.find(position{8});
  EXPECT_EQ(entry->topic, orders);
  EXPECT_EQ(entry->queue, queue_no{1});
  EXPECT_EQ(entry->length, 256u);
  EXPECT_EQ(entry->tag_hash, 5u);
  EXPECT_EQ(entry->transaction, position{});
}

TEST(DelayFold, TakesNoMessageThatDoesNotSayWhen) {
  delay_fold fold;
  auto record = message_at(8, 500);
  std::get<message_record>(record.content).offset = {};
  EXPECT_THROW(fold.apply(record), rule_broken);
  EXPECT_EQ(fold.waiting.size(), 0u);
}

TEST(DelayFold, KeepsOfACommitWhatBecomesVisibleLater) {
  delay_fold fold;
  fold.apply(half_at(8));
  EXPECT_EQ(fold.waiting.size(), 0u) << "a half waits for its decision, elsewhere";
  fold.apply(decide_at(64,
                       {{position{8}, outcome::committed, origin::producer, 2, shop},
                        {position{24}, outcome::committed, origin::producer, 1, shop}},
                       {{position{8}, orders, queue_no{1}, queue_offset{0}, 256, 5},
                        due(16, 3'000),
                        due(24, 2'000)}));
  EXPECT_THAT(waiting(fold), ElementsAre(waits{24, 2'000}, waits{16, 3'000}));
  EXPECT_EQ(fold.waiting.find(position{16})->transaction, position{8});
  EXPECT_EQ(fold.waiting.find(position{24})->transaction, position{24});
}

TEST(DelayFold, ForgetsWhatWasReleasedOrCancelled) {
  delay_fold fold;
  for (const auto at : {8, 16, 24})
    fold.apply(message_at(static_cast<std::uint64_t>(at), 500));
  fold.apply(release_at(64, {due(8, 0)}, {position{24}}));
  EXPECT_THAT(waiting(fold), ElementsAre(waits{16, 1'000'516}));
}

TEST(DelayFold, AStretchAppliedAgainChangesNothing) {
  const std::vector<log_record> stretch{
      message_at(8, 500), message_at(16, 700),
      decide_at(64, {{position{24}, outcome::committed, origin::producer, 1, shop}},
                {due(24, 9'000)}),
      release_at(96, {due(8, 0)})};
  delay_fold fold;
  for (const auto& r : stretch)
    fold.apply(r);
  const auto once = waiting(fold);
  for (const auto& r : stretch)
    fold.apply(r);
  EXPECT_EQ(waiting(fold), once);
}

TEST(DelayFold, ComesBackFromItsSlicesWithTheLogBehindThem) {
  delay_fold fold;
  fold.apply(topic_put_at(4, orders, 4));
  for (std::uint64_t at = 8; at < 8 * 10'000; at += 8)
    fold.apply(message_at(at, at % 997));
  delay_fold copy;
  std::string cursor;
  int slices = 0;
  do {
    const auto [name, bytes] = fold.save_slice(cursor);
    EXPECT_TRUE(name.starts_with(delay_fold::slice_prefix));
    copy.load(name, bytes);
    // The log goes on while slices are taken; what it says is replayed.
    if (++slices == 2)
      fold.apply(release_at(800'000, {due(8, 0)}));
  } while (!cursor.empty());
  EXPECT_GT(slices, 2);
  copy.apply(release_at(800'000, {due(8, 0)}));
  EXPECT_EQ(waiting(copy), waiting(fold));
  EXPECT_EQ(copy.rules.admits({orders, queue_no{3}}), ec::ok);
  EXPECT_THAT(waiting(fold.emptied()), IsEmpty());
}

} // namespace
} // namespace handfast
