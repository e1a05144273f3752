#pragma once

/// What actors say to each other about storing and deciding messages. Topics and groups are in
/// `topics.hpp`, delivery is in `delivery.hpp`, delays are in `delays.hpp`, and what an actor says
/// of itself is in `status.hpp`.
///
/// In all of them requests are imperative, answers past participles. No handle stands in here: who
/// asked is the sender of the message, and `correlation` ties the answer to the request. All of
/// these may cross hosts, so all have an `inspect`.

#include "messages/bytes.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/log_record.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace handfast {

// -- storing messages --------------------------------------------------------

/// One message to store. `message.offset` is stamped by `commit_log`; `queue` must be chosen and
/// lie inside the topic.
struct store_request {
  correlation id;
  message_record message;
};
template <class Inspector>
auto inspect(Inspector& f, store_request& x) {
  return f(x.id, x.message);
}

/// connection -> commit_log: plain messages of one read. Answer: `messages_stored`.
struct append_messages {
  std::vector<store_request> requests;
};
template <class Inspector>
auto inspect(Inspector& f, append_messages& x) {
  return f(x.requests);
}

/// Where a message stands, or why it was not stored. `at` of a repeated send is that of the first.
struct message_stored {
  correlation id;
  ec code = ec::ok;
  position at;
  queue_key queue;
  queue_offset offset;
  wall_ms due_ms = 0; ///< when it becomes visible, and gets its offset; 0 = it has one
};
template <class Inspector>
auto inspect(Inspector& f, message_stored& x) {
  return f(x.id, x.code, x.at, x.queue, x.offset, x.due_ms);
}

struct messages_stored {
  std::vector<message_stored> results;
  std::string detail{}; ///< about those that were refused, when there is more to say than the code
};
template <class Inspector>
auto inspect(Inspector& f, messages_stored& x) {
  return f(x.results, x.detail);
}

/// connection -> half_store: halves of one read. `message.transaction` = 0 opens a transaction,
/// else joins one; for a joining half `joined` is the whole id as the client gave it. Answer:
/// `halves_stored`.
struct half_request {
  correlation id;
  transaction_id joined;
  message_record message;
};
template <class Inspector>
auto inspect(Inspector& f, half_request& x) {
  return f(x.id, x.joined, x.message);
}

struct append_halves {
  std::vector<half_request> requests;
};
template <class Inspector>
auto inspect(Inspector& f, append_halves& x) {
  return f(x.requests);
}

/// `transaction` is the id to decide with; for a joining half that of the transaction it joined.
struct half_stored {
  correlation id;
  ec code = ec::ok;
  transaction_id transaction;
  queue_offset half_offset;
  queue_no queue;
};
template <class Inspector>
auto inspect(Inspector& f, half_stored& x) {
  return f(x.id, x.code, x.transaction, x.half_offset, x.queue);
}

struct halves_stored {
  std::vector<half_stored> results;
  std::string detail{}; ///< as in `messages_stored`
};
template <class Inspector>
auto inspect(Inspector& f, halves_stored& x) {
  return f(x.results, x.detail);
}

// -- deciding ----------------------------------------------------------------

/// One decision asked for. `wanted` = pending means "unknown": nothing changes, the check goes on.
struct decide_request {
  correlation id;
  transaction_id transaction;
  outcome wanted = outcome::pending;
  origin by = origin::producer;
  group_id group;             ///< of the asking producer; ignored for `admin` and `policy`
  std::uint16_t messages = 0; ///< how many the producer sent; 0 = not stated
  bool in_progress =
      false; ///< answer to a check: the local transaction still runs, the attempt does not count
  std::uint16_t attempt = 0; ///< of the check that this answers; 0 = not known
};
template <class Inspector>
auto inspect(Inspector& f, decide_request& x) {
  return f(x.id, x.transaction, x.wanted, x.by, x.group, x.messages, x.in_progress, x.attempt);
}

/// connection, check_listener -> half_store. Answer: `decided`.
struct decide {
  std::vector<decide_request> requests;
};
template <class Inspector>
auto inspect(Inspector& f, decide& x) {
  return f(x.requests);
}

