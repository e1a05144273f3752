/// The part of OP STORE that answers about outcomes, wherever they stand by now.

#include "actors/folds/decision_rules.hpp"
#include "actors/op_store.hpp"
#include "actors/type_ids.hpp"
#include "messages/place_or_due.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

stored_outcome op_store_state::stored(const outcome_entry& e) const {
  return {e.transaction, e.result,     e.by,         e.group,
          e.messages,    e.decided_at, e.decided_ms, member_->fold.reopened_as(e.transaction)};
}

decision_result op_store_state::result_of(const decide_request& request,
                                          const stored_outcome& known) {
  decision_result result;
  result.id = request.id;
  result.transaction = request.transaction;
  if (!may_decide(request, known.group)) {
    result.code = ec::wrong_group;
    return result;
  }
  result.code = verdict_on(known.result, request.wanted);
  result.recorded = known.result;
  result.by = known.by;
  result.messages = known.messages;
  return result;
}

decision_result op_store_state::judge(const decide_request& request,
                                      const outcome_entry& entry) const {
  auto result = result_of(request, stored(entry));
  if (result.recorded == outcome::committed) {
    result.queue = {entry.topic, entry.queue};
    result.offset = offset_in(entry.offset);
    result.due_ms = due_in(entry.offset);
  }
  return result;
}

/// Ids carry a proof that this store gave them out, so one that is neither pending nor on record
/// was decided too long ago, unless the record that opened it can't be read.
ec op_store_state::reason_for_missing(position transaction, ec opening) const {
  if (opening == ec::corrupt)
    return ec::transaction_quarantined;
  return transaction < member_->applied() ? ec::transaction_expired : ec::unknown_transaction;
}

void op_store_state::on_judge(judge_decisions& x) {
  const auto& asker = self_->current_sender();
  if (!served_ && may_hold()) {
    hold(std::move(x));
    return;
  }
  if (!served_) {
    for (const auto& request : x.requests)
      answers_.add(asker,
                   {request.id, ec::recovering, request.transaction, {}, request.by, 0, {}, {}});
    answers_.send_all(self_);
    return;
  }
  lookup missing;
  missing.asker = asker;
  for (auto& request : x.requests) {
    const auto id = request.transaction.opened_at;
    ++repeats_;
    if (const auto* entry = member_->fold.find(id))
      answers_.add(asker, judge(request, *entry));
    else if (deciding_.contains(id))
      waiting_[id].push_back({asker, request});
    else
      missing.requests.push_back(request);
  }
  if (!missing.requests.empty())
    start(std::move(missing));
  answers_.send_all(self_);
}

void op_store_state::on_find(const find_outcome& x) {
  if (!served_ && may_hold()) {
    hold(x);
    return;
  }
  lookup what;
  what.asker = self_->current_sender();
  what.known.id = x.id;
  if (!served_) {
    what.known.code = ec::recovering;
    self_->send(caf::actor_cast<half_store_actor>(what.asker), std::move(what.known));
    return;
  }
  const auto id = x.transaction.opened_at;
  what.known.outcome.transaction = id;
  if (const auto* entry = member_->fold.find(id)) {
    what.known.outcome = stored(*entry);
    const auto ours = ++last_lookup_;
    read_decisions(ours, lookups_[ours] = std::move(what));
    return;
  }
  start(std::move(what));
}

// -- through log_reader ---------------------------------------------------------------------

void op_store_state::start(lookup what) {
  const auto ours = ++last_lookup_;
  send(ours, lookups_[ours] = std::move(what));
}

/// Also after a restart of log_reader: the same question again.
void op_store_state::send(std::uint64_t id, const lookup& what) {
  if (what.at != lookup::stage::outcomes) {
    self_->send(peers_->log_reader.actor, read_records{correlation{id}, what.places});
    return;
  }
  find_outcomes find{correlation{id}, {}};
  for (const auto& request : what.requests)
    find.transactions.push_back(request.transaction.opened_at);
  if (what.requests.empty())
    find.transactions.push_back(what.known.outcome.transaction);
  self_->send(peers_->log_reader.actor, std::move(find));
}

void op_store_state::on_outcomes(const outcomes_found& x) {
  const auto found = lookups_.find(x.id.value);
  if (found == lookups_.end() || found->second.at != lookup::stage::outcomes)
    return;
  auto& what = found.value();
  const auto asked = what.requests.empty() ? 1 : what.requests.size();
  what.outcomes = x.outcomes;
  if (x.code != ec::ok || what.outcomes.size() != asked) {
    const auto code = x.code != ec::ok ? x.code : ec::internal;
    for (const auto& request : what.requests)
      answers_.add(what.asker, {request.id, code, request.transaction, {}, request.by, 0, {}, {}});
    if (what.requests.empty()) {
      what.known.code = code;
      self_->send(caf::actor_cast<half_store_actor>(what.asker), std::move(what.known));
    }
    lookups_.erase(found);
    answers_.send_all(self_);
    return;
  }
  for (auto& o : what.outcomes)
    if (o.result != outcome::pending && o.reopened_as == position{})
      o.reopened_as = member_->fold.reopened_as(o.transaction);
  if (what.requests.empty()) {
    const auto transaction = what.known.outcome.transaction;
    what.known.outcome = what.outcomes.front();
    what.known.outcome.transaction = transaction;
  }
  read_decisions(x.id.value, what);
}

