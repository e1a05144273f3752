#pragma once

/// How each role of a shard is spawned. NODE SUPERVISOR starts and restarts the tree with nothing
/// but these factories, so that a node, the simulation and unit tests use the same supervisor with
/// other seams: the spawner decides what is pinned to a loop or detached.

#include "actors/roles.hpp"

#include <functional>
#include <vector>

namespace handfast {

/// A factory that is empty leaves its role out (only tests do that). `first` is true for the first
/// actor of a role (of a queue, of a group) since the shard was recovered: it starts from what
/// recovery folded; the later ones start empty and restore themselves.
struct shard_roster {
  template <class Handle>
  using factory = std::function<Handle(incarnation life, bool first)>;

  factory<log_reader_actor> log_reader;
  factory<segment_keeper_actor> segment_keeper;
  factory<checkpointer_actor> checkpointer;
  factory<commit_log_actor> commit_log; ///< only ever first: its end rebuilds the shard
  factory<op_store_actor> op_store;
  factory<half_store_actor> half_store;
  factory<check_scheduler_actor> check_scheduler;
  factory<delay_scheduler_actor> delay_scheduler;
  factory<topic_registry_actor> topic_registry;
  std::function<check_listener_actor()> check_listener;
  /// Takes the place of a listener that failed too often.
  std::function<check_listener_actor()> default_check_listener;
  std::vector<std::function<transaction_observer_actor()>> observers;

  std::function<queue_actor(queue_key, incarnation life, bool first)> queue;
  std::function<consumer_group_actor(group_id, incarnation life, bool first)> consumer_group;
  std::function<producer_group_actor(group_id, incarnation life, bool first)> producer_group;

  /// Groups that have progress: they are started at once, so that checkpoints have it.
  std::vector<group_id> recovered_groups;
};

} // namespace handfast
