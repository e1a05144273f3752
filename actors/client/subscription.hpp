#pragma once

/// Receiving messages by hand, step by step.

#include "actors/client/answer.hpp"
#include "actors/client/client.hpp"
#include "actors/client/consume_options.hpp"
#include "actors/client/message.hpp"
#include "messages/delivery.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace handfast::client {

/// Names one delivery; comes back with the acknowledgement.
struct receipt {
  queue_key queue;
  queue_offset offset;
  std::uint64_t lease = 0;
  /// When the lease ends, by this side's clock: after that another member may get the message.
  std::chrono::steady_clock::time_point until{};
};

struct received_message {
  message content;
  receipt delivery;
  std::uint16_t attempt = 1; ///< 1 for the first delivery
  position at;
  transaction_id transaction;                    ///< zeros for a plain message
  std::chrono::system_clock::time_point born;    ///< by the sender's clock
  std::chrono::system_clock::time_point visible; ///< by the node's clock
};

/// What an acknowledgement did. `late`: the lease had ended; the message counts as done unless
/// another member has it.
struct acknowledged_messages {
  std::uint32_t accepted = 0;
  std::uint32_t late = 0;
};

/// Fetching and acknowledging by hand: one group on one topic. Thread-safe.
class subscription {
public:
  subscription(const client& from, std::string group, std::string topic, reading how = {});

  /// Up to `max` messages, waiting on the node up to `wait` while there is none; empty then.
  /// `bytes_max` = 0 means no bound but the node's; one message always comes. A topic that does not
  /// exist is refused as ec::unknown_topic and not made: consuming makes no topics. Once it exists,
  /// it is consumed from its beginning.
  answer<std::vector<received_message>> fetch(std::uint32_t max, std::chrono::milliseconds wait,
                                              std::uint32_t bytes_max = 0);
  /// Done when the progress is durable. Neighbours travel as one range.
  answer<acknowledged_messages> acknowledge(const std::vector<receipt>& what);
  /// Each counts as a failed attempt, and is delivered again after `pause`; 0 = after the group's
  /// back-off.
  answer<acknowledged_messages> fail(const std::vector<receipt>& what,
                                     std::chrono::milliseconds pause = {});
  /// Not worked on: they may be delivered again at once.
  answer<acknowledged_messages> hand_back(const std::vector<receipt>& what);
  /// To the group's dead-letter topic, at once.
  answer<acknowledged_messages> dead_letter(const std::vector<receipt>& what);

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

/// Reading every message of a topic without a group, by hand: broadcasting. Not thread-safe.
class broadcast_reader {
public:
  /// Begins where `offsets` says, elsewhere at `start`.
  broadcast_reader(const client& from, std::string topic, message_filter filter = {},
                   start_point start = {start_from::latest, 0},
                   std::shared_ptr<offset_store> offsets = nullptr);

  /// Up to `max` messages, waiting on the node up to `wait` while there is none; empty then.
  answer<std::vector<received_message>> fetch(std::uint32_t max, std::chrono::milliseconds wait);
  /// All that was fetched is handled: saves how far that is.
  result<void> save();

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

} // namespace handfast::client
