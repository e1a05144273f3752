// HALF STORE, damaged bodies. Recovery reads only what stands behind the checkpoint. Bodies of
// older pending transactions are looked at here after each start, a few at a time, so that a
// damaged one is set aside before it is committed, and not when a consumer misses it.

#include "actors/half_store.hpp"
#include "actors/type_ids.hpp"
#include "messages/limits.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace handfast {

namespace {

/// One step: a few milliseconds of the log reader's time, and little memory.
constexpr std::size_t bodies_per_step = 64;
constexpr std::uint64_t bytes_per_step = 1 * limits::mib;
constexpr pending_table::place places_per_step = 20'000;

} // namespace

/// The next few; after a restart of log_reader the same ones again.
void half_store_state::ask_for_bodies() {
  const auto& pending = member_->fold.pending;
  const auto stop_at = std::min(pending.end(), bodies_.from + places_per_step);
  bodies_.places.clear();
  bodies_.owners.clear();
  std::vector<index_entry> messages;
  std::uint64_t bytes = 0;
  auto next = bodies_.from;
  for (; next < stop_at && bodies_.places.size() < bodies_per_step && bytes < bytes_per_step;
       ++next) {
    const auto& entry = pending.at(next);
    if (entry.id == position{} || !entry.has(pending_flags::recovered) ||
        entry.state == pending_state::quarantined)
      continue;
    messages.clear();
    pending.append_messages(entry, messages);
    for (const auto& m : messages) {
      bodies_.places.push_back({m.at, m.length});
      bodies_.owners.push_back(entry.id);
      bytes += m.length;
    }
  }
  bodies_.next = next;
  if (!bodies_.places.empty()) {
    bodies_.asked = correlation{++last_question_};
    self_->send(peers_->log_reader.actor, read_records{bodies_.asked, bodies_.places});
  } else if (next < pending.end()) {
    bodies_.from = next;
    start_timer(between_bodies, look_at_bodies);
  }
}

void half_store_state::on_bodies(const records_read& x) {
  if (bodies_.places.empty() || x.id != bodies_.asked || x.records.size() != bodies_.places.size())
    return;
  for (std::size_t i = 0; i < x.records.size(); ++i)
    if (x.records[i].code == ec::corrupt)
      set_aside(bodies_.owners[i], bodies_.places[i].at);
  bodies_.places.clear();
  bodies_.from = bodies_.next;
  start_timer(between_bodies, look_at_bodies);
}

/// A decision that is on its way to the log stands; then consumers find the body damaged.
void half_store_state::set_aside(position transaction, position body) {
  auto& fold = member_->fold;
  const auto place = fold.pending.find(transaction);
  if (place == pending_table::none || fold.pending.at(place).state == pending_state::deciding)
    return;
  spdlog::error("quarantined: transaction {}: its stored body at position {} is damaged",
                to_string(env_->ids.at(transaction)), body.value);
  fold.mark_damaged(body, transaction);
}

} // namespace handfast
