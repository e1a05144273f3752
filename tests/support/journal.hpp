#pragma once

/// What clients saw and said, in the order in which they saw and said it: the only witness against
/// the broker. Written by the simulation into memory, by programs against a real node into a file;
/// read by the checker (`checker.hpp`).
///
/// Rule for writers: an event of saying (`..._sent`, `check_answered`) is written before the bytes
/// leave, an event of hearing right after they came, and everything that several clients of one
/// journal do stands in one order.

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/log_record.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace handfast::proof {

enum class event_kind : std::uint8_t {
  subscribed,        ///< `group` takes every message of `topic`, from the first one
  half_sent,         ///< `key`, `topic`, `body`; `tx` when it joins; `when` = its delay
  half_answered,     ///< `key`, `code`; `tx` when ok
  decision_sent,     ///< `tx`, `wanted`
  decision_answered, ///< `tx`, `wanted`, `code`, `recorded`
  check_asked,       ///< `tx`, `key` of its first message
  check_answered,    ///< `tx`, `wanted`; pending = unknown or in progress
  query_sent,        ///< `tx`
  query_answered, ///< `tx`, `code`, `recorded` (pending while undecided), `since`; `other` = what
                  ///< it was opened again as
  reopen_sent,    ///< `tx`
  reopened,       ///< `tx`, `other` = the new transaction, `code`
  plain_sent,     ///< `key`, `topic`, `body`; `when` = its delay
  plain_answered, ///< `key`, `code`; when ok place, or `when` it is to become visible
  /// `group`, place, `key`, `body`, `tx` if it came from one, `since`; `when` it became visible
  delivered,
  ack_sent,        ///< `group`, place
  ack_answered,    ///< `group`, place, `code`: ok only when it certainly counts
  listed,          ///< place, `key`, `body`: an entry of the queue's index, read at the end
  progress,        ///< `group`, `topic`, `queue`, `offset` = everything below is done, `since`
  calm,            ///< from here on: no faults, and members of every producer group are there
  trouble,         ///< calm no longer
  cancel_sent,     ///< `key` of a message that waits for its time
  cancel_answered, ///< `key`, `code`
  rejected,        ///< `group`, place: a consumer said that it failed
  dead_letter,     ///< `group`, the place where it died, `key`, `body`; `attempts` as the node
                   ///< counted; `text` = its place among the dead
  drained, ///< everything that had to come has had time to come; `listed` events are complete
  note,    ///< `text` for people: power cuts, kills
};

/// The name in the text form; stable, since journals are kept.
std::string_view name_of(event_kind kind);

/// One event. Which fields count is said at its kind; the others keep their initial values.
struct event {
  event_kind kind = event_kind::note;
  std::uint64_t at_ms = 0; ///< monotonic time of the writer
  std::string who{};       ///< the client
  std::string key{};       ///< names one message for ever; chosen by the client
  transaction_id tx{};
  transaction_id other{};
  outcome wanted = outcome::pending;
  outcome recorded = outcome::pending;
  ec code = ec::ok;
  std::string group{};
  std::string topic{};
  std::uint32_t queue = 0;
  std::uint64_t offset = 0;
  std::uint64_t body = 0; ///< `body_hash` of the body's bytes
  /// The number of events that the journal had when the node cannot yet have said this: when the
  /// question was asked, or (better, where it is known) when the bytes left the node.
  std::uint64_t since = 0;
  std::uint64_t when = 0;     ///< on the clock of `at_ms`, or a span
  std::uint32_t attempts = 0; ///< deliveries that failed
  std::string text{};

  friend bool operator==(const event&, const event&) = default;
};

/// FNV-1a.
std::uint64_t body_hash(std::string_view bytes);

/// One line, without the line's end. Every event can be read back from it.
std::string line_of(const event& e);
/// The event of one line; `ec::bad_request` with the trouble.
result<event> event_of(std::string_view line);

/// The events of one run. Not thread-safe: writers with several threads lock around `add`.
class journal {
public:
  using sink = std::function<void(const event&)>;

  journal() = default;
  /// Each event goes to `to` as well, before `add` returns.
  explicit journal(sink to) : sink_{std::move(to)} {}

  /// Returns the number of the event.
  std::uint64_t add(event e);
  [[nodiscard]] const std::vector<event>& events() const { return events_; }
  [[nodiscard]] std::uint64_t size() const { return events_.size(); }
  /// Of all events in order: equal for two runs of one seed.
  [[nodiscard]] std::uint64_t hash() const;
  /// One event a line.
  [[nodiscard]] std::string text() const;
  /// An unfinished last line, as a killed writer leaves it, is dropped; any other bad line is an
  /// error naming its number.
  static result<journal> parse(std::string_view text);

private:
  std::vector<event> events_;
  sink sink_;
};

} // namespace handfast::proof
