#pragma once

/// Frames about one consumer group: looking at it, its limit, setting it back, deleting it.

#include "messages/delivery.hpp"
#include "messages/ids.hpp"
#include "messages/native/frames.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace handfast::native {

/// Answer: `group_description`.
struct group_show {
  static constexpr frame_kind kind = frame_kind::group_show;
  correlation id;
  std::string name;
  friend bool operator==(const group_show&, const group_show&) = default;
};

/// Makes the group, or changes what it has. Answer: `done`.
struct group_set {
  static constexpr frame_kind kind = frame_kind::group_set;
  correlation id;
  std::string name;
  std::uint16_t delivery_max = 0; ///< failed deliveries before the dead-letter topic; 0 = default
  friend bool operator==(const group_set&, const group_set&) = default;
};

/// Refused while members are connected. Answer: `done`.
struct group_delete {
  static constexpr frame_kind kind = frame_kind::group_delete;
  correlation id;
  std::string name;
  friend bool operator==(const group_delete&, const group_delete&) = default;
};

/// The group goes on from `point` on the topic, or on one queue of it, also while members read.
/// Answer: `offsets`, when that is durable.
struct reset_progress {
  static constexpr frame_kind kind = frame_kind::reset_progress;
  correlation id;
  std::string group;
  topic_id topic;
  bool one_queue = false;
  queue_no queue; ///< if `one_queue`
  start_point point;
  friend bool operator==(const reset_progress&, const reset_progress&) = default;
};

struct group_member {
  std::string name;
  std::uint32_t held = 0;        ///< messages that it holds
  std::uint32_t queues_held = 0; ///< in ordered mode
  friend bool operator==(const group_member&, const group_member&) = default;
};

struct group_place {
  std::string topic;
  queue_no queue;
  queue_offset base; ///< everything below is done
  queue_offset end;
  std::uint32_t in_flight = 0;
  std::uint32_t waiting_again = 0; ///< failed; comes again later
  bool paused = false;             ///< too much is outstanding above the base
  friend bool operator==(const group_place&, const group_place&) = default;
};

struct group_terms {
  std::string topic;
  subscription_terms terms;
  friend bool operator==(const group_terms&, const group_terms&) = default;
};

struct group_description {
  static constexpr frame_kind kind = frame_kind::group_description;
  correlation id;
  group_id group;
  std::string name;
  std::uint64_t dead_letters = 0; ///< since the node's start
  std::vector<group_member> members;
  std::vector<group_place> places; ///< by topic and queue
  std::vector<group_terms> terms;
  friend bool operator==(const group_description&, const group_description&) = default;
};

} // namespace handfast::native
