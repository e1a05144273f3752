#include "bench/load/histogram.hpp"

#include <gtest/gtest.h>

namespace handfast::bench::test {

TEST(LoadHistogram, IsExactForSmallValues) {
  histogram h;
  for (std::uint64_t ns = 1; ns <= 100; ++ns)
    h.record(ns);
  EXPECT_EQ(h.at(0.5), 50u);
  EXPECT_EQ(h.at(0.99), 99u);
  EXPECT_EQ(h.at(1.0), 100u);
}

TEST(LoadHistogram, IsOffByLessThanOnePerCent) {
  for (std::uint64_t ns = 1; ns < 1'000'000'000'000; ns = ns * 3 / 2 + 1) {
    histogram h;
    h.record(ns);
    h.record(ns * 2); // so that the maximum does not help
    auto got = static_cast<double>(h.at(0.5));
    EXPECT_GE(got, static_cast<double>(ns));
    EXPECT_LE(got, static_cast<double>(ns) * 1.01 + 1);
  }
}

TEST(LoadHistogram, NeverGivesMoreThanTheMaximum) {
  histogram h;
  h.record(1'000'003);
  EXPECT_EQ(h.at(0.5), 1'000'003u);
  EXPECT_EQ(h.max(), 1'000'003u);
}

TEST(LoadHistogram, TakesAnyValue) {
  histogram h;
  h.record(0);
  h.record(~std::uint64_t{0});
  EXPECT_EQ(h.count(), 2u);
  EXPECT_EQ(h.at(0.1), 0u);
  EXPECT_EQ(h.max(), ~std::uint64_t{0});
}

TEST(LoadHistogram, IsZeroWhenEmpty) {
  EXPECT_EQ(histogram{}.at(0.5), 0u);
}

} // namespace handfast::bench::test
