#include "tests/sim/sim_operator.hpp"

#include "messages/names.hpp"
#include "messages/properties.hpp"

#include <algorithm>
#include <utility>

namespace handfast::sim {

using proof::event_kind;
using std::chrono::milliseconds;

namespace {

outcome outcome_of(transaction_state state) {
  switch (state) {
  case transaction_state::committed:
    return outcome::committed;
  case transaction_state::rolled_back:
    return outcome::rolled_back;
  case transaction_state::given_up:
    return outcome::given_up;
  default:
    return outcome::pending;
  }
}

} // namespace

correlation sim_operator::ask(question q) {
  const auto id = expect(next_id());
  q.asked_at = time_.journal.size();
  open_questions_[id.value] = q;
  return id;
}

void sim_operator::on_welcome() {
  topic_ids_.assign(topics_.size(), {});
  queue_counts_.assign(topics_.size(), 0);
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    native::resolve_topic resolve;
    resolve.name = topics_[i].name;
    resolve.id = ask({.what = question::kind::topic, .id = {}, .topic = i});
    send(resolve);
  }
  if (!auditing_)
    later(milliseconds{100}, [this] { wander(); });
}

void sim_operator::on_lost() {
  open_questions_.clear();
  asked_again_ = 0;
}

/// One thing after another that an operator may do, at any time.
void sim_operator::wander() {
  if (auditing_ || winding_up_)
    return;
  auto& random = time_.random;
  if (!given_up_.empty() && random.chance(500)) {
    const auto id = random.pick(given_up_);
    random.chance(800) ? reopen(id) : decide(id);
  } else if (random.chance(300))
    list_given_up();
  else if (seen_.empty() || random.chance(300))
    list({});
  else if (auto id = random.pick(seen_); random.chance(100))
    decide(id);
  else if (random.chance(200))
    reopen(id);
  else
    query(id);
  later(random.between(milliseconds{5}, 2 * plan_.pace), [this] { wander(); });
}

void sim_operator::look() {
  looked_ = false;
  if (connected())
    list({});
}

void sim_operator::list(position after, transaction_state state) {
  if (after == position{} && state == transaction_state::pending)
    listing_.clear();
  native::list_transactions frame;
  frame.after = after;
  frame.state = state;
  frame.items_max = 50;
  frame.id = ask({.what = question::kind::list, .state = state, .id = {}});
  send(frame);
}

void sim_operator::list_given_up() {
  native::list_transactions frame;
  frame.state = transaction_state::given_up;
  frame.items_max = 10;
  frame.id = ask({.what = question::kind::given_up, .id = {}});
  send(frame);
}

void sim_operator::give_second_chances() {
  chances_ = 3;
  list_given_up();
}

void sim_operator::query(transaction_id id) {
  native::query_transaction frame;
  frame.transaction = id;
  frame.id = ask({.what = question::kind::query, .id = id});
  witness({.kind = event_kind::query_sent, .tx = id});
  send(frame);
}

void sim_operator::decide(transaction_id id) {
  native::decide_item item;
  item.transaction = id;
  item.by = origin::admin;
  item.wanted = time_.random.chance(500) ? outcome::committed : outcome::rolled_back;
  item.id = ask({.what = question::kind::decision, .id = id, .wanted = item.wanted});
  witness({.kind = event_kind::decision_sent, .tx = id, .wanted = item.wanted});
  native::decide frame;
  frame.items.push_back(item);
  send(frame);
}

void sim_operator::reopen(transaction_id id) {
  native::reopen frame;
  frame.transaction = id;
  frame.id = ask({.what = question::kind::reopen, .id = id});
  witness({.kind = event_kind::reopen_sent, .tx = id});
  send(frame);
}

// -- the audit -------------------------------------------------------------------

void sim_operator::audit() {
  auditing_ = true;
  if (connected())
    begin_audit();
}

void sim_operator::begin_audit() {
  std::set<transaction_id> all;
  for (const auto& e : time_.journal.events()) {
    if (e.tx != transaction_id{})
      all.insert(e.tx);
    if (e.other != transaction_id{})
      all.insert(e.other);
  }
  for (const auto& id : all)
    query(id);
  list({});
  std::set<std::string> readers;
  for (const auto& e : time_.journal.events())
    if (e.kind == event_kind::subscribed)
      readers.insert(e.group);
  for (const auto& group : readers)
    find_dead({.what = question::kind::dead_topic, .id = {}, .group = group});
  for (std::size_t topic = 0; topic < topics_.size(); ++topic)
    for (std::uint32_t queue = 0; queue < queue_counts_[topic]; ++queue)
      read_queue(topic, queue, 0);
  native::group_list groups;
  groups.id = ask({.what = question::kind::groups, .id = {}});
  send(groups);
}

