#pragma once

/// Messages with the same order key are consumed one after another, in the order in which they were
/// stored. For that they must stand in one queue.

#include "messages/assert.hpp"
#include "messages/ids.hpp"
#include "messages/properties.hpp"

#include <cstdint>
#include <string_view>

namespace handfast {

/// What the log keeps of an order key: Java's `String.hashCode` of its UTF-8 text, for ever the
/// same. Different keys may share a hash; they then only wait for each other without need. Any
/// value is possible, also 0: `message_flags::has_order_key` tells whether there is a key.
inline std::uint32_t order_hash(std::string_view key) {
  return tag_hash(key);
}

/// The queue for a key among `queues` of them (at least 1): the one that RocketMQ's
/// `SelectMessageQueueByHash` chooses for the same text, so that producers of both kinds put a key
/// into one queue. Adding queues to a topic moves keys to other queues.
constexpr queue_no queue_of_order(std::uint32_t order_hash, std::uint32_t queues) {
  HANDFAST_ASSERT(queues > 0);
  const auto rest = std::int64_t{static_cast<std::int32_t>(order_hash)} % std::int64_t{queues};
  return queue_no{static_cast<std::uint16_t>(rest < 0 ? -rest : rest)};
}

} // namespace handfast
