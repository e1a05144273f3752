#pragma once

/// From delivered frames to the application's messages, and back to acknowledgements. Internal.

#include "actors/client/subscription.hpp"
#include "messages/native/consume.hpp"

namespace handfast::client {

/// @param arrived when the frame came: leases end by this clock
std::vector<received_message> messages_of(const native::delivered& from, const std::string& topic,
                                          std::chrono::steady_clock::time_point arrived);

/// What a member says of one delivery.
struct settled {
  receipt delivery;
  consumed verdict;
};

/// What is done and stands side by side in its queue becomes one range, as long as its leases run:
/// a range only reaches what is still held. Sorts `what`.
std::vector<native::acknowledge_item> items_of(std::vector<settled>& what,
                                               std::chrono::steady_clock::time_point now);

} // namespace handfast::client
