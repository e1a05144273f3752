#include "tests/support/checker_history.hpp"

namespace handfast::proof {

std::string to_string(const place& p) {
  return p.topic + "/" + std::to_string(p.queue) + "@" + std::to_string(p.offset);
}

history::history(const journal& from) : events{from.events()} {
  for (std::size_t i = 0; i < events.size(); ++i)
    add(i, events[i]);
}

void history::add(std::size_t number, const event& e) {
  switch (e.kind) {
  case event_kind::subscribed:
    groups_of_topic[e.topic].insert(e.group);
    break;
  case event_kind::drained:
    drained = true;
    break;
  case event_kind::progress:
    progress.push_back(number);
    break;
  case event_kind::listed:
    listed[{e.topic, e.queue}].insert(e.offset);
    listed_events.push_back(number);
    break;
  default:
    break;
  }
  add_to_message(number, e);
  add_to_transaction(number, e);
  add_to_delivery(number, e);
}

void history::add_to_message(std::size_t number, const event& e) {
  if (e.key.empty())
    return;
  auto& m = messages[e.key];
  m.events.push_back(number);
  if (e.tx != transaction_id{} && (e.kind != event_kind::half_answered || e.code == ec::ok))
    m.transactions.insert(e.tx);
  const place at{e.topic, e.queue, e.offset};
  switch (e.kind) {
  case event_kind::half_sent:
  case event_kind::plain_sent:
    m.topic = e.topic;
    m.body = e.body;
    m.delay = e.when;
    m.plain = e.kind == event_kind::plain_sent;
    break;
  case event_kind::half_answered:
    m.acknowledged |= e.code == ec::ok;
    break;
  case event_kind::plain_answered:
    if (e.code != ec::ok)
      break;
    m.acknowledged = true;
    if (e.when != 0) { // a place is given later
      m.due = e.when;
      break;
    }
    m.places.insert(at);
    keys_at[at].insert(e.key);
    break;
  case event_kind::cancel_sent:
    ++m.cancels_unanswered;
    break;
  case event_kind::cancel_answered:
    m.cancelled |= e.code == ec::ok;
    m.cancels_unanswered -= verdict_of(e.code) == verdict::refused ? 1 : 0;
    break;
  case event_kind::dead_letter: // each of its deliveries may have been lost with a connection
    m.reached.insert(e.group);
    break;
  case event_kind::delivered:
    m.reached.insert(e.group);
    [[fallthrough]];
  case event_kind::listed:
    m.places.insert(at);
    keys_at[at].insert(e.key);
    break;
  default:
    break;
  }
}

void history::add_to_transaction(std::size_t number, const event& e) {
  if (e.tx == transaction_id{})
    return;
  auto& t = transactions[e.tx];
  t.events.push_back(number);
  switch (e.kind) {
  case event_kind::half_answered:
    if (e.code != ec::ok)
      break;
    t.acknowledged = true;
    t.keys.insert(e.key);
    break;
  case event_kind::check_asked:
    t.checks.push_back(number);
    if (!e.key.empty())
      t.keys.insert(e.key);
    break;
  case event_kind::decision_sent:
  case event_kind::check_answered:
    if (e.wanted == outcome::committed)
      t.commits_asked.push_back(number);
    break;
  case event_kind::decision_answered:
  case event_kind::query_answered:
    if (e.recorded != outcome::pending)
      t.stated.push_back({number, e.recorded});
    break;
  case event_kind::delivered:
    t.keys.insert(e.key);
    break;
  case event_kind::reopened:
    if (e.code != ec::ok)
      break;
    if (!t.reopened_at) {
      t.reopened_as = e.other;
      t.reopened_at = number;
    }
    t.stated.push_back({number, outcome::given_up});
    transactions[e.other].reopened_from = e.tx;
    transactions[e.other].acknowledged = true;
    transactions[e.other].events.push_back(number);
    break;
  default:
    break;
  }
}

void history::add_to_delivery(std::size_t number, const event& e) {
  if (e.kind != event_kind::delivered && e.kind != event_kind::ack_sent &&
      e.kind != event_kind::ack_answered && e.kind != event_kind::rejected &&
      e.kind != event_kind::dead_letter)
    return;
  auto& d = deliveries[{e.group, {e.topic, e.queue, e.offset}}];
  d.events.push_back(number);
  if (e.kind == event_kind::delivered)
    d.delivered.push_back(number);
  if (e.kind == event_kind::ack_sent)
    d.ack_sent.push_back(number);
  if (e.kind == event_kind::rejected)
    d.rejected.push_back(number);
  if (e.kind == event_kind::dead_letter && d.dead_at.insert(e.text).second)
    d.dead.push_back(number);
  if (e.kind == event_kind::ack_answered && e.code == ec::ok)
    d.acknowledged.push_back(number);
}

std::set<transaction_id> history::family(const transaction_id& id) const {
  std::set<transaction_id> all;
  std::vector<transaction_id> open{id};
  while (!open.empty()) {
    const auto next = open.back();
    open.pop_back();
    if (next == transaction_id{} || !all.insert(next).second)
      continue;
    if (const auto t = transactions.find(next); t != transactions.end()) {
      open.push_back(t->second.reopened_as);
      open.push_back(t->second.reopened_from);
    }
  }
  return all;
}

std::vector<calm_stretch> calm_stretches(const history& h) {
  std::vector<calm_stretch> all;
  bool is_calm = false;
  for (const auto& e : h.events) {
    if (e.kind == event_kind::calm && !is_calm)
      all.push_back({e.at_ms, h.events.back().at_ms});
    if (e.kind == event_kind::trouble && is_calm)
      all.back().to_ms = e.at_ms;
    if (e.kind == event_kind::calm || e.kind == event_kind::trouble)
      is_calm = e.kind == event_kind::calm;
  }
  return all;
}

std::string history::show(const event_list& which, std::size_t max) const {
  std::string text;
  const std::size_t skipped = which.size() > max ? which.size() - max : 0;
  if (skipped != 0)
    text += "\n    ... " + std::to_string(skipped) + " earlier ones";
  for (std::size_t i = skipped; i < which.size(); ++i)
    text += "\n    [" + std::to_string(which[i]) + "] " + line_of(events[which[i]]);
  return text;
}

void findings::add(std::string invariant, std::string what, const event_list& shown) {
  found_.push_back(
      {std::move(invariant), std::move(what) + history_.show(shown, options_.events_shown)});
}

} // namespace handfast::proof
