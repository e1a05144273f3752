#pragma once

/// Frames that decide transactions, ask about them, and show them.

#include "messages/bytes.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/log_record.hpp"
#include "messages/native/frames.hpp"
#include "messages/native/produce.hpp"
#include "messages/requests.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace handfast::native {

/// One decision asked for, or the answer to a check.
struct decide_item {
  correlation id; ///< 0 = wants no answer (answers to checks that decide nothing)
  transaction_id transaction;
  group_id group;
  outcome wanted = outcome::pending; ///< pending = "unknown": nothing changes
  origin by = origin::producer;
  bool in_progress = false;   ///< answer to a check: the local transaction still runs
  std::uint16_t messages = 0; ///< how many the producer sent, 0 = not stated
  std::uint16_t attempt = 0;  ///< of the check that this answers, 0 = none
  friend bool operator==(const decide_item&, const decide_item&) = default;
};

/// Answer: `decided`, for items with a correlation.
struct decide {
  static constexpr frame_kind kind = frame_kind::decide;
  std::vector<decide_item> items;
  friend bool operator==(const decide&, const decide&) = default;
};

/// The recorded outcome. `code` is ok when it is what was asked for; a conflict names the recorded
/// one.
struct decided_item {
  correlation id;
  ec code = ec::ok;
  transaction_id transaction;
  outcome recorded = outcome::pending;
  origin by = origin::producer;
  std::uint16_t messages = 0;
  topic_id topic; ///< of the first message, when committed; also `queue` and `offset`
  queue_no queue;
  queue_offset offset;
  std::uint64_t due_ms = 0; ///< when it becomes visible, and gets its offset; 0 = it has one
  friend bool operator==(const decided_item&, const decided_item&) = default;
};

struct decided {
  static constexpr frame_kind kind = frame_kind::decided;
  std::vector<decided_item> items;
  std::vector<refusal_detail> details;
  friend bool operator==(const decided&, const decided&) = default;
};

struct transaction_ref {
  transaction_id transaction;
  group_id group;
  friend bool operator==(const transaction_ref&, const transaction_ref&) = default;
};

/// After a reconnect: local transactions that still run here. They belong to this session now, and
/// are not asked of others.
struct running {
  static constexpr frame_kind kind = frame_kind::running;
  std::vector<transaction_ref> items;
  friend bool operator==(const running&, const running&) = default;
};

/// The receipt for checks: from here on they count as asked.
struct check_received {
  static constexpr frame_kind kind = frame_kind::check_received;
  std::vector<transaction_ref> items;
  friend bool operator==(const check_received&, const check_received&) = default;
};

/// The node asks what became of a local transaction. The payload is that of the transaction's first
/// message.
struct check_item {
  transaction_id transaction;
  group_id group;
  topic_id topic;
  queue_no queue;
  std::uint16_t attempt = 0; ///< 1 for the first
  std::uint16_t attempts_max = 0;
  std::uint16_t messages = 1;  ///< in the transaction
  std::uint64_t stored_ms = 0; ///< when the node stored it
  std::uint64_t born_ms = 0;
  std::uint32_t sys_flag = 0;
  std::uint32_t properties_size = 0;
  shared_bytes payload;
  friend bool operator==(const check_item&, const check_item&) = default;
};

struct topic_name {
  topic_id topic;
  std::string name;
  friend bool operator==(const topic_name&, const topic_name&) = default;
};

/// Pushed. `topics` names every topic of the items, since a member need not have resolved it.
struct check {
  static constexpr frame_kind kind = frame_kind::check;
  std::vector<check_item> items;
  std::vector<topic_name> topics;
  friend bool operator==(const check&, const check&) = default;
};

/// Answer: `transactions` with one item.
struct query_transaction {
  static constexpr frame_kind kind = frame_kind::query_transaction;
  correlation id;
  transaction_id transaction;
  friend bool operator==(const query_transaction&, const query_transaction&) = default;
};

/// Empty names and no state mean "any". `after` is the last id of the page before. Answer:
/// `transactions`.
struct list_transactions {
  static constexpr frame_kind kind = frame_kind::list_transactions;
  correlation id;
  std::optional<transaction_state> state;
  std::string group;
  std::string topic;
  position after;
  std::uint32_t items_max = 100;
  friend bool operator==(const list_transactions&, const list_transactions&) = default;
};

/// A life with the names that people know. `topics[i]` names the topic of `life.messages[i]`.
struct transaction_info {
  transaction_life life;
  std::string group;
  std::vector<std::string> topics;
};

struct transactions {
  static constexpr frame_kind kind = frame_kind::transactions;
  correlation id;
  bool more = false;
  std::vector<transaction_info> items;
};

/// Answer: `reopened`, once durable.
struct reopen {
  static constexpr frame_kind kind = frame_kind::reopen;
  correlation id;
  transaction_id transaction;
  friend bool operator==(const reopen&, const reopen&) = default;
};

struct reopened {
  static constexpr frame_kind kind = frame_kind::reopened;
  correlation id;
  transaction_id old_id;
  transaction_id new_id;
  friend bool operator==(const reopened&, const reopened&) = default;
};

} // namespace handfast::native
