#pragma once

/// `bench --consume`: how fast one group reads what a node holds.

#include "bench/load/load.hpp"
#include "runtime/cli/menu.hpp"

#include <string>

namespace handfast::cli {

struct consume_bench {
  bench::load_options load; ///< that is produced before, as plain messages
  unsigned rounds = 3;
  std::size_t threads = 2;
  std::string data; ///< the node's data folder, whose files are read for comparison; empty = none
  bool json = false;
};

/// Produces, then lets a new group read all of the topic in each round, and prints how much that
/// was in a second.
exit_code run_consume_bench(context& with, const consume_bench& what);

} // namespace handfast::cli
