#pragma once

/// What actors say to each other about what is visible, who gets it and how far groups have come:
/// see `requests.hpp` for the conventions.

#include "messages/error.hpp"
#include "messages/filter_kind.hpp"
#include "messages/ids.hpp"
#include "messages/log_record.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handfast {

/// An index entry as its queue keeps it.
struct visible_entry {
  position at;
  std::uint32_t length = 0;
  std::uint32_t tag_hash = 0;
  queue_offset offset;
  wall_ms visible_ms = 0;
  friend bool operator==(const visible_entry&, const visible_entry&) = default;
};
template <class Inspector>
auto inspect(Inspector& f, visible_entry& x) {
  return f(x.at, x.length, x.tag_hash, x.offset, x.visible_ms);
}

/// commit_log -> queue: what became visible there, in order of offset, dense.
struct entries_visible {
  queue_key queue;
  position to; ///< of the batch: everything below is applied
  std::vector<visible_entry> entries;
};
template <class Inspector>
auto inspect(Inspector& f, entries_visible& x) {
  return f(x.queue, x.to, x.entries);
}

/// consumer_group, connection (views, browsing) -> queue. Answer: `entries_fetched`, empty at the
/// end of the queue.
struct fetch_entries {
  correlation id;
  queue_key queue;
  queue_offset from;
  std::uint32_t max = 32;
};
template <class Inspector>
auto inspect(Inspector& f, fetch_entries& x) {
  return f(x.id, x.queue, x.from, x.max);
}

struct entries_fetched {
  correlation id;
  queue_key queue;
  ec code = ec::ok;
  queue_offset first; ///< oldest that the queue still has
  queue_offset end;   ///< one behind the newest
  std::vector<visible_entry> entries;
};
template <class Inspector>
auto inspect(Inspector& f, entries_fetched& x) {
  return f(x.id, x.queue, x.code, x.first, x.end, x.entries);
}

/// consumer_group -> queue: one `queue_grew` as soon as the queue has an entry at or behind `from`.
struct watch_queue {
  queue_key queue;
  queue_offset from;
};
template <class Inspector>
auto inspect(Inspector& f, watch_queue& x) {
  return f(x.queue, x.from);
}

struct queue_grew {
  queue_key queue;
  queue_offset end;
};
template <class Inspector>
auto inspect(Inspector& f, queue_grew& x) {
  return f(x.queue, x.end);
}

/// Where reading begins. Sent: never renumber.
enum class start_from : std::uint8_t {
  earliest = 0,
  latest = 1,
  time = 2,   ///< the first message that became visible at or after a moment
  offset = 3, ///< an offset, the same on each queue that is meant
};

/// `value` is milliseconds since 1970 for `time`, the offset for `offset`, else unused. What lies
/// before the oldest message that is still there means the oldest, what lies behind the end the
/// end.
struct start_point {
  start_from from = start_from::earliest;
  std::uint64_t value = 0;
  friend bool operator==(const start_point&, const start_point&) = default;
};
template <class Inspector>
auto inspect(Inspector& f, start_point& x) {
  return f(x.from, x.value);
}

/// How a group reads a topic. Sent: never renumber.
enum class delivery_mode : std::uint8_t {
  concurrent = 0, ///< any message to any member
  /// A queue belongs to one member at a time; of each order key one message is in flight, and
  /// messages without a key count as one key of their queue.
  ordered = 1,
};

/// What the members of a group have agreed on for one topic. A member that asks for something else
/// is refused (`subscription_differs`) while others are there; alone it may change it.
struct subscription_terms {
  delivery_mode mode = delivery_mode::concurrent;
  filter_kind filter = filter_kind::all;
  std::string expression; ///< of the filter
  friend bool operator==(const subscription_terms&, const subscription_terms&) = default;
};
template <class Inspector>
auto inspect(Inspector& f, subscription_terms& x) {
  return f(x.mode, x.filter, x.expression);
}

/// connection -> consumer_group: messages for one member. Parked up to `wait_ms` while there is
/// none. Answer: `deliver`.
struct fetch_messages {
  correlation id;
  topic_id topic;
  std::uint32_t queues = 0; ///< of the topic
  std::uint32_t max = 32;
  std::uint32_t bytes_max = 0; ///< 0 = no bound but one message always passes
  std::uint32_t wait_ms = 0;
  start_point start; ///< for a group that is new on this topic
  subscription_terms terms;
  std::string member; ///< the client's name, for `describe_group`; only the first fetch needs it
};
template <class Inspector>
auto inspect(Inspector& f, fetch_messages& x) {
  return f(x.id, x.topic, x.queues, x.max, x.bytes_max, x.wait_ms, x.start, x.terms, x.member);
}

/// One message handed to one member until its lease ends. `lease` must come back with the
/// acknowledgement.
struct delivery {
  queue_key queue;
  visible_entry entry;
  std::uint64_t lease = 0;
  std::uint32_t attempts = 1; ///< 1 for the first delivery
};
template <class Inspector>
auto inspect(Inspector& f, delivery& x) {
  return f(x.queue, x.entry, x.lease, x.attempts);
}

struct deliver {
  correlation id;
  ec code = ec::ok;
  std::vector<delivery> deliveries;
};
template <class Inspector>
auto inspect(Inspector& f, deliver& x) {
  return f(x.id, x.code, x.deliveries);
}

