#pragma once

/// Frames that fetch and acknowledge messages, and read views.

#include "messages/bytes.hpp"
#include "messages/delivery.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/native/frames.hpp"
#include "messages/native/produce.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace handfast::native {

/// Messages for one member of a consumer group. Parked on the node up to `wait_ms`. Answer:
/// `delivered`, empty when none came.
struct fetch {
  static constexpr frame_kind kind = frame_kind::fetch;
  correlation id;
  std::string group_name; ///< needed until a `delivered` gave the id
  group_id group;
  topic_id topic;
  queue_no queue = any_queue;
  std::uint32_t messages_max = 32;
  std::uint32_t bytes_max = 0; ///< 0 = no bound but the frame's; one message always passes
  std::uint32_t wait_ms = 0;
  start_from start = start_from::earliest; ///< for a group that is new on this topic
  friend bool operator==(const fetch&, const fetch&) = default;
};

/// Browses a queue or view without a group and without leases. Answer: `delivered`.
struct read_view {
  static constexpr frame_kind kind = frame_kind::read_view;
  correlation id;
  topic_id topic;
  queue_no queue;
  queue_offset offset; ///< of the first wanted
  std::uint32_t messages_max = 32;
  friend bool operator==(const read_view&, const read_view&) = default;
};

struct delivered_item {
  position at;
  topic_id topic;
  queue_no queue;
  queue_offset offset;
  std::uint64_t lease = 0;    ///< comes back with the acknowledgement; 0 when browsed
  std::uint16_t attempts = 1; ///< 1 for the first delivery
  std::uint64_t born_ms = 0;
  std::uint64_t visible_ms = 0;
  transaction_id transaction; ///< none for a plain message
  std::uint32_t sys_flag = 0;
  std::uint32_t order_hash = 0;
  std::uint32_t properties_size = 0;
  shared_bytes payload;
  friend bool operator==(const delivered_item&, const delivered_item&) = default;
};

struct delivered {
  static constexpr frame_kind kind = frame_kind::delivered;
  correlation id;
  ec code = ec::ok;
  std::string detail;
  group_id group;
  std::vector<delivered_item> items;
  friend bool operator==(const delivered&, const delivered&) = default;
};

/// `done` = false hands the message back: it may be delivered again at once.
struct acknowledge_item {
  topic_id topic;
  queue_no queue;
  queue_offset offset;
  std::uint64_t lease = 0;
  bool done = true;
  friend bool operator==(const acknowledge_item&, const acknowledge_item&) = default;
};

/// Answer: `acknowledged` when the progress is durable.
struct acknowledge {
  static constexpr frame_kind kind = frame_kind::acknowledge;
  correlation id;
  group_id group;
  std::vector<acknowledge_item> items;
  friend bool operator==(const acknowledge&, const acknowledge&) = default;
};

/// `late`: items whose lease had ended; they count as done unless another member holds the message
/// by now.
struct acknowledged {
  static constexpr frame_kind kind = frame_kind::acknowledged;
  correlation id;
  ec code = ec::ok;
  std::string detail;
  std::uint32_t accepted = 0;
  std::uint32_t late = 0;
  friend bool operator==(const acknowledged&, const acknowledged&) = default;
};

} // namespace handfast::native
