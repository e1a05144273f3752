#include "runtime/cli/json_members.hpp"

#include <algorithm>
#include <array>

namespace handfast::cli {

namespace {

constexpr bool sometimes = true;

constexpr std::array topic_members{
    json_member{"name", "the topic's name"},
    json_member{"id", "its number inside the node, never used again"},
    json_member{"queues", "how many queues it has"},
    json_member{"read_only", "kept by the node: clients cannot write to it"},
    json_member{"options.transaction_timeout_ms",
                "first check of its transactions; 0 = as the node"},
    json_member{"options.check_interval_ms", "time between further checks; 0 = as the node"},
    json_member{"options.check_max", "checks before giving up; 0 = as the node"},
    json_member{"options.retention_ms", "age at which messages may go; 0 = as the node"},
    json_member{"options.retention_bytes", "size at which messages may go; 0 = as the node"},
    json_member{"options.buffered", "plain messages may be answered before the sync"},
    json_member{"extents", "one entry a queue; empty in lists"},
    json_member{"extents[].queue", "the queue's number", sometimes},
    json_member{"extents[].first", "oldest offset that it has", sometimes},
    json_member{"extents[].end", "one behind the newest", sometimes},
};

constexpr std::array transaction_members{
    json_member{"id", "24 hex digits"},
    json_member{"state",
                "pending, deciding, committed, rolled_back, given_up, parked or quarantined"},
    json_member{"group", "the producer group that is asked"},
    json_member{"producer", "the sending client's number, in hex"},
    json_member{"stored_ms", "when it was opened; 0 = not known any more"},
    json_member{"age_ms", "how long ago that was"},
    json_member{"messages", "its messages, first to last"},
    json_member{"messages[].topic", "the topic that it was sent to", sometimes},
    json_member{"messages[].queue", "the queue there", sometimes},
    json_member{"messages[].offset", "its place there, when committed", sometimes},
    json_member{"messages[].position", "where its body stands in the log", sometimes},
    json_member{"messages_partial",
                "there may be more messages than listed: a rollback records only the first"},
    json_member{"checks.asked", "how often a producer was asked; null = not known any more"},
    json_member{"checks.max", "after so many it is given up; 0 once decided"},
    json_member{"checks.timeout_ms", "age at the first check"},
    json_member{"checks.interval_ms", "time between further ones"},
    json_member{"checks.next_in_ms", "time until the next one"},
    json_member{"checks.waiting_for_producer", "nobody of the group is online to be asked"},
    json_member{"asks", "the newest times that somebody was asked, at most 16"},
    json_member{"asks[].at_ms", "when", sometimes},
    json_member{"asks[].attempt", "1 for the first", sometimes},
    json_member{"asks[].member", "name of the client; empty when only its hash is kept", sometimes},
    json_member{"asks[].answer", "committed, rolled_back, unknown, in_progress; null = none",
                sometimes},
    json_member{"decided.by", "producer, check, admin or policy; `decided` only when decided",
                sometimes},
    json_member{"decided.at_ms", "when", sometimes},
    json_member{"reopened_as", "id of the transaction that took its place", sometimes},
    json_member{"reopened_from", "id of the given-up one that it continues", sometimes},
    json_member{"note", "why it is set aside", sometimes},
};

constexpr std::array sent_members{
    json_member{"id", "the transaction; further messages join it, commit and rollback decide it"},
    json_member{"topic", "where the message goes"},
    json_member{"group", "the producer group"},
};

constexpr std::array decision_members{
    json_member{"id", "the transaction"},
    json_member{"outcome", "the recorded outcome"},
    json_member{"by", "who decided: producer, check, admin or policy"},
    json_member{"messages", "how many became visible"},
    json_member{"queue", "of the first message, when committed", sometimes},
    json_member{"offset", "of the first message, when committed", sometimes},
};

constexpr std::array reopened_members{
    json_member{"id", "the new transaction"},
    json_member{"reopened_from", "the given-up one"},
};

constexpr std::array check_members{
    json_member{"id", "the transaction that was asked about"},
    json_member{"attempt", "1 for the first ask"},
    json_member{"attempts_left", "asks before it is given up"},
    json_member{"topic", "of its first message"},
    json_member{"messages", "how many messages it has"},
    json_member{"body", "of its first message"},
    json_member{"answered", "what --answer said"},
    json_member{"outcome", "the recorded outcome; `pending` after unknown", sometimes},
    json_member{"error", "short name of the reason why the answer was not taken", sometimes},
};

constexpr std::array stored_members{
    json_member{"topic", "where the message is"},
    json_member{"queue", "the queue there"},
    json_member{"offset", "its place in the queue"},
    json_member{"position", "where it stands in the log"},
};

constexpr std::array message_members{
    json_member{"topic", "where it is from"},
    json_member{"queue", "the queue there"},
    json_member{"offset", "its place in the queue"},
    json_member{"attempt", "1 for the first delivery"},
    json_member{"visible_ms", "when consumers could see it, by the node's clock"},
    json_member{"born_ms", "when it was sent, by the sender's clock"},
    json_member{"transaction", "id, if it came by one", sometimes},
    json_member{"tag", "its tag", sometimes},
    json_member{"keys", "its keys, with blanks between", sometimes},
    json_member{"order_key", "its order key", sometimes},
    json_member{"properties", "other properties, an object", sometimes},
    json_member{"body", "the message"},
};

constexpr std::array group_members{
    json_member{"name", "the group's name"},
    json_member{"id", "its number inside the node"},
    json_member{"producers", "producers online"},
    json_member{"consumers", "consumers online"},
    json_member{"progress", "one entry for each queue that it consumes"},
    json_member{"progress[].topic", "the topic", sometimes},
    json_member{"progress[].queue", "the queue there", sometimes},
    json_member{"progress[].done", "everything below is acknowledged", sometimes},
    json_member{"progress[].end", "one behind the newest message", sometimes},
    json_member{"progress[].leased", "messages in the hands of consumers", sometimes},
};

constexpr std::array quarantine_members{
    json_member{"position", "where it stands in the log; 0 for an actor"},
    json_member{"what", "type of record, or the actor"},
    json_member{"why", "what is wrong with it"},
    json_member{"transaction", "id of the transaction that it belongs to", sometimes},
};

constexpr std::array status_members{
    json_member{"actors", "what each actor of the node says of itself; of more than 4,000 figures "
                          "those of a kind of actor are added up, and /metrics has each"},
    json_member{"actors[].actor", "its name"},
    json_member{"actors[].quarantined", "how many things it has set aside"},
    json_member{"actors[].samples", "its figures, as /metrics shows them"},
    json_member{"actors[].samples[].name", "the metric's name"},
    json_member{"actors[].samples[].labels", "its labels in Prometheus form"},
    json_member{"actors[].samples[].value", "its value at this moment"},
    json_member{"not_answering", "names of actors that gave no answer in time, at most 100"},
    json_member{"restarts", "an object: how often each kind of actor was restarted"},
};

constexpr std::array verify_members{
    json_member{"sound", "nothing is damaged"},
    json_member{"begin", "first position of the log"},
    json_member{"end", "one behind its last record"},
    json_member{"durable_mark", "everything below was known to be on disk"},
    json_member{"segments", "files of the log"},
    json_member{"records", "records read"},
    json_member{"bytes", "their bytes"},
    json_member{"checkpoints", "checkpoints that can be used"},
    json_member{"runs", "derived runs that can be used"},
    json_member{"torn_bytes", "of a last write that a crash cut short; harmless"},
    json_member{"damaged", "records whose payload is damaged: position, bytes, reason"},
    json_member{"lost", "ranges that hold no readable record: from, to, reason"},
    json_member{"accepted", "such ranges that an operator accepted: from, to, reason"},
    json_member{"impossible", "records that say what cannot be: position, reason"},
    json_member{"damaged_files", "other files that are damaged: path, reason"},
};

constexpr std::array record_members{
    json_member{"position", "where it stands in the log"},
    json_member{"type", "what --type selects"},
    json_member{"bytes", "of the whole record"},
    json_member{"epoch", "raised by each start of the node"},
    json_member{"time_ms", "when it was written"},
    json_member{"topic", "number of the topic, of message, half and move", sometimes},
    json_member{"topic_name", "its name, if the record that made it was read before", sometimes},
    json_member{"queue", "the queue there", sometimes},
    json_member{"offset", "place in the queue; of a half, in the half view", sometimes},
    json_member{"group", "number of the producer group; 0 = none", sometimes},
    json_member{"joins", "position of the half that opened the transaction", sometimes},
    json_member{"producer", "number of the sending client", sometimes},
    json_member{"sequence", "its number for this send", sometimes},
    json_member{"born_ms", "when it was sent, by the sender's clock", sometimes},
    json_member{"properties_bytes", "size of the properties", sometimes},
    json_member{"body_bytes", "size of the body", sometimes},
    json_member{"body", "with --bodies", sometimes},
    json_member{"from", "of move: where the message stood before", sometimes},
    json_member{"op_offset", "of decide: its place in the op view", sometimes},
    json_member{"decisions", "of decide: transaction (a position), outcome, by, messages",
                sometimes},
    json_member{"entries", "of decide: messages made visible: topic, queue, offset, position",
                sometimes},
    json_member{"attempts", "of checked: transaction (a position), attempt", sometimes},
    json_member{"summary", "the line without --json"},
    json_member{"damage", "what is wrong with the record", sometimes},
};

constexpr std::array bench_members{
    json_member{"what", "transactions or messages"},
    json_member{"committed_per_s", "median of the rounds"},
    json_member{"p50_ms", "time of a whole transaction; so p90_ms, p99_ms, p999_ms and max_ms"},
    json_member{"ratio_to_floor", "with --floor: against the bare program; so p50_ratio_to_floor",
                sometimes},
    json_member{"floor", "with --floor: its committed_per_s, p50_ms, p99_ms", sometimes},
    json_member{"half_ms", "time of the first phase: p50, p90, p99, p999, max", sometimes},
    json_member{"decide_ms", "time of the second phase, as above", sometimes},
    json_member{"errors", "an object: refusals by short name"},
    json_member{"unanswered", "requests without an answer"},
    json_member{"disk", "folder, fdatasync_p50_ms, fdatasync_p99_ms", sometimes},
    json_member{"rounds", "each round's figures"},
};

constexpr std::array config_members{
    json_member{"key", "the key, such as transaction.timeout"},
    json_member{"value", "its value"},
    json_member{"source", "default, or the file and line or the flag that set it"},
};

constexpr std::array shapes{
    json_shape{"topic", "`topic create`, `topic show`, `topic list`", topic_members},
    json_shape{"transaction", "`tx show`, `tx list`", transaction_members},
    json_shape{"opened transaction", "`tx send`", sent_members},
    json_shape{"decision", "`tx commit`, `tx rollback`", decision_members},
    json_shape{"reopened transaction", "`tx reopen`", reopened_members},
    json_shape{"check", "`tx listen`", check_members},
    json_shape{"stored message", "`produce`", stored_members},
    json_shape{"message", "`consume`, `browse`", message_members},
    json_shape{"group", "`group list`", group_members},
    json_shape{"quarantined item", "`quarantine list`", quarantine_members},
    json_shape{"status", "`status`", status_members},
    json_shape{"figures", "`bench`", bench_members},
    json_shape{"configured key", "`config show`", config_members},
    json_shape{"report", "`log verify`", verify_members},
    json_shape{"record", "`log dump`", record_members},
};

} // namespace

std::span<const json_shape> json_shapes() {
  return shapes;
}

const json_shape* find_shape(std::string_view name) {
  const auto* at = std::ranges::find(shapes, name, &json_shape::name);
  return at == shapes.end() ? nullptr : at;
}

} // namespace handfast::cli
