#include "actors/half_store.hpp"

#include "actors/type_ids.hpp"
#include "config/settings.hpp"
#include "messages/assert.hpp"
#include "messages/limits.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

void half_store_state::begin(const shard_environment* env, fold_start<half_fold> from) {
  env_ = env;
  appends_.emplace(from.life);
  member_.emplace(self_, appender{appender_role::half_store, 0, from.life},
                  std::string{half_fold::slice_prefix}, std::move(from));
  checks_.emplace(self_, env, &member_->fold, this);
  self_->at_turn_end([this] { send_gathered(); });
}

void half_store_state::start_timer(std::chrono::milliseconds in, std::uint32_t timer) {
  self_->delayed_send(self_, in, tick{timer});
}

// -- peers and coming back -------------------------------------------------------------

void half_store_state::on_peers(const peers_changed& x) {
  const auto before = std::exchange(peers_, x.peers);
  member_->connect(*peers_);
  checks_->on_peers(*peers_);
  begin_service();
  if (before && before->op_store.life != peers_->op_store.life)
    resend_to_op_store();
  if (before && before->log_reader.life != peers_->log_reader.life && !bodies_.places.empty())
    ask_for_bodies();
}

void half_store_state::begin_service() {
  if (served_ || !peers_ || !member_->serving())
    return;
  served_ = true;
  checks_->on_served();
  start_timer(before_bodies, look_at_bodies);
}

void half_store_state::on_replayed(const log_replayed& x) {
  apply_with_time([&](auto&& apply_one) { member_->on_replayed(x, apply_one); });
  begin_service();
}

void half_store_state::on_durable(const records_durable& x) {
  apply_with_time([&](auto&& apply_one) { member_->on_durable(x, apply_one); });
  begin_service();
  answer_stop_if_done();
}

// -- applying ----------------------------------------------------------------------------

/// Looks at the clock once for all records of a batch.
template <class Fold>
void half_store_state::apply_with_time(Fold&& fold) {
  fold([this, now = checks_->now()](const log_record& r, bool replayed) {
    apply(r, replayed, replayed ? unknown_moment : now);
  });
}

void half_store_state::apply(const log_record& record, bool replayed, mono_ms now) {
  member_->fold.asks.begin_at(record.at);
  switch (record.type) {
  case record_type::half:
    apply_half(record, replayed, now);
    break;
  case record_type::decide:
    apply_decide(record, replayed);
    break;
  case record_type::reopen:
    apply_reopen(record, replayed, now);
    break;
  case record_type::checked:
    // Our own counts were here before they were in the log.
    if (!appends_->take(record.cookie))
      member_->fold.apply(record);
    break;
  case record_type::meta:
    member_->fold.apply(record);
    break;
  default:
    break;
  }
}

void half_store_state::apply_half(const log_record& record, bool replayed, mono_ms now) {
  const auto place = member_->fold.apply_half(record, now);
  const auto& message = std::get<message_record>(record.content);
  const bool opens = message.transaction == position{};
  if (opens && !replayed)
    checks_->on_opened(place);
  const auto waiting = appends_->take(record.cookie);
  if (!waiting)
    return;
  HANDFAST_ASSERT(waiting->what == awaited::half);
  bytes_under_way_ -= waiting->bytes;
  const auto transaction = opens ? record.at : message.transaction;
  // Decided by an order of an earlier life while this message was under way.
  const auto code = place == pending_table::none ? ec::transaction_decided : ec::ok;
  stored_.add(waiting->asker,
              {waiting->id, code, env_->ids.at(transaction), message.offset, message.queue});
  if (opens)
    --opening_;
  else
    join_ended(transaction);
}

void half_store_state::apply_reopen(const log_record& record, bool replayed, mono_ms now) {
  const auto place = member_->fold.apply_reopen(record, now);
  if (!replayed)
    checks_->on_opened(place);
  const auto old = std::get<reopen_record>(record.content).old_transaction;
  for (auto at = questions_.begin(); at != questions_.end(); ++at)
    if (at->second.transaction.opened_at == old)
      at.value().reopened_as = record.at;
  const auto waiting = appends_->take(record.cookie);
  if (!waiting)
    return;
  --opening_;
  const auto again = env_->ids.at(record.at);
  if (const auto found = reopening_.find(waiting->transaction); found != reopening_.end()) {
    for (const auto& q : found->second)
      self_->send(caf::actor_cast<connection_actor>(q.asker),
                  transaction_reopened{q.id, ec::ok, again});
    reopening_.erase(found);
  }
  tell_observers({again, transaction_state::pending, std::get<reopen_record>(record.content).group,
                  0, origin::admin, record.time_ms});
}

