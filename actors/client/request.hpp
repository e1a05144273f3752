#pragma once

/// One request under way in a session. Internal.

#include "messages/native/codec.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <variant>

namespace handfast::client {

using clock = std::chrono::steady_clock;

/// What a request needs to know when it is encoded.
struct addressing {
  correlation id;
  topic_id topic;
};

/// How it ended. `why.code` is ok exactly if `body` holds the answer: the item of a batch, or the
/// frame.
struct reply {
  error why;
  std::variant<std::monostate, native::sent_item, native::half_stored_item, native::decided_item,
               native::frame, native::delivered>
      body;
};

/// What a subscription hears after its request was answered. Calls come from the I/O thread and
/// must not block.
class delivery_stream {
public:
  virtual ~delivery_stream() = default;
  virtual void on_delivered(native::delivered&& what) = 0;
  /// Nothing more comes: the node ended it, or the connection is lost.
  virtual void on_end(const error& why) = 0;
};

enum class request_kind : std::uint8_t { plain, half, decide, other };

/// Where it waits.
enum class request_state : std::uint8_t {
  waiting_for_name, ///< its topic or group has no id yet
  ready,            ///< may be written as soon as credit allows
  in_flight,        ///< written on this connection
  delayed,          ///< to be repeated at `retry_at`
};

struct request {
  // set by whoever asks
  request_kind kind = request_kind::other;
  bool resend = true;        ///< a repeat does no harm
  bool create_topic = false; ///< make the topic when its name is resolved
  std::string topic;         ///< resolved before it is sent; empty = none
  std::string group;         ///< producer group, joined before it is sent; empty = none
  native::send_item item;
  native::decide_item decision;
  std::function<void(native::frame_writer&, const addressing&)> encode; ///< of kind `other`
  std::function<void(reply)> done;         ///< called once, on the I/O thread
  std::shared_ptr<delivery_stream> stream; ///< of a subscription: hears of all but the answer
  std::chrono::milliseconds extra_time{0}; ///< that the node may take by itself (parked fetches)

  // kept by the session
  request_state state = request_state::ready;
  bool maybe_done = false;      ///< an attempt was sent and its answer never came
  bool topic_refreshed = false; ///< the cached topic id was looked up again once
  unsigned attempts = 0;
  clock::time_point accepted_at{};
  clock::time_point give_up_at{};
  clock::time_point sent_at{};
  clock::time_point retry_at{};
  topic_id resolved_topic;

  [[nodiscard]] std::size_t payload_bytes() const { return item.payload.size(); }
};

} // namespace handfast::client
