#include "tests/sim/sim_producer.hpp"

#include <algorithm>
#include <utility>

namespace handfast::sim {

using proof::event_kind;
using std::chrono::milliseconds;

namespace {

constexpr std::uint64_t delay_max_ms = 5'000;

} // namespace

sim_producer::sim_producer(sim_timeline& time, sim_door& door, std::string name, std::string group,
                           std::shared_ptr<sim_database> database,
                           const std::vector<topic_plan>& topics, const sim_plan& plan)
    : sim_client{time, door, std::move(name)},
      group_name_{std::move(group)}, database_{std::move(database)}, topics_{topics}, plan_{plan} {
  be_born();
}

void sim_producer::be_born() {
  ++life_;
  producer_ = producer_id{time_.random.next() | 1U};
  process_ = time_.random.next() | 1U;
  last_sequence_ = 0;
  transactions_.clear();
  plain_.clear();
}

void sim_producer::crash() {
  be_born();
  drop();
}

bool sim_producer::ready() const {
  return connected() && group_ != group_id{} &&
         std::none_of(topic_ids_.begin(), topic_ids_.end(), [](auto t) { return t == topic_id{}; });
}

// -- session ---------------------------------------------------------------------

void sim_producer::on_welcome() {
  group_ = {};
  topic_ids_.assign(topics_.size(), {});
  native::join_producer_group join;
  join.id = expect(next_id());
  join.group = group_name_;
  join.session = process_;
  questions_[join.id.value] = {};
  send(join);
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    native::resolve_topic resolve;
    resolve.id = expect(next_id());
    resolve.name = topics_[i].name;
    questions_[resolve.id.value] = {};
    topic_questions_[resolve.id.value] = i;
    send(resolve);
  }
}

void sim_producer::on_lost() {
  questions_.clear();
  topic_questions_.clear();
  for (auto& t : transactions_)
    for (auto& half : t->halves)
      if (half.at == stage::sending)
        half.at = stage::open;
  for (auto& m : plain_)
    m->at = stage::open;
}

void sim_producer::on_setup(const native::frame& from) {
  native::topic_resolved topic;
  native::group_joined joined;
  correlation id;
  if (read(from, topic)) {
    id = topic.id;
    const auto q = topic_questions_.find(id.value);
    if (q != topic_questions_.end() && topic.code == ec::ok)
      topic_ids_[q->second] = topic.topic;
  } else if (read(from, joined)) {
    id = joined.id;
    if (joined.code == ec::ok)
      group_ = joined.group;
  }
  answered(id);
  questions_.erase(id.value);
  if (ready())
    work();
  else if (!any_open(question::kind::setup))
    later(milliseconds{100}, [this] { on_welcome(); }); // refused, as while recovering
}

/// The session is complete: takes up what the last one left.
void sim_producer::work() {
  native::running running;
  for (const auto& t : transactions_)
    if (t->local_runs && t->id != transaction_id{})
      running.items.push_back({t->id, group_});
  if (!running.items.empty())
    send(running);
  for (const auto& m : std::vector{plain_})
    send_message(m);
  for (const auto& t : std::vector{transactions_})
    go_on(t);
  later(time_.random.between(milliseconds{0}, milliseconds{50}), [this] { open_transaction(); });
}

// -- sending ---------------------------------------------------------------------

void sim_producer::open_transaction() {
  if (winding_up_ || !ready())
    return;
  auto& random = time_.random;
  if (random.chance(plan_.plain))
    send_plain();
  auto t = std::make_shared<transaction>();
  t->name = name() + ":" + std::to_string(life_) + "-" + std::to_string(++opened_);
  const auto die = random.below(1000);
  if (die < plan_.undecided)
    t->end = random.chance(500) ? plot::silent : plot::forgotten;
  else if (die < plan_.undecided + plan_.slow)
    t->end = plot::slow;
  else
    t->end = random.chance(700) ? plot::commit : plot::roll_back;
  const auto count = random.chance(plan_.several) ? random.between(2, 4) : 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    outgoing m;
    m.key = t->name + "." + std::to_string(i);
    m.topic = random.below(topics_.size());
    m.sequence = sequence_no{++last_sequence_};
    m.body = body_of(m.key, random.below(300));
    m.delay_ms = some_delay();
    t->halves.push_back(std::move(m));
  }
  t->repeats = random.chance(200) ? static_cast<std::uint32_t>(random.between(1, 2)) : 0;
  transactions_.push_back(t);
  go_on(t);
  later(random.between(milliseconds{1}, plan_.pace), [this] { open_transaction(); });
}

