#pragma once

/// What the log says: one struct per record type, the same for a record that was just written, one
/// that is replayed at a start, and one that a restarted actor folds again. The stored form is in
/// `log_schema.capnp`.

#include "messages/bytes.hpp"
#include "messages/ids.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace handfast {

/// Stored in the record header; never renumber.
enum class record_type : std::uint8_t {
  message = 1,      ///< a plain message, visible when durable
  half = 2,         ///< a message that waits for its transaction's decision
  decide = 3,       ///< decisions; each entry sufficient by itself
  checked = 4,      ///< producers that were asked
  release = 5,      ///< stored bodies that become visible later (delay, retry, dead letter)
  reopen = 6,       ///< a given-up transaction starts again as a new one on the same bodies
  move = 7,         ///< a live body copied forward
  progress = 8,     ///< how far consumer groups have come
  meta = 9,         ///< topics and groups
  epoch = 10,       ///< a writer took over: start, or a new leader
  pad = 11,         ///< fills a segment to its end
  mark = 12,        ///< carries nothing but the durable mark of its header
  dead_letter = 13, ///< a message that a group could not handle, for its dead-letter topic
  retire = 14,      ///< the log's beginning moves forward
};

/// Milliseconds since 1970 of this node's wall clock. For people and retention, never for
/// deadlines.
using wall_ms = std::uint64_t;

namespace message_flags {
/// The client library runs a local transaction for this half and answers "in progress" while it
/// does.
constexpr std::uint16_t local_transaction = 1;
/// `order_hash` is set.
constexpr std::uint16_t has_order_key = 2;
/// Answered after the write, before the sync (plain messages of `buffered` topics only).
constexpr std::uint16_t buffered = 4;
} // namespace message_flags

/// MESSAGE and HALF: body and all that was said with it. `commit_log` stamps `offset`: of a HALF
/// its place in the half view, of a MESSAGE in its queue, or when it gets one (`place_or_due.hpp`).
struct message_record {
  topic_id topic;
  group_id group; ///< the producer group; 0 for plain messages of no group
  queue_no queue;
  std::uint16_t flags = 0;
  std::uint32_t sys_flag = 0;   ///< RocketMQ's sysFlag as the client sent it
  std::uint32_t timeout_ms = 0; ///< first check of a half, 0 = the policy's
  std::uint32_t tag_hash = 0;   ///< hash of the TAGS property, 0 without one (see `properties.hpp`)
  std::uint32_t order_hash = 0;
  wall_ms born_ms = 0; ///< the client's clock, kept for clients, never compared
  queue_offset offset;
  producer_id producer;
  sequence_no sequence;
  position transaction;              ///< what a joining half belongs to; none for one that opens
  std::uint64_t delay_ms = 0;        ///< becomes visible this long after its commit (or append)
  std::uint32_t properties_size = 0; ///< of the payload, before the body
  std::uint32_t payload_crc = 0;     ///< CRC32C of the payload
  shared_bytes payload;              ///< properties, then body

  [[nodiscard]] std::string_view properties() const {
    return payload.text().substr(0, properties_size);
  }
  [[nodiscard]] std::string_view body() const { return payload.text().substr(properties_size); }

  friend bool operator==(const message_record&, const message_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, message_record& x) {
  return f(x.topic, x.group, x.queue, x.flags, x.sys_flag, x.timeout_ms, x.tag_hash, x.order_hash,
           x.born_ms, x.offset, x.producer, x.sequence, x.transaction, x.delay_ms,
           x.properties_size, x.payload_crc, x.payload);
}

/// What became of a transaction. Values are stored and sent: never renumber.
enum class outcome : std::uint8_t {
  pending = 0, ///< asked for as "unknown", or not decided yet; never stored
  committed = 1,
  rolled_back = 2,
  given_up = 3, ///< the policy rolled it back after the checks were exhausted
};

/// Who decided. Stored: never renumber.
enum class origin : std::uint8_t {
  producer = 1, ///< the producer's own call
  check = 2,    ///< the answer to a check
  admin = 3,    ///< a person
  policy = 4,   ///< the give-up rule or a `check_listener`
};

std::string_view name_of(outcome o);
std::string_view name_of(origin o);
std::string_view name_of(record_type t);

/// One decision. Its messages follow in `decide_record::entries`, `messages` of them, in the order
/// of the decisions.
struct decision {
  position transaction; ///< position that opened it
  outcome result = outcome::pending;
  origin by = origin::producer;
  std::uint16_t messages = 0;
  group_id group;

