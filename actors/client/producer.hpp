#pragma once

/// Sends plain messages.

#include "actors/client/answer.hpp"
#include "actors/client/client.hpp"
#include "actors/client/message.hpp"

#include <functional>
#include <future>
#include <vector>

namespace handfast::client {

/// Where a message was stored, as durable as its topic promises.
struct stored_message {
  position at;
  queue_key queue;
  queue_offset offset;
  /// Milliseconds since 1970: when it becomes visible, and gets its offset; 0 = it has one.
  std::uint64_t due_ms = 0;
};

/// Thread-safe. Messages sent while a write is under way leave together in the next one. Each send
/// is numbered, so that a repeat after a lost connection is stored once.
class producer {
public:
  using callback = std::function<void(answer<stored_message>)>;

  explicit producer(const client& from) : session_{from.link()} {}

  /// Waits for the answer, at most `total_timeout`.
  answer<stored_message> send(message what);
  std::future<answer<stored_message>> send_async(message what);
  /// `done` runs on the client's I/O thread, or on this one if the message is refused at once: it
  /// must not block, and must not wait for this client.
  void send_async(message what, callback done);

private:
  std::shared_ptr<session> session_;
};

} // namespace handfast::client