/// The next stage: the DECIDE records, for places and offsets; for a single question also the
/// record that opened it. Of what is not decided only the opening record can say more.
void op_store_state::read_decisions(std::uint64_t id, lookup& what) {
  what.at = lookup::stage::decisions;
  what.places.clear();
  if (what.requests.empty()) {
    what.places = {{what.known.outcome.decided_at, 0}, {what.known.outcome.transaction, 0}};
  } else {
    for (std::size_t i = 0; i < what.outcomes.size(); ++i)
      if (what.outcomes[i].result == outcome::committed)
        what.places.push_back({what.outcomes[i].decided_at, 0});
      else if (what.outcomes[i].result == outcome::pending)
        what.places.push_back({what.requests[i].transaction.opened_at, 0});
    if (what.places.empty()) {
      answer_judged(what, nullptr);
      lookups_.erase(id);
      return;
    }
  }
  send(id, what);
}

void op_store_state::on_records(const records_read& x) {
  const auto found = lookups_.find(x.id.value);
  if (found == lookups_.end() || found->second.at == lookup::stage::outcomes)
    return;
  auto& what = found.value();
  if (x.records.size() != what.places.size())
    return;
  if (what.requests.empty()) {
    answer_found(x.id.value, what, x);
    return;
  }
  answer_judged(what, &x);
  lookups_.erase(found);
}

void op_store_state::answer_judged(lookup& what, const records_read* read) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < what.requests.size(); ++i) {
    const auto& request = what.requests[i];
    const auto& known = what.outcomes[i];
    if (known.result == outcome::pending) {
      const auto opening = read->records[next++].code;
      answers_.add(what.asker, {request.id,
                                reason_for_missing(request.transaction.opened_at, opening),
                                request.transaction,
                                {},
                                request.by,
                                0,
                                {},
                                {}});
      continue;
    }
    auto result = result_of(request, known);
    if (known.result == outcome::committed) {
      const auto& r = read->records[next++];
      if (r.code == ec::ok && r.record.type == record_type::decide) {
        const auto messages =
            entries_of(std::get<decide_record>(r.record.content), known.transaction);
        if (!messages.empty() && result.code != ec::wrong_group) {
          result.queue = {messages.front().topic, messages.front().queue};
          result.offset = messages.front().offset;
          result.due_ms = messages.front().due_ms;
        }
      }
    }
    answers_.add(what.asker, result);
  }
  answers_.send_all(self_);
}

/// What the record that opened a transaction says of it.
void op_store_state::take_opening(outcome_known& known, const log_record& record) const {
  if (record.type == record_type::half) {
    const auto& m = std::get<message_record>(record.content);
    known.producer = m.producer;
    known.timeout_ms = m.timeout_ms;
    known.stored_ms = record.time_ms;
    if (known.messages.empty()) // a rollback records none of its messages
      known.messages.push_back({record.at, m.topic, m.queue, {}, record.length, m.tag_hash});
  } else if (record.type == record_type::reopen) {
    const auto& r = std::get<reopen_record>(record.content);
    known.timeout_ms = r.timeout_ms;
    known.stored_ms = record.time_ms;
    known.reopened_from = r.old_transaction;
    if (known.messages.empty())
      known.messages = r.messages;
  }
}

void op_store_state::answer_found(std::uint64_t id, lookup& what, const records_read& read) {
  auto& known = what.known;
  if (known.outcome.result == outcome::pending) {
    known.code = reason_for_missing(known.outcome.transaction, read.records[1].code);
  } else if (what.at == lookup::stage::decisions) {
    const auto& decide = read.records[0];
    if (decide.code == ec::ok && decide.record.type == record_type::decide) {
      const auto messages =
          entries_of(std::get<decide_record>(decide.record.content), known.outcome.transaction);
      known.messages.assign(messages.begin(), messages.end());
    }
    if (read.records[1].code == ec::ok)
      take_opening(known, read.records[1].record);
    if (known.outcome.result == outcome::given_up && !known.messages.empty()) {
      // Its entries name the give-up topic; where it was to go stands with the bodies.
      what.at = lookup::stage::bodies;
      what.places.clear();
      for (const auto& m : known.messages)
        what.places.push_back({m.at, m.length});
      send(id, what);
      return;
    }
  } else {
    for (std::size_t i = 0; i < read.records.size(); ++i) {
      const auto& body = read.records[i];
      if (body.code != ec::ok || body.record.type != record_type::half) {
        known.code = ec::transaction_quarantined;
        continue;
      }
      const auto& m = std::get<message_record>(body.record.content);
      known.messages[i].topic = m.topic;
      known.messages[i].queue = m.queue;
      known.messages[i].due_ms = m.delay_ms;
    }
  }
  self_->send(caf::actor_cast<half_store_actor>(what.asker), std::move(known));
  lookups_.erase(id);
}

} // namespace handfast
