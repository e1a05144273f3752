#include "actors/folds/outcome_table.hpp"

#include "actors/folds/slice_io.hpp"
#include "messages/assert.hpp"
#include "messages/place_or_due.hpp"
#include "messages/record_rule.hpp"

#include <algorithm>

namespace handfast {

namespace {

constexpr std::uint8_t slice_version = 1;
constexpr std::size_t entries_per_slice = 16'384;
constexpr std::string_view reopened_slice = "outcome/reopened";
constexpr std::string_view recent_slice = "outcome/recent";

} // namespace

void outcome_table::apply(const log_record& record) {
  if (record.type == record_type::reopen) {
    reopened_.try_emplace(std::get<reopen_record>(record.content).old_transaction, record.at);
    return;
  }
  if (record.type != record_type::decide)
    return;
  const auto& decide = std::get<decide_record>(record.content);
  std::size_t next = 0;
  for (const auto& d : decide.decisions)
    next += d.messages;
  require_of_record(next <= decide.entries.size(), "it decides more messages than it gives places");
  next = 0;
  for (const auto& d : decide.decisions) {
    outcome_entry e{d.transaction, record.at, record.time_ms, {}, d.group, {}, {}, d.messages,
                    d.result,      d.by};
    if (d.messages > 0) {
      const auto& first = decide.entries[next];
      e.topic = first.topic;
      e.queue = first.queue;
      e.offset = place_or_due(first.offset, first.due_ms);
    }
    next += d.messages;
    add(e);
  }
}

void outcome_table::add(const outcome_entry& entry) {
  // Out of turn comes only what a replay repeats and a run has already: a checkpoint's slices begin
  // where the runs end.
  if (entry.decided_at < newest()) {
    if (!index_.find(entry.transaction))
      evicted_ = std::max(evicted_, entry.decided_at);
    return;
  }
  const auto [turn, fresh] = index_.insert(entry.transaction);
  if (!fresh)
    return; // the first outcome stays
  turn = ring_.first_turn + static_cast<place_index::place>(ring_.size());
  ring_.push_back(entry);
}

const outcome_entry* outcome_table::find(position transaction) const {
  const auto age = age_of(transaction);
  return age ? &ring_[*age] : nullptr;
}

std::optional<std::size_t> outcome_table::age_of(position transaction) const {
  const auto turn = index_.find(transaction);
  if (!turn)
    return {};
  return static_cast<place_index::place>(*turn - ring_.first_turn);
}

position outcome_table::reopened_as(position transaction) const {
  const auto found = reopened_.find(transaction);
  return found == reopened_.end() ? position{} : found->second;
}

void outcome_table::evict(std::size_t keep, position below) {
  while (ring_.size() > keep && ring_.front().decided_at < below) {
    evicted_ = std::max(evicted_, ring_.front().decided_at);
    index_.take(ring_.front().transaction);
    ring_.pop_front();
    ++ring_.first_turn;
  }
}

void outcome_table::saved_below(position to) {
  saved_ = std::max(saved_, to);
}

std::size_t outcome_table::first_unsaved() const {
  const auto found =
      std::ranges::partition_point(ring_, [&](const auto& e) { return e.decided_at < saved_; });
  return static_cast<std::size_t>(found - ring_.begin());
}

std::pair<std::string, std::string> outcome_table::save_slice(std::string& cursor) const {
  slice_writer out;
  out.put(slice_version);
  if (cursor.empty()) {
    for (const auto& [old, again] : reopened_) {
      out.put(old);
      out.put(again);
    }
    cursor = std::to_string(saved_.value);
    return {std::string{reopened_slice}, out.take()};
  }
  // The cursor is a decision's position: entries may leave the ring between two calls.
  const position from{std::max<std::uint64_t>(std::stoull(cursor), saved_.value)};
  auto at = std::ranges::partition_point(ring_, [&](const auto& e) { return e.decided_at < from; });
  position last;
  for (std::size_t taken = 0; at != ring_.end(); ++at, ++taken) {
    // A record's decisions stay together, so that the cursor never stands inside of one.
    if (taken >= entries_per_slice && at->decided_at != last)
      break;
    last = at->decided_at;
    put_all(out, at->transaction, at->decided_at, at->decided_ms, at->offset, at->group, at->topic,
            at->queue, at->messages, at->result, at->by);
  }
  cursor = at == ring_.end() ? std::string{} : std::to_string(at->decided_at.value);
  return {std::string{recent_slice}, out.take()};
}

void outcome_table::load(const std::string& slice_name, std::string_view bytes) {
  slice_reader in{bytes};
  HANDFAST_ASSERT(in.get<std::uint8_t>() == slice_version);
  while (!in.at_end()) {
    if (slice_name == reopened_slice) {
      const auto old = in.get<position>();
      reopened_[old] = in.get<position>();
      continue;
    }
    outcome_entry e;
    get_all(in, e.transaction, e.decided_at, e.decided_ms, e.offset, e.group, e.topic, e.queue,
            e.messages, e.result, e.by);
    HANDFAST_ASSERT(in.ok());
    add(e);
  }
}

std::span<const index_entry> entries_of(const decide_record& record, position transaction) {
  std::size_t next = 0;
  for (const auto& d : record.decisions) {
    if (next + d.messages > record.entries.size())
      break;
    if (d.transaction == transaction)
      return std::span{record.entries}.subspan(next, d.messages);
    next += d.messages;
  }
  return {};
}

} // namespace handfast
