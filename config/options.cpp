#include "config/options.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace handfast::config {

namespace {

using namespace std::chrono_literals;
using kind = option_kind;

constexpr std::uint64_t ms(milliseconds value) {
  return static_cast<std::uint64_t>(value.count());
}

constexpr std::uint64_t kib = limits::kib;
constexpr std::uint64_t mib = limits::mib;
constexpr std::uint64_t gib = 1024 * mib;
constexpr std::uint64_t tib = 1024 * gib;
/// Stored as 32 bits of milliseconds in records, so at most 49 days.
constexpr std::uint64_t month = ms(24h * 30);
constexpr std::uint64_t year = ms(24h * 365);

constexpr std::array<std::string_view, 4> give_up_choices{"rollback", "commit", "keep", "park"};
constexpr std::array<std::string_view, 7> level_choices{"trace", "debug",    "info", "warn",
                                                        "error", "critical", "off"};
constexpr std::array<std::string_view, 2> format_choices{"text", "json"};
static_assert(level_choices.size() == static_cast<std::size_t>(log_level::off) + 1);
static_assert(give_up_choices.size() == static_cast<std::size_t>(give_up_action::park) + 1);
static_assert(format_choices.size() == static_cast<std::size_t>(log_format::json) + 1);

constexpr bool live = true;
constexpr bool fixed = false;

option row(std::string_view key, kind k, option_member member, option_bounds bounds,
           bool at_run_time, std::string_view help, std::string_view unit = {}) {
  return {key, k, member, bounds, unit, {}, at_run_time, help};
}

option choice(std::string_view key, option_member member, std::span<const std::string_view> choices,
              bool at_run_time, std::string_view help) {
  return {key, kind::choice, member, {}, {}, choices, at_run_time, help};
}

// Each accessor returns a reference to one member; its type selects the alternative of
// `option_member`.
// clang-format off
std::vector<option> store_rows() {
  return {
      row("store.dir", kind::path, [](settings& s) -> auto& { return s.store.dir; }, {1}, fixed,
          "Data folder; made if missing. One node at a time may use it."),
      row("store.segment_size", kind::size, [](settings& s) -> auto& { return s.store.segment_size; }, {mib, 4 * gib}, fixed,
          "Size of one file of the log. It must hold the largest message."),
      row("store.checkpoint_bytes", kind::size, [](settings& s) -> auto& { return s.store.checkpoint_bytes; }, {64 * kib, tib}, fixed,
          "A checkpoint is due after this much log; it bounds the time of a recovery."),
      row("store.ignore_checkpoint", kind::boolean, [](settings& s) -> auto& { return s.store.ignore_checkpoint; }, {}, fixed,
          "For tests: replay the whole log at start."),
      row("store.accept_corruption", kind::boolean, [](settings& s) -> auto& { return s.store.accept_corruption; }, {}, fixed,
          "Start although records below the durable mark are damaged. What they said is lost; the log names their positions."),
  };
}

std::vector<option> door_rows() {
  return {
      row("listen.native", kind::address, [](settings& s) -> auto& { return s.listen.native; }, {}, fixed,
          "Where clients of the library connect. Empty turns the door off; port 0 lets the system choose."),
      row("listen.http", kind::address, [](settings& s) -> auto& { return s.listen.http; }, {}, fixed,
          "Where /metrics, /readyz and /livez are served. Empty turns the door off."),
      row("insecure", kind::boolean, [](settings& s) -> auto& { return s.insecure; }, {}, fixed,
          "Allow doors that other machines can reach without TLS."),
  };
}

std::vector<option> transaction_rows() {
  return {
      row("transaction.timeout", kind::duration, [](settings& s) -> auto& { return s.transaction.checks.timeout; }, {1, month}, live,
          "Age of an undecided transaction at its first check. A message may set its own with CHECK_IMMUNITY_TIME_IN_SECONDS."),
      row("transaction.check_interval", kind::duration, [](settings& s) -> auto& { return s.transaction.checks.check_interval; }, {1, month}, live,
          "Wait between further checks of one transaction."),
      row("transaction.check_backoff", kind::number, [](settings& s) -> auto& { return s.transaction.checks.check_backoff; }, {1, 100}, live,
          "Each wait is the one before times this factor; no wait exceeds 30d."),
      row("transaction.check_max", kind::integer, [](settings& s) -> auto& { return s.transaction.checks.check_max; }, {1, 1'000'000}, live,
          "Checks before giving up. Only those count in which a producer was really asked.", "checks"),
      row("transaction.check_total_age", kind::duration, [](settings& s) -> auto& { return s.transaction.checks.check_total_age; }, {0, year}, live,
          "Age at which an undecided transaction is given up also without checks. 0 = none."),
      choice("transaction.give_up", [](settings& s) -> auto& { return s.transaction.give_up; }, give_up_choices, live,
          "What becomes of a transaction when its checks are exhausted: rollback = given up, not delivered, and can be opened again; commit = "
          "delivered; keep = stays undecided and is asked on; park = stays undecided and is asked no more."),
      row("transaction.remember", kind::duration, [](settings& s) -> auto& { return s.transaction.remember; }, {ms(1s), year}, live,
          "How long at least the outcome of a decided transaction can be asked for."),
      row("transaction.pending_max", kind::integer, [](settings& s) -> auto& { return s.transaction.pending_max; }, {1, 100'000'000}, live,
          "Pending transactions; more are refused with `too_many_pending`.", "transactions"),
      row("transaction.pending_bytes", kind::size, [](settings& s) -> auto& { return s.transaction.pending_bytes; }, {mib, 1024 * tib}, live,
          "Bytes of the bodies that pending transactions hold; more are refused with `too_many_pending`."),
      row("transaction.messages_max", kind::integer, [](settings& s) -> auto& { return s.transaction.messages_max; }, {1, 10'000}, live,
          "Messages of one transaction.", "messages"),
      row("transaction.outcomes_in_memory", kind::integer, [](settings& s) -> auto& { return s.transaction.outcomes_in_memory; }, {1, 100'000'000}, fixed,
          "Newest outcomes answered from memory; older ones are read from disk.", "outcomes"),
      row("transaction.checks_per_second", kind::integer, [](settings& s) -> auto& { return s.transaction.checks_per_second; }, {1, 1'000'000}, live,
          "Checks are paced to this rate, so that a backlog does not flood the producers.", "checks"),
      row("delay.max", kind::integer, [](settings& s) -> auto& { return s.delay.max; }, {1, 100'000'000}, live,
          "Messages that wait for their time, about 60 bytes of memory each; more are refused with `too_many_delayed`. Those that "
          "pending transactions may still commit are not counted, and never refused then.", "messages"),
      row("producer.session_timeout", kind::duration, [](settings& s) -> auto& { return s.producer.session_timeout; }, {0, ms(1h)}, live,
          "After a producer with a running local transaction disconnects, others of its group are not asked about it for this long."),
  };
}

std::vector<option> topic_rows() {
  return {
      row("topic.auto_create", kind::boolean, [](settings& s) -> auto& { return s.topic.auto_create; }, {}, live,
          "Create a topic when the first message names it."),
      row("topic.default_queues", kind::integer, [](settings& s) -> auto& { return s.topic.default_queues; }, {1, limits::queues_max}, live,
          "Queues of a topic created without a number.", "queues"),
      row("topic.max", kind::integer, [](settings& s) -> auto& { return s.topic.max; }, {0, 1'000'000}, live,
          "Topics in all at which automatic creation stops.", "topics"),
      row("topic.queues_max", kind::integer, [](settings& s) -> auto& { return s.topic.queues_max; }, {1, 10'000'000}, live,
          "Queues of all topics together, also of those made by hand. A topic with more is refused with `too_many_queues`; each queue costs memory.", "queues"),
      row("consumer.lease", kind::duration, [](settings& s) -> auto& { return s.consumer.lease; }, {ms(10ms), ms(12h)}, live,
          "A message that was delivered but not acknowledged is delivered again after this long."),
      row("consumer.delivery_max", kind::integer, [](settings& s) -> auto& { return s.consumer.delivery_max; }, {1, 65'535}, live,
          "Failed deliveries of one message to one group before it goes to the group's dead-letter topic. A group may have its own.", "deliveries"),
      row("consumer.retry_backoff_min", kind::duration, [](settings& s) -> auto& { return s.consumer.retry_backoff_min; }, {0, ms(24h)}, live,
          "Shortest wait before a failed message is delivered again. Waits grow like RocketMQ's: 10s, 30s, 1m, 2m and so on up to 2h."),
      row("consumer.retry_backoff_max", kind::duration, [](settings& s) -> auto& { return s.consumer.retry_backoff_max; }, {0, month}, live,
          "Longest wait before a failed message is delivered again."),
  };
}

std::vector<option> node_rows() {
  return {
      row("limits.body", kind::size, [](settings& s) -> auto& { return s.limits.body; }, {kib, 16 * mib}, fixed,
          "Body of one message."),
      row("limits.frame", kind::size, [](settings& s) -> auto& { return s.limits.frame; }, {64 * kib, limits::connection_bytes_in_flight}, fixed,
          "One frame of the native protocol. It must hold the largest message."),
      row("limits.connections", kind::integer, [](settings& s) -> auto& { return s.limits.connections; }, {1, 1'000'000}, fixed,
          "Client connections; more wait to be accepted.", "connections"),
      row("limits.credit", kind::integer, [](settings& s) -> auto& { return s.limits.credit; }, {1, limits::producer_window}, fixed,
          "Requests that one connection may have in flight.", "requests"),
      row("supervision.restarts", kind::integer, [](settings& s) -> auto& { return s.supervision.restarts; }, {0, 1'000}, fixed,
          "Restarts of one actor within `supervision.window`; one more stops the shard or quarantines the actor.", "restarts"),
      row("supervision.window", kind::duration, [](settings& s) -> auto& { return s.supervision.window; }, {ms(1s), ms(1h)}, fixed,
          "The time in which restarts are counted."),
      row("shutdown.timeout", kind::duration, [](settings& s) -> auto& { return s.shutdown.timeout; }, {ms(100ms), ms(10min)}, fixed,
          "An ordered stop takes at most this long."),
      choice("log.level", [](settings& s) -> auto& { return s.log.level; }, level_choices, live,
          "The least important lines that are logged."),
      choice("log.format", [](settings& s) -> auto& { return s.log.format; }, format_choices, fixed,
          "Lines for people, or one JSON object a line."),
      row("log.file", kind::path, [](settings& s) -> auto& { return s.log.file; }, {}, fixed,
          "Where the log goes; opened again at SIGHUP. Empty = standard error."),
  };
}
// clang-format on

std::vector<option> all_rows() {
  std::vector<option> rows;
  for (auto part : {store_rows, door_rows, transaction_rows, topic_rows, node_rows}) {
    auto more = part();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> last(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = last[0];
    last[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = last[j];
      last[j] = std::min({replaced, last[j] + 1, last[j - 1] + 1});
    }
  }
  return last[b.size()];
}

/// A key without its section counts as one slip.
std::size_t distance_to(std::string_view wrong, std::string_view key) {
  auto whole = edit_distance(wrong, key);
  auto dot = key.find('.');
  if (dot == std::string_view::npos || wrong.find('.') != std::string_view::npos)
    return whole;
  return std::min(whole, edit_distance(wrong, key.substr(dot + 1)) + 1);
}

} // namespace

std::string_view name_of(option_kind k) {
  switch (k) {
  case kind::duration:
    return "duration";
  case kind::size:
    return "size";
  case kind::integer:
    return "whole number";
  case kind::number:
    return "number";
  case kind::boolean:
    return "boolean";
  case kind::address:
    return "address";
  case kind::choice:
    return "choice";
  case kind::path:
    return "path";
  }
  return "invalid";
}

std::span<const option> options() {
  static const std::vector<option> rows = all_rows();
  return rows;
}

const option* find_option(std::string_view key) {
  auto rows = options();
  auto at = std::find_if(rows.begin(), rows.end(), [&](const option& o) { return o.key == key; });
  return at == rows.end() ? nullptr : &*at;
}

std::string_view nearest_key(std::string_view key) {
  // Also bounds the work on hostile input.
  auto shortened = key.substr(0, 128);
  auto rows = options();
  auto at = std::min_element(rows.begin(), rows.end(), [&](const option& a, const option& b) {
    return distance_to(shortened, a.key) < distance_to(shortened, b.key);
  });
  return at->key;
}

} // namespace handfast::config
