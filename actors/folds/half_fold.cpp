#include "actors/folds/half_fold.hpp"

#include <algorithm>

namespace handfast {

namespace {

/// So many messages are written in well under a millisecond.
constexpr std::size_t messages_per_slice = 4'096;
constexpr std::string_view rules_slice = "half/rules";
constexpr std::string_view pending_slice = "half/pending";

} // namespace

void half_fold::apply(const log_record& record, mono_ms now) {
  asks.begin_at(record.at);
  switch (record.type) {
  case record_type::half:
    apply_half(record, now);
    break;
  case record_type::decide:
    for (const auto& d : std::get<decide_record>(record.content).decisions)
      pending.erase(d.transaction);
    break;
  case record_type::checked:
    apply_checked(record);
    break;
  case record_type::reopen:
    apply_reopen(record, now);
    break;
  case record_type::meta:
    rules.apply(std::get<meta_record>(record.content));
    break;
  default:
    break;
  }
}

pending_table::place half_fold::apply_half(const log_record& record, mono_ms now) {
  const auto& m = std::get<message_record>(record.content);
  auto place = pending_table::none;
  if (m.transaction == position{}) {
    pending_entry e;
    e.id = record.at;
    e.producer = m.producer;
    e.stored_ms = record.time_ms;
    e.stored_at = now;
    e.group = m.group;
    e.topic = m.topic;
    e.length = record.length;
    e.tag_hash = m.tag_hash;
    e.timeout_ms = m.timeout_ms;
    e.queue = m.queue;
    if ((m.flags & message_flags::local_transaction) != 0)
      e.set(pending_flags::local_transaction);
    place = pending.open(e, m.delay_ms);
  } else if (pending.join(
                 m.transaction,
                 {record.at, m.topic, m.queue, {}, record.length, m.tag_hash, m.delay_ms})) {
    place = pending.find(m.transaction);
  }
  quarantine_if_damaged(record.at, place);
  return place;
}

pending_table::place half_fold::apply_reopen(const log_record& record, mono_ms now) {
  const auto& r = std::get<reopen_record>(record.content);
  pending_entry e;
  e.id = record.at;
  e.stored_ms = record.time_ms;
  e.stored_at = now;
  e.group = r.group;
  e.timeout_ms = r.timeout_ms;
  const auto place = pending.reopen(e, r.old_transaction, r.messages);
  for (const auto& m : r.messages)
    quarantine_if_damaged(m.at, place);
  return place;
}

void half_fold::apply_checked(const log_record& record) {
  for (const auto& a : std::get<checked_record>(record.content).attempts) {
    const auto place = pending.find(a.transaction);
    if (place == pending_table::none)
      continue;
    pending.at(place).attempts = a.attempt;
    if (a.attempt > 0)
      asks.add(a.transaction, {record.time_ms, a.attempt, a.member, {}, {}});
  }
}

void half_fold::quarantine_if_damaged(position body, pending_table::place place) {
  if (place != pending_table::none && !damaged_.empty() && damaged_.contains(body))
    pending.quarantine(place);
}

void half_fold::mark_damaged(position at, position transaction) {
  damaged_.insert(at);
  quarantine_if_damaged(at, pending.find(transaction == position{} ? at : transaction));
}

std::pair<std::string, std::string> half_fold::save_slice(std::string& cursor) const {
  if (cursor.empty()) {
    cursor = std::to_string(0);
    return {std::string{rules_slice}, rules.save()};
  }
  auto next = pending_table::none;
  auto bytes =
      pending.save(static_cast<pending_table::place>(std::stoul(cursor)), messages_per_slice, next);
  cursor = next == pending_table::none ? std::string{} : std::to_string(next);
  return {std::string{pending_slice}, std::move(bytes)};
}

void half_fold::load(const std::string& slice_name, std::string_view bytes) {
  if (slice_name == rules_slice)
    rules.load(bytes);
  else if (slice_name == pending_slice)
    pending.load(bytes);
}

half_fold half_fold::emptied() const {
  half_fold empty;
  empty.damaged_ = damaged_;
  return empty;
}

std::uint32_t member_hash(std::string_view name) {
  if (name.empty())
    return 0;
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : name)
    h = mix64(h ^ static_cast<unsigned char>(c));
  return static_cast<std::uint32_t>(h >> 32);
}

} // namespace handfast
