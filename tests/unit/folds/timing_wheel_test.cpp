#include "actors/folds/timing_wheel.hpp"

#include <gmock/gmock.h>
#include <map>
#include <random>

namespace handfast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<position> due_at(timing_wheel& wheel, mono_ms now, std::size_t max = 1'000'000) {
  std::vector<position> due;
  wheel.take_due(now, max, due);
  return due;
}

TEST(TimingWheel, ReportsNothingBeforeItsTime) {
  timing_wheel wheel;
  wheel.arm(position{1}, 6'000);
  EXPECT_THAT(due_at(wheel, 5'999), IsEmpty());
  EXPECT_THAT(due_at(wheel, 6'000 + timing_wheel::tick_ms), ElementsAre(position{1}));
  EXPECT_EQ(wheel.size(), 0u);
}

TEST(TimingWheel, SaysWhenToWakeWithinOneTickOfTheDeadline) {
  timing_wheel wheel;
  EXPECT_FALSE(wheel.next_wake());
  wheel.arm(position{1}, 1'003);
  ASSERT_TRUE(wheel.next_wake());
  EXPECT_GE(*wheel.next_wake(), 1'003);
  EXPECT_LT(*wheel.next_wake(), 1'003 + timing_wheel::tick_ms);
}

TEST(TimingWheel, ReportsWhatIsInThePastAtOnce) {
  timing_wheel wheel;
  due_at(wheel, 100'000);
  wheel.arm(position{1}, 5);
  EXPECT_THAT(due_at(wheel, 100'000), ElementsAre(position{1}));
}

TEST(TimingWheel, ReportsTheSameThingAsOftenAsItWasArmed) {
  timing_wheel wheel;
  wheel.arm(position{1}, 10);
  wheel.arm(position{1}, 20);
  EXPECT_THAT(due_at(wheel, 100), ElementsAre(position{1}, position{1}));
}

TEST(TimingWheel, HandsOutPartsWhenMuchIsDue) {
  timing_wheel wheel;
  for (std::uint64_t i = 1; i <= 10; ++i)
    wheel.arm(position{i}, 50);
  std::vector<position> due;
  EXPECT_TRUE(wheel.take_due(100, 4, due));
  EXPECT_EQ(due.size(), 4u);
  EXPECT_LE(*wheel.next_wake(), 100);
  EXPECT_FALSE(wheel.take_due(100, 100, due));
  EXPECT_EQ(due.size(), 10u);
}

TEST(TimingWheel, KeepsADeadlineOfAMonth) {
  timing_wheel wheel;
  constexpr mono_ms month = 30LL * 24 * 3600 * 1000;
  wheel.arm(position{1}, month);
  mono_ms now = 0;
  int wakes = 0;
  while (wheel.size() > 0) {
    ASSERT_TRUE(wheel.next_wake());
    now = *wheel.next_wake();
    due_at(wheel, now);
    ++wakes;
  }
  EXPECT_GE(now, month);
  EXPECT_LT(now, month + timing_wheel::tick_ms);
  EXPECT_LT(wakes, 6);
}

TEST(TimingWheel, AgreesWithASortedListOverARandomWalk) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random{seed};
    timing_wheel wheel;
    std::multimap<mono_ms, position> model;
    mono_ms now = static_cast<mono_ms>(random() % 1'000'000'000);
    due_at(wheel, now);
    std::uint64_t name = 1;
    for (int step = 0; step < 2'000; ++step) {
      const mono_ms spans[] = {10, 300, 5'000, 600'000, 200'000'000};
      for (int i = 0; i < 3; ++i) {
        const auto due =
            now + static_cast<mono_ms>(random() % static_cast<std::uint64_t>(spans[random() % 5]));
        wheel.arm(position{name}, due);
        model.emplace(due, position{name++});
      }
      now += static_cast<mono_ms>(random() % 3'000);
      std::vector<position> expected_surely;
      const auto reported = due_at(wheel, now);
      for (const auto p : reported) {
        const auto found =
            std::find_if(model.begin(), model.end(), [&](const auto& x) { return x.second == p; });
        ASSERT_NE(found, model.end());
        ASSERT_LE(found->first, now) << "early";
        model.erase(found);
      }
      ASSERT_TRUE(model.empty() || model.begin()->first > now - timing_wheel::tick_ms) << "late";
      ASSERT_EQ(wheel.size(), model.size());
    }
  }
}

} // namespace
} // namespace handfast