/// What a member says of a message that it holds. Sent: never renumber.
enum class handling : std::uint8_t {
  done = 0,
  failed = 1,      ///< counts as an attempt; handed out again after `retry_ms`
  returned = 2,    ///< not worked on, not counted: handed out again after `retry_ms`
  dead_letter = 3, ///< failed for good: goes to the group's dead-letter topic at once
  unreadable = 4,  ///< said by the connection: its body can't be read; counts as done and is listed
  filtered = 5,    ///< said by the connection: the filter does not want it; counts as done
};
/// Whether the message needs no further delivery.
constexpr bool ends_delivery(handling what) {
  return what != handling::failed && what != handling::returned;
}

/// `to` = 0 means the one message at `offset` with its `lease`; else all messages that the sender
/// holds in [offset, to), and `lease` is not looked at. `retry_ms` = 0: the back-off, or at once.
struct acknowledgement {
  queue_key queue;
  queue_offset offset;
  std::uint64_t lease = 0;
  handling what = handling::done;
  queue_offset to{};
  std::uint32_t retry_ms = 0;
};
template <class Inspector>
auto inspect(Inspector& f, acknowledgement& x) {
  return f(x.queue, x.offset, x.lease, x.what, x.to, x.retry_ms);
}

/// connection -> consumer_group. Answer: `acknowledged` when the progress is durable.
struct acknowledge {
  correlation id;
  std::vector<acknowledgement> items;
};
template <class Inspector>
auto inspect(Inspector& f, acknowledge& x) {
  return f(x.id, x.items);
}

/// `late`: items whose lease had ended; they count as done unless another member holds the message
/// by now.
struct acknowledged {
  correlation id;
  ec code = ec::ok;
  std::uint32_t accepted = 0;
  std::uint32_t late = 0;
};
template <class Inspector>
auto inspect(Inspector& f, acknowledged& x) {
  return f(x.id, x.code, x.accepted, x.late);
}

// -- looking at groups, and setting them back -----------------------------------

/// connection, consumer_group -> queue: the offset that a start point means there. Answer:
/// `offset_found`.
struct find_offset {
  correlation id;
  queue_key queue;
  start_point point;
};
template <class Inspector>
auto inspect(Inspector& f, find_offset& x) {
  return f(x.id, x.queue, x.point);
}

struct offset_found {
  correlation id;
  queue_key queue;
  ec code = ec::ok;
  queue_offset offset;
  queue_offset first; ///< oldest that the queue still has
  queue_offset end;
};
template <class Inspector>
auto inspect(Inspector& f, offset_found& x) {
  return f(x.id, x.queue, x.code, x.offset, x.first, x.end);
}

/// connection -> consumer_group: the group goes on from `point` on the topic, or on one queue of
/// it, also while members read. Leases there end; attempts are forgotten. Answer: `progress_reset`
/// when it is durable.
struct reset_progress {
  correlation id;
  topic_id topic;
  std::uint32_t queues = 0; ///< of the topic
  bool one_queue = false;
  queue_no queue; ///< if `one_queue`
  start_point point;
};
template <class Inspector>
auto inspect(Inspector& f, reset_progress& x) {
  return f(x.id, x.topic, x.queues, x.one_queue, x.queue, x.point);
}

struct queue_place {
  queue_key queue;
  queue_offset offset;
  friend bool operator==(const queue_place&, const queue_place&) = default;
};
template <class Inspector>
auto inspect(Inspector& f, queue_place& x) {
  return f(x.queue, x.offset);
}

struct progress_reset {
  correlation id;
  ec code = ec::ok;
  std::vector<queue_place> places;
};
template <class Inspector>
auto inspect(Inspector& f, progress_reset& x) {
  return f(x.id, x.code, x.places);
}

/// connection -> consumer_group. Answer: `group_described`, from state, at once.
struct describe_group {
  correlation id;
};
template <class Inspector>
auto inspect(Inspector& f, describe_group& x) {
  return f(x.id);
}

struct member_description {
  std::string name;
  std::uint32_t held = 0;        ///< messages that it holds
  std::uint32_t queues_held = 0; ///< ordered mode
};
template <class Inspector>
auto inspect(Inspector& f, member_description& x) {
  return f(x.name, x.held, x.queues_held);
}

struct progress_description {
  queue_key queue;
  queue_offset base;               ///< everything below is done
  queue_offset end;                ///< of the queue, as far as the group knows
  std::uint32_t in_flight = 0;     ///< held by members
  std::uint32_t waiting_again = 0; ///< failed, waits for its back-off
  bool paused = false;             ///< too much is outstanding above the base
};
template <class Inspector>
auto inspect(Inspector& f, progress_description& x) {
  return f(x.queue, x.base, x.end, x.in_flight, x.waiting_again, x.paused);
}

struct group_described {
  correlation id;
  ec code = ec::ok;
  group_id group;
  std::vector<member_description> members;
  std::vector<progress_description> queues; ///< by queue
  std::vector<std::pair<topic_id, subscription_terms>> terms;
  std::uint64_t dead_letters = 0; ///< since the actor's start
};
template <class Inspector>
auto inspect(Inspector& f, group_described& x) {
  return f(x.id, x.code, x.group, x.members, x.queues, x.terms, x.dead_letters);
}

} // namespace handfast
