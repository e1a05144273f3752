#include "actors/op_store.hpp"

#include "actors/folds/decision_rules.hpp"
#include "actors/type_ids.hpp"
#include "config/settings.hpp"
#include "messages/assert.hpp"
#include "messages/limits.hpp"
#include "messages/place_or_due.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

/// One DECIDE record stays well below the bound of a log batch.
constexpr std::size_t entries_per_record = 16'384;
/// Questions held while this is being rebuilt; more are answered `recovering`.
constexpr std::size_t held_max = 65'536;

/// Not known for sure without its records unless it is one committed message.
bool may_concern(const outcome_entry& entry, topic_id topic) {
  return topic == topic_id{} || entry.topic == topic || entry.messages != 1 ||
         entry.result != outcome::committed;
}

} // namespace

void op_store_state::begin(const shard_environment* env, fold_start<outcome_table> from) {
  env_ = env;
  appends_.emplace(from.life);
  member_.emplace(self_, appender{appender_role::op_store, 0, from.life},
                  std::string{outcome_table::slice_prefix}, std::move(from));
}

// -- peers and coming back -------------------------------------------------------------

void op_store_state::on_peers(const peers_changed& x) {
  const auto before = std::exchange(peers_, x.peers);
  member_->connect(*peers_);
  begin_service();
  if (before && before->log_reader.life != peers_->log_reader.life)
    for (const auto& [id, what] : lookups_)
      send(id, what);
}

void op_store_state::begin_service() {
  if (served_ || !peers_ || !member_->serving())
    return;
  served_ = true;
  // Back into the mailbox, with their senders.
  for (auto& [from, what] : std::exchange(held_, {}))
    std::visit(
        [&, sender = from](auto& m) {
          self_->eq_impl(caf::make_message_id(), sender, self_->context(), std::move(m));
        },
        what);
}

void op_store_state::hold(held_message what) {
  held_.emplace_back(self_->current_sender(), std::move(what));
}

/// Orders are always held: there can't be more than there are pending transactions. Questions have
/// a bound.
bool op_store_state::may_hold() const {
  return held_.size() < held_max;
}

void op_store_state::on_replayed(const log_replayed& x) {
  member_->on_replayed(x, [this](const log_record& r, bool) { apply(r); });
  begin_service();
}

void op_store_state::on_durable(const records_durable& x) {
  member_->on_durable(x, [this](const log_record& r, bool) { apply(r); });
  evict();
  answers_.send_all(self_);
  begin_service();
  answer_stop_if_done();
}

void op_store_state::apply(const log_record& record) {
  member_->fold.apply(record);
  if (record.type != record_type::decide)
    return;
  appends_->take(record.cookie);
  for (const auto& d : std::get<decide_record>(record.content).decisions) {
    deciding_.erase(d.transaction);
    if (waiting_.empty())
      continue;
    if (const auto* entry = member_->fold.find(d.transaction))
      answer_waiting(*entry);
  }
}

void op_store_state::answer_waiting(const outcome_entry& entry) {
  const auto found = waiting_.find(entry.transaction);
  if (found == waiting_.end())
    return;
  for (const auto& j : found->second)
    answers_.add(j.asker, judge(j.request, entry));
  waiting_.erase(found);
}

/// What half_store does not know yet must be recognised here, so it stays.
void op_store_state::evict() {
  member_->fold.evict(env_->settings->transaction.outcomes_in_memory,
                      std::min(member_->fold.saved(), half_applied_));
}

// -- recording -------------------------------------------------------------------------

void op_store_state::on_record(record_decisions& x) {
  if (!served_) {
    hold(std::move(x));
    return;
  }
  half_applied_ = std::max(half_applied_, x.applied);
  if (!is_fresh(x))
    drop_known(x);
  if (!x.decisions.empty())
    append(std::move(x));
  answers_.send_all(self_);
}

bool op_store_state::is_fresh(const record_decisions& x) const {
  // What was decided below, half_store no longer has pending: usually nothing needs a search.
  const bool searched = member_->fold.newest() >= x.applied;
  return std::ranges::none_of(x.decisions, [&](const decision& d) {
    return deciding_.contains(d.transaction) || (searched && member_->fold.find(d.transaction));
  });
}