  friend bool operator==(const decision&, const decision&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, decision& x) {
  return f(x.transaction, x.result, x.by, x.messages, x.group);
}

/// A stored body that takes a place in a queue: what an index entry is made from.
///
/// One that becomes visible later has `due_ms` instead of an offset, which its RELEASE gives; on
/// disk the two share a field. Until its transaction is decided, `due_ms` is how long it is to wait
/// from its commit on: `commit_log` makes it a moment when it appends the DECIDE.
struct index_entry {
  position at; ///< of the record that holds the body
  topic_id topic;
  queue_no queue;
  queue_offset offset;      ///< stamped by `commit_log`; the place in the queue
  std::uint32_t length = 0; ///< of the whole record at `at`
  std::uint32_t tag_hash = 0;
  wall_ms due_ms =
      0; ///< when (undecided: how long after its commit) it becomes visible; 0 = at once

  [[nodiscard]] bool is_delayed() const { return due_ms != 0; }

  friend bool operator==(const index_entry&, const index_entry&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, index_entry& x) {
  return f(x.at, x.topic, x.queue, x.offset, x.length, x.tag_hash, x.due_ms);
}

/// DECIDE. A committed decision lists its messages with their places, or when they get one; a
/// given-up one lists its copies in TRANS_CHECK_MAX_TIME_TOPIC; a rolled-back one lists none.
struct decide_record {
  queue_offset op_offset; ///< place of this record in the op view
  std::vector<decision> decisions;
  std::vector<index_entry> entries;

  friend bool operator==(const decide_record&, const decide_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, decide_record& x) {
  return f(x.op_offset, x.decisions, x.entries);
}

/// A producer was really asked: handed over, not merely attempted.
struct check_attempt {
  position transaction;
  std::uint16_t attempt = 0; ///< 1 for the first
  std::uint32_t member = 0;  ///< hash of the connection's name, for `tx show`

