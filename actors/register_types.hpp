#pragma once

#include <caf/fwd.hpp>

namespace handfast {

/// Makes the messages that may cross hosts known to CAF. Call once, before the actor system starts.
/// In a translation unit of its own, since it instantiates the serialisation of every message.
void register_message_types(caf::actor_system_config& cfg);

} // namespace handfast