native::send_item sim_producer::item_of(const outgoing& m, correlation id) const {
  native::send_item item;
  item.id = id;
  item.sequence = m.sequence;
  item.born_ms = time_.now_ms();
  item.topic = topic_ids_[m.topic];
  item.delay_ms = m.delay_ms;
  item.payload = shared_bytes::copy_of(m.body);
  return item;
}

std::uint64_t sim_producer::some_delay() {
  auto& random = time_.random;
  if (plan_.delayed == 0 || !random.chance(plan_.delayed))
    return 0;
  return random.chance(200) ? random.between(1, 20) : random.between(20, delay_max_ms);
}

void sim_producer::send_plain() {
  auto m = std::make_shared<outgoing>();
  m->key = name() + ":" + std::to_string(life_) + "-plain" + std::to_string(++plain_opened_);
  m->topic = time_.random.below(topics_.size());
  m->sequence = sequence_no{++last_sequence_};
  m->body = body_of(m->key, time_.random.below(300));
  m->delay_ms = some_delay();
  plain_.push_back(m);
  send_message(m);
}

void sim_producer::send_message(const std::shared_ptr<outgoing>& m) {
  if (!ready() || m->at != stage::open)
    return;
  m->at = stage::sending;
  const auto id = expect(next_id());
  questions_[id.value] = {.what = question::kind::plain, .of = {}, .message = m};
  witness({.kind = event_kind::plain_sent,
           .key = m->key,
           .topic = topics_[m->topic].name,
           .body = proof::body_hash(m->body),
           .when = m->delay_ms});
  native::send frame;
  frame.items.push_back(item_of(*m, id));
  send(frame);
}

void sim_producer::send_half(const transaction_ptr& t, std::size_t number) {
  auto& half = t->halves[number];
  half.at = stage::sending;
  const auto id = expect(next_id());
  questions_[id.value] = {.what = question::kind::half, .of = t, .half = number, .message = {}};
  witness({.kind = event_kind::half_sent,
           .key = half.key,
           .tx = number == 0 ? transaction_id{} : t->id,
           .topic = topics_[half.topic].name,
           .body = proof::body_hash(half.body),
           .when = half.delay_ms});
  native::send_half frame;
  auto item = item_of(half, id);
  item.group = group_;
  item.flags = message_flags::local_transaction;
  if (number != 0)
    item.transaction = t->id;
  frame.items.push_back(std::move(item));
  send(frame);
}

/// Whatever comes next in the life of `t`.
void sim_producer::go_on(const transaction_ptr& t) {
  if (!ready())
    return;
  if (t->decided) {
    std::erase(transactions_, t);
    return;
  }
  for (std::size_t i = 0; i < t->halves.size(); ++i) {
    if (t->halves[i].at == stage::sending)
      return;
    if (t->halves[i].at == stage::open) {
      send_half(t, i);
      return;
    }
  }
  if (t->wanted != outcome::pending)
    decide(t, t->wanted);
  else if (!t->local_runs)
    run_local(t);
}

// -- deciding --------------------------------------------------------------------

void sim_producer::run_local(const transaction_ptr& t) {
  auto& random = time_.random;
  t->local_runs = true;
  const auto timeout = plan_.settings.transaction.checks.timeout;
  const auto takes = t->end == plot::slow ? random.between(timeout, 4 * timeout)
                                          : random.between(milliseconds{0}, milliseconds{20});
  time_.after(takes, [this, t, life = life_] {
    if (life == life_)
      end_local(t);
  });
}

void sim_producer::end_local(const transaction_ptr& t) {
  t->local_runs = false;
  if (t->end == plot::forgotten) {
    t->decided = true; // by nobody here
    std::erase(transactions_, t);
    return;
  }
  const bool commits =
      t->end == plot::commit || (t->end != plot::roll_back && time_.random.chance(600));
  const auto result = commits ? outcome::committed : outcome::rolled_back;
  database_->end_local(t->name, result);
  if (t->end == plot::silent) {
    t->decided = true;
    std::erase(transactions_, t);
    return;
  }
  t->wanted = result;
  decide(t, result);
  if (time_.random.chance(plan_.conflicts))
    decide(t, commits ? outcome::rolled_back : outcome::committed);
}

