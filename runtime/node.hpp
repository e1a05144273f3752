#pragma once

/// One node: store, actors, loop and doors, put together from its settings.

#include "actors/node_supervisor.hpp"
#include "runtime/acceptor.hpp"
#include "runtime/http_server.hpp"
#include "runtime/logging.hpp"
#include "runtime/shard_assembly.hpp"
#include "runtime/shard_loop.hpp"
#include "runtime/system_clock.hpp"
#include "storage/posix_file_system.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace handfast::runtime {

class thread_writer;
class page_cache_source;

struct node_options {
  config::settings settings;
  std::string version;
  user_actors users;
  /// Called once, on some thread of the node, when it has stopped by request or failure: `finish`
  /// may be called then.
  std::function<void()> stopped;
};

/// A running node. Destroy it only after `finish` was true; else leave the process.
class node {
public:
  /// Recovers the store and opens the doors. Errors: those of `storage::recover`, and
  /// ec::config_invalid for an address that cannot be had or settings that `config::validate`
  /// refuses.
  static result<std::unique_ptr<node>> start(node_options options);
  ~node();

  /// Asks for the ordered stop; a second time hurries it. From any thread.
  void stop();
  /// How it ended; nothing while it runs. From any thread.
  [[nodiscard]] std::optional<stop_report> report() const;
  /// After `stopped`: closes HTTP and waits for the last actors. False when one does not end within
  /// `patience`.
  [[nodiscard]] bool finish(std::chrono::milliseconds patience);
  /// For `logrotate`. From any thread.
  void reopen_logs() { log_->reopen(); }

  /// Where the doors really listen; nothing for one that is off.
  [[nodiscard]] std::optional<config::address> native() const;
  [[nodiscard]] std::optional<config::address> http() const;
  /// What recovery did.
  [[nodiscard]] const storage::recovery_report& recovery() const { return recovery_; }
  [[nodiscard]] std::uint64_t store_id() const { return store_id_; }
  [[nodiscard]] caf::actor_system& system() { return system_; }
  [[nodiscard]] const node_supervisor_actor& supervisor() const { return supervisor_; }

private:
  struct caf_settings : caf::actor_system_config {
    caf_settings();
  };

  explicit node(node_options options);
  result<void> open_shard();
  void close_shard();
  result<void> open_doors();
  void spawn_supervisor();
  assembly parts();
  result<node_status> ask_status();
  std::string not_ready();
  void note_end(const stop_report& how);

  node_options options_;
  std::unique_ptr<logging> log_;
  std::unique_ptr<storage::file_system> disk_;
  system_clock clock_;
  caf_settings caf_settings_;
  caf::actor_system system_;
  shard_environment environment_;
  std::unique_ptr<recovered_shard> shard_;
  std::unique_ptr<thread_writer> writer_;
  std::unique_ptr<page_cache_source> records_;
  shard_loop loop_;
  socket_set sockets_;
  std::unique_ptr<acceptor> door_;
  std::unique_ptr<http_server> http_;
  node_supervisor_actor supervisor_;

  storage::recovery_report recovery_; ///< of the start
  std::uint64_t store_id_ = 0;
  std::atomic<bool> started_{false}; ///< `supervisor_` is set and stays
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::optional<stop_report> report_;
};

} // namespace handfast::runtime