/// Leaves out what is decided, or on its way: the record is the answer to that.
void op_store_state::drop_known(record_decisions& x) {
  record_decisions rest;
  std::size_t next = 0;
  for (const auto& d : x.decisions) {
    const auto first = x.entries.begin() + static_cast<std::ptrdiff_t>(next);
    next += d.messages;
    if (const auto* entry = member_->fold.find(d.transaction)) {
      ++repeats_;
      decide_request request;
      request.transaction = env_->ids.at(d.transaction);
      request.wanted = d.result;
      request.by = origin::policy;
      answers_.add(self_->current_sender(), judge(request, *entry));
    } else if (!deciding_.contains(d.transaction)) {
      rest.decisions.push_back(d);
      rest.entries.insert(rest.entries.end(), first, first + d.messages);
    }
  }
  x = std::move(rest);
}

void op_store_state::append(record_decisions x) {
  if (x.entries.size() <= entries_per_record) {
    append_part(std::move(x.decisions), std::move(x.entries));
    return;
  }
  std::vector<decision> decisions;
  std::vector<index_entry> entries;
  auto from = x.entries.begin();
  for (const auto& d : x.decisions) {
    if (!entries.empty() && entries.size() + d.messages > entries_per_record)
      append_part(std::exchange(decisions, {}), std::exchange(entries, {}));
    decisions.push_back(d);
    entries.insert(entries.end(), from, from + d.messages);
    from += d.messages;
  }
  append_part(std::move(decisions), std::move(entries));
}

void op_store_state::append_part(std::vector<decision> decisions,
                                 std::vector<index_entry> entries) {
  std::vector<position> transactions;
  transactions.reserve(decisions.size());
  for (const auto& d : decisions) {
    HANDFAST_ASSERT(d.result != outcome::pending);
    transactions.push_back(d.transaction);
    deciding_.emplace(d.transaction, d.result);
  }
  recorded_ += decisions.size();
  append_records out{member_->who(), {}};
  auto& record = out.records.emplace_back();
  record.type = record_type::decide;
  record.cookie = appends_->add(std::move(transactions));
  record.content = decide_record{{}, std::move(decisions), std::move(entries)};
  self_->send(peers_->commit_log.actor, std::move(out));
}

/// The log took no record of them: half_store has them pending again, and whoever waited is told so
/// too.
void op_store_state::on_refused(const append_refused& x) {
  for (const auto cookie : x.cookies) {
    const auto transactions = appends_->take(cookie);
    if (!transactions)
      continue;
    for (const auto t : *transactions) {
      deciding_.erase(t);
      decision_result result;
      result.code = x.why.code;
      result.transaction = env_->ids.at(t);
      answers_.add(caf::actor_cast<caf::strong_actor_ptr>(peers_->half_store.actor), result);
      if (const auto found = waiting_.find(t); found != waiting_.end()) {
        for (const auto& j : found->second) {
          result.id = j.request.id;
          answers_.add(j.asker, result);
        }
        waiting_.erase(found);
      }
    }
  }
  answers_.send_all(self_);
  answer_stop_if_done();
}

// -- lists, checkpoints, the end ----------------------------------------------------------

