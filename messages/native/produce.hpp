#pragma once

/// Frames that store messages: plain ones and halves, and their answers. All are batches.

#include "messages/bytes.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/native/frames.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace handfast::native {

/// `queue` of a message whose queue the node chooses.
constexpr queue_no any_queue{0xffff};

/// One message to store, plain or half. `flags` are `message_flags`.
struct send_item {
  correlation id;
  sequence_no sequence; ///< 0 = not numbered
  std::uint64_t born_ms = 0;
  transaction_id transaction; ///< halves only: the one to join, none to open one
  std::uint64_t delay_ms = 0; ///< visible this long after it is stored; a half: after its commit
  topic_id topic;
  group_id group;               ///< halves: the producer group
  std::uint32_t timeout_ms = 0; ///< halves: first check, 0 = the policy's
  std::uint32_t order_hash = 0;
  std::uint32_t sys_flag = 0;
  queue_no queue = any_queue;
  std::uint16_t flags = 0;
  std::uint32_t properties_size = 0; ///< of the payload, before the body
  shared_bytes payload;              ///< properties, then body

  [[nodiscard]] std::size_t body_size() const { return payload.size() - properties_size; }
  friend bool operator==(const send_item&, const send_item&) = default;
};

/// Plain messages. Answer: `sent`, in any number of frames and any order.
struct send {
  static constexpr frame_kind kind = frame_kind::send;
  std::vector<send_item> items;
  friend bool operator==(const send&, const send&) = default;
};

/// Halves. Answer: `half_stored`.
struct send_half {
  static constexpr frame_kind kind = frame_kind::send_half;
  std::vector<send_item> items;
  friend bool operator==(const send_half&, const send_half&) = default;
};

/// Particulars of one refusal in a batch of answers.
struct refusal_detail {
  correlation id;
  std::string text;
  friend bool operator==(const refusal_detail&, const refusal_detail&) = default;
};

/// `at`, `topic`, `queue` and `offset` are set when `code` is ok; of a repeated send they are those
/// of the first.
struct sent_item {
  correlation id;
  ec code = ec::ok;
  position at;
  topic_id topic;
  queue_no queue;
  queue_offset offset;
  std::uint64_t due_ms = 0; ///< when it becomes visible, and gets its offset; 0 = it has one
  friend bool operator==(const sent_item&, const sent_item&) = default;
};

struct sent {
  static constexpr frame_kind kind = frame_kind::sent;
  std::vector<sent_item> items;
  std::vector<refusal_detail> details;
  friend bool operator==(const sent&, const sent&) = default;
};

/// `transaction` is the id to decide with; for a joining half that of the transaction it joined.
struct half_stored_item {
  correlation id;
  ec code = ec::ok;
  transaction_id transaction;
  queue_offset half_offset; ///< in the half view
  queue_no queue;
  friend bool operator==(const half_stored_item&, const half_stored_item&) = default;
};

struct half_stored {
  static constexpr frame_kind kind = frame_kind::half_stored;
  std::vector<half_stored_item> items;
  std::vector<refusal_detail> details;
  friend bool operator==(const half_stored&, const half_stored&) = default;
};

} // namespace handfast::native