void sim_producer::decide(const transaction_ptr& t, outcome wanted) {
  if (!ready() || t->id == transaction_id{})
    return;
  const auto id = expect(next_id());
  questions_[id.value] = {
      .what = question::kind::decision, .of = t, .message = {}, .id = t->id, .wanted = wanted};
  witness({.kind = event_kind::decision_sent, .tx = t->id, .wanted = wanted});
  native::decide frame;
  native::decide_item item;
  item.id = id;
  item.transaction = t->id;
  item.group = group_;
  item.wanted = wanted;
  item.messages = static_cast<std::uint16_t>(t->halves.size());
  frame.items.push_back(item);
  send(frame);
}

// -- answers ---------------------------------------------------------------------

void sim_producer::on_frame(const native::frame& from) {
  switch (from.header.kind) {
  case native::frame_kind::topic_resolved:
  case native::frame_kind::group_joined:
    on_setup(from);
    break;
  case native::frame_kind::half_stored:
    on_halves(from);
    break;
  case native::frame_kind::sent:
    on_sent(from);
    break;
  case native::frame_kind::decided:
    on_decided(from);
    break;
  case native::frame_kind::check:
    on_checks(from);
    break;
  case native::frame_kind::refused:
    on_refused(from);
    break;
  case native::frame_kind::done: {
    native::done x;
    if (auto q = read(from, x) ? questions_.extract(x.id.value) : decltype(questions_)::node_type{};
        q && answered(x.id))
      on_cancelled(q.mapped(), ec::ok);
    break;
  }
  default:
    break;
  }
}

void sim_producer::on_halves(const native::frame& from) {
  native::half_stored x;
  if (!read(from, x))
    return;
  for (const auto& item : x.items)
    if (auto q = questions_.extract(item.id.value); q && answered(item.id))
      on_half(q.mapped(), item.code, item.transaction);
}

void sim_producer::on_half(const question& q, ec code, transaction_id id) {
  auto& half = q.of->halves[q.half];
  witness({.kind = event_kind::half_answered, .key = half.key, .tx = id, .code = code});
  if (code == ec::ok) {
    half.at = stage::sent;
    if (q.half == 0)
      q.of->id = id;
    go_on(q.of);
    return;
  }
  half.at = stage::open;
  if (is_retriable(code) || verdict_of(code) == verdict::unknown) {
    later(milliseconds{time_.random.between(20, 200)}, [this, t = q.of] { go_on(t); });
    return;
  }
  // Somebody else decided it meanwhile, or it is not to be.
  q.of->decided = true;
  std::erase(transactions_, q.of);
}

void sim_producer::on_sent(const native::frame& from) {
  native::sent x;
  if (!read(from, x))
    return;
  for (const auto& item : x.items) {
    auto q = questions_.extract(item.id.value);
    if (!q || !answered(item.id))
      continue;
    const auto& m = q.mapped().message;
    witness({.kind = event_kind::plain_answered,
             .key = m->key,
             .code = item.code,
             .topic = topics_[m->topic].name,
             .queue = item.queue.value,
             .offset = item.offset.value,
             .when = item.due_ms == 0 ? 0 : item.due_ms - sim_timeline::first_wall});
    if (item.code == ec::ok && item.due_ms != 0 && time_.random.chance(300))
      later(milliseconds{time_.random.between(0, 2 * m->delay_ms)},
            [this, m, at = item.at] { cancel(m, at); });
    m->at = stage::open;
    if (is_retriable(item.code) || verdict_of(item.code) == verdict::unknown)
      later(milliseconds{time_.random.between(20, 200)}, [this, m] { send_message(m); });
    else
      std::erase(plain_, m);
  }
}

/// Once only: of a cancellation without an answer nobody knows.
void sim_producer::cancel(const std::shared_ptr<outgoing>& m, position at) {
  if (winding_up_ || !ready())
    return;
  native::cancel_delayed frame;
  frame.id = expect(next_id());
  frame.at = at;
  questions_[frame.id.value] = {.what = question::kind::cancel, .of = {}, .message = m};
  witness({.kind = event_kind::cancel_sent, .key = m->key});
  send(frame);
}

void sim_producer::on_cancelled(const question& q, ec code) {
  if (q.what == question::kind::cancel)
    witness({.kind = event_kind::cancel_answered, .key = q.message->key, .code = code});
}

void sim_producer::on_decided(const native::frame& from) {
  native::decided x;
  if (!read(from, x))
    return;
  for (const auto& item : x.items)
    if (auto q = questions_.extract(item.id.value); q && answered(item.id))
      on_decision(q.mapped(), item.code, item.recorded);
}