void half_store_state::apply_decide(const log_record& record, bool replayed) {
  const auto& decide = std::get<decide_record>(record.content);
  std::size_t next = 0;
  for (const auto& d : decide.decisions) {
    HANDFAST_ASSERT(next + d.messages <= decide.entries.size());
    const auto messages = std::span{decide.entries}.subspan(next, d.messages);
    next += d.messages;
    settle(d, messages);
    if (replayed)
      continue;
    (d.result == outcome::committed     ? commits_
     : d.result == outcome::rolled_back ? rollbacks_
                                        : given_up_) += 1;
    if (!is_observed())
      continue;
    tell_observers({env_->ids.at(d.transaction),
                    d.result == outcome::committed     ? transaction_state::committed
                    : d.result == outcome::rolled_back ? transaction_state::rolled_back
                                                       : transaction_state::given_up,
                    d.group, 0, d.by, record.time_ms});
  }
}

bool half_store_state::is_observed() const {
  return peers_ && !peers_->observers.empty();
}

void half_store_state::tell_observers(const transaction_event& event) {
  if (!is_observed())
    return;
  for (const auto& observer : peers_->observers)
    self_->send(observer, event);
}

/// One message for each receiver and turn, however many connections asked in it.
void half_store_state::send_gathered() {
  send_halves();
  send_orders();
  stored_.send_all(self_);
  decided_.send_all(self_);
}

void half_store_state::send_halves() {
  if (halves_.empty())
    return;
  halves_expected_ = halves_.size();
  self_->send(peers_->commit_log.actor, append_records{member_->who(), std::move(halves_)});
  halves_.clear();
}

// -- storing halves ------------------------------------------------------------------------

void half_store_state::on_append(append_halves& x) {
  const auto& asker = self_->current_sender();
  std::vector<append_records> repeats;
  if (halves_.empty())
    halves_.reserve(std::max(halves_expected_, x.requests.size()));
  for (auto& request : x.requests) {
    const auto code = admits(request);
    if (code == ec::ok) {
      await_half(request, asker, halves_);
    } else if (may_be_stored_already(request, code)) {
      auto same = std::find_if(repeats.begin(), repeats.end(),
                               [code](const auto& r) { return r.unless_repeated == code; });
      if (same == repeats.end())
        same = repeats.insert(same, append_records{member_->who(), {}, code});
      await_half(request, asker, same->records);
    } else {
      ++refusals_;
      stored_.add(asker, {request.id, code, {}, {}, {}});
    }
  }
  if (repeats.empty())
    return;
  send_halves(); // what they repeat may be among them
  for (auto& r : repeats)
    self_->send(peers_->commit_log.actor, std::move(r));
}

void half_store_state::await_half(half_request& request, const caf::strong_actor_ptr& asker,
                                  std::vector<log_record>& out) {
  auto& message = request.message;
  message.transaction = request.joined.opened_at;
  awaited waiting{asker,         request.id,    message.transaction, message.payload.size(),
                  message.topic, awaited::half, message.group};
  bytes_under_way_ += waiting.bytes;
  if (message.transaction == position{})
    ++opening_;
  else
    ++joining_[message.transaction].count;
  auto& record = out.emplace_back();
  record.type = record_type::half;
  record.cookie = appends_->add(std::move(waiting));
  record.content = std::move(message);
}

/// A producer that lost the answer sends the half again: that it is one too many, or too late, is
/// then no reason to say that it was not stored. COMMIT LOG knows.
bool half_store_state::may_be_stored_already(const half_request& request, ec code) {
  const auto& message = request.message;
  return message.producer != producer_id{} && message.sequence != sequence_no{} &&
         (code == ec::too_many_pending || code == ec::too_many_messages ||
          code == ec::transaction_decided);
}

ec half_store_state::admits(const half_request& request) const {
  if (!serving())
    return stopping_ ? ec::stopping : ec::recovering;
  const auto& message = request.message;
  if (message.group == group_id{})
    return ec::unknown_group;
  if (const auto code = member_->fold.rules.admits({message.topic, message.queue}); code != ec::ok)
    return code;
  const auto& bounds = env_->settings->transaction;
  const auto& pending = member_->fold.pending;
  if (pending.bytes() + bytes_under_way_ + message.payload.size() > bounds.pending_bytes)
    return ec::too_many_pending;
  if (request.joined != transaction_id{})
    return admits_join(request);
  return pending.size() + opening_ >= bounds.pending_max ? ec::too_many_pending : ec::ok;
}

ec half_store_state::admits_join(const half_request& request) const {
  if (!env_->ids.is_ours(request.joined))
    return ec::unknown_transaction;
  const auto& pending = member_->fold.pending;
  const auto place = pending.find(request.joined.opened_at);
  if (place == pending_table::none)
    return ec::transaction_decided;
  const auto& entry = pending.at(place);
  if (entry.group != request.message.group)
    return ec::wrong_group;
  if (entry.state == pending_state::deciding)
    return ec::transaction_decided;
  if (entry.state == pending_state::quarantined)
    return ec::transaction_quarantined;
  const auto under_way = joining_.find(entry.id);
  const auto more = under_way == joining_.end() ? 0 : under_way->second.count;
  return entry.messages + more >= env_->settings->transaction.messages_max ? ec::too_many_messages
                                                                           : ec::ok;
}

