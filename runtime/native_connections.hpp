#pragma once

/// How connections of the native door are spawned.

#include "actors/loop_actor.hpp"
#include "runtime/acceptor.hpp"

#include <string>

namespace handfast::runtime {

/// What clients are told about the node they reached.
struct native_identity {
  std::string node; ///< its name, for people
  std::string version;
  std::uint64_t store_id = 0;
};

/// System, loop and environment must outlive the connections.
connection_factory native_connections(caf::actor_system& system, actor_loop& loop,
                                      const shard_environment& environment,
                                      const native_identity& identity);

} // namespace handfast::runtime
