#pragma once

/// How a client connects.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace handfast::client {

struct connection_options {
  /// `host:port`, tried in turn.
  std::vector<std::string> servers{"127.0.0.1:7310"};
  /// For people: appears in the node's logs and in `tx show`.
  std::string name = "handfast-client";
  /// Empty = none.
  std::string mechanism{};
  std::string credentials{};

  /// Name look-up, TCP connection and handshake together, for one server.
  std::chrono::milliseconds connect_timeout{3'000};
  /// Without an answer in this time a request is sent again (with the same number, so it is stored
  /// once).
  std::chrono::milliseconds attempt_timeout{3'000};
  /// From the call to its answer, reconnections and repeats included; then the answer is *unknown*.
  std::chrono::milliseconds total_timeout{15'000};
  /// How long a request that was never sent waits while no server can be reached at all; then it is
  /// `unreachable`.
  std::chrono::milliseconds connect_patience{15'000};
  /// Pauses between rounds of connection attempts grow from the first to the last, each shortened
  /// at random by up to a half.
  std::chrono::milliseconds reconnect_first{50};
  std::chrono::milliseconds reconnect_max{5'000};

  /// Requests that it would like in flight; 0 = as many as the node grants.
  std::uint32_t credit_wanted = 0;
  /// Requests accepted and not answered yet, those beyond the node's credit included; more are
  /// refused as `busy`.
  std::size_t requests_max = 100'000;

  /// Source of random numbers for ids and jitter; empty = seeded by the system. Called from any
  /// thread, one call at a time.
  std::function<std::uint64_t()> random{};
};

} // namespace handfast::client