void op_store_state::on_list(const list_transactions& x) {
  if (!served_ && may_hold()) {
    hold(x);
    return;
  }
  transactions_listed answer;
  answer.id = x.id;
  answer.code = served_ ? ec::ok : ec::recovering;
  const auto& table = member_->fold;
  const auto max =
      std::clamp<std::size_t>(x.max, 1, static_cast<std::size_t>(limits::page_items_max));
  auto next = served_ ? table.size() : 0; // newest first: one behind the next to look at
  if (x.after != position{})
    next = table.age_of(x.after).value_or(0);
  for (; next > 0 && !answer.more; --next) {
    const auto& entry = table.by_age(next - 1);
    const auto state = entry.result == outcome::committed     ? transaction_state::committed
                       : entry.result == outcome::rolled_back ? transaction_state::rolled_back
                                                              : transaction_state::given_up;
    if ((!x.any_state && state != x.state) || (x.group != group_id{} && entry.group != x.group) ||
        !may_concern(entry, x.topic))
      continue;
    if (answer.page.size() == max) {
      answer.more = true;
      break;
    }
    auto& life = answer.page.emplace_back();
    life.id = env_->ids.at(entry.transaction);
    life.state = state;
    life.group = entry.group;
    life.decided_by = entry.by;
    life.decided_ms = entry.decided_ms;
    // What stands in memory is a summary: the first message only, and of a given-up one the copy.
    if (entry.messages > 0 && entry.result == outcome::committed)
      life.messages.push_back({entry.transaction, entry.topic, entry.queue, offset_in(entry.offset),
                               0, 0, due_in(entry.offset)});
    life.messages_partial = entry.messages != 1 || life.messages.empty();
    life.attempts_unknown = true;
    if (const auto again = table.reopened_as(entry.transaction); again != position{})
      life.reopened_as = env_->ids.at(again);
  }
  self_->send(caf::actor_cast<connection_actor>(self_->current_sender()), std::move(answer));
}

unsaved_taken op_store_state::unsaved(const take_unsaved&) {
  unsaved_taken taken;
  if (!member_->serving()) {
    taken.code = ec::recovering;
    return taken;
  }
  // Everything there is, since all of it is durable; `run_saved` then speaks of exactly that.
  member_->fold.each_unsaved(position{UINT64_MAX}, [&](const outcome_entry& e) {
    taken.outcomes.push_back(stored(e));
    offered_ = e.decided_at + 1;
  });
  return taken;
}

void op_store_state::on_run_saved() {
  member_->fold.saved_below(offered_);
  evict();
}

void op_store_state::on_stop() {
  stopper_ = self_->current_sender();
  answer_stop_if_done();
}

void op_store_state::answer_stop_if_done() {
  if (!stopper_ || !appends_->empty())
    return;
  self_->send(caf::actor_cast<node_supervisor_actor>(stopper_), stopped{name, {}});
  stopper_ = nullptr;
}

status_report op_store_state::status() const {
  const auto& table = member_->fold;
  status_report report;
  report.actor = name;
  const auto add = [&](const char* sample_name, auto value) {
    report.samples.push_back({sample_name, {}, static_cast<double>(value)});
  };
  add("handfast_outcomes_in_memory", table.size());
  add("handfast_decisions_under_way", deciding_.size());
  add("handfast_decisions_recorded_total", recorded_);
  add("handfast_decisions_repeated_total", repeats_);
  add("handfast_outcome_lookups", lookups_.size());
  add("handfast_op_store_serving", served_ ? 1 : 0);
  report.quarantined = member_->quarantined();
  return report;
}

op_store_actor::behavior_type op_store(op_store_state::self_pointer self,
                                       const shard_environment* env,
                                       fold_start<outcome_table> from) {
  auto& s = self->state;
  s.begin(env, std::move(from));
  // The busiest first: CAF compares a message with one after the other.
  return {
      [&s](const records_durable& x) { s.on_durable(x); },
      [&s](record_decisions& x) { s.on_record(x); },
      [&s](judge_decisions& x) { s.on_judge(x); },
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const appender_registered& x) { s.on_registered(x); },
      [&s](const slices_loaded& x) { s.on_slices(x); },
      [&s](const log_replayed& x) { s.on_replayed(x); },
      [&s](const append_refused& x) { s.on_refused(x); },
      [&s](const take_slices& x) { return s.slices(x); },
      [&s](const find_outcome& x) { s.on_find(x); },
      [&s](const outcomes_found& x) { s.on_outcomes(x); },
      [&s](const records_read& x) { s.on_records(x); },
      [&s](const list_transactions& x) { s.on_list(x); },
      [&s](const run_saved&) { s.on_run_saved(); },
      [&s](const take_unsaved& x) { return s.unsaved(x); },
  };
}

} // namespace handfast
