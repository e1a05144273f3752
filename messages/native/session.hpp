#pragma once

/// Frames that open, keep and end a session. Structs are what a frame says; `encode` and `decode`
/// are in `codec.hpp`.

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/native/frames.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace handfast::native {

/// First frame of a connection, from the client.
struct hello {
  static constexpr frame_kind kind = frame_kind::hello;
  std::uint16_t version = protocol_version;
  std::string library = "handfast-cpp";
  std::string library_version;
  std::string client;    ///< name for people: logs, `tx show`
  std::string mechanism; ///< of the credentials; empty = none
  std::string credentials;
  producer_id producer;     ///< 0 = does not number its sends
  std::uint32_t credit = 0; ///< requests it would like in flight; 0 = as many as the node likes
  friend bool operator==(const hello&, const hello&) = default;
};

/// Answer to `hello`. Until it came the client sends nothing else.
struct welcome {
  static constexpr frame_kind kind = frame_kind::welcome;
  std::uint16_t version = protocol_version;
  std::string node;
  std::string node_version;
  std::uint64_t store_id = 0;
  std::uint32_t credit = 0;       ///< requests in flight; more are refused as `busy`
  std::uint64_t credit_bytes = 0; ///< of their payload
  std::uint32_t frame_max = 0;    ///< header excluded
  std::uint32_t body_max = 0;
  friend bool operator==(const welcome&, const welcome&) = default;
};

/// The node ends the connection and says why. Nothing that is unanswered will be answered.
struct closing {
  static constexpr frame_kind kind = frame_kind::closing;
  ec code = ec::ok;
  std::string detail;
  friend bool operator==(const closing&, const closing&) = default;
};

/// The client ends the connection in order: it expects no more checks.
struct goodbye {
  static constexpr frame_kind kind = frame_kind::goodbye;
  friend bool operator==(const goodbye&, const goodbye&) = default;
};

/// A request of any kind was refused or its end is unknown (by the code's verdict).
struct refused {
  static constexpr frame_kind kind = frame_kind::refused;
  correlation id;
  ec code = ec::ok;
  std::string detail;
  friend bool operator==(const refused&, const refused&) = default;
};

/// A request that has no other answer was done.
struct done {
  static constexpr frame_kind kind = frame_kind::done;
  correlation id;
  friend bool operator==(const done&, const done&) = default;
};

/// Asks for a topic's id, so that the hot frames carry no text.
struct resolve_topic {
  static constexpr frame_kind kind = frame_kind::resolve_topic;
  correlation id;
  std::string name;
  bool create = true; ///< make it if the node's policy allows
  friend bool operator==(const resolve_topic&, const resolve_topic&) = default;
};

struct topic_resolved {
  static constexpr frame_kind kind = frame_kind::topic_resolved;
  correlation id;
  ec code = ec::ok;
  topic_id topic;
  std::uint32_t queues = 0;
  std::string detail;
  friend bool operator==(const topic_resolved&, const topic_resolved&) = default;
};

/// Makes this connection a member of a producer group: it may send and decide for it, and is asked
/// about its undecided transactions. Joining again replaces the declared topics.
struct join_producer_group {
  static constexpr frame_kind kind = frame_kind::join_producer_group;
  correlation id;
  std::string group;
  std::vector<std::string> topics; ///< for which it can answer; empty = any
  std::uint64_t session =
      0; ///< random; the same after a reconnect tells that it is the same process
  friend bool operator==(const join_producer_group&, const join_producer_group&) = default;
};

struct group_joined {
  static constexpr frame_kind kind = frame_kind::group_joined;
  correlation id;
  ec code = ec::ok;
  group_id group;
  std::string detail;
  friend bool operator==(const group_joined&, const group_joined&) = default;
};

/// Answer: `done`.
struct leave_producer_group {
  static constexpr frame_kind kind = frame_kind::leave_producer_group;
  correlation id;
  group_id group;
  friend bool operator==(const leave_producer_group&, const leave_producer_group&) = default;
};

} // namespace handfast::native
