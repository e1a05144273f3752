#pragma once

/// The one message type: what is sent, what a check handler is shown, and what a consumer gets.

#include "messages/bytes.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace handfast::client {

struct message {
  message() = default;
  message(std::string to, std::string_view content)
      : topic{std::move(to)}, body{shared_bytes::copy_of(content)} {}

  std::string topic;
  shared_bytes body; ///< `body.text()` reads it
  std::string tag;
  std::string keys; ///< for look-ups; several with blanks between
  /// Chosen by the application: a half with the same key of the same group opens no second
  /// transaction. Empty = none.
  std::string unique_key;
  /// Messages of a topic with the same key take the same queue, in the order of their commits.
  /// Empty = none.
  std::string order_key;
  /// Anything else. Keys and values must not contain the bytes 1 and 2.
  std::map<std::string, std::string> properties;

  // The rest only matters when sending; a handler sees the defaults.
  std::optional<queue_no> queue;            ///< none = by order key, or the node chooses
  std::chrono::milliseconds delay{0};       ///< visible this long after it is stored or committed
  std::chrono::milliseconds first_check{0}; ///< of a half; 0 = the policy's

  /// Compares what travels: everything but the settings of sending.
  friend bool operator==(const message& a, const message& b) {
    return a.topic == b.topic && a.body == b.body && a.tag == b.tag && a.keys == b.keys &&
           a.unique_key == b.unique_key && a.order_key == b.order_key &&
           a.properties == b.properties;
  }
};

/// Properties (tag, keys and order key included) in their wire form.
result<std::string> encode_properties(const message& from);
/// A message from what the node delivered: `payload` is properties, then body.
message decode_message(std::string topic, const shared_bytes& payload,
                       std::uint32_t properties_size);

} // namespace handfast::client
