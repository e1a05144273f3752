#include "actors/type_ids.hpp"

#include "actors/register_types.hpp"

#include <caf/actor_system_config.hpp>

namespace handfast {

void register_message_types(caf::actor_system_config& cfg) {
  cfg.add_message_types<caf::id_block::handfast>();
}

} // namespace handfast
