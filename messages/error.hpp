#pragma once

/// Every reason for which a request can be refused or end without a known result, with what to do
/// next.

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace handfast {

/// What a caller may conclude from an answer.
enum class verdict : std::uint8_t {
  done,    ///< it happened and is as durable as promised
  refused, ///< it did not happen and never will by this request
  unknown, ///< it may or may not have happened: ask for the status, or resend with the same id
};

/// Reasons. Values are part of the native protocol: never renumber, add at the end.
enum class ec : std::uint16_t {
  ok = 0,
  // input that no repetition makes right
  bad_frame = 1,           ///< bytes that are not a frame of this protocol
  frame_too_large = 2,     ///< longer than the limit that the handshake named
  unsupported_version = 3, ///< protocol version that this node does not speak
  bad_request = 4,         ///< a field has a value outside its grammar or range
  bad_name = 5,            ///< topic or group name outside the grammar
  body_too_large = 6,      ///< body over the limit
  properties_too_large = 7,
  unknown_topic = 8, ///< no such topic, and automatic creation is off
  unknown_queue = 9, ///< the topic has fewer queues
  unknown_group = 10,
  topic_exists = 11,    ///< the name is taken with other attributes
  read_only_topic = 12, ///< views and system topics take no client writes
  topic_in_use = 13,    ///< it still has pending messages
  too_many_topics = 14, ///< the bound on automatically created topics
  not_authorized = 15,
  not_supported = 16,        ///< a verb or option that this version does not offer
  subscription_differs = 17, ///< other members of the group read the topic on other terms
  unknown_message = 18,      ///< no such message, or no longer
  bad_filter = 19,           ///< a filter expression that cannot be read
  group_in_use = 20,         ///< members of it are connected
  bad_delay = 21,            ///< beyond the limit, or not a delay
  too_many_queues = 22,      ///< the bound on the queues of all topics
  // transactions
  unknown_transaction = 32,     ///< no such id in this store
  transaction_expired = 33,     ///< decided so long ago that the outcome is no longer kept
  wrong_group = 34,             ///< the transaction belongs to another producer group
  conflict_committed = 35,      ///< already committed
  conflict_rolled_back = 36,    ///< already rolled back
  conflict_given_up = 37,       ///< given up (rolled back by the policy); may be reopened
  incomplete = 38,              ///< the number of messages differs from what the producer sent
  transaction_quarantined = 39, ///< a stored record of it cannot be read
  not_reopenable = 40,          ///< only a given-up transaction can be opened again
  cross_shard = 41,
  transaction_decided = 42, ///< a half may not join a transaction that is decided or being decided
  too_many_messages = 43,   ///< the bound of messages in one transaction
  // come back later
  too_many_pending = 64, ///< the bound on pending transactions (count or bytes)
  busy = 65,             ///< more requests in flight than the credit allows
  disk_full = 66,        ///< new messages are refused, decisions go on
  recovering = 67,       ///< the owner of this state is being restarted
  stopping = 68,         ///< the node is shutting down
  not_leader = 69,
  too_many_delayed = 70, ///< the bound on messages that wait for their time
  // unknown outcome
  outcome_unknown = 96, ///< the owner failed while the request was under way
  timed_out = 97,       ///< no answer within the time-out
  disconnected = 98,    ///< the connection ended before the answer
  unreachable = 99,     ///< no connection could be made; nothing was sent
  // faults of the store
  corrupt = 128,           ///< stored bytes fail their check
  io_error = 129,          ///< the disk refused a read, write or sync
  not_our_directory = 130, ///< the folder holds other files
  directory_in_use = 131,  ///< another process has the store open
  newer_format = 132,      ///< written by a newer version
  not_writable = 133,
  position_not_found = 134, ///< no record at that position
  config_invalid = 135,
  internal = 136,       ///< a fault of this program; reported with its place
  address_in_use = 137, ///< another process listens there
};

/// The stable short name, such as `conflict_committed`; also used in JSON output and metrics
/// labels.
std::string_view name_of(ec code);
/// One sentence for people: what is wrong and what to do next.
std::string_view advice_of(ec code);
/// What a caller may conclude.
verdict verdict_of(ec code);
/// Whether the same request may succeed later without a change.
bool is_retriable(ec code);
/// `code` as a number from the wire; `ec::internal` for values that this version does not know.
ec ec_from_wire(std::uint16_t value);

/// A reason with the particulars of the case: the input, the limit, the recorded outcome.
struct error {
  ec code = ec::ok;
  std::string detail;

  friend bool operator==(const error&, const error&) = default;
};

template <class Inspector>
auto inspect(Inspector& f, error& x) {
  return f(x.code, x.detail);
}

/// `name: detail. Advice.`, for logs and command lines.
std::string to_string(const error& e);

template <class T>
using result = tl::expected<T, error>;

inline tl::unexpected<error> fail(ec code, std::string detail = {}) {
  return tl::unexpected<error>{error{code, std::move(detail)}};
}

} // namespace handfast