void sim_operator::ask_status() {
  status_json_.clear();
  native::status status;
  status.id = ask({.what = question::kind::status, .id = {}});
  send(status);
}

void sim_operator::read_queue(std::size_t topic, std::uint32_t queue, std::uint64_t offset) {
  native::read_view frame;
  frame.topic = topic_ids_[topic];
  frame.queue = queue_no{static_cast<std::uint16_t>(queue)};
  frame.offset = queue_offset{offset};
  frame.messages_max = 100;
  frame.id = ask(
      {.what = question::kind::view, .id = {}, .topic = topic, .queue = queue, .offset = offset});
  send(frame);
}

// -- dead letters ----------------------------------------------------------------

void sim_operator::find_dead(question q) {
  native::resolve_topic frame;
  frame.name = dead_letter_topic_of(q.group);
  frame.id = ask(std::move(q));
  send(frame);
}

void sim_operator::read_dead(question q) {
  native::read_view frame;
  frame.topic = q.dead;
  frame.offset = queue_offset{q.offset};
  frame.messages_max = 100;
  q.what = question::kind::dead_view;
  frame.id = ask(std::move(q));
  send(frame);
}

void sim_operator::on_dead(const native::delivered& x, const question& q) {
  if (x.code != ec::ok) {
    again_later(q);
    return;
  }
  for (const auto& item : x.items) {
    const auto properties = item.payload.text().substr(0, item.properties_size);
    const auto body = item.payload.text().substr(item.properties_size);
    const auto number = [&](std::string_view key) {
      return std::stoull("0" + std::string{find_property(properties, key).value_or("")});
    };
    witness({.kind = event_kind::dead_letter,
             .key = key_of(body),
             .group = q.group,
             .topic =
                 std::string{
                     find_property(properties, property_keys::dlq_origin_topic).value_or("none")},
             .queue = static_cast<std::uint32_t>(number(property_keys::dlq_origin_queue)),
             .offset = number(property_keys::dlq_origin_offset),
             .body = proof::body_hash(body),
             .attempts = static_cast<std::uint32_t>(number(property_keys::reconsume_time)),
             .text = std::to_string(item.offset.value)});
  }
  if (x.items.empty())
    return;
  auto next = q;
  next.offset = x.items.back().offset.value + 1;
  read_dead(std::move(next));
}

// -- answers ---------------------------------------------------------------------

void sim_operator::on_frame(const native::frame& from) {
  if (on_decided(from))
    return;
  native::topic_resolved topic;
  native::transactions transactions;
  native::reopened reopened;
  native::delivered entries;
  native::groups groups;
  native::status_report status;
  native::refused refused;
  const auto take = [this](correlation id) {
    answered(id);
    return open_questions_.extract(id.value);
  };
  if (read(from, topic)) {
    if (auto q = take(topic.id); q && q.mapped().what == question::kind::dead_topic) {
      q.mapped().dead = topic.topic;
      read_dead(q.mapped());
    } else if (q) {
      on_topic(topic, q.mapped());
    }
  } else if (read(from, transactions)) {
    if (const auto q = take(transactions.id))
      on_transactions(transactions, q.mapped());
  } else if (read(from, reopened)) {
    if (const auto q = take(reopened.id))
      on_reopened(reopened, q.mapped());
  } else if (read(from, entries)) {
    if (const auto q = take(entries.id); q && q.mapped().what == question::kind::dead_view)
      on_dead(entries, q.mapped());
    else if (q)
      on_entries(entries, q.mapped());
  } else if (read(from, groups)) {
    if (const auto q = take(groups.id))
      on_groups(groups, q.mapped());
  } else if (read(from, status)) {
    if (take(status.id))
      status_json_ = status.json;
  } else if (read(from, refused)) {
    if (const auto q = take(refused.id))
      on_refused(refused, q.mapped());
  }
}

void sim_operator::on_topic(const native::topic_resolved& x, const question& q) {
  if (x.code != ec::ok) {
    again_later(q);
    return;
  }
  topic_ids_[q.topic] = x.topic;
  queue_counts_[q.topic] = x.queues;
  const bool all =
      std::none_of(topic_ids_.begin(), topic_ids_.end(), [](auto t) { return t == topic_id{}; });
  if (all && auditing_)
    begin_audit();
}

