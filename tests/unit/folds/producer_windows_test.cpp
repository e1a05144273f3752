#include "actors/folds/producer_windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace handfast {
namespace {

constexpr producer_id ann{11};
constexpr producer_id bob{22};
constexpr wall_ms now = 1'000'000;

stored_send place(std::uint64_t n) {
  return {position{n * 8}, queue_offset{n}, {topic_id{20}, queue_no{1}}};
}

send_seen seen(const producer_windows& w, producer_id p, std::uint64_t sequence) {
  return w.find(p, sequence_no{sequence}).seen;
}

TEST(ProducerWindows, KnowASendAgain) {
  producer_windows w;
  w.add(ann, sequence_no{1}, place(100), now);
  EXPECT_EQ(seen(w, ann, 1), send_seen::yes);
  EXPECT_EQ(w.find(ann, sequence_no{1}).first, place(100));
  EXPECT_EQ(seen(w, ann, 2), send_seen::no);
  EXPECT_EQ(seen(w, bob, 1), send_seen::no);
}

TEST(ProducerWindows, KeepTheFirstPlaceOfASend) {
  producer_windows w;
  w.add(ann, sequence_no{5}, place(100), now);
  w.add(ann, sequence_no{5}, place(200), now);
  EXPECT_EQ(w.find(ann, sequence_no{5}).first, place(100));
}

TEST(ProducerWindows, IgnoreSendsWithoutANumber) {
  producer_windows w;
  w.add(producer_id{0}, sequence_no{1}, place(1), now);
  w.add(ann, sequence_no{0}, place(1), now);
  EXPECT_EQ(w.producers(), 0u);
}

TEST(ProducerWindows, AcceptSendsInAnyOrder) {
  producer_windows w{64};
  for (std::uint64_t s : {40, 1, 63, 20, 39, 2})
    w.add(ann, sequence_no{s}, place(s), now);
  for (std::uint64_t s : {40, 1, 63, 20, 39, 2})
    EXPECT_EQ(w.find(ann, sequence_no{s}).first, place(s)) << s;
  for (std::uint64_t s : {3, 19, 41, 62, 64})
    EXPECT_EQ(seen(w, ann, s), send_seen::no) << s;
}

TEST(ProducerWindows, ForgetWhatLeftTheWindow) {
  producer_windows w{16};
  for (std::uint64_t s = 1; s <= 100; ++s)
    w.add(ann, sequence_no{s}, place(s), now);
  EXPECT_EQ(seen(w, ann, 84), send_seen::forgotten);
  EXPECT_EQ(seen(w, ann, 85), send_seen::yes);
  EXPECT_EQ(seen(w, ann, 100), send_seen::yes);
  w.add(ann, sequence_no{1}, place(1), now);
  EXPECT_EQ(seen(w, ann, 1), send_seen::forgotten);
}

TEST(ProducerWindows, SurviveAJumpOfTheSequence) {
  producer_windows w{16};
  w.add(ann, sequence_no{1}, place(1), now);
  w.add(ann, sequence_no{1'000'000'000'000}, place(2), now);
  EXPECT_EQ(seen(w, ann, 1), send_seen::forgotten);
  EXPECT_EQ(seen(w, ann, 1'000'000'000'000), send_seen::yes);
  EXPECT_EQ(seen(w, ann, 999'999'999'999), send_seen::no);
}

TEST(ProducerWindows, ForgetProducersThatWereIdleForADay) {
  producer_windows w;
  w.add(ann, sequence_no{1}, place(1), now);
  w.add(bob, sequence_no{1}, place(2), now + 60'000);
  const wall_ms day = 24 * 3600 * 1000;
  EXPECT_EQ(w.forget_idle(now + day), 0u);
  EXPECT_EQ(w.forget_idle(now + day + 1), 1u);
  EXPECT_EQ(w.ids(), std::vector{bob});
}

TEST(ProducerWindows, SaveOnlyWhatIsDurable) {
  producer_windows w;
  for (std::uint64_t s = 1; s <= 10; ++s)
    w.add(ann, sequence_no{s}, place(s), now);
  w.add(bob, sequence_no{1}, place(50), now);
  producer_windows loaded;
  ASSERT_TRUE(loaded.load(w.save(ann, place(7).at) + w.save(bob, place(7).at)));
  EXPECT_EQ(seen(loaded, ann, 6), send_seen::yes);
  EXPECT_EQ(seen(loaded, ann, 7), send_seen::no);
  EXPECT_EQ(loaded.ids(), std::vector{ann});
}

/// Numbers are the client's choice; none of them may keep the log from its checkpoint.
TEST(ProducerWindows, SaveAndLoadTheLargestNumbers) {
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
  producer_windows w;
  w.add(ann, sequence_no{largest - 1}, place(100), now);
  w.add(ann, sequence_no{largest}, place(101), now);
  producer_windows again;
  ASSERT_TRUE(again.load(w.save(ann, position{10'000})));
  EXPECT_EQ(again.find(ann, sequence_no{largest}).first, place(101));
  EXPECT_EQ(again.find(ann, sequence_no{largest - 1}).first, place(100));
  EXPECT_EQ(seen(again, ann, largest - 2), send_seen::no);
}

TEST(ProducerWindows, LoadNothingFromCutBytes) {
  producer_windows w;
  w.add(ann, sequence_no{1}, place(1), now);
  const auto bytes = w.save(ann, position{1'000'000});
  producer_windows loaded;
  for (std::size_t n = 1; n < bytes.size(); ++n)
    EXPECT_FALSE(loaded.load(std::string_view{bytes}.substr(0, n))) << n;
}

/// Against a plain list of all sends: same answers at every step, for dense, sparse and disordered
/// numbers.
TEST(ProducerWindows, AgreeWithAListOfAllSends) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random{seed};
    producer_windows w{32};
    std::vector<stored_send> all(4'000);
    std::uint64_t newest = 0;
    std::uint64_t next = 1;
    for (std::uint64_t step = 1; step <= 500; ++step) {
      const auto kind = random() % 10;
      const auto back = random() % 40;
      const auto sequence = kind < 7      ? next++
                            : kind < 9    ? (next += random() % 6)
                            : next > back ? next - back
                                          : 1;
      const auto in_window = newest == 0 || sequence + 32 > newest;
      if (in_window && all[sequence].at.value == 0)
        all[sequence] = place(step);
      newest = std::max(newest, sequence);
      w.add(ann, sequence_no{sequence}, place(step), now);
      for (std::uint64_t s = newest > 50 ? newest - 50 : 1; s <= newest + 3; ++s) {
        const auto found = w.find(ann, sequence_no{s});
        if (s + 32 <= newest)
          ASSERT_EQ(found.seen, send_seen::forgotten) << seed << ' ' << step << ' ' << s;
        else
          ASSERT_EQ(found.first, all[s]) << seed << ' ' << step << ' ' << s;
      }
    }
    producer_windows loaded{32};
    ASSERT_TRUE(loaded.load(w.save(ann, position{~std::uint64_t{0}})));
    for (std::uint64_t s = newest - 31; s <= newest; ++s)
      ASSERT_EQ(loaded.find(ann, sequence_no{s}).first, all[s]);
  }
}

} // namespace
} // namespace handfast
