#include "runtime/cli/bench_report.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <sstream>

namespace handfast::cli {
namespace {

using ::testing::HasSubstr;

bench::load_report a_round(double per_s, double p50) {
  bench::load_report round;
  round.seconds = 5;
  round.committed_per_s = per_s;
  round.committed = static_cast<std::uint64_t>(per_s * 5);
  round.whole = {p50, p50 * 2, p50 * 3, p50 * 4, p50 * 5};
  return round;
}

bench_results results() {
  bench_results all;
  all.node = {a_round(8'000, 2), a_round(9'000, 1), a_round(1'000, 9)};
  all.floor = {a_round(10'000, 1), a_round(16'000, 1), a_round(9'000, 1)};
  all.node[2].errors[ec::busy] = 3;
  all.disk = bench::sync_probe{115, 480};
  all.version = "0.1.0";
  all.cores = 2;
  return all;
}

TEST(Median, IsTheMiddleOne) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({1, 2, 3, 10}), 2.5);
}

TEST(BenchReport, TakesMediansOverTheRounds) {
  auto value = json_of(results());
  EXPECT_EQ(value["committed_per_s"], 8'000);
  EXPECT_EQ(value["ratio_to_floor"], 0.8);
  EXPECT_EQ(value["p50_ms"], 2);
  EXPECT_EQ(value["p50_ratio_to_floor"], 2);
  EXPECT_EQ(value["rounds"].size(), 3u);
  EXPECT_EQ(value["rounds"][1]["floor"]["committed_per_s"], 16'000);
}

TEST(BenchReport, TellsTheConditions) {
  auto value = json_of(results());
  EXPECT_EQ(value["connections"], 64);
  EXPECT_EQ(value["window"], 16);
  EXPECT_EQ(value["body_bytes"], 1024);
  EXPECT_EQ(value["cores"], 2);
  EXPECT_EQ(value["version"], "0.1.0");
  EXPECT_EQ(value["disk"]["fdatasync_p50_ms"], 0.115);
}

TEST(BenchReport, CountsRefusalsByName) {
  EXPECT_EQ(json_of(results())["errors"]["busy"], 3);
}

TEST(BenchReport, HasNoRatioWithoutTheFloor) {
  auto alone = results();
  alone.floor.clear();
  EXPECT_FALSE(json_of(alone).contains("ratio_to_floor"));
}

TEST(BenchReport, ReadsWellForPeople) {
  std::ostringstream out;
  print(out, results(), false);
  EXPECT_THAT(out.str(), HasSubstr("8,000 transactions/s\n"));
  EXPECT_THAT(out.str(), HasSubstr("10,000 transactions/s; the node reaches 80 % of it\n"));
  EXPECT_THAT(out.str(), HasSubstr("fdatasync p50 0.12 ms, p99 0.48 ms"));
}

} // namespace
} // namespace handfast::cli