void sim_operator::on_transactions(const native::transactions& x, const question& q) {
  if (q.what == question::kind::query) {
    const auto again = x.items.empty() ? transaction_id{} : x.items.front().life.reopened_as;
    const auto state = x.items.empty() ? transaction_state::pending : x.items.front().life.state;
    witness({.kind = event_kind::query_answered,
             .tx = q.id,
             .other = again,
             .recorded = outcome_of(state),
             .code = x.items.empty() ? ec::unknown_transaction : ec::ok,
             .since = q.asked_at});
    return;
  }
  if (q.what == question::kind::given_up)
    given_up_.clear();
  for (const auto& item : x.items) {
    if (q.what == question::kind::list)
      listing_.insert(item.life.id);
    else if (item.life.reopened_as == transaction_id{})
      given_up_.push_back(item.life.id);
    if (std::find(seen_.begin(), seen_.end(), item.life.id) == seen_.end())
      seen_.push_back(item.life.id);
  }
  if (q.what == question::kind::given_up) {
    for (const auto& id : given_up_)
      if (chances_ != 0 && chances_-- != 0)
        reopen(id);
    chances_ = 0;
    return;
  }
  if (x.more && !x.items.empty()) {
    list(x.items.back().life.id.opened_at, q.state);
    return;
  }
  if (q.state == transaction_state::pending) {
    list({}, transaction_state::deciding);
    return;
  }
  pending_ = std::exchange(listing_, {});
  looked_ = true;
}

void sim_operator::on_reopened(const native::reopened& x, const question& q) {
  witness({.kind = event_kind::reopened, .tx = q.id, .other = x.new_id});
  seen_.push_back(x.new_id);
  std::erase(given_up_, q.id);
  if (winding_up_ && time_.random.chance(500))
    decide(x.new_id);
}

void sim_operator::on_entries(const native::delivered& x, const question& q) {
  if (x.code != ec::ok) {
    again_later(q);
    return;
  }
  for (const auto& item : x.items) {
    ++entries_listed_[topic_ids_[q.topic]];
    const auto body = item.payload.text().substr(item.properties_size);
    witness({.kind = event_kind::listed,
             .key = key_of(body),
             .tx = item.transaction,
             .topic = topics_[q.topic].name,
             .queue = item.queue.value,
             .offset = item.offset.value,
             .body = proof::body_hash(body)});
  }
  if (!x.items.empty())
    read_queue(q.topic, q.queue, x.items.back().offset.value + 1);
}

void sim_operator::on_groups(const native::groups& x, const question& q) {
  for (const auto& group : x.items)
    for (const auto& queue : group.progress)
      witness({.kind = event_kind::progress,
               .group = group.name,
               .topic = queue.topic,
               .queue = queue.queue.value,
               .offset = queue.done.value,
               .since = q.asked_at});
}

bool sim_operator::on_decided(const native::frame& from) {
  native::decided x;
  if (!read(from, x))
    return false;
  for (const auto& item : x.items) {
    answered(item.id);
    if (const auto q = open_questions_.extract(item.id.value))
      witness({.kind = event_kind::decision_answered,
               .tx = q.mapped().id,
               .wanted = q.mapped().wanted,
               .recorded = item.recorded,
               .code = item.code});
  }
  return true;
}

void sim_operator::on_refused(const native::refused& x, const question& q) {
  const bool comes_back = is_retriable(x.code) || verdict_of(x.code) == verdict::unknown;
  switch (q.what) {
  case question::kind::query:
    witness({.kind = event_kind::query_answered, .tx = q.id, .code = x.code, .since = q.asked_at});
    break;
  case question::kind::decision:
    witness(
        {.kind = event_kind::decision_answered, .tx = q.id, .wanted = q.wanted, .code = x.code});
    return;
  case question::kind::reopen:
    witness({.kind = event_kind::reopened, .tx = q.id, .code = x.code});
    break;
  default:
    break;
  }
  if (comes_back && (auditing_ || winding_up_ || q.what == question::kind::topic))
    again_later(q);
}

void sim_operator::again_later(const question& q) {
  ++asked_again_;
  later(milliseconds{100}, [this, q] {
    --asked_again_;
    again(q);
  });
}

/// Asks once more what was refused.
void sim_operator::again(question q) {
  switch (q.what) {
  case question::kind::topic: {
    native::resolve_topic resolve;
    resolve.name = topics_[q.topic].name;
    resolve.id = ask(q);
    send(resolve);
    break;
  }
  case question::kind::list:
    list({});
    break;
  case question::kind::query:
    query(q.id);
    break;
  case question::kind::view:
    read_queue(q.topic, q.queue, q.offset);
    break;
  case question::kind::groups: {
    native::group_list groups;
    groups.id = ask(q);
    send(groups);
    break;
  }
  case question::kind::status:
    ask_status();
    break;
  case question::kind::dead_topic:
    find_dead(std::move(q));
    break;
  case question::kind::dead_view:
    read_dead(std::move(q));
    break;
  case question::kind::given_up:
    list_given_up();
    break;
  case question::kind::reopen:
    reopen(q.id);
    break;
  case question::kind::decision:
    break;
  }
}

std::string sim_operator::waiting_for() const {
  auto text = sim_client::waiting_for();
  for (const auto& id : pending_)
    text += "\n    pending " + to_string(id);
  return text;
}

} // namespace handfast::sim
