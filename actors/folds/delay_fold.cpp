#include "actors/folds/delay_fold.hpp"

#include "messages/place_or_due.hpp"
#include "messages/record_rule.hpp"

namespace handfast {

namespace {

/// So many are written in well under a millisecond.
constexpr std::size_t entries_per_slice = 8'192;
constexpr std::string_view rules_slice = "delay/rules";
constexpr std::string_view waiting_slice = "delay/waiting";

delayed_entry waiting_of(const index_entry& e, position transaction) {
  delayed_entry entry;
  entry.due = e.due_ms;
  entry.at = e.at;
  entry.transaction = transaction;
  entry.topic = e.topic;
  entry.queue = e.queue;
  entry.length = e.length;
  entry.tag_hash = e.tag_hash;
  return entry;
}

void add_committed(delay_table& to, const decide_record& record) {
  std::size_t next = 0;
  for (const auto& d : record.decisions) {
    const auto end = next + d.messages;
    require_of_record(end <= record.entries.size(),
                      "it decides more messages than it gives places");
    for (; next < end; ++next)
      if (record.entries[next].is_delayed())
        to.insert(waiting_of(record.entries[next], d.transaction));
  }
}

} // namespace

void delay_fold::apply(const log_record& record) {
  switch (record.type) {
  case record_type::message: {
    const auto& m = std::get<message_record>(record.content);
    if (m.delay_ms == 0)
      break;
    const auto due = due_in(m.offset);
    require_of_record(due != 0, "it becomes visible later and does not say when");
    waiting.insert(
        waiting_of({record.at, m.topic, m.queue, {}, record.length, m.tag_hash, due}, {}));
    break;
  }
  case record_type::decide:
    add_committed(waiting, std::get<decide_record>(record.content));
    break;
  case record_type::release: {
    const auto& r = std::get<release_record>(record.content);
    for (const auto& e : r.entries)
      waiting.erase(e.at);
    for (const auto at : r.cancelled)
      waiting.erase(at);
    break;
  }
  case record_type::meta:
    rules.apply(std::get<meta_record>(record.content));
    break;
  default:
    break;
  }
}

std::pair<std::string, std::string> delay_fold::save_slice(std::string& cursor) const {
  if (cursor.empty()) {
    cursor = std::to_string(0);
    return {std::string{rules_slice}, rules.save()};
  }
  position next;
  auto bytes = waiting.save(position{std::stoull(cursor)}, entries_per_slice, next);
  cursor = next == position{} ? std::string{} : std::to_string(next.value);
  return {std::string{waiting_slice}, std::move(bytes)};
}

void delay_fold::load(const std::string& slice_name, std::string_view bytes) {
  if (slice_name == rules_slice)
    rules.load(bytes);
  else if (slice_name == waiting_slice)
    waiting.load(bytes);
}

} // namespace handfast
