#include "messages/error.hpp"

#include <algorithm>
#include <array>

namespace handfast {

namespace {

struct row {
  ec code;
  std::string_view name;
  verdict meaning;
  bool retriable;
  std::string_view advice;
};

constexpr auto refused = verdict::refused;
constexpr auto unknown = verdict::unknown;

// Sorted by code; `rows_are_sorted` below holds it to that.
constexpr std::array rows{
    row{ec::ok, "ok", verdict::done, false, "Nothing to do."},
    row{ec::bad_frame, "bad_frame", refused, false,
        "The bytes are not a frame of this protocol; check the address and the client's version."},
    row{ec::frame_too_large, "frame_too_large", refused, false,
        "Send smaller batches or raise `limits.frame`."},
    row{ec::unsupported_version, "unsupported_version", refused, false,
        "Use a client of a version that this node speaks."},
    row{ec::bad_request, "bad_request", refused, false, "Correct the named field."},
    row{ec::bad_name, "bad_name", refused, false,
        "Names have 1 to 127 characters out of letters, digits, '_', '-', '%' and '|'."},
    row{ec::body_too_large, "body_too_large", refused, false,
        "Send a smaller body or raise `limits.body`."},
    row{ec::properties_too_large, "properties_too_large", refused, false,
        "Keep all properties together under 32,767 bytes."},
    row{ec::unknown_topic, "unknown_topic", refused, false,
        "Create it with `handfast topic create NAME`, or set `topic.auto_create = true`."},
    row{ec::unknown_queue, "unknown_queue", refused, false,
        "Choose a queue below the topic's number of queues (`handfast topic show NAME`)."},
    row{ec::unknown_group, "unknown_group", refused, false, "Check the group's name."},
    row{ec::topic_exists, "topic_exists", refused, false,
        "Use the existing topic or another name."},
    row{ec::read_only_topic, "read_only_topic", refused, false,
        "This topic is kept by the node; send to a topic of your own."},
    row{ec::topic_in_use, "topic_in_use", refused, false,
        "Decide its pending transactions (`handfast tx list --topic NAME`) and cancel its delayed "
        "messages (`handfast delay list --topic NAME`), or do away with all of them with `handfast "
        "topic delete NAME --force`."},
    row{ec::too_many_topics, "too_many_topics", refused, false,
        "Raise `topic.max`, or create topics explicitly."},
    row{ec::not_authorized, "not_authorized", refused, false,
        "Use credentials that grant this action."},
    row{ec::not_supported, "not_supported", refused, false, "This version does not offer it."},
    row{ec::subscription_differs, "subscription_differs", refused, false,
        "All members of a group read a topic on the same terms: use theirs, another group, or stop "
        "them first."},
    row{ec::unknown_message, "unknown_message", refused, false,
        "Check the id and the server; it may have been released, cancelled or expired."},
    row{ec::bad_filter, "bad_filter", refused, false, "Correct the expression where it says."},
    row{ec::group_in_use, "group_in_use", refused, false, "Stop the members of the group first."},
    row{ec::bad_delay, "bad_delay", refused, false,
        "Give a delay such as `2s` or `3d`, or a date, at most 3 years ahead."},
    row{ec::too_many_queues, "too_many_queues", refused, false,
        "Give it fewer queues, delete topics that nobody needs, or raise `topic.queues_max`."},
    row{ec::unknown_transaction, "unknown_transaction", refused, false,
        "Check the id and the server: this store never opened that transaction."},
    row{ec::transaction_expired, "transaction_expired", refused, false,
        "It was decided longer ago than `transaction.remember`."},
    row{ec::wrong_group, "wrong_group", refused, false,
        "Only the producer group that sent it, or an operator, may decide it."},
    row{ec::conflict_committed, "conflict_committed", refused, false,
        "It was committed before; that outcome stands."},
    row{ec::conflict_rolled_back, "conflict_rolled_back", refused, false,
        "It was rolled back before; that outcome stands."},
    row{ec::conflict_given_up, "conflict_given_up", refused, false,
        "Nobody decided it in time; open it again with `handfast tx reopen ID`."},
    row{ec::incomplete, "incomplete", refused, false,
        "The node holds another number of messages than the commit names; send the missing ones or "
        "roll back."},
    row{ec::transaction_quarantined, "transaction_quarantined", refused, false,
        "A stored record of it is damaged: see `handfast quarantine list`. It can only be rolled "
        "back, if it is still pending."},
    row{ec::not_reopenable, "not_reopenable", refused, false,
        "Only a given-up transaction can be opened again."},
    row{ec::cross_shard, "cross_shard", refused, false,
        "Messages of one transaction take queues of one shard."},
    row{ec::transaction_decided, "transaction_decided", refused, false,
        "Open a new transaction for this message."},
    row{ec::too_many_messages, "too_many_messages", refused, false,
        "Split the transaction, or raise `transaction.messages_max`."},
    row{ec::too_many_pending, "too_many_pending", refused, true,
        "Decide pending transactions, or raise `transaction.pending_max`; try again in a second."},
    row{ec::busy, "busy", refused, true, "Wait for answers before sending more."},
    row{ec::disk_full, "disk_full", refused, true,
        "Make room on the disk; decisions and consumption go on meanwhile."},
    row{ec::recovering, "recovering", refused, true, "Try again in a second."},
    row{ec::stopping, "stopping", refused, true, "Reconnect when the node is back."},
    row{ec::not_leader, "not_leader", refused, true, "Ask the named node."},
    row{ec::too_many_delayed, "too_many_delayed", refused, true,
        "Too many messages wait for their time: send without delay, try later, or raise "
        "delay.max."},
    row{ec::outcome_unknown, "outcome_unknown", unknown, true,
        "Ask for the status, or resend with the same id."},
    row{ec::timed_out, "timed_out", unknown, true,
        "Ask for the status, or resend with the same id."},
    row{ec::disconnected, "disconnected", unknown, true,
        "Ask for the status, or resend with the same id."},
    row{ec::unreachable, "unreachable", unknown, true,
        "Check that a node runs at that address (`handfast node`)."},
    row{ec::corrupt, "corrupt", refused, false, "Run `handfast log verify DIR` for the extent."},
    row{ec::io_error, "io_error", unknown, false,
        "Check the disk, then start the node again; it recovers what was acknowledged."},
    row{ec::not_our_directory, "not_our_directory", refused, false,
        "Choose an empty folder or one that a node made."},
    row{ec::directory_in_use, "directory_in_use", refused, false,
        "Stop the other node, or choose another folder with `--data DIR` (`store.dir`)."},
    row{ec::newer_format, "newer_format", refused, false, "Use the newer version of handfast."},
    row{ec::not_writable, "not_writable", refused, false,
        "Give this user the right to write there, or choose another folder."},
    row{ec::position_not_found, "position_not_found", refused, false,
        "No record stands there; check the position."},
    row{ec::config_invalid, "config_invalid", refused, false, "Correct the named key."},
    row{ec::internal, "internal", unknown, true,
        "A fault of this program: please report it with the log."},
    row{ec::address_in_use, "address_in_use", refused, false,
        "A second node on one machine needs ports (`listen.native`, `listen.http`) and a folder "
        "(`--data DIR`) of its own."},
};

constexpr bool rows_are_sorted() {
  return std::is_sorted(rows.begin(), rows.end(),
                        [](const row& a, const row& b) { return a.code < b.code; });
}
static_assert(rows_are_sorted());

const row* find_row(ec code) {
  auto at = std::lower_bound(rows.begin(), rows.end(), code,
                             [](const row& r, ec c) { return r.code < c; });
  return at != rows.end() && at->code == code ? &*at : nullptr;
}

const row& row_of(ec code) {
  const auto* found = find_row(code);
  return found ? *found : *find_row(ec::internal);
}

} // namespace

std::string_view name_of(ec code) {
  return row_of(code).name;
}
std::string_view advice_of(ec code) {
  return row_of(code).advice;
}
verdict verdict_of(ec code) {
  return row_of(code).meaning;
}
bool is_retriable(ec code) {
  return row_of(code).retriable;
}

ec ec_from_wire(std::uint16_t value) {
  auto code = static_cast<ec>(value);
  return find_row(code) ? code : ec::internal;
}

std::string to_string(const error& e) {
  std::string text{name_of(e.code)};
  if (!e.detail.empty())
    text += ": " + e.detail;
  text += text.ends_with('.') ? " " : ". ";
  text += advice_of(e.code);
  return text;
}

} // namespace handfast