void sim_producer::on_decision(const question& q, ec code, outcome recorded) {
  witness({.kind = event_kind::decision_answered,
           .tx = q.id,
           .wanted = q.wanted,
           .recorded = recorded,
           .code = code});
  const auto& t = q.of;
  if (!t)
    return; // the answer to a check; the next check asks again if need be
  if (is_retriable(code) || verdict_of(code) == verdict::unknown) {
    later(milliseconds{time_.random.between(20, 200)}, [this, t] { go_on(t); });
    return;
  }
  if (t->repeats > 0) {
    --t->repeats;
    later(milliseconds{time_.random.between(0, 500)},
          [this, t] { decide(t, time_.random.chance(700) ? t->wanted : outcome::rolled_back); });
  }
  t->decided = true;
  std::erase(transactions_, t);
}

void sim_producer::on_refused(const native::frame& from) {
  native::refused x;
  if (!read(from, x))
    return;
  auto found = questions_.extract(x.id.value);
  if (!found || !answered(x.id))
    return;
  const auto& q = found.mapped();
  switch (q.what) {
  case question::kind::half:
    on_half(q, x.code, {});
    break;
  case question::kind::decision:
    on_decision(q, x.code, outcome::pending);
    break;
  case question::kind::plain:
    witness({.kind = event_kind::plain_answered, .key = q.message->key, .code = x.code});
    q.message->at = stage::open;
    if (is_retriable(x.code) || verdict_of(x.code) == verdict::unknown)
      later(milliseconds{100}, [this, m = q.message] { send_message(m); });
    else
      std::erase(plain_, q.message);
    break;
  case question::kind::cancel:
    on_cancelled(q, x.code);
    break;
  case question::kind::setup:
    if (!any_open(question::kind::setup) && !ready())
      later(milliseconds{100}, [this] { on_welcome(); });
    break;
  }
}

// -- checks ----------------------------------------------------------------------

void sim_producer::on_checks(const native::frame& from) {
  native::check x;
  if (!read(from, x))
    return;
  native::check_received receipt;
  for (const auto& item : x.items)
    receipt.items.push_back({item.transaction, item.group});
  for (const auto& item : x.items)
    witness({.kind = event_kind::check_asked,
             .key = key_of(item.payload.text().substr(item.properties_size)),
             .tx = item.transaction});
  if (time_.random.chance(50) && !winding_up_)
    return; // a client that stalls before it looked at them
  send(receipt);
  for (const auto& item : x.items)
    later(milliseconds{time_.random.between(0, 100)}, [this, item] { on_check(item); });
}

void sim_producer::on_check(const native::check_item& x) {
  const auto name = transaction_of(key_of(x.payload.text().substr(x.properties_size)));
  const auto mine = std::find_if(transactions_.begin(), transactions_.end(),
                                 [&](const auto& t) { return t->name == name; });
  native::decide_item item;
  item.transaction = x.transaction;
  item.group = x.group;
  item.by = origin::check;
  item.attempt = x.attempt;
  item.wanted = database_->find(name);
  item.in_progress = mine != transactions_.end() && item.wanted == outcome::pending;
  witness({.kind = event_kind::check_answered, .tx = x.transaction, .wanted = item.wanted});
  if (item.wanted != outcome::pending) {
    item.id = expect(next_id());
    questions_[item.id.value] = {.what = question::kind::decision,
                                 .of = {},
                                 .message = {},
                                 .id = x.transaction,
                                 .wanted = item.wanted};
  }
  native::decide frame;
  frame.items.push_back(item);
  send(frame);
}

// -- the end ---------------------------------------------------------------------

void sim_producer::wind_up() {
  sim_client::wind_up();
  if (ready())
    for (const auto& t : std::vector{transactions_})
      go_on(t);
}

bool sim_producer::finished() const {
  return ready() && sim_client::finished() && transactions_.empty() && plain_.empty();
}

bool sim_producer::append_outstanding() const {
  return any_open(question::kind::half) || any_open(question::kind::plain);
}

bool sim_producer::decision_outstanding() const {
  return any_open(question::kind::decision);
}

bool sim_producer::any_open(question::kind what) const {
  return std::any_of(questions_.begin(), questions_.end(),
                     [what](const auto& q) { return q.second.what == what; });
}

std::string sim_producer::waiting_for() const {
  auto text = sim_client::waiting_for() + (ready() ? "" : ", not ready");
  for (const auto& t : transactions_)
    text += "\n    transaction " + t->name + " " + to_string(t->id);
  for (const auto& m : plain_)
    text += "\n    message " + m->key;
  return text;
}

} // namespace handfast::sim
