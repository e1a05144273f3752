#pragma once

/// Frames about messages that become visible later: what waits, and cancelling it.

#include "messages/ids.hpp"
#include "messages/log_record.hpp"
#include "messages/native/frames.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace handfast::native {

/// What waits, by due time and position. `after_*` of the last one of the page before; 0 starts.
/// Answer: `delayed_page`.
struct list_delayed {
  static constexpr frame_kind kind = frame_kind::list_delayed;
  correlation id;
  std::string topic; ///< empty = any
  wall_ms after_due_ms = 0;
  position after_at;
  std::uint32_t items_max = 100;
  friend bool operator==(const list_delayed&, const list_delayed&) = default;
};

/// Answer: `done` once it is durable; refused as `unknown_message` if it does not wait (any more).
struct cancel_delayed {
  static constexpr frame_kind kind = frame_kind::cancel_delayed;
  correlation id;
  position at;
  friend bool operator==(const cancel_delayed&, const cancel_delayed&) = default;
};

/// `at` names the message.
struct delayed_item {
  position at;
  transaction_id transaction; ///< that committed it; none for a plain message
  wall_ms due_ms = 0;
  std::uint32_t length = 0; ///< of its stored record
  queue_no queue;
  std::string topic;
  friend bool operator==(const delayed_item&, const delayed_item&) = default;
};

struct delayed_page {
  static constexpr frame_kind kind = frame_kind::delayed_page;
  correlation id;
  bool more = false;
  std::vector<delayed_item> items;
  friend bool operator==(const delayed_page&, const delayed_page&) = default;
};

} // namespace handfast::native
