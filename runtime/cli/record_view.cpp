#include "runtime/cli/record_view.hpp"

#include "messages/names.hpp"
#include "messages/place_or_due.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"

#include <algorithm>
#include <cctype>

namespace handfast::cli {

namespace {

std::string n(std::uint64_t value) {
  return std::to_string(value);
}

std::string place_of(const index_entry& entry, const known_names& names) {
  const auto queue = names.topic(entry.topic) + " queue " + n(entry.queue.value);
  return entry.is_delayed() ? queue + " visible at " + time_text(entry.due_ms)
                            : queue + " offset " + n(entry.offset.value);
}

/// Of what is not decided yet.
std::string wanted_place_of(const index_entry& entry, const known_names& names) {
  const auto queue = names.topic(entry.topic) + " queue " + n(entry.queue.value);
  return entry.is_delayed() ? queue + " delayed " + span_text(entry.due_ms) : queue;
}

std::string with_blanks(std::string_view name) {
  std::string text{name};
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string decider_of(origin by) {
  switch (by) {
  case origin::producer:
    return "the producer";
  case origin::check:
    return "a check";
  case origin::admin:
    return "an operator";
  case origin::policy:
    break;
  }
  return "the give-up rule";
}

std::string describe(const message_record& m, const known_names& names) {
  auto text = names.topic(m.topic) + " queue " + n(m.queue.value);
  const auto due = due_in(m.offset);
  text += due != 0 ? " visible at " + time_text(due) : " offset " + n(m.offset.value);
  if (m.group.value != 0)
    text += ", of " + names.group(m.group);
  if (m.transaction.value != 0)
    text += ", joins " + n(m.transaction.value);
  if (m.delay_ms != 0)
    text += ", delayed " + span_text(m.delay_ms);
  return text + ", body " + bytes_text(m.payload.size() - m.properties_size) + " | " +
         one_line(m.body(), 40);
}

std::string describe(const decide_record& d, const known_names& names) {
  std::string text;
  for (const auto& one : d.decisions)
    text += n(one.transaction.value) + " " + with_blanks(name_of(one.result)) + " by " +
            decider_of(one.by) + ", ";
  for (std::size_t i = 0; i < d.entries.size(); ++i)
    text += (i == 0 ? "visible: " : "") + place_of(d.entries[i], names) + ", ";
  return text;
}

std::string describe(const checked_record& c, const known_names&) {
  std::string text;
  for (const auto& attempt : c.attempts)
    text += n(attempt.transaction.value) + " attempt " + n(attempt.attempt) + ", ";
  return text;
}

std::string describe(const release_record& r, const known_names& names) {
  std::string text;
  for (const auto& entry : r.entries)
    text += place_of(entry, names) + " from " + n(entry.at.value) + ", ";
  for (const auto at : r.cancelled)
    text += n(at.value) + " cancelled, ";
  return text;
}

std::string describe(const reopen_record& r, const known_names& names) {
  auto text = "reopens " + n(r.old_transaction.value) + " of " + names.group(r.group) + ", " +
              counted(r.messages.size(), "message") + ":";
  for (const auto& entry : r.messages)
    text += " " + wanted_place_of(entry, names) + ",";
  return text;
}

std::string describe(const move_record& m, const known_names& names) {
  return "from " + n(m.from.value) + ": " + describe(m.message, names);
}

std::string describe(const progress_record& p, const known_names& names) {
  std::string text;
  for (const auto& one : p.groups)
    text += names.group(one.group) + " in " + names.topic(one.topic) + " queue " +
            n(one.queue.value) + " done below " + n(one.base.value) +
            (one.done.empty() ? "" : " and " + counted(one.done.size(), "range") + " above") + ", ";
  return text;
}

std::string describe(const meta_record& m, const known_names&) {
  auto topic = m.change == meta_change::topic_put || m.change == meta_change::topic_deleted;
  auto put = m.change == meta_change::topic_put || m.change == meta_change::group_put;
  auto text = std::string{topic ? "topic " : "group "} + n(m.id) +
              (put ? " is " : " deleted, was ") + one_line(m.name, 130);
  return topic && put ? text + " with " + counted(m.queues, "queue") : text;
}

std::string describe(const epoch_record& e, const known_names&) {
  return "epoch " + n(e.epoch) + ": " + one_line(e.reason, 200);
}

std::string describe(const pad_record&, const known_names&) {
  return {};
}
std::string describe(const mark_record&, const known_names&) {
  return "everything before was durable";
}

std::string describe(const dead_letter_record& d, const known_names& names) {
  return names.group(d.group) + " gave up on " + names.topic(d.topic) + " queue " +
         n(d.queue.value) + " offset " + n(d.offset.value) + " after " +
         counted(d.attempts, "attempt") + ": " + describe(d.message, names);
}

std::string describe(const retire_record& r, const known_names&) {
  return "the log begins at " + n(r.begin.value) + ", " + counted(r.queues.size(), "queue") +
         " begin later";
}

void add_message(json& to, const message_record& m, bool with_bodies, const known_names& names) {
  to["topic"] = m.topic.value;
  if (const auto* name = names.name_of(m.topic))
    to["topic_name"] = *name;
  to["queue"] = m.queue.value;
  if (const auto due = due_in(m.offset); due != 0)
    to["due_ms"] = due;
  else
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

void add_decisions(json& to, const decide_record& d) {
  to["op_offset"] = d.op_offset.value;
  to["decisions"] = json::array();
  for (const auto& one : d.decisions)
    to["decisions"].push_back({{"transaction", one.transaction.value},
                               {"outcome", name_of(one.result)},
                               {"by", name_of(one.by)},
                               {"messages", one.messages}});
  to["entries"] = json::array();
  for (const auto& entry : d.entries)
    to["entries"].push_back({{"topic", entry.topic.value},
                             {"queue", entry.queue.value},
                             {"offset", entry.offset.value},
                             {"position", entry.at.value}});
}

void add_attempts(json& to, const checked_record& c) {
  to["attempts"] = json::array();
  for (const auto& one : c.attempts)
    to["attempts"].push_back({{"transaction", one.transaction.value}, {"attempt", one.attempt}});
}

} // namespace

void known_names::learn(const log_record& record) {
  const auto* meta = std::get_if<meta_record>(&record.content);
  if (!meta)
    return;
  if (meta->change == meta_change::topic_put)
    topics_[topic_id{meta->id}] = meta->name;
  else if (meta->change == meta_change::group_put)
    groups_[group_id{meta->id}] = meta->name;
}

const std::string* known_names::name_of(topic_id id) const {
  static const std::string give_up{give_up_topic_name};
  if (id == give_up_topic)
    return &give_up;
  const auto found = topics_.find(id);
  return found == topics_.end() ? nullptr : &found->second;
}

std::string known_names::topic(topic_id id) const {
  const auto* name = name_of(id);
  return name ? *name : "topic " + n(id.value);
}

std::string known_names::group(group_id id) const {
  const auto found = groups_.find(id);
  return found == groups_.end() ? "group " + n(id.value) : found->second;
}

std::string type_text(record_type type) {
  std::string text{name_of(type)};
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string summary_of(const log_record& record, const known_names& names) {
  auto text =
      std::visit([&](const auto& content) { return describe(content, names); }, record.content);
  while (text.ends_with(' ') || text.ends_with(','))
    text.pop_back();
  return text;
}

json json_of(const log_record& record, bool with_bodies, const known_names& names) {
  json value{{"position", record.at.value},
             {"type", type_text(record.type)},
             {"bytes", record.length},
             {"epoch", record.epoch},
             {"time_ms", record.time_ms}};
  if (const auto* m = std::get_if<message_record>(&record.content))
    add_message(value, *m, with_bodies, names);
  else if (const auto* moved = std::get_if<move_record>(&record.content)) {
    value["from"] = moved->from.value;
    add_message(value, moved->message, with_bodies, names);
  } else if (const auto* dead = std::get_if<dead_letter_record>(&record.content))
    add_message(value, dead->message, with_bodies, names);
  else if (const auto* decided = std::get_if<decide_record>(&record.content))
    add_decisions(value, *decided);
  else if (const auto* checked = std::get_if<checked_record>(&record.content))
    add_attempts(value, *checked);
  value["summary"] = summary_of(record, names);
  return value;
}

} // namespace handfast::cli
