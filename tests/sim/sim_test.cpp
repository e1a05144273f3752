#include "tests/sim/sim_world.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace handfast::sim {
namespace {

constexpr std::uint64_t first_seed = 1'000'000;
constexpr std::uint64_t slices = 4;

/// HANDFAST_SIM_SEEDS says how many seeds all slices try together.
std::uint64_t seeds_per_slice() {
  const char* given = std::getenv("HANDFAST_SIM_SEEDS");
  const auto all = given == nullptr ? 400 : std::strtoull(given, nullptr, 10);
  return (all + slices - 1) / slices;
}

TEST(Simulation, OneSeedGivesOneRun) {
  for (const std::uint64_t seed : {11, 12, 13}) {
    const sim_options options{.seed = seed};
    EXPECT_EQ(run_seed(options).journal_hash, run_seed(options).journal_hash) << "seed " << seed;
  }
}

TEST(Simulation, ASeedDoesNotDependOnTheRunsBeforeIt) {
  const auto alone = run_seed({.seed = 21}).journal_hash;
  run_seed({.seed = 22});
  EXPECT_EQ(run_seed({.seed = 21}).journal_hash, alone);
}

/// Several slices, so that a runner can do them side by side.
class SimulatedFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST(Simulation, OpensWhatWasGivenUpAgain) {
  std::uint64_t reopened = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    reopened += run_seed({.seed = seed}).counts.reopened;
  EXPECT_GT(reopened, 0U);
}

TEST_P(SimulatedFaults, KeepEveryPromise) {
  const auto seeds = seeds_per_slice();
  for (std::uint64_t i = 0; i < seeds; ++i) {
    const sim_options options{.seed = first_seed + GetParam() * seeds + i};
    const auto verdict = run_seed(options);
    ASSERT_TRUE(verdict.violations.empty()) << report_of(verdict, options);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulatedFaults, ::testing::Range(std::uint64_t{0}, slices));

/// How many seeds it takes until a planted fault is found; 0 if it is not.
std::uint64_t seeds_to_catch(mutant planted, std::uint64_t seeds_max) {
  for (std::uint64_t i = 1; i <= seeds_max; ++i)
    if (!run_seed({.seed = first_seed + i, .planted = planted}).violations.empty())
      return i;
  return 0;
}

TEST(PlantedFault, ASyncThatDoesNothingIsCaught) {
  const auto needed = seeds_to_catch(mutant::no_sync, 1'000);
  EXPECT_NE(needed, 0U);
  RecordProperty("seeds", static_cast<int>(needed));
}

TEST(PlantedFault, AnAnswerBeforeTheSyncIsCaught) {
  const auto needed = seeds_to_catch(mutant::answer_before_sync, 1'000);
  EXPECT_NE(needed, 0U);
  RecordProperty("seeds", static_cast<int>(needed));
}

TEST(Regression, SeedsThatOnceFailedPass) {
  std::ifstream file{HANDFAST_REGRESSIONS};
  ASSERT_TRUE(file) << HANDFAST_REGRESSIONS;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#')
      continue;
    sim_options options;
    std::istringstream{line} >> options.seed >> options.steps;
    const auto verdict = run_seed(options);
    EXPECT_TRUE(verdict.violations.empty()) << line << "\n" << report_of(verdict, options);
  }
}

} // namespace
} // namespace handfast::sim