/// The recorded outcome, said only after its record is durable. `code` is ok when it is what was
/// asked for.
struct decision_result {
  correlation id;
  ec code = ec::ok;
  transaction_id transaction;
  outcome recorded = outcome::pending;
  origin by = origin::producer;
  std::uint16_t messages = 0;
  queue_key queue;     ///< of the first message, when committed
  queue_offset offset; ///< of the first message, when committed
  wall_ms due_ms = 0;  ///< when the first becomes visible, and gets its offset; 0 = it has one
};
template <class Inspector>
auto inspect(Inspector& f, decision_result& x) {
  return f(x.id, x.code, x.transaction, x.recorded, x.by, x.messages, x.queue, x.offset, x.due_ms);
}

struct decided {
  std::vector<decision_result> results;
};
template <class Inspector>
auto inspect(Inspector& f, decided& x) {
  return f(x.results);
}

/// half_store -> op_store: pending transactions to decide; half_store has marked them *deciding*.
/// op_store appends one DECIDE for all that are not decided yet. The answer is the durable record
/// itself; what was decided before comes as `decided`.
struct record_decisions {
  std::vector<decision> decisions;
  /// Where the bodies are, `messages` of them for each decision, in order; offsets not stamped yet,
  /// and `due_ms` a delay.
  std::vector<index_entry> entries;
  position applied; ///< everything decided below is known to the sender
};
template <class Inspector>
auto inspect(Inspector& f, record_decisions& x) {
  return f(x.decisions, x.entries, x.applied);
}

// -- checks ------------------------------------------------------------------

/// A producer is to be asked about one transaction.
struct check_order {
  transaction_id transaction;
  group_id group;
  topic_id topic;
  queue_no queue;
  producer_id original;       ///< who sent the half, asked first if connected
  bool only_original = false; ///< its local transaction may still run: nobody else is asked yet
  std::uint16_t attempt = 0;
  std::uint16_t attempts_max = 0;
  std::uint16_t messages = 1;
  wall_ms stored_ms = 0;
  position body_at; ///< of the first message
  std::uint32_t body_length = 0;
};
template <class Inspector>
auto inspect(Inspector& f, check_order& x) {
  return f(x.transaction, x.group, x.topic, x.queue, x.original, x.only_original, x.attempt,
           x.attempts_max, x.messages, x.stored_ms, x.body_at, x.body_length);
}

/// half_store -> producer_group, producer_group -> connection.
struct ask_producers {
  std::vector<check_order> orders;
};
template <class Inspector>
auto inspect(Inspector& f, ask_producers& x) {
  return f(x.orders);
}

/// What became of one ask. Only `handed_over` counts as an attempt.
struct check_result {
  transaction_id transaction;
  bool handed_over = false;
  producer_id member;
  std::string member_name;
  bool original_connected = false; ///< said by producer_group about what was not handed over
  std::uint16_t attempt = 0; ///< said by producer_group about what was handed over; 0 = not known
};
template <class Inspector>
auto inspect(Inspector& f, check_result& x) {
  return f(x.transaction, x.handed_over, x.member, x.member_name, x.original_connected, x.attempt);
}

/// connection -> producer_group, producer_group -> half_store.
struct checks_handled {
  std::vector<check_result> results;
};
template <class Inspector>
auto inspect(Inspector& f, checks_handled& x) {
  return f(x.results);
}

/// half_store <-> check_scheduler: `due_in_ms` from now on the monotonic clock.
struct deadline {
  position transaction;
  std::uint32_t due_in_ms = 0;
};
template <class Inspector>
auto inspect(Inspector& f, deadline& x) {
  return f(x.transaction, x.due_in_ms);
}

struct arm_deadlines {
  std::vector<deadline> deadlines;
};
template <class Inspector>
auto inspect(Inspector& f, arm_deadlines& x) {
  return f(x.deadlines);
}

struct deadlines_due {
  std::vector<position> transactions;
};
template <class Inspector>
auto inspect(Inspector& f, deadlines_due& x) {
  return f(x.transactions);
}

// -- looking at transactions -------------------------------------------------

/// Life stage of a transaction, for people.
enum class transaction_state : std::uint8_t {
  pending = 0,
  deciding = 1,
  committed = 2,
  rolled_back = 3,
  given_up = 4,
  parked = 5,
  quarantined = 6,
};
std::string_view name_of(transaction_state s);

