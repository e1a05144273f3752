#pragma once

/// Sending from a connection. Apart from `connection_core.hpp`, since only sources that send need
/// the complete actor type and the type ids.

#include "actors/connections/native_connection.hpp"
#include "actors/type_ids.hpp"

namespace handfast {

template <class Handle, class Message>
void connection_core::send(const Handle& whom, Message message) {
  self->send(whom, std::move(message));
}

} // namespace handfast
