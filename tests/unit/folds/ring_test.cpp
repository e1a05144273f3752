#include "actors/folds/ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace handfast {
namespace {

TEST(Ring, DoesWhatADequeDoes) {
  std::mt19937 random{1};
  ring<int> r;
  std::deque<int> d;
  for (int step = 0; step < 10'000; ++step) {
    if (d.empty() || random() % 5 < 3) {
      r.push_back(step);
      d.push_back(step);
    } else {
      r.pop_front();
      d.pop_front();
    }
    ASSERT_EQ(r.size(), d.size());
    if (!d.empty()) {
      ASSERT_EQ(r.front(), d.front());
      ASSERT_EQ(r.back(), d.back());
      const auto at = random() % d.size();
      ASSERT_EQ(r[at], d[at]);
    }
  }
}

TEST(Ring, IsUsableAfterItWasCleared) {
  ring<int> r;
  for (int n = 0; n < 100; ++n)
    r.push_back(n);
  r.clear();
  EXPECT_TRUE(r.empty());
  r.push_back(7);
  EXPECT_EQ(r.front(), 7);
}

} // namespace
} // namespace handfast
