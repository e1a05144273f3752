#pragma once

/// Metrics and health over HTTP, for monitoring and people.
///
///   /metrics  Prometheus text: every sample of every actor, computed when asked
///   /readyz   200 when the node serves, 503 with the reason when it does not
///   /livez    200 while the shard's loop answers
///   /status   the same as `handfast status --json`

#include "actors/roles.hpp"
#include "config/address.hpp"

#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace httplib {
class Server;
}

namespace handfast::runtime {

/// Where the answers come from; called on the server's threads, may block for a second or two.
struct http_sources {
  /// Of the whole node, or why there is none.
  std::function<result<node_status>()> status;
  /// Empty when the node takes requests; else why it does not.
  std::function<std::string()> not_ready;
  std::string version;
};

/// Two threads that sleep while nobody asks.
class http_server {
public:
  /// Listens at once. ec::config_invalid names the address and the remedy when the port is taken.
  static result<std::unique_ptr<http_server>> start(const config::address& where,
                                                    http_sources sources);
  /// Answers what is under way, then ends.
  ~http_server();

  [[nodiscard]] const config::address& where() const { return where_; }

private:
  http_server();
  void route(http_sources sources);

  std::unique_ptr<httplib::Server> server_;
  config::address where_;
  std::thread thread_;
};

/// Samples of all actors as Prometheus text. Names are kept; those that end in `_total` are
/// counters, all others gauges.
std::string prometheus_text(const node_status& status);
/// The status as JSON.
std::string json_text(const node_status& status, const std::string& version,
                      const std::string& not_ready);

} // namespace handfast::runtime
