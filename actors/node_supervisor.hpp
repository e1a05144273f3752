#pragma once

/// NODE SUPERVISOR: the tree of a node.
///
/// Receives       find_queue, find_producer_group, find_consumer_group (anyone), topic_present
/// (topic_registry), adopt_connection
///                (acceptor), shard_failed (anyone), stop (the node), stopped (members),
///                ask_node_status (connections), status_request (HTTP), checkpoint_made
///                (checkpointer).
/// Sends          peers_changed and stop (members, connections), *_found, node_status.
/// Owns           who lives, incarnations, restart counts, which queues there are.
/// Supervised by  nobody: the node ends when it ends.
/// Blocks?        Only while a shard is rebuilt after the end of its COMMIT LOG, when nothing else
/// could be served.
///
/// Guarantees: a member that ends is started again with a higher incarnation and an empty state,
/// and everyone learns of it, unless it fails more often than `supervision` allows: then a
/// shard-critical role stops the shard, and any other is quarantined and the rest goes on. LOG
/// READER counts as critical, since nothing can be read or restarted without it. A user's check
/// listener that fails too often is replaced by the default one. When COMMIT LOG ends, all members
/// and connections end (clients take what was in flight as unknown) and the shard is recovered from
/// disk. An ordered stop ends within `shutdown.timeout` whatever its members do.

#include "actors/loop_actor.hpp"
#include "actors/restart_budget.hpp"
#include "actors/seams.hpp"
#include "actors/shard_roster.hpp"
#include "actors/type_ids.hpp"

#include <caf/actor_addr.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace handfast {

/// In the order in which they are started.
enum class member_role : std::uint8_t {
  log_reader,
  segment_keeper,
  checkpointer,
  commit_log,
  op_store,
  half_store,
  check_scheduler,
  delay_scheduler,
  topic_registry,
  check_listener,
  observer,
  consumer_group,
  producer_group,
  queue,
};
std::string_view name_of(member_role role);

/// How the node's life ended.
struct stop_report {
  error failure; ///< ok after an ordered stop
  std::vector<std::string>
      unfinished;              ///< what did not end in time, or not whole; empty = everything
  std::size_t connections = 0; ///< open when the stop began
  bool checkpoint = false;     ///< a checkpoint was made during the stop
  std::chrono::milliseconds took{0};
};

/// What the node does for its supervisor. All are called on the supervisor's thread.
struct supervisor_hooks {
  /// Accept no more clients.
  std::function<void()> close_intake;
  /// All actors of the shard have ended: recover it from disk. An error stops the node.
  std::function<result<shard_roster>()> rebuild;
  /// The last thing that the supervisor does.
  std::function<void(const stop_report&)> finished;
};

struct supervisor_start {
  shard_roster roster;
  supervisor_hooks hooks;
  /// Higher than any incarnation of earlier processes on this store (epoch << 20 does it).
  incarnation first_life{1};
};

class node_supervisor_state {
public:
  static inline const char* name = "node-supervisor";
  using pointer = loop_pointer<node_supervisor_actor, node_supervisor_state>;

  explicit node_supervisor_state(pointer self) : self_{self} {}

  void start(const shard_environment* env, supervisor_start from);

  void on_find_producer_group(const find_producer_group& x);
  void on_find_consumer_group(const find_consumer_group& x);
  void on_find_queue(const find_queue& x);
  void on_topic_present(const topic_present& x);
  void on_group_gone(const group_gone& x);
  void on_adopt(const adopt_connection& x);
  void on_down(const caf::down_msg& x);
  void on_shard_failed(const shard_failed& x);
  void on_stop();
  void on_stopped(const stopped& x);
  void on_checkpoint_made(const checkpoint_made& x);
  void on_tick(const tick& x);
  void on_ask_status(const ask_node_status& x);
  caf::typed_response_promise<node_status> on_status_request();

private:
  using asker_set = std::unordered_set<caf::actor_addr>;

  struct member_key {
    member_role role;
    std::uint64_t id = 0; ///< of the queue, group or observer
    auto operator<=>(const member_key&) const = default;
  };
  struct member {
    caf::strong_actor_ptr actor; ///< null: ended and not restarted
    incarnation life;
    std::uint32_t restarts = 0;
    std::string quarantined; ///< why; empty if it is not
    std::unique_ptr<restart_budget> budget;
    std::unique_ptr<asker_set> askers; ///< who is told of a new incarnation
  };
  enum class stage : std::uint8_t {
    running,
    rebuilding,
    // of an ordered stop
    connections,
    checks,
    appends,
    log,
    rest,
    ending,
    over,
  };

  // The tree.
  void start_shard();
  member& spawn(const member_key& key, bool first);
  caf::strong_actor_ptr make(const member_key& key, incarnation life, bool first);
  template <class Handle>
  caf::strong_actor_ptr make_peer(const shard_roster::factory<Handle>& factory, peer<Handle>& place,
                                  incarnation life, bool first);
  void introduce(const caf::strong_actor_ptr& newcomer);
  void announce();
  void spawn_some_queues();
  member* find_or_spawn(const member_key& key);
  void remember_asker(member& of);
  void tell_found(const member_key& key, const member& found, const caf::strong_actor_ptr& asker);
  void tell_all_askers(const member_key& key, member& of);
  void end_queues(topic_id topic);
  void end_quietly(member& one);

  // When somebody ends.
  void member_failed(const member_key& key, member& failed, const std::string& why);
  void quarantine(const member_key& key, member& failed, std::string why);
  void fail_shard(error why);
  void rebuild_begin();
  void rebuild_if_all_ended();
  void end_everyone(caf::exit_reason reason);
  [[nodiscard]] bool anyone_alive() const;
  static std::string text_of(const member_key& key);
  [[nodiscard]] static bool is_tree_member(member_role role);

  // The ordered stop (node_supervisor_stop.cpp).
  void enter(stage next);
  void tell_stop(std::initializer_list<member_role> roles);
  void arm_deadline();
  void stage_done();
  void no_longer_waiting(const caf::actor_addr& who, const std::string& unfinished);
  void report_waiting();
  void finish();
  [[nodiscard]] clock::time_point stage_deadline(stage of) const;

  // Status (node_supervisor_status.cpp).
  struct gathering;
  void gather(std::shared_ptr<gathering> into);
  void ask_next(const std::shared_ptr<gathering>& into);
  [[nodiscard]] status_report own_status() const;

  pointer self_;
  const shard_environment* env_ = nullptr;
  shard_roster roster_;
  supervisor_hooks hooks_;
  std::uint64_t next_life_ = 1;
  shard_peers peers_;
  std::shared_ptr<const shard_peers> announced_;

  std::map<member_key, member> members_;
  std::unordered_map<caf::actor_addr, member_key> by_address_;
  std::unordered_map<caf::actor_addr, connection_actor> connections_;
  std::map<topic_id, std::uint32_t> topics_;                ///< queues of each
  std::deque<std::pair<topic_id, std::uint32_t>> to_spawn_; ///< topic, its next queue
  std::map<member_role, std::uint64_t> restarts_;

  stage stage_ = stage::running;
  std::uint32_t stage_turn_ = 0; ///< tells deadlines of earlier stages apart
  std::unordered_map<caf::actor_addr, std::string> waiting_;
  bool hurried_ = false;
  clock::time_point stop_began_;
  clock::time_point stage_began_;
  stop_report report_;
};

node_supervisor_actor::behavior_type node_supervisor(node_supervisor_state::pointer self,
                                                     const shard_environment* env,
                                                     std::shared_ptr<supervisor_start> from);

} // namespace handfast