/// One time that a producer was asked.
struct ask_made {
  wall_ms at_ms = 0;
  std::uint16_t attempt = 0;
  std::uint32_t member = 0; ///< hash of the member's name
  std::string member_name;  ///< empty after a restart, which only keeps the hash
  std::string answer;       ///< "committed", "rolled_back", "unknown", "in_progress", or empty
};
template <class Inspector>
auto inspect(Inspector& f, ask_made& x) {
  return f(x.at_ms, x.attempt, x.member, x.member_name, x.answer);
}

/// The life of one transaction as far as it is known.
struct transaction_life {
  transaction_id id;
  transaction_state state = transaction_state::pending;
  group_id group;
  /// Once committed, offsets or moments are set; before, `due_ms` is a delay.
  std::vector<index_entry> messages;
  /// It may have more messages than `messages` says: no record names those of a rollback.
  bool messages_partial = false;
  producer_id producer;
  wall_ms stored_ms = 0;
  std::uint64_t age_ms = 0;
  std::uint64_t next_check_in_ms = 0;
  std::uint32_t timeout_ms = 0; ///< effective values
  std::uint32_t check_interval_ms = 0;
  std::uint32_t attempts = 0;
  std::uint32_t attempts_max = 0;
  bool attempts_unknown = false;     ///< `attempts` and `asks` are no longer kept
  bool waiting_for_producer = false; ///< nobody of the group is online
  std::vector<ask_made> asks;
  origin decided_by = origin::producer;
  wall_ms decided_ms = 0;
  transaction_id reopened_as;
  transaction_id reopened_from;
  std::string note; ///< why it is quarantined
};
template <class Inspector>
auto inspect(Inspector& f, transaction_life& x) {
  return f(x.id, x.state, x.group, x.messages, x.messages_partial, x.producer, x.stored_ms,
           x.age_ms, x.next_check_in_ms, x.timeout_ms, x.check_interval_ms, x.attempts,
           x.attempts_max, x.attempts_unknown, x.waiting_for_producer, x.asks, x.decided_by,
           x.decided_ms, x.reopened_as, x.reopened_from, x.note);
}

/// connection -> half_store (asks op_store for what it does not hold). Answer: `transaction_found`.
struct find_transaction {
  correlation id;
  transaction_id transaction;
};
template <class Inspector>
auto inspect(Inspector& f, find_transaction& x) {
  return f(x.id, x.transaction);
}

struct transaction_found {
  correlation id;
  ec code = ec::ok;
  transaction_life life;
};
template <class Inspector>
auto inspect(Inspector& f, transaction_found& x) {
  return f(x.id, x.code, x.life);
}

/// connection -> half_store: pending ones (parked and quarantined included), or -> op_store:
/// decided ones, newest first. `after` is the last id of the page before; 0 starts.
struct list_transactions {
  correlation id;
  bool any_state = true;
  transaction_state state = transaction_state::pending; ///< the one wanted, unless `any_state`
  group_id group;                                       ///< 0 = any
  topic_id topic;                                       ///< 0 = any
  position after;
  std::uint32_t max = 100;
};
template <class Inspector>
auto inspect(Inspector& f, list_transactions& x) {
  return f(x.id, x.any_state, x.state, x.group, x.topic, x.after, x.max);
}

struct transactions_listed {
  correlation id;
  std::vector<transaction_life> page;
  bool more = false;
  ec code = ec::ok; ///< recovering: the owner is being restarted
};
template <class Inspector>
auto inspect(Inspector& f, transactions_listed& x) {
  return f(x.id, x.page, x.more, x.code);
}

/// connection -> half_store: open a given-up transaction again. Answer: `transaction_reopened` once
/// durable.
struct reopen_transaction {
  correlation id;
  transaction_id transaction;
};
template <class Inspector>
auto inspect(Inspector& f, reopen_transaction& x) {
  return f(x.id, x.transaction);
}

struct transaction_reopened {
  correlation id;
  ec code = ec::ok;
  transaction_id reopened_as;
};
template <class Inspector>
auto inspect(Inspector& f, transaction_reopened& x) {
  return f(x.id, x.code, x.reopened_as);
}

} // namespace handfast
