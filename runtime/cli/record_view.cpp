#include "runtime/cli/record_view.hpp"

#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"

#include <algorithm>
#include <cctype>

namespace handfast::cli {

namespace {

std::string n(std::uint64_t value) {
  return std::to_string(value);
}

std::string place_of(const index_entry& entry) {
  const auto queue = "topic " + n(entry.topic.value) + "/" + n(entry.queue.value);
  return entry.is_delayed() ? queue + " visible at " + time_text(entry.due_ms)
                            : queue + "@" + n(entry.offset.value);
}

/// Of what is not decided yet.
std::string wanted_place_of(const index_entry& entry) {
  const auto queue = "topic " + n(entry.topic.value) + "/" + n(entry.queue.value);
  return entry.is_delayed() ? queue + " delayed " + span_text(entry.due_ms) : queue;
}

/// @param placed it has an offset: in its queue, or in the half view
std::string describe(const message_record& m, bool placed = true) {
  auto text = "topic " + n(m.topic.value) + " queue " + n(m.queue.value);
  if (placed)
    text += " offset " + n(m.offset.value);
  if (m.group.value != 0)
    text += " group " + n(m.group.value);
  if (m.transaction.value != 0)
    text += " joins " + n(m.transaction.value);
  if (m.delay_ms != 0)
    text += " delayed " + span_text(m.delay_ms);
  return text + " body " + bytes_text(m.payload.size() - m.properties_size) + " | " +
         one_line(m.body(), 40);
}

std::string describe(const decide_record& d) {
  std::string text = "op " + n(d.op_offset.value) + ":";
  for (const auto& one : d.decisions)
    text += " " + n(one.transaction.value) + " " + std::string{name_of(one.result)} + " by " +
            std::string{name_of(one.by)} + ";";
  for (const auto& entry : d.entries)
    text += " " + place_of(entry);
  return text;
}

std::string describe(const checked_record& c) {
  std::string text;
  for (const auto& attempt : c.attempts)
    text += n(attempt.transaction.value) + " attempt " + n(attempt.attempt) + "; ";
  return text;
}

std::string describe(const release_record& r) {
  std::string text;
  for (const auto& entry : r.entries)
    text += place_of(entry) + " from " + n(entry.at.value) + "; ";
  for (const auto at : r.cancelled)
    text += n(at.value) + " cancelled; ";
  return text;
}

std::string describe(const reopen_record& r) {
  auto text = "reopens " + n(r.old_transaction.value) + " of group " + n(r.group.value) + ", " +
              counted(r.messages.size(), "message") + ":";
  for (const auto& entry : r.messages)
    text += " " + wanted_place_of(entry);
  return text;
}

std::string describe(const move_record& m) {
  return "from " + n(m.from.value) + ": " + describe(m.message);
}

std::string describe(const progress_record& p) {
  std::string text;
  for (const auto& one : p.groups)
    text += "group " + n(one.group.value) + " topic " + n(one.topic.value) + "/" +
            n(one.queue.value) + " done below " + n(one.base.value) + " and " +
            counted(one.done.size(), "range") + " above; ";
  return text;
}

std::string describe(const meta_record& m) {
  auto topic = m.change == meta_change::topic_put || m.change == meta_change::topic_deleted;
  auto put = m.change == meta_change::topic_put || m.change == meta_change::group_put;
  auto text = std::string{topic ? "topic " : "group "} + n(m.id) +
              (put ? " is " : " deleted, was ") + one_line(m.name, 130);
  return topic && put ? text + " with " + counted(m.queues, "queue") : text;
}

std::string describe(const epoch_record& e) {
  return "epoch " + n(e.epoch) + ": " + one_line(e.reason, 200);
}

std::string describe(const pad_record&) {
  return {};
}
std::string describe(const mark_record&) {
  return {};
}

std::string describe(const dead_letter_record& d) {
  return "group " + n(d.group.value) + " gave up on topic " + n(d.topic.value) + "/" +
         n(d.queue.value) + "@" + n(d.offset.value) + " after " + counted(d.attempts, "attempt") +
         ": " + describe(d.message);
}

std::string describe(const retire_record& r) {
  return "the log begins at " + n(r.begin.value) + ", " + counted(r.queues.size(), "queue") +
         " begin later";
}

/// A plain message that waits for its time has none yet.
bool has_place(const log_record& record) {
  return record.type != record_type::message ||
         std::get<message_record>(record.content).delay_ms == 0;
}

void add_message(json& to, const message_record& m, bool placed, bool with_bodies) {
  to["topic"] = m.topic.value;
  to["queue"] = m.queue.value;
  if (placed)
    to["offset"] = m.offset.value;
  if (m.delay_ms != 0)
    to["delay_ms"] = m.delay_ms;
  to["group"] = m.group.value;
  if (m.transaction.value != 0)
    to["joins"] = m.transaction.value;
  to["producer"] = m.producer.value;
  to["sequence"] = m.sequence.value;
  to["born_ms"] = m.born_ms;
  to["properties_bytes"] = m.properties_size;
  to["body_bytes"] = m.payload.size() - m.properties_size;
  if (with_bodies)
    set_text(to, "body", m.body());
}

} // namespace

std::string type_text(record_type type) {
  std::string text{name_of(type)};
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string summary_of(const log_record& record) {
  const auto* message = std::get_if<message_record>(&record.content);
  auto text =
      message ? describe(*message, has_place(record))
              : std::visit([](const auto& content) { return describe(content); }, record.content);
  while (text.ends_with(' ') || text.ends_with(';'))
    text.pop_back();
  return text;
}

json json_of(const log_record& record, bool with_bodies) {
  json value{{"position", record.at.value},
             {"type", type_text(record.type)},
             {"bytes", record.length},
             {"epoch", record.epoch},
             {"time_ms", record.time_ms}};
  if (const auto* m = std::get_if<message_record>(&record.content))
    add_message(value, *m, has_place(record), with_bodies);
  else if (const auto* moved = std::get_if<move_record>(&record.content)) {
    value["from"] = moved->from.value;
    add_message(value, moved->message, true, with_bodies);
  } else if (const auto* dead = std::get_if<dead_letter_record>(&record.content))
    add_message(value, dead->message, true, with_bodies);
  value["summary"] = summary_of(record);
  return value;
}

} // namespace handfast::cli
