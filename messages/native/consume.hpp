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
  start_point start{}; ///< for a group that is new on this topic
  subscription_terms terms{};
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

/// Where to read on in a queue.
struct queue_position {
  queue_no queue;
  queue_offset offset;
  friend bool operator==(const queue_position&, const queue_position&) = default;
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
  std::uint32_t lease_ms = 0;       ///< from here on the messages are the receiver's; 0 = no lease
  std::vector<queue_position> next; ///< answer to `read_queues`: where to read on
  friend bool operator==(const delivered&, const delivered&) = default;
};

/// From now on `delivered` frames with `id` come by themselves, as long as there is credit. The
/// first has the group's id and no messages; one with a code other than ok, or `refused`, ends it.
struct subscribe {
  static constexpr frame_kind kind = frame_kind::subscribe;
  correlation id;
  std::string group_name;
  topic_id topic;
  std::uint32_t credit = 0; ///< messages that may come
  start_point start;        ///< for a group that is new on this topic
  subscription_terms terms{};
  friend bool operator==(const subscribe&, const subscribe&) = default;
};

/// So many more messages may come. No answer.
struct credit {
  static constexpr frame_kind kind = frame_kind::credit;
  correlation subscription;
  std::uint32_t messages = 0;
  friend bool operator==(const credit&, const credit&) = default;
};

/// Ends a subscription. Answer: `done`; nothing of it comes behind that. The connection leaves the
/// group when the credit of what came is given back.
struct unsubscribe {
  static constexpr frame_kind kind = frame_kind::unsubscribe;
  correlation id;
  correlation subscription;
  friend bool operator==(const unsubscribe&, const unsubscribe&) = default;
};

/// Broadcasting: what stands in some queues of a topic from given offsets on, without a group,
/// leases or acknowledgements. Parked up to `wait_ms`. Answer: `delivered`; its `next` has the
/// places that moved, also by messages that the filter does not want.
struct read_queues {
  static constexpr frame_kind kind = frame_kind::read_queues;
  correlation id;
  topic_id topic;
  std::uint32_t messages_max = 32;
  std::uint32_t bytes_max = 0; ///< 0 = no bound but the frame's; one message always passes
  std::uint32_t wait_ms = 0;
  filter_kind filter = filter_kind::all;
  std::string expression; ///< of the filter
  std::vector<queue_position> places;
  friend bool operator==(const read_queues&, const read_queues&) = default;
};

/// What a start point means on the queues of a topic, or on one. Answer: `offsets`.
struct find_offsets {
  static constexpr frame_kind kind = frame_kind::find_offsets;
  correlation id;
  topic_id topic;
  bool one_queue = false;
  queue_no queue; ///< if `one_queue`
  start_point point;
  friend bool operator==(const find_offsets&, const find_offsets&) = default;
};

struct found_offset {
  queue_no queue;
  queue_offset offset;
  queue_offset first; ///< oldest that the queue still has; 0 in the answer to `reset_progress`
  queue_offset end;   ///< one behind the newest; 0 in the answer to `reset_progress`
  friend bool operator==(const found_offset&, const found_offset&) = default;
};

/// By queue.
struct offsets {
  static constexpr frame_kind kind = frame_kind::offsets;
  correlation id;
  std::vector<found_offset> items;
  friend bool operator==(const offsets&, const offsets&) = default;
};

/// `to` = 0 means the one message at `offset` with its `lease`; else all messages that the client
/// holds in [offset, to), and `lease` is not looked at. `retry_ms` = 0 means the group's back-off.
/// A client says done, failed, returned or dead_letter.
struct acknowledge_item {
  topic_id topic;
  queue_no queue;
  queue_offset offset;
  std::uint64_t lease = 0;
  handling what = handling::done;
  queue_offset to{};
  std::uint32_t retry_ms = 0;
  friend bool operator==(const acknowledge_item&, const acknowledge_item&) = default;
};

/// Answer: `acknowledged` when the progress is durable.
struct acknowledge {
  static constexpr frame_kind kind = frame_kind::acknowledge;
  correlation id;
  group_id group;
  std::vector<acknowledge_item> items;
  correlation subscription{}; ///< that gets `credit`, if not 0
  std::uint32_t credit = 0;   ///< so many more messages may come
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
