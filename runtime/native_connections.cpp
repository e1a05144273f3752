#include "runtime/native_connections.hpp"

#include "actors/connections/native_connection.hpp"
#include "actors/type_ids.hpp"

namespace handfast::runtime {

connection_factory native_connections(caf::actor_system& system, actor_loop& loop,
                                      const shard_environment& environment,
                                      const native_identity& identity) {
  const auto door = std::make_shared<const native_door>(
      native_door{identity.node, identity.version, identity.store_id, {}});
  return [&system, &loop, &environment, door](std::shared_ptr<transport> wire) {
    return spawn_on(system, &loop, native_connection, &environment, std::move(wire), door);
  };
}

} // namespace handfast::runtime
