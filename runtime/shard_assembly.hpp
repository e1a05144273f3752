#pragma once

/// How each role of a shard is spawned from what recovery found. The node and the simulation use
/// the same; only the spawner decides what is pinned to a loop, and what has a thread of its own.

#include "actors/loop_actor.hpp"
#include "actors/seams.hpp"
#include "actors/shard_roster.hpp"
#include "runtime/shard_recovery.hpp"

#include <caf/fwd.hpp>

namespace handfast::runtime {

/// Actors of the user's own, spawned at start and after each failure.
struct user_actors {
  /// Takes the place of the default check listener.
  std::function<check_listener_actor(caf::actor_system&)> check_listener;
  std::vector<std::function<transaction_observer_actor(caf::actor_system&)>> observers;
};

struct assembly {
  caf::actor_system* system = nullptr;
  actor_loop* loop = nullptr; ///< null: ordinary actors
  bool detached = false;      ///< roles that wait for the disk get threads of their own
  storage::file_system* disk = nullptr;
  const shard_environment* environment = nullptr;
  recovered_shard* recovered = nullptr;
  user_actors users;
};

/// Everything that `from` points to must outlive the actors. Folds move out of `from.recovered` as
/// their first actors are spawned.
shard_roster make_roster(const assembly& from);

} // namespace handfast::runtime
