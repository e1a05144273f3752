#pragma once

/// What actors say to each other about messages that become visible later: see `requests.hpp` for
/// the conventions.

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/log_record.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace handfast {

/// One message that waits for its time. `entry.at` names it, `entry.due_ms` says when; its offset
/// is given only then.
struct delayed_message {
  index_entry entry;
  transaction_id transaction; ///< none for a plain message
};
template <class Inspector>
auto inspect(Inspector& f, delayed_message& x) {
  return f(x.entry, x.transaction);
}

/// connection -> delay_scheduler: what waits, by due time and position. `after_*` of the last one
/// of the page before; 0 starts. Answer: `delayed_listed`.
struct list_delayed {
  correlation id;
  topic_id topic; ///< 0 = any
  wall_ms after_due_ms = 0;
  position after_at;
  std::uint32_t max = 100;
};
template <class Inspector>
auto inspect(Inspector& f, list_delayed& x) {
  return f(x.id, x.topic, x.after_due_ms, x.after_at, x.max);
}

struct delayed_listed {
  correlation id;
  ec code = ec::ok;
  std::vector<delayed_message> page;
  bool more = false;
};
template <class Inspector>
auto inspect(Inspector& f, delayed_listed& x) {
  return f(x.id, x.code, x.page, x.more);
}

/// connection -> delay_scheduler: the message at `at` is never to become visible. Answer:
/// `delayed_cancelled` when that is durable; `unknown_message` if it does not wait (any more).
struct cancel_delayed {
  correlation id;
  position at;
};
template <class Inspector>
auto inspect(Inspector& f, cancel_delayed& x) {
  return f(x.id, x.at);
}

/// connection -> delay_scheduler: no message of the topic that waits now is ever to become visible,
/// since the topic is to be deleted. Answer: `delayed_cancelled` when that is durable.
struct drop_delayed {
  correlation id;
  topic_id topic;
};
template <class Inspector>
auto inspect(Inspector& f, drop_delayed& x) {
  return f(x.id, x.topic);
}

struct delayed_cancelled {
  correlation id;
  ec code = ec::ok;
};
template <class Inspector>
auto inspect(Inspector& f, delayed_cancelled& x) {
  return f(x.id, x.code);
}

} // namespace handfast
