#pragma once

/// Receives messages as a member of a consumer group.

#include "actors/client/answer.hpp"
#include "actors/client/client.hpp"
#include "actors/client/message.hpp"
#include "messages/delivery.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace handfast::client {

/// Names one delivery; comes back with the acknowledgement.
struct receipt {
  queue_key queue;
  queue_offset offset;
  std::uint64_t lease = 0;
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
  subscription(const client& from, std::string group, std::string topic,
               start_from start = start_from::earliest);

  /// Up to `max` messages, waiting on the node up to `wait` while there is none; empty then. A
  /// topic that does not exist is refused as ec::unknown_topic and not made: consuming makes no
  /// topics. Once it exists, it is consumed from its beginning.
  answer<std::vector<received_message>> fetch(std::uint32_t max, std::chrono::milliseconds wait);
  /// Done when the progress is durable.
  answer<acknowledged_messages> acknowledge(const std::vector<receipt>& what);
  /// They may be delivered again at once.
  answer<acknowledged_messages> hand_back(const std::vector<receipt>& what);

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

/// What the handler says of a message.
enum class consumed : std::uint8_t {
  done,  ///< acknowledge it
  again, ///< deliver it again at once, to any member
  later, ///< deliver it again when its lease ends
};

struct consumer_options {
  std::string group{};
  std::vector<std::string> topics{};
  start_from start = start_from::earliest;
  std::size_t threads_per_topic = 1;
  std::uint32_t fetch_max = 32;
  std::chrono::milliseconds wait{1'000};
};

/// Runs a handler for each message on its own threads. An exception in the handler counts as
/// `later`. A topic that does not exist yet is waited for, and consumed from its beginning when it
/// is made; `last_error` says ec::unknown_topic meanwhile.
class consumer {
public:
  using handler = std::function<consumed(const received_message&)>;

  consumer(const client& from, consumer_options options, handler on_message);
  /// Stops, and waits for running handlers.
  ~consumer();
  consumer(const consumer&) = delete;
  consumer& operator=(const consumer&) = delete;

  /// No new messages are handled; returns when the running handlers and fetches ended (at most
  /// `wait` and a handler's time).
  void stop();
  /// Why the last fetch or acknowledgement failed; code ok if it did not.
  [[nodiscard]] error last_error() const;

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

} // namespace handfast::client
