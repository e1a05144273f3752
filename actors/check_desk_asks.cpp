/// The part of the check desk that asks producers, and what follows from it.

#include "actors/check_desk.hpp"
#include "actors/type_ids.hpp"
#include "config/settings.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace handfast {

namespace {

using std::chrono::milliseconds;

/// After this long without a word an ask counts as lost and is made again.
constexpr milliseconds ask_patience{5'000};
/// The same for a question to the check listener.
constexpr milliseconds judge_patience{10'000};
/// The same for a question to the supervisor.
constexpr milliseconds search_patience{1'000};
constexpr milliseconds drain_interval{20};
/// Queue items looked at in one go, whatever the pace.
constexpr std::size_t drain_step = 4'096;

} // namespace

void check_desk::on_due(const deadlines_due& x) {
  if (!served_)
    return;
  const auto t = now();
  for (const auto id : x.transactions) {
    const auto place = fold_->pending.find(id);
    if (place == pending_table::none)
      continue;
    auto& entry = fold_->pending.at(place);
    // Armed anew meanwhile: that deadline counts, not this one.
    if (entry.due_at == unknown_moment || t < entry.due_at - timing_wheel::tick_ms)
      continue;
    enqueue(entry);
  }
  drain_queue();
}

void check_desk::enqueue(pending_entry& entry) {
  if (entry.state != pending_state::pending || entry.has(pending_flags::queued))
    return;
  entry.set(pending_flags::queued);
  due_.push_back(entry.id);
}

void check_desk::drain_queue() {
  const auto t = now();
  for (std::size_t looked = 0; looked < drain_step; ++looked)
    if (!drain_one(t))
      break;
  for (const auto group : touched_)
    if (auto found = groups_.find(group); found != groups_.end() && !found->second.orders.empty())
      self_->send(found->second.actor, ask_producers{std::exchange(found.value().orders, {})});
  touched_.clear();
  send_armed();
  if ((!due_.empty() || !woken_.empty()) && !draining_) {
    draining_ = true;
    owner_->start_timer(drain_interval, drain);
  }
}

/// One item of the queues, deadlines first.
/// @return false if there is none, or the pace allows no more now
bool check_desk::drain_one(mono_ms now) {
  const bool from_due = !due_.empty();
  if (!from_due && woken_.empty())
    return false;
  const auto id = from_due ? due_.front() : woken_.front().back();
  if (const auto place = fold_->pending.find(id); place != pending_table::none) {
    auto& entry = fold_->pending.at(place);
    const auto mark = from_due ? pending_flags::queued : pending_flags::waiting;
    const bool under_way = !from_due && entry.has(pending_flags::asking | pending_flags::judging |
                                                  pending_flags::queued);
    const bool wanted = entry.has(mark) && entry.state == pending_state::pending && !under_way;
    entry.clear(mark);
    if (wanted && !process(entry, now)) {
      entry.set(mark);
      return false;
    }
  }
  if (from_due) {
    due_.pop_front();
    return true;
  }
  woken_.front().pop_back();
  if (woken_.front().empty())
    woken_.pop_front();
  return true;
}

bool check_desk::process(pending_entry& entry, mono_ms now) {
  // Whatever was under way has not come back in time.
  entry.clear(pending_flags::asking | pending_flags::judging);
  const auto rules = policy_of(entry);
  auto& desk = groups_[entry.group];
  if (is_exhausted(entry, rules, now)) {
    if (!pace_.take(now))
      return false;
    give_up_or_wait(entry, rules, now);
    return true;
  }
  if (!desk.actor) {
    find_group(entry.group, desk);
    wait_for_member(entry, desk);
    arm(entry, now + rules.check_interval.count());
    return true;
  }
  if (desk.members && *desk.members == 0) {
    not_handed(entry, now);
    return true;
  }
  if (!pace_.take(now))
    return false;
  ask(entry, desk, rules, now);
  return true;
}

bool check_desk::is_exhausted(const pending_entry& entry, const config::policy& rules,
                              mono_ms now) const {
  if (entry.has(pending_flags::keep_asking))
    return false;
  return entry.attempts >= rules.check_max ||
         (rules.check_total_age.count() > 0 &&
          now - entry.stored_at >= rules.check_total_age.count());
}

/// After a restart producers get the chance to come back first: nothing is given up before one has
/// been there for as long as the first check would wait.
void check_desk::give_up_or_wait(pending_entry& entry, const config::policy& rules, mono_ms now) {
  auto& desk = groups_[entry.group];
  if (entry.has(pending_flags::recovered)) {
    if (!desk.actor)
      find_group(entry.group, desk);
    if (desk.online_since == unknown_moment) {
      wait_for_member(entry, desk);
      arm(entry, now + rules.check_interval.count());
      return;
    }
    if (const auto due = desk.online_since + rules.timeout.count(); now < due) {
      arm(entry, due);
      return;
    }
  }
  entry.set(pending_flags::judging);
  arm(entry, now + judge_patience.count());
  if (listener_)
    self_->send(listener_, checks_exhausted{owner_->life_of(entry)});
}

void check_desk::ask(pending_entry& entry, group_desk& desk, const config::policy& rules,
                     mono_ms now) {
  check_order order;
  order.transaction = env_->ids.at(entry.id);
  order.group = entry.group;
  order.topic = entry.topic;
  order.queue = entry.queue;
  order.original = entry.producer;
  order.only_original = sessions_.only_original(entry, now);
  order.attempt = static_cast<std::uint16_t>(std::min<unsigned>(entry.attempts + 1u, 65'535));
  order.attempts_max = static_cast<std::uint16_t>(std::min<std::uint32_t>(rules.check_max, 65'535));
  order.messages = entry.messages;
  order.stored_ms = entry.stored_ms;
  order.body_at = fold_->pending.first_body(entry);
  order.body_length = entry.length;
  if (desk.orders.empty())
    touched_.push_back(entry.group);
  desk.orders.push_back(order);
  entry.set(pending_flags::asking);
  arm(entry, now + ask_patience.count());
}

void check_desk::not_handed(pending_entry& entry, mono_ms now) {
  ++not_handed_;
  wait_for_member(entry, groups_[entry.group]);
  auto wait = policy_of(entry).check_interval;
  // Others may be asked as soon as the original has been away long enough.
  if (sessions_.only_original(entry, now))
    wait = std::min(wait, env_->settings->producer.session_timeout);
  arm(entry, now + wait.count());
}

void check_desk::wait_for_member(pending_entry& entry, group_desk& desk) {
  if (entry.has(pending_flags::waiting))
    return;
  entry.set(pending_flags::waiting);
  // Those that were decided while they waited are dropped when they outnumber the others.
  if (desk.waiting.size() >= 64 &&
      desk.waiting.size() > 2 * fold_->pending.transactions_of(entry.group))
    std::erase_if(desk.waiting, [&](position id) {
      const auto place = fold_->pending.find(id);
      return place == pending_table::none || !fold_->pending.at(place).has(pending_flags::waiting);
    });
  desk.waiting.push_back(entry.id);
}

void check_desk::wake(group_desk& desk) {
  if (!desk.waiting.empty()) {
    std::ranges::reverse(desk.waiting); // taken from the back: the longest waiting first
    woken_.push_back(std::exchange(desk.waiting, {}));
  }
  drain_queue();
}

// -- groups ---------------------------------------------------------------------

/// Asked again now and then while somebody needs it: an answer may have been lost with a
/// supervisor.
void check_desk::find_group(group_id group, group_desk& desk) {
  const auto t = now();
  if (desk.sought_at != unknown_moment && t - desk.sought_at < search_patience.count())
    return;
  desk.sought_at = t;
  if (supervisor_)
    self_->send(supervisor_, find_producer_group{group});
}

void check_desk::on_group_found(const producer_group_found& x) {
  auto& desk = groups_[x.group];
  const bool fresh = x.actor && desk.actor != x.actor;
  desk.actor = x.actor;
  if (fresh)
    desk.members.reset();
  if (fresh && served_)
    wake(desk);
}

void check_desk::on_presence(const group_presence& x) {
  auto& desk = groups_[x.group];
  const bool was_there = desk.members.value_or(0) > 0;
  desk.members = x.members;
  if (x.members == 0) {
    desk.online_since = unknown_moment;
    return;
  }
  if (desk.online_since == unknown_moment)
    desk.online_since = now();
  if (!was_there && served_) {
    if (!desk.actor)
      find_group(x.group, desk);
    wake(desk);
  }
}

void check_desk::on_handled(const checks_handled& x) {
  const auto t = now();
  for (const auto& result : x.results) {
    const auto id = result.transaction.opened_at;
    const auto place = fold_->pending.find(id);
    const bool asking =
        place != pending_table::none && speaks_of_ask(fold_->pending.at(place), result.attempt);
    if (!asking) {
      // The answer was faster; or the receipt is one of an earlier ask; or the ask was given up as
      // lost and has been made again since.
      if (result.handed_over)
        fold_->asks.name_member(id, member_hash(result.member_name), result.member_name);
      continue;
    }
    auto& entry = fold_->pending.at(place);
    if (entry.state != pending_state::pending)
      continue;
    if (result.handed_over) {
      take_receipt(entry, result, t, true);
      continue;
    }
    entry.clear(pending_flags::asking);
    if (!result.original_connected && entry.has(pending_flags::local_transaction))
      sessions_.lost(entry.producer, t);
    not_handed(entry, t);
  }
  send_armed();
}

// -- the end of asking ---------------------------------------------------------------

void check_desk::on_judged(const exhausted_judged& x) {
  const auto place = fold_->pending.find(x.transaction.opened_at);
  if (place == pending_table::none)
    return;
  auto& entry = fold_->pending.at(place);
  if (!entry.has(pending_flags::judging) || entry.state != pending_state::pending)
    return;
  entry.clear(pending_flags::judging);
  ++given_up_;
  switch (x.action) {
  case config::give_up_action::roll_back:
    spdlog::error("transaction {} of group {} was asked about {} times and never decided: given "
                  "up. Open it again with `handfast tx reopen {}`.",
                  to_string(x.transaction), fold_->rules.group_name(entry.group), entry.attempts,
                  to_string(x.transaction));
    owner_->decide_by_policy(entry, outcome::given_up);
    break;
  case config::give_up_action::commit:
    owner_->decide_by_policy(entry, outcome::committed);
    break;
  case config::give_up_action::keep:
    entry.set(pending_flags::keep_asking);
    enqueue(entry);
    drain_queue();
    break;
  case config::give_up_action::park:
    entry.state = pending_state::parked;
    owner_->tell_observers({x.transaction, transaction_state::parked, entry.group, entry.attempts,
                            origin::policy, env_->time->wall()});
    break;
  }
}

} // namespace handfast
