#pragma once

/// What `bench` prints: the figures of several rounds as one.

#include "bench/load/load.hpp"

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace handfast::cli {

/// Everything that was measured, and under which conditions.
struct bench_results {
  std::string server;
  std::string version;
  std::string commit;
  unsigned cores = 0;
  bench::load_options load;
  std::vector<bench::load_report> node;
  std::vector<bench::load_report> floor; ///< as many as `node`, or none
  std::optional<bench::sync_probe> disk;
  std::string disk_folder;
};

/// The middle one, or the mean of the two in the middle; 0 of none.
double median(std::vector<double> values);

/// Rates and percentiles are medians over the rounds; `rounds` has each by itself.
nlohmann::ordered_json json_of(const bench_results& results);
void print(std::ostream& to, const bench_results& results, bool colours);
/// One line about one round, for the progress.
std::string line_of(const bench::load_report& round);

} // namespace handfast::cli
