#include "actors/check_desk.hpp"

#include "actors/type_ids.hpp"
#include "config/settings.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>

namespace handfast {

namespace {

using std::chrono::milliseconds;

/// Halves that are decided within this time never reach CHECK SCHEDULER.
constexpr milliseconds sweep_interval{200};
/// Halves with a first check sooner than this go there at once.
constexpr milliseconds short_timeout{1'000};
/// Attempts go to the log together.
constexpr milliseconds log_interval{1'000};
/// Places looked at in one step of re-arming.
constexpr pending_table::place rearm_step = 20'000;

} // namespace

check_desk::check_desk(self_pointer self, const shard_environment* env, half_fold* fold,
                       check_desk_owner* owner)
    : self_{self}, env_{env}, fold_{fold}, owner_{owner}, start_{env->time->now()},
      pace_{env->settings->transaction.checks_per_second},
      sessions_{env->settings->producer.session_timeout.count(), 0} {}

mono_ms check_desk::now() const {
  return std::chrono::duration_cast<milliseconds>(env_->time->now() - start_).count();
}

config::policy check_desk::policy_of(const pending_entry& entry) const {
  return fold_->rules.policy_of(env_->settings->transaction.checks, entry.topic, entry.group,
                                entry.timeout_ms);
}

void check_desk::on_peers(const shard_peers& peers) {
  const bool scheduler_changed =
      scheduler_.life != incarnation{} && scheduler_.life != peers.check_scheduler.life;
  scheduler_ = peers.check_scheduler;
  listener_ = peers.check_listener.actor;
  supervisor_ = peers.supervisor.actor;
  if (scheduler_changed && served_) {
    rearm_cursor_ = 0;
    rearm_some();
  }
}

void check_desk::on_served() {
  served_ = true;
  fold_->pending.settle_ages(env_->time->wall(), now());
  if (fold_->pending.size() == 0)
    return;
  rearm_cursor_ = 0;
  rearm_some();
}

void check_desk::on_rearm_all(const caf::strong_actor_ptr& from) {
  // A scheduler whose restart was announced already is being served.
  if (!served_ || rearm_cursor_ || from != caf::actor_cast<caf::strong_actor_ptr>(scheduler_.actor))
    return;
  rearm_cursor_ = 0;
  rearm_some();
}

void check_desk::on_timer(std::uint32_t timer) {
  switch (timer) {
  case sweep:
    sweep_fresh();
    break;
  case log_attempts:
    logging_ = false;
    flush_attempts();
    break;
  case drain:
    draining_ = false;
    drain_queue();
    break;
  case rearm:
    rearm_some();
    break;
  default:
    break;
  }
}

// -- deadlines ------------------------------------------------------------------

void check_desk::on_opened(pending_table::place place) {
  auto& entry = fold_->pending.at(place);
  sessions_.seen(entry.producer);
  if (!served_ || entry.state != pending_state::pending)
    return;
  const auto timeout = fold_->rules.timeout_of(env_->settings->transaction.checks, entry.topic,
                                               entry.group, entry.timeout_ms);
  if (timeout < short_timeout) {
    arm(entry, next_due(entry, policy_of(entry), now()));
    send_armed();
    return;
  }
  young_.push_back({place, entry.id});
  if (!sweeping_) {
    sweeping_ = true;
    owner_->start_timer(sweep_interval, sweep);
  }
}

void check_desk::sweep_fresh() {
  const auto t = now();
  for (const auto& fresh : old_) {
    auto* entry = fold_->pending.at(fresh.place, fresh.id);
    if (entry && entry->due_at == unknown_moment && entry->state == pending_state::pending)
      arm(*entry, next_due(*entry, policy_of(*entry), t));
  }
  send_armed();
  old_.clear();
  std::swap(old_, young_);
  sweeping_ = !old_.empty();
  if (sweeping_)
    owner_->start_timer(sweep_interval, sweep);
}

mono_ms check_desk::next_due(const pending_entry& entry, const config::policy& rules,
                             mono_ms now) const {
  const auto from =
      entry.attempts == 0 && !entry.has(pending_flags::keep_asking) ? entry.stored_at : now;
  auto due = from + config::wait_before_check(rules, entry.attempts).count();
  if (rules.check_total_age.count() > 0 && !entry.has(pending_flags::keep_asking))
    due = std::min(due, entry.stored_at + rules.check_total_age.count());
  return std::max(due, now);
}

void check_desk::arm(pending_entry& entry, mono_ms due) {
  entry.due_at = due;
  const auto left = std::clamp<mono_ms>(due - now(), 0, UINT32_MAX);
  armed_.push_back({entry.id, static_cast<std::uint32_t>(left)});
}

void check_desk::send_armed() {
  if (armed_.empty())
    return;
  if (scheduler_.actor)
    self_->send(scheduler_.actor, arm_deadlines{std::move(armed_)});
  armed_ = {};
}

void check_desk::rearm_some() {
  if (!rearm_cursor_)
    return;
  const auto t = now();
  auto place = *rearm_cursor_;
  const auto stop_at = std::min(fold_->pending.end(), place + rearm_step);
  for (; place < stop_at; ++place) {
    auto& entry = fold_->pending.at(place);
    if (entry.id == position{} || entry.state != pending_state::pending)
      continue;
    arm(entry,
        entry.due_at != unknown_moment ? entry.due_at : next_due(entry, policy_of(entry), t));
  }
  send_armed();
  rearm_cursor_ = place < fold_->pending.end() ? std::optional{place} : std::nullopt;
  if (rearm_cursor_)
    owner_->start_timer(milliseconds{1}, rearm);
}

void check_desk::on_pending_again(pending_entry& entry) {
  const auto t = now();
  arm(entry, std::max(entry.due_at, t + policy_of(entry).check_interval.count()));
  send_armed();
}

// -- answers ------------------------------------------------------------------------

/// An answer proves that a producer was asked, also when it overtakes the receipt; that only brings
/// the name then.
void check_desk::on_undecided(pending_entry& entry, const decide_request& answer) {
  const auto t = now();
  const bool in_progress = answer.in_progress;
  if (answer.by == origin::check || in_progress) {
    if (speaks_of_ask(entry, answer.attempt))
      take_receipt(entry, {}, t, !in_progress);
    else if (in_progress && entry.has(pending_flags::counted) && entry.attempts > 0)
      undo_attempt(entry);
    fold_->asks.answer(entry.id, in_progress ? "in_progress" : "unknown");
    entry.clear(pending_flags::counted);
  }
  if (in_progress)
    arm(entry, t + policy_of(entry).check_interval.count());
  send_armed();
}

void check_desk::on_decided_by_check(pending_entry& entry, const decide_request& answer) {
  if (speaks_of_ask(entry, answer.attempt))
    take_receipt(entry, {}, now(), true);
  armed_.clear(); // nothing follows
  fold_->asks.answer(entry.id, name_of(answer.wanted));
}

void check_desk::on_running(const producer_running& x) {
  const auto t = now();
  if (!x.online) {
    sessions_.lost(x.producer, t);
    return;
  }
  sessions_.online(x.producer, t);
  for (const auto& id : x.transactions) {
    const auto place = fold_->pending.find(id.opened_at);
    if (place == pending_table::none)
      continue;
    auto& entry = fold_->pending.at(place);
    if (entry.producer != x.producer || entry.state != pending_state::pending)
      continue;
    decide_request still_runs;
    still_runs.by = origin::check;
    still_runs.in_progress = true;
    on_undecided(entry, still_runs);
  }
}

// -- counting -----------------------------------------------------------------------

void check_desk::take_receipt(pending_entry& entry, const check_result& result, mono_ms now,
                              bool counts) {
  ++handed_over_;
  const auto attempt = static_cast<std::uint16_t>(std::min<unsigned>(entry.attempts + 1u, 65'535));
  const auto wall = env_->time->wall();
  fold_->asks.add(entry.id,
                  {wall, attempt, member_hash(result.member_name), result.member_name, {}});
  owner_->tell_observers({env_->ids.at(entry.id), transaction_state::pending, entry.group, attempt,
                          origin::check, wall});
  entry.clear(pending_flags::asking | pending_flags::waiting);
  if (!counts)
    return;
  entry.attempts = attempt;
  entry.set(pending_flags::counted);
  note_count(entry);
  arm(entry, next_due(entry, policy_of(entry), now));
}

void check_desk::undo_attempt(pending_entry& entry) {
  --entry.attempts;
  note_count(entry);
}

void check_desk::note_count(pending_entry& entry) {
  if (entry.has(pending_flags::count_unlogged))
    return;
  entry.set(pending_flags::count_unlogged);
  unlogged_.push_back(entry.id);
  if (!logging_) {
    logging_ = true;
    owner_->start_timer(log_interval, log_attempts);
  }
}

void check_desk::flush_attempts() {
  checked_record record;
  for (const auto id : unlogged_) {
    const auto place = fold_->pending.find(id);
    if (place == pending_table::none)
      continue;
    auto& entry = fold_->pending.at(place);
    entry.clear(pending_flags::count_unlogged);
    record.attempts.push_back({id, entry.attempts, fold_->asks.last_member(id)});
  }
  unlogged_.clear();
  if (!record.attempts.empty())
    owner_->append_attempts(std::move(record));
}

void check_desk::add_samples(std::vector<sample>& to) const {
  std::uint64_t offline = 0;
  std::uint64_t stuck = 0;
  for (const auto& [group, desk] : groups_)
    if (desk.members && *desk.members == 0 && fold_->pending.transactions_of(group) > 0) {
      ++offline;
      stuck += fold_->pending.transactions_of(group);
    }
  to.push_back({"handfast_checks_handed_over_total", {}, static_cast<double>(handed_over_)});
  to.push_back({"handfast_checks_not_handed_over_total", {}, static_cast<double>(not_handed_)});
  to.push_back({"handfast_checks_exhausted_total", {}, static_cast<double>(given_up_)});
  to.push_back({"handfast_checks_queued", {}, static_cast<double>(due_.size())});
  to.push_back({"handfast_groups_without_producer", {}, static_cast<double>(offline)});
  to.push_back({"handfast_transactions_without_producer", {}, static_cast<double>(stuck)});
}

} // namespace handfast
