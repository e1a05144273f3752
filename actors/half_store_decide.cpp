/// The part of HALF STORE that decides.

#include "actors/folds/decision_rules.hpp"
#include "actors/half_store.hpp"
#include "actors/type_ids.hpp"
#include "messages/assert.hpp"

#include <caf/actor_cast.hpp>

#include <utility>

namespace handfast {

void half_store_state::on_decide(const decide& x) {
  const auto& asker = self_->current_sender();
  for (const auto& request : x.requests)
    if (serving())
      take_decision(request, asker);
    else
      decided_.add(asker, {request.id,
                           stopping_ ? ec::stopping : ec::recovering,
                           request.transaction,
                           outcome::pending,
                           request.by,
                           0,
                           {},
                           {}});
}

void half_store_state::take_decision(const decide_request& request,
                                     const caf::strong_actor_ptr& asker) {
  const auto refuse_with = [&](ec code, std::uint16_t messages = 0) {
    decided_.add(
        asker,
        {request.id, code, request.transaction, outcome::pending, request.by, messages, {}, {}});
  };
  if (!is_well_formed(request))
    return refuse_with(ec::bad_request);
  if (!env_->ids.is_ours(request.transaction))
    return refuse_with(ec::unknown_transaction);
  const auto id = request.transaction.opened_at;
  const auto place = member_->fold.pending.find(id);
  if (place == pending_table::none) {
    const auto ours = ++last_question_;
    judged_[ours] = {asker, request};
    to_judge_.requests.push_back(request);
    to_judge_.requests.back().id = correlation{ours};
    return;
  }
  auto& entry = member_->fold.pending.at(place);
  if (const auto code = refusal_of(request, entry); code != ec::ok)
    return refuse_with(code, entry.messages);
  if (request.wanted == outcome::pending) {
    if (entry.state == pending_state::pending)
      checks_->on_undecided(entry, request);
    return refuse_with(ec::ok, entry.messages);
  }
  if (entry.state == pending_state::deciding) {
    under_way(place)->others.push_back({asker, request.id, request.wanted});
    return;
  }
  if (const auto found = joining_.find(id); found != joining_.end()) {
    found.value().held.push_back({asker, request});
    return;
  }
  if (request.wanted == outcome::committed && request.messages != 0 &&
      request.messages != entry.messages)
    return refuse_with(ec::incomplete, entry.messages);
  if (request.by == origin::check)
    checks_->on_decided_by_check(entry, request);
  mark_deciding(place, request, {asker, request.id, request.wanted});
}

ec half_store_state::refusal_of(const decide_request& request, const pending_entry& entry) const {
  if (!may_decide(request, entry.group))
    return ec::wrong_group;
  if (entry.state == pending_state::quarantined && request.wanted != outcome::rolled_back)
    return ec::transaction_quarantined;
  return ec::ok;
}

void half_store_state::decide_by_policy(pending_entry& entry, outcome what) {
  // Messages under way join first: the policy looks again later.
  if (joining_.contains(entry.id)) {
    checks_->on_pending_again(entry);
    return;
  }
  decide_request request;
  request.transaction = env_->ids.at(entry.id);
  request.wanted = what;
  request.by = origin::policy;
  mark_deciding(member_->fold.pending.find(entry.id), request, {nullptr, {}, what});
}

void half_store_state::mark_deciding(pending_table::place place, const decide_request& request,
                                     waiter first) {
  HANDFAST_ASSERT(!under_way(place));
  if (place >= deciding_.size())
    deciding_.resize(member_->fold.pending.end(), no_decision);
  deciding_[place] = decisions_.take();
  auto& mark = decisions_[deciding_[place]];
  auto& entry = member_->fold.pending.at(place);
  mark.what = {entry.id, request.wanted, request.by,
               request.wanted == outcome::rolled_back ? std::uint16_t{0} : entry.messages,
               entry.group};
  mark.before = std::exchange(entry.state, pending_state::deciding);
  mark.first = std::move(first);
  add_order(mark, entry);
}

half_store_parts::decision_under_way* half_store_state::under_way(pending_table::place place) {
  if (place >= deciding_.size() || deciding_[place] == no_decision)
    return nullptr;
  return &decisions_[deciding_[place]];
}

void half_store_state::forget_decision(pending_table::place place) {
  decisions_.give_back(std::exchange(deciding_[place], no_decision));
}

void half_store_state::add_order(const decision_under_way& order, const pending_entry& entry) {
  // Everything decided below is known here, and no longer pending: so said of the oldest order.
  if (orders_.decisions.empty()) {
    orders_.applied = member_->applied();
    orders_.decisions.reserve(orders_expected_);
    orders_.entries.reserve(orders_expected_);
  }
  orders_.decisions.push_back(order.what);
  if (order.what.messages == 0)
    return;
  const auto first = orders_.entries.size();
  member_->fold.pending.append_messages(entry, orders_.entries);
  HANDFAST_ASSERT(orders_.entries.size() - first == order.what.messages);
  if (order.what.result != outcome::given_up)
    return;
  // By reference: the copy in the give-up topic is the body where it was stored, there at once.
  for (auto i = first; i < orders_.entries.size(); ++i) {
    orders_.entries[i].topic = give_up_topic;
    orders_.entries[i].queue = queue_no{0};
    orders_.entries[i].due_ms = 0;
  }
}

void half_store_state::send_orders() {
  if (!orders_.decisions.empty()) {
    orders_expected_ = orders_.decisions.size();
    self_->send(peers_->op_store.actor, std::exchange(orders_, {}));
  }
  if (!to_judge_.requests.empty())
    self_->send(peers_->op_store.actor, std::exchange(to_judge_, {}));
}

/// A new OP STORE knows nothing of what the old one was told and had not appended.
void half_store_state::resend_to_op_store() {
  orders_ = {};
  to_judge_ = {};
  for (pending_table::place place = 0; place < deciding_.size(); ++place)
    if (const auto* order = under_way(place))
      add_order(*order, member_->fold.pending.at(place));
  for (const auto& [ours, held] : judged_) {
    to_judge_.requests.push_back(held.request);
    to_judge_.requests.back().id = correlation{ours};
  }
  for (const auto& [ours, q] : questions_)
    self_->send(peers_->op_store.actor, find_outcome{correlation{ours}, q.transaction});
}

// -- the end of a decision ---------------------------------------------------------------

/// A decision is durable, or came with a replay: its transaction is pending no more.
void half_store_state::settle(const decision& made, std::span<const index_entry> messages) {
  const auto place = member_->fold.pending.find(made.transaction);
  if (place == pending_table::none)
    return;
  if (const auto* decided_now = under_way(place)) {
    answer(decided_now->first, made.transaction, made.result, made.by, messages);
    for (const auto& other : decided_now->others)
      answer(other, made.transaction, made.result, made.by, messages);
    forget_decision(place);
  }
  member_->fold.pending.erase_at(place);
}

void half_store_state::answer(const waiter& to, position transaction, outcome recorded, origin by,
                              std::span<const index_entry> messages) {
  const auto code = verdict_on(recorded, to.wanted);
  conflicts_ += code == ec::ok ? 0 : 1;
  if (!to.asker)
    return;
  decision_result result{to.id,    code, env_->ids.at(transaction),
                         recorded, by,   static_cast<std::uint16_t>(messages.size()),
                         {},       {}};
  if (recorded == outcome::committed && !messages.empty()) {
    result.queue = {messages.front().topic, messages.front().queue};
    result.offset = messages.front().offset;
    result.due_ms = messages.front().due_ms;
  }
  decided_.add(to.asker, result);
}

/// The log took no record of it: pending as before.
void half_store_state::abandon(position transaction, ec code) {
  const auto place = member_->fold.pending.find(transaction);
  const auto* refused = under_way(place);
  if (!refused)
    return;
  const auto refuse_to = [&](const waiter& to) {
    if (to.asker)
      decided_.add(to.asker, {to.id,
                              code,
                              env_->ids.at(transaction),
                              outcome::pending,
                              refused->what.by,
                              refused->what.messages,
                              {},
                              {}});
  };
  refuse_to(refused->first);
  for (const auto& other : refused->others)
    refuse_to(other);
  auto& entry = member_->fold.pending.at(place);
  entry.state = refused->before;
  forget_decision(place);
  if (entry.state == pending_state::pending)
    checks_->on_pending_again(entry);
}

void half_store_state::on_decided(const decided& x) {
  for (const auto& result : x.results) {
    // An order has no correlation: its answer is the record, which comes on its own, unless the log
    // refused it.
    if (result.id == correlation{}) {
      if (result.recorded == outcome::pending)
        abandon(result.transaction.opened_at, result.code);
      continue;
    }
    const auto found = judged_.find(result.id.value);
    if (found == judged_.end())
      continue;
    auto routed = result;
    routed.id = found->second.request.id;
    const bool conflict = result.code == ec::conflict_committed ||
                          result.code == ec::conflict_rolled_back ||
                          result.code == ec::conflict_given_up;
    conflicts_ += conflict ? 1 : 0;
    decided_.add(found->second.asker, routed);
    judged_.erase(found);
  }
}

} // namespace handfast
