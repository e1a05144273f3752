#pragma once

/// Runs a handler for the messages of some topics.

#include "actors/client/offset_store.hpp"
#include "actors/client/subscription.hpp"

#include <functional>
#include <memory>

namespace handfast::client {

/// Messages are pushed by the node, at most `credit` at a time for each topic, and handled on the
/// consumer's own threads. An exception in the handler counts as `failed`. A message whose lease
/// ended before its turn came is not handled: another member has it. After a lost connection the
/// consumer subscribes again by itself. A topic that does not exist yet is waited for, and consumed
/// from its beginning when it is made; `last_error` says ec::unknown_topic meanwhile.
class consumer {
public:
  using handler = std::function<consumed(const received_message&)>;

  consumer(const client& from, consumer_options options, handler on_message);
  /// Stops, and waits for running handlers.
  ~consumer();
  consumer(const consumer&) = delete;
  consumer& operator=(const consumer&) = delete;

  /// No new messages are handled; what is here and not begun goes back to the node. Returns when
  /// the running handlers ended and what they said is acknowledged, if the node answers. Not from
  /// the handler.
  void stop();
  /// Why the last subscription or acknowledgement failed; code ok if it did not.
  [[nodiscard]] error last_error() const;

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

} // namespace handfast::client