  friend bool operator==(const check_attempt&, const check_attempt&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, check_attempt& x) {
  return f(x.transaction, x.attempt, x.member);
}

struct checked_record {
  std::vector<check_attempt> attempts;
  friend bool operator==(const checked_record&, const checked_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, checked_record& x) {
  return f(x.attempts);
}

/// RELEASE. `entries` have waited until now and get their offsets; `cancelled` will never be
/// visible. Both name a delayed message by the position of the record that holds its body.
struct release_record {
  std::vector<index_entry> entries;
  std::vector<position> cancelled;
  friend bool operator==(const release_record&, const release_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, release_record& x) {
  return f(x.entries, x.cancelled);
}

/// The new transaction's id is the position of this record. `messages[i].offset` is unused; its
/// `due_ms` is a delay, as nothing is decided.
struct reopen_record {
  position old_transaction;
  group_id group;
  std::uint32_t timeout_ms = 0;
  std::vector<index_entry> messages;
  friend bool operator==(const reopen_record&, const reopen_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, reopen_record& x) {
  return f(x.old_transaction, x.group, x.timeout_ms, x.messages);
}

/// `message` is a copy of the record at `from`; ids that name `from` keep their meaning.
struct move_record {
  position from;
  message_record message;
  friend bool operator==(const move_record&, const move_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, move_record& x) {
  return f(x.from, x.message);
}

/// Half-open range of offsets.
struct offset_range {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  friend bool operator==(const offset_range&, const offset_range&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, offset_range& x) {
  return f(x.from, x.to);
}

/// Failed deliveries of one message, so that a poison message is recognised across restarts.
struct delivery_attempts {
  std::uint64_t offset = 0;
  std::uint32_t attempts = 0;
  friend bool operator==(const delivery_attempts&, const delivery_attempts&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, delivery_attempts& x) {
  return f(x.offset, x.attempts);
}

/// The whole progress of one group on one queue: everything below `base` is done, `done` lists what
/// is done above it.
struct group_progress {
  group_id group;
  topic_id topic;
  queue_no queue;
  queue_offset base;
  std::vector<offset_range> done;
  std::vector<delivery_attempts> attempts;
  friend bool operator==(const group_progress&, const group_progress&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, group_progress& x) {
  return f(x.group, x.topic, x.queue, x.base, x.done, x.attempts);
}

struct progress_record {
  std::vector<group_progress> groups;
  friend bool operator==(const progress_record&, const progress_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, progress_record& x) {
  return f(x.groups);
}

/// DEAD_LETTER: one record makes `message` visible in the group's dead-letter topic and the
/// original done for the group, so that neither can happen alone. `message` is a copy of the
/// original with the place in the dead-letter topic, and properties that say why (see
/// `properties.hpp`).
struct dead_letter_record {
  group_id group;
  topic_id topic; ///< this and the next two: the original's place
  queue_no queue;
  queue_offset offset;
  std::uint32_t attempts = 0; ///< failed deliveries
  message_record message;
  friend bool operator==(const dead_letter_record&, const dead_letter_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, dead_letter_record& x) {
  return f(x.group, x.topic, x.queue, x.offset, x.attempts, x.message);
}

/// The first offset that a queue still has.
struct queue_first {
  topic_id topic;
  queue_no queue;
  queue_offset first;
  friend bool operator==(const queue_first&, const queue_first&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, queue_first& x) {
  return f(x.topic, x.queue, x.first);
}

/// RETIRE: nothing below `begin` is needed any more, nor the entries of `queues` below their
/// firsts; the files may go as soon as this is durable and two checkpoints lie beyond `begin`.
struct retire_record {
  position begin;
  std::vector<queue_first> queues;
  friend bool operator==(const retire_record&, const retire_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, retire_record& x) {
  return f(x.begin, x.queues);
}

/// Attributes of a topic or group. 0 (or empty) means "the node's default". Durations in
/// milliseconds.
struct attributes {
  std::uint32_t transaction_timeout_ms = 0;
  std::uint32_t check_interval_ms = 0;
  std::uint32_t check_max = 0;
  std::uint64_t retention_ms = 0;
  std::uint64_t retention_bytes = 0;
  bool buffered = false;
  std::uint16_t delivery_max = 0; ///< of a group: failed deliveries before the dead-letter topic
  friend bool operator==(const attributes&, const attributes&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, attributes& x) {
  return f(x.transaction_timeout_ms, x.check_interval_ms, x.check_max, x.retention_ms,
           x.retention_bytes, x.buffered, x.delivery_max);
}

enum class meta_change : std::uint8_t {
  topic_put = 1, ///< created or changed
  topic_deleted = 2,
  group_put = 3,
  group_deleted = 4,
};

/// META: one topic or group. `id` is a topic_id or group_id by `change`.
struct meta_record {
  meta_change change = meta_change::topic_put;
  std::uint32_t id = 0;
  std::string name;
  std::uint32_t queues = 0; ///< of a topic, per shard
  attributes options;
  friend bool operator==(const meta_record&, const meta_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, meta_record& x) {
  return f(x.change, x.id, x.name, x.queues, x.options);
}

struct epoch_record {
  std::uint32_t epoch = 0;
  std::string reason;
  friend bool operator==(const epoch_record&, const epoch_record&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, epoch_record& x) {
  return f(x.epoch, x.reason);
}

struct pad_record {
  friend bool operator==(const pad_record&, const pad_record&) = default;
};
template <class Inspector>
auto inspect(Inspector& f, pad_record&) {
  return f();
}

struct mark_record {
  friend bool operator==(const mark_record&, const mark_record&) = default;
};
template <class Inspector>
auto inspect(Inspector& f, mark_record&) {
  return f();
}

/// MESSAGE and HALF share a struct, so the type stands beside the content.
using record_content =
    std::variant<message_record, decide_record, checked_record, release_record, reopen_record,
                 move_record, progress_record, meta_record, epoch_record, pad_record, mark_record,
                 dead_letter_record, retire_record>;

/// One record of the log, with what its header says.
struct log_record {
  record_type type = record_type::pad;
  position at;
  std::uint32_t length = 0; ///< bytes of header, Cap'n Proto part and payload, padded to 8
  std::uint32_t epoch = 0;
  wall_ms time_ms = 0; ///< when it was appended
  record_content content;
  /// The appender's own number for it; lives in memory only, 0 in a replay.
  std::uint64_t cookie = 0;
};

/// The message that a record holds: MESSAGE, HALF, MOVE and DEAD_LETTER do; null for others.
const message_record* message_of(const log_record& record);
/// Of a record that holds a message: the position that opened its transaction; none for a plain
/// message.
position transaction_of(const log_record& record);

/// Records that became durable together, in log order. Shared by all that fold them; never changed
/// after publication.
struct record_batch {
  position from; ///< of the first
  position to;   ///< just behind the last: everything below is durable
  bool replay = false;
  std::vector<log_record> records;
};

} // namespace handfast
