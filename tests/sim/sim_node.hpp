#pragma once

/// One node in one thread: the real actors on CAF's test coordinator, over a simulated disk, clock,
/// writer and network. It lives from a start until the power goes; the disk outlives it.

#include "actors/shard_roster.hpp"
#include "tests/sim/sim_client.hpp"
#include "tests/sim/sim_options.hpp"
#include "tests/sim/sim_slow_disk.hpp"
#include "tests/support/sim_disk.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace handfast::sim {

class sim_node {
public:
  sim_node(sim_timeline& time, testing::sim_disk& disk, const sim_plan& plan, mutant planted);
  ~sim_node();
  sim_node(const sim_node&) = delete;
  sim_node& operator=(const sim_node&) = delete;

  /// Recovers what is on the disk and starts the actors.
  result<void> start();
  /// All actors end, without a chance to say or write anything.
  void die();
  [[nodiscard]] bool up() const { return life_ != nullptr; }
  /// Why the node gave up by itself; nothing while it has not.
  [[nodiscard]] std::optional<error> failure() const;

  // one step at a time
  [[nodiscard]] bool has_job() const;
  /// Runs one message of any actor that has one.
  void run_job();
  [[nodiscard]] bool has_disk_step() const;
  void disk_step();
  [[nodiscard]] bool has_idle() const;
  void idle();
  /// When the next timer of an actor is due, or the disk done with something.
  [[nodiscard]] sim_timeline::duration next_timer() const;
  /// Nothing more reaches the disk through the log's writer, until it may again.
  void hold_log_writes(bool hold) { writes_held_ = hold; }
  /// Batches of the log that are not yet reported as durable.
  [[nodiscard]] std::size_t log_writes_open() const;
  /// Called before each disk operation of an actor that is detached in the real node.
  void on_disk_wait(sim_slow_disk::waiting wait) { wait_ = std::move(wait); }
  /// Lets the timers know of the timeline's time.
  void follow_time();

  /// A connection for a client; null while down.
  std::shared_ptr<sim_link> connect(link_client& client, const std::string& name);
  /// Ends some actor as a crash would. Returns which; empty if there was none to take.
  std::string kill_some_actor();
  /// Ends all actors of this role, as a crash would. Returns how many.
  std::size_t kill_role(const std::string& role);
  /// From now on counts messages that come while `counts()`, and ends an actor as the order says.
  /// Once.
  void obey(kill_order order, std::function<bool()> counts);
  [[nodiscard]] bool order_obeyed() const { return order_obeyed_; }
  /// Cuts some connection.
  void cut_some_connection();

private:
  struct life;
  void obey_order();
  result<shard_roster> open_shard(life& l);

  sim_timeline& time_;
  testing::sim_disk& disk_;
  const sim_plan& plan_;
  mutant planted_;
  sim_slow_disk::waiting wait_ = [] {};
  sim_slow_disk slow_disk_{disk_, wait_};
  bool writes_held_ = false;
  std::optional<kill_order> order_;
  std::function<bool()> counts_;
  std::map<std::uint64_t, std::uint64_t> handled_; ///< messages, by actor id, since the order
  bool order_obeyed_ = false;
  std::unique_ptr<life> life_;
  std::uint64_t lives_ = 0;
};

} // namespace handfast::sim
