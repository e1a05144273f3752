/// The part of HALF STORE that answers questions: one transaction, lists, opening again, status.

#include "actors/half_store.hpp"
#include "actors/type_ids.hpp"
#include "config/settings.hpp"
#include "messages/limits.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>

namespace handfast {

namespace {

/// Places looked at in one step of a listing: well under a millisecond.
constexpr pending_table::place list_step = 20'000;

transaction_state state_of(const pending_entry& entry) {
  switch (entry.state) {
  case pending_state::pending:
    return transaction_state::pending;
  case pending_state::deciding:
    return transaction_state::deciding;
  case pending_state::parked:
    return transaction_state::parked;
  case pending_state::quarantined:
    return transaction_state::quarantined;
  }
  return transaction_state::pending;
}

transaction_state state_of(outcome o) {
  switch (o) {
  case outcome::committed:
    return transaction_state::committed;
  case outcome::rolled_back:
    return transaction_state::rolled_back;
  case outcome::given_up:
    return transaction_state::given_up;
  case outcome::pending:
    break;
  }
  return transaction_state::pending;
}

} // namespace

transaction_life half_store_state::life_of(const pending_entry& entry) const {
  const auto now = checks_->now();
  const auto rules = checks_->policy_of(entry);
  transaction_life life;
  life.id = env_->ids.at(entry.id);
  life.state = state_of(entry);
  life.group = entry.group;
  member_->fold.pending.append_messages(entry, life.messages);
  life.producer = entry.producer;
  life.stored_ms = entry.stored_ms;
  life.age_ms = static_cast<std::uint64_t>(std::max<mono_ms>(0, now - entry.stored_at));
  // One that is fresh has no deadline of its own yet.
  const auto due =
      entry.due_at != unknown_moment ? entry.due_at : entry.stored_at + rules.timeout.count();
  if (entry.state == pending_state::pending)
    life.next_check_in_ms = static_cast<std::uint64_t>(std::max<mono_ms>(0, due - now));
  life.timeout_ms = static_cast<std::uint32_t>(rules.timeout.count());
  life.check_interval_ms = static_cast<std::uint32_t>(rules.check_interval.count());
  life.attempts = entry.attempts;
  life.attempts_max = rules.check_max;
  life.waiting_for_producer = entry.has(pending_flags::waiting);
  life.asks = member_->fold.asks.of(entry.id);
  if (const auto old = member_->fold.pending.reopened_from(entry); old != position{})
    life.reopened_from = env_->ids.at(old);
  if (entry.state == pending_state::quarantined)
    life.note = "a stored body of it is damaged; it can only be rolled back";
  return life;
}

void half_store_state::on_find(const find_transaction& x) {
  const auto& asker = self_->current_sender();
  const auto answer = [&](ec code, transaction_life life = {}) {
    life.id = x.transaction;
    self_->send(caf::actor_cast<connection_actor>(asker),
                transaction_found{x.id, code, std::move(life)});
  };
  if (!serving())
    return answer(stopping_ ? ec::stopping : ec::recovering);
  if (!env_->ids.is_ours(x.transaction))
    return answer(ec::unknown_transaction);
  const auto place = member_->fold.pending.find(x.transaction.opened_at);
  if (place != pending_table::none)
    return answer(ec::ok, life_of(member_->fold.pending.at(place)));
  ask_op_store({asker, x.id, x.transaction, false, {}});
}

void half_store_state::ask_op_store(question q) {
  const auto ours = ++last_question_;
  self_->send(peers_->op_store.actor, find_outcome{correlation{ours}, q.transaction});
  questions_[ours] = std::move(q);
}

void half_store_state::on_outcome(const outcome_known& x) {
  const auto found = questions_.find(x.id.value);
  if (found == questions_.end())
    return;
  const auto q = std::move(found.value());
  questions_.erase(found);
  if (q.reopen)
    answer_reopen(q, x);
  else
    answer_find(q, x);
}

/// OP STORE may have answered before it saw the REOPEN record that is applied here by now.
position half_store_state::reopened_as(const question& q, const outcome_known& known) {
  return q.reopened_as != position{} ? q.reopened_as : known.outcome.reopened_as;
}

void half_store_state::answer_find(const question& q, const outcome_known& known) {
  transaction_found found{q.id, known.code, {}};
  auto& life = found.life;
  life.id = q.transaction;
  if (known.code == ec::ok) {
    const auto& o = known.outcome;
    life.state = state_of(o.result);
    life.group = o.group;
    life.messages = known.messages;
    // Only the record that opened it can be found of a rollback, and others may have joined.
    life.messages_partial = o.result == outcome::rolled_back || life.messages.empty();
    life.producer = known.producer;
    life.stored_ms = known.stored_ms;
    life.timeout_ms = known.timeout_ms;
    const auto wall = env_->time->wall();
    life.age_ms = known.stored_ms != 0 && wall > known.stored_ms ? wall - known.stored_ms : 0;
    life.asks = member_->fold.asks.of(q.transaction.opened_at);
    life.attempts = life.asks.empty() ? 0 : life.asks.back().attempt;
    life.attempts_unknown = !member_->fold.asks.knows(q.transaction.opened_at);
    life.decided_by = o.by;
    life.decided_ms = o.decided_ms;
    if (const auto again = reopened_as(q, known); again != position{})
      life.reopened_as = env_->ids.at(again);
    if (known.reopened_from != position{})
      life.reopened_from = env_->ids.at(known.reopened_from);
  }
  self_->send(caf::actor_cast<connection_actor>(q.asker), std::move(found));
}

// -- opening again ---------------------------------------------------------------------

void half_store_state::on_reopen(const reopen_transaction& x) {
  const auto& asker = self_->current_sender();
  const auto refuse_with = [&](ec code) {
    self_->send(caf::actor_cast<connection_actor>(asker), transaction_reopened{x.id, code, {}});
  };
  if (!serving())
    return refuse_with(stopping_ ? ec::stopping : ec::recovering);
  if (!env_->ids.is_ours(x.transaction))
    return refuse_with(ec::unknown_transaction);
  const auto id = x.transaction.opened_at;
  if (member_->fold.pending.find(id) != pending_table::none)
    return refuse_with(ec::not_reopenable);
  const question q{asker, x.id, x.transaction, true, {}};
  if (const auto found = reopening_.find(id); found != reopening_.end())
    found.value().push_back(q);
  else
    ask_op_store(q);
}

void half_store_state::answer_reopen(const question& q, const outcome_known& known) {
  const auto answer = [&](ec code, transaction_id again = {}) {
    self_->send(caf::actor_cast<connection_actor>(q.asker),
                transaction_reopened{q.id, code, again});
  };
  const auto old = q.transaction.opened_at;
  if (known.code != ec::ok)
    return answer(known.code);
  if (known.outcome.result != outcome::given_up)
    return answer(ec::not_reopenable);
  if (const auto again = reopened_as(q, known); again != position{})
    return answer(ec::ok, env_->ids.at(again));
  if (const auto found = reopening_.find(old); found != reopening_.end()) {
    found.value().push_back(q);
    return;
  }
  if (known.messages.empty())
    return answer(ec::corrupt);
  if (!serving())
    return answer(ec::stopping);
  if (member_->fold.pending.size() + opening_ >= env_->settings->transaction.pending_max)
    return answer(ec::too_many_pending);
  append_records out{member_->who(), {}};
  auto& record = out.records.emplace_back();
  record.type = record_type::reopen;
  record.cookie = appends_->add({q.asker, q.id, old, 0, {}, awaited::reopen, known.outcome.group});
  record.content = reopen_record{old, known.outcome.group, known.timeout_ms, known.messages};
  ++opening_;
  reopening_[old].push_back(q);
  self_->send(peers_->commit_log.actor, std::move(out));
}

// -- lists ------------------------------------------------------------------------------

void half_store_state::on_list(const list_transactions& x) {
  if (!serving()) {
    self_->send(caf::actor_cast<connection_actor>(self_->current_sender()),
                transactions_listed{x.id, {}, false, stopping_ ? ec::stopping : ec::recovering});
    return;
  }
  listings_.push_back({self_->current_sender(), x, 0, {}});
  listings_.back().what.max =
      std::clamp<std::uint32_t>(x.max, 1, static_cast<std::uint32_t>(limits::page_items_max));
  if (listings_.size() == 1)
    list_some();
}

/// Looks through the whole table, in steps; keeps the smallest ids only, so that a page costs the
/// same however many match.
void half_store_state::list_some() {
  if (listings_.empty())
    return;
  auto& now = listings_.front();
  const auto& pending = member_->fold.pending;
  const std::size_t wanted = std::size_t{now.what.max} + 1;
  const auto keep_smallest = [&] {
    if (now.found.size() <= wanted)
      return;
    const auto nth = now.found.begin() + static_cast<std::ptrdiff_t>(wanted);
    std::nth_element(now.found.begin(), nth, now.found.end());
    now.found.erase(nth, now.found.end());
  };
  const auto stop_at = std::min(pending.end(), now.next + list_step);
  for (; now.next < stop_at; ++now.next) {
    const auto& entry = pending.at(now.next);
    if (entry.id > now.what.after && matches(entry, now.what))
      now.found.push_back(entry.id);
    if (now.found.size() >= 8 * wanted)
      keep_smallest();
  }
  keep_smallest();
  if (now.next >= pending.end()) {
    send_listing(now);
    listings_.pop_front();
  }
  if (!listings_.empty())
    start_timer(std::chrono::milliseconds{1}, list_more);
}

bool half_store_state::matches(const pending_entry& entry, const list_transactions& wanted) const {
  if (!wanted.any_state && state_of(entry) != wanted.state)
    return false;
  if (wanted.group != group_id{} && entry.group != wanted.group)
    return false;
  if (wanted.topic == topic_id{} || entry.topic == wanted.topic)
    return true;
  if (entry.messages == 1)
    return false;
  std::vector<index_entry> messages;
  member_->fold.pending.append_messages(entry, messages);
  return std::ranges::any_of(messages, [&](const auto& m) { return m.topic == wanted.topic; });
}

void half_store_state::send_listing(listing& from) {
  std::ranges::sort(from.found);
  transactions_listed answer;
  answer.id = from.what.id;
  answer.more = from.found.size() > from.what.max;
  from.found.resize(std::min<std::size_t>(from.found.size(), from.what.max));
  for (const auto id : from.found)
    if (const auto place = member_->fold.pending.find(id); place != pending_table::none)
      answer.page.push_back(life_of(member_->fold.pending.at(place)));
  self_->send(caf::actor_cast<connection_actor>(from.asker), std::move(answer));
}

void half_store_state::on_topic_usage(const ask_topic_usage& x) {
  const auto& table = member_->fold.pending;
  auto pending =
      x.group != group_id{} ? table.transactions_of(x.group) : table.messages_of(x.topic);
  appends_->for_each([&](const awaited& a) {
    pending += (x.group != group_id{} ? a.group == x.group : a.topic == x.topic) ? 1 : 0;
  });
  self_->send(caf::actor_cast<topic_registry_actor>(self_->current_sender()),
              topic_usage{x.topic, pending, x.group});
}

// -- status --------------------------------------------------------------------------------

status_report half_store_state::status() const {
  const auto& pending = member_->fold.pending;
  const auto& rules = member_->fold.rules;
  status_report report;
  report.actor = name;
  auto& out = report.samples;
  const auto add = [&](const char* sample_name, auto value, std::string labels = {}) {
    out.push_back({sample_name, std::move(labels), static_cast<double>(value)});
  };
  for (const auto& [topic, count] : pending.by_topic())
    add("rocketmq_half_messages", count, "topic=\"" + rules.topic_name(topic) + "\"");
  for (const auto& [group, count] : pending.by_group())
    add("handfast_pending_transactions", count, "group=\"" + rules.group_name(group) + "\"");
  add("handfast_pending_transactions_all", pending.size());
  add("handfast_pending_bytes", pending.bytes());
  add("handfast_pending_max", env_->settings->transaction.pending_max);
  add("handfast_deciding_transactions", decisions_.size());
  add("handfast_half_store_serving", served_ ? 1 : 0);
  add("rocketmq_commit_messages_total", commits_);
  add("rocketmq_rollback_messages_total", rollbacks_);
  add("handfast_given_up_total", given_up_);
  add("handfast_decision_conflicts_total", conflicts_);
  add("handfast_halves_refused_total", refusals_);
  checks_->add_samples(out);
  report.quarantined = member_->quarantined();
  for (const auto id : pending.quarantined())
    report.quarantined.push_back(
        {id, "HALF", "a stored body of this transaction is damaged", env_->ids.at(id)});
  return report;
}

} // namespace handfast