/// One message less under way; decisions that waited for it go on with the last.
void half_store_state::join_ended(position transaction) {
  const auto found = joining_.find(transaction);
  HANDFAST_ASSERT(found != joining_.end() && found->second.count > 0);
  if (--found.value().count > 0)
    return;
  const auto held = std::move(found.value().held);
  joining_.erase(found);
  for (const auto& h : held)
    take_decision(h.request, h.asker);
}

void half_store_state::on_refused(const append_refused& x) {
  for (const auto cookie : x.cookies)
    if (const auto waiting = appends_->take(cookie)) {
      if (waiting->what == awaited::half)
        stored_.explain(waiting->asker, x.why.detail);
      refuse(*waiting, x.why.code);
    }
  answer_stop_if_done();
}

void half_store_state::refuse(const awaited& what, ec code) {
  switch (what.what) {
  case awaited::half:
    ++refusals_;
    bytes_under_way_ -= what.bytes;
    stored_.add(what.asker, {what.id, code, {}, {}, {}});
    if (what.transaction == position{})
      --opening_;
    else
      join_ended(what.transaction);
    break;
  case awaited::reopen:
    --opening_;
    if (const auto found = reopening_.find(what.transaction); found != reopening_.end()) {
      for (const auto& q : found->second)
        self_->send(caf::actor_cast<connection_actor>(q.asker),
                    transaction_reopened{q.id, code, {}});
      reopening_.erase(found);
    }
    break;
  case awaited::attempts:
    break; // a count that is not in the log can only let a transaction be asked once more
  }
}

void half_store_state::on_repeated(const append_repeated& x) {
  for (const auto& item : x.items) {
    const auto waiting = appends_->take(item.cookie);
    if (!waiting)
      continue;
    bytes_under_way_ -= waiting->bytes;
    const bool opens = waiting->transaction == position{};
    stored_.add(waiting->asker,
                {waiting->id, ec::ok, env_->ids.at(opens ? item.at : waiting->transaction),
                 item.offset, item.queue.queue});
    if (opens)
      --opening_;
    else
      join_ended(waiting->transaction);
  }
  answer_stop_if_done();
}

void half_store_state::append_attempts(checked_record attempts) {
  append_records out{member_->who(), {}};
  auto& record = out.records.emplace_back();
  record.type = record_type::checked;
  record.cookie = appends_->add({{}, {}, {}, 0, {}, awaited::attempts, {}});
  record.content = std::move(attempts);
  self_->send(peers_->commit_log.actor, std::move(out));
}

// -- checkpoints and the end --------------------------------------------------------------

void half_store_state::on_stop() {
  stopper_ = self_->current_sender();
  if (served_ && !stopping_)
    checks_->flush_attempts();
  stopping_ = true;
  answer_stop_if_done();
}

void half_store_state::answer_stop_if_done() {
  if (!stopping_ || !stopper_ || !appends_->empty())
    return;
  self_->send(caf::actor_cast<node_supervisor_actor>(stopper_), stopped{name, {}});
  stopper_ = nullptr;
}

void half_store_state::on_tick(const tick& x) {
  if (!served_)
    return;
  if (x.timer == list_more)
    list_some();
  else if (x.timer == look_at_bodies)
    ask_for_bodies();
  else
    checks_->on_timer(x.timer);
}

half_store_actor::behavior_type half_store(half_store_state::self_pointer self,
                                           const shard_environment* env,
                                           fold_start<half_fold> from) {
  auto& s = self->state;
  s.begin(env, std::move(from));
  // The busiest first: CAF compares a message with one after the other.
  return {
      [&s](const records_durable& x) { s.on_durable(x); },
      [&s](append_halves& x) { s.on_append(x); },
      [&s](const decide& x) { s.on_decide(x); },
      [&s](const deadlines_due& x) { s.checks().on_due(x); },
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const appender_registered& x) { s.on_registered(x); },
      [&s](const slices_loaded& x) { s.on_slices(x); },
      [&s](const log_replayed& x) { s.on_replayed(x); },
      [&s](const append_refused& x) { s.on_refused(x); },
      [&s](const take_slices& x) { return s.slices(x); },
      [&s](const append_repeated& x) { s.on_repeated(x); },
      [&s](const decided& x) { s.on_decided(x); },
      [&s](const checks_handled& x) { s.checks().on_handled(x); },
      [&s](const find_transaction& x) { s.on_find(x); },
      [&s](const list_transactions& x) { s.on_list(x); },
      [&s](const reopen_transaction& x) { s.on_reopen(x); },
      [&s](const tick& x) { s.on_tick(x); },
      [&s](const exhausted_judged& x) { s.checks().on_judged(x); },
      [&s, self](const rearm_all&) { s.checks().on_rearm_all(self->current_sender()); },
      [&s](const producer_running& x) { s.checks().on_running(x); },
      [&s](const outcome_known& x) { s.on_outcome(x); },
      [&s](const ask_topic_usage& x) { s.on_topic_usage(x); },
      [&s](const producer_group_found& x) { s.checks().on_group_found(x); },
      [&s](const group_presence& x) { s.checks().on_presence(x); },
      [&s](const records_read& x) { s.on_bodies(x); },
  };
}

} // namespace handfast
