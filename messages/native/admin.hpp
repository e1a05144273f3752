#pragma once

/// Frames of administration: topics, groups, status, quarantine.

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/log_record.hpp"
#include "messages/native/frames.hpp"
#include "messages/status.hpp"
#include "messages/topics.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace handfast::native {

/// Answer: `topics` with the one made.
struct topic_create {
  static constexpr frame_kind kind = frame_kind::topic_create;
  correlation id;
  std::string name;
  std::uint32_t queues = 0; ///< 0 = the default
  attributes options;
  friend bool operator==(const topic_create&, const topic_create&) = default;
};

/// Answer: `topics` with one item.
struct topic_show {
  static constexpr frame_kind kind = frame_kind::topic_show;
  correlation id;
  std::string name;
  friend bool operator==(const topic_show&, const topic_show&) = default;
};

/// Answer: `done`. `force` rolls pending messages back and cancels delayed ones instead of
/// refusing.
struct topic_delete {
  static constexpr frame_kind kind = frame_kind::topic_delete;
  correlation id;
  std::string name;
  bool force = false;
  friend bool operator==(const topic_delete&, const topic_delete&) = default;
};

/// `after` is the last name of the page before. Answer: `topics`.
struct topic_list {
  static constexpr frame_kind kind = frame_kind::topic_list;
  correlation id;
  std::string after;
  std::uint32_t items_max = 100;
  friend bool operator==(const topic_list&, const topic_list&) = default;
};

/// Answer: `groups`.
struct group_list {
  static constexpr frame_kind kind = frame_kind::group_list;
  correlation id;
  std::string after;
  std::uint32_t items_max = 100;
  friend bool operator==(const group_list&, const group_list&) = default;
};

/// Answer: `status_report`.
struct status {
  static constexpr frame_kind kind = frame_kind::status;
  correlation id;
  friend bool operator==(const status&, const status&) = default;
};

/// Answer: `quarantine_page`.
struct quarantine_list {
  static constexpr frame_kind kind = frame_kind::quarantine_list;
  correlation id;
  std::uint32_t items_max = 100;
  friend bool operator==(const quarantine_list&, const quarantine_list&) = default;
};

/// Offsets that one queue has: from `first` up to before `end`.
struct queue_extent {
  queue_no queue;
  queue_offset first;
  queue_offset end;
  friend bool operator==(const queue_extent&, const queue_extent&) = default;
};

struct topic_item {
  topic_info info;
  std::vector<queue_extent> queues; ///< may be empty in listings
};

struct topics {
  static constexpr frame_kind kind = frame_kind::topics;
  correlation id;
  bool more = false;
  std::vector<topic_item> items;
};

/// How far a group has come in one queue.
struct group_queue {
  std::string topic;
  queue_no queue;
  queue_offset done; ///< everything below is done
  queue_offset end;
  std::uint32_t leased = 0;
  friend bool operator==(const group_queue&, const group_queue&) = default;
};

struct group_item {
  group_id group;
  std::string name;
  std::uint32_t producers = 0; ///< members online
  std::uint32_t consumers = 0;
  std::vector<group_queue> progress;
  friend bool operator==(const group_item&, const group_item&) = default;
};

struct groups {
  static constexpr frame_kind kind = frame_kind::groups;
  correlation id;
  bool more = false;
  std::vector<group_item> items;
  friend bool operator==(const groups&, const groups&) = default;
};

/// For people and scripts; the members of the object are described in docs/protocol.md.
struct status_report {
  static constexpr frame_kind kind = frame_kind::status_report;
  correlation id;
  std::string json;
  friend bool operator==(const status_report&, const status_report&) = default;
};

struct quarantine_page {
  static constexpr frame_kind kind = frame_kind::quarantine_page;
  correlation id;
  std::vector<quarantined_item> items;
};

} // namespace handfast::native
