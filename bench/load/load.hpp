#pragma once

/// Load over the native protocol: what `handfast bench` runs. Needs neither the client library nor
/// CAF.

#include "messages/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace handfast::bench {

struct load_options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 7310;
  std::size_t connections = 64;
  std::size_t window = 16; ///< transactions under way on each connection
  std::size_t body_bytes = 1024;
  std::chrono::milliseconds warm_up{1'000}; ///< not measured
  std::chrono::milliseconds measured{5'000};
  bool plain = false; ///< plain messages instead of transactions
  std::string topic = "handfast-bench";
  std::string group = "handfast-bench";
  /// Numbers this run's producers; different for each run, so that the node does not take sends for
  /// repeats.
  std::uint64_t seed = 0;
};

/// Milliseconds.
struct percentiles {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};

struct load_report {
  double seconds = 0; ///< really measured
  std::uint64_t committed =
      0; ///< transactions (or plain messages) whose last answer came within that time
  double committed_per_s = 0;
  percentiles whole;                  ///< from sending the half to the answer of the commit
  percentiles half;                   ///< from sending the half to its answer
  percentiles decide;                 ///< from sending the commit to its answer
  std::map<ec, std::uint64_t> errors; ///< answers with a code, measured or not
  std::uint64_t unanswered = 0;       ///< still under way five seconds after the end
};

/// Opens the connections, runs, waits for what is under way, closes. One thread, this one. Fails if
/// a connection can't be made or is lost, or if the node refuses the topic or group.
result<load_report> run_load(const load_options& options);

/// How long `pwrite` of 4 KiB and `fdatasync` take together on a prepared file in `directory`, in
/// microseconds.
struct sync_probe {
  double p50_us = 0;
  double p99_us = 0;
};
result<sync_probe> fdatasync_probe(const std::string& directory, int rounds = 300);

} // namespace handfast::bench
