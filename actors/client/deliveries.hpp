#pragma once

/// From delivered frames to the application's messages. Internal.

#include "actors/client/consumer.hpp"
#include "messages/native/consume.hpp"

namespace handfast::client {

std::vector<received_message> messages_of(const native::delivered& from, const std::string& topic);

} // namespace handfast::client
