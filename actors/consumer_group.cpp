#include "actors/consumer_group.hpp"

#include "actors/type_ids.hpp"
#include "config/settings.hpp"

#include <caf/actor_cast.hpp>
#include <caf/system_messages.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

connection_actor connection_of(const caf::strong_actor_ptr& who) {
  return caf::actor_cast<connection_actor>(who);
}

} // namespace

void consumer_group_state::begin(const shard_environment* environment,
                                 fold_start<progress_table> from) {
  env = environment;
  cookies = cookie_source{from.life};
  // A lease of an earlier life must never look like one of this life.
  last_lease = from.life.value << 40;
  const auto id = from.fold.group();
  HANDFAST_ASSERT(id != group_id{});
  member.emplace(self, appender{appender_role::consumer_group, id.value, from.life},
                 progress_table::slice_prefix(id), std::move(from));
}

void consumer_group_state::on_peers(const shard_peers& peers) {
  supervisor = peers.supervisor;
  commit_log = peers.commit_log.actor;
  member->connect(peers);
}

member_no consumer_group_state::member_of(const caf::strong_actor_ptr& who) {
  const auto [found, added] =
      members.try_emplace(caf::actor_cast<caf::actor_addr>(who), last_member + 1);
  if (added) {
    ++last_member;
    self->monitor(caf::actor_cast<caf::actor>(who));
  }
  return found->second;
}

// -- queues -----------------------------------------------------------------------

consumer_group_state::slot& consumer_group_state::open(queue_key key, bool from_end) {
  auto found = queues.find(key);
  if (found == queues.end()) {
    slot made;
    const auto* progress = member->fold.find(key);
    made.window = progress ? std::make_unique<queue_window>(key, *progress)
                           : std::make_unique<queue_window>(key);
    made.from_end = from_end && !progress;
    found = queues.emplace(key, std::move(made)).first;
    self->send(supervisor.actor, find_queue{key});
  } else if (found->second.at == slot::stage::missing) {
    found.value().at = slot::stage::finding;
    self->send(supervisor.actor, find_queue{key});
  }
  return found.value();
}

void consumer_group_state::open_topic(const fetch_messages& what) {
  auto [found, added] = topics.try_emplace(what.topic);
  auto& topic = found->second;
  const bool is_new = added && !member->fold.knows(what.topic);
  const auto known = std::exchange(topic.queues, std::max(topic.queues, what.queues));
  for (std::uint32_t n = 0; n < topic.queues; ++n)
    open({what.topic, queue_no{static_cast<std::uint16_t>(n)}},
         is_new && n >= known && what.start.from == start_from::latest);
}

void consumer_group_state::on_queue(const queue_found& x) {
  const auto found = queues.find(x.queue);
  if (found == queues.end())
    return;
  auto& s = found.value();
  if (!x.actor) {
    s.at = slot::stage::missing;
  } else if (s.life != x.life || s.at == slot::stage::finding || s.at == slot::stage::missing) {
    s.actor = x.actor;
    s.life = x.life;
    s.at = slot::stage::idle;
    ask(s);
  }
  retry_held_acks();
  pump(x.queue.topic);
}

/// Asks the queue for what comes next. Of a queue whose end is wanted only the end.
void consumer_group_state::ask(slot& s) {
  HANDFAST_ASSERT(s.at == slot::stage::idle);
  s.at = slot::stage::fetching;
  s.asked = ++last_asked;
  self->send(s.actor, fetch_entries{correlation{s.asked}, s.window->key(), s.window->next(),
                                    s.from_end ? 0 : prefetch_entries});
}

/// Fetches ahead, or watches the end, so that a member that waits need not wait longer.
void consumer_group_state::refill(slot& s) {
  const bool at_rest = s.at == slot::stage::idle || s.at == slot::stage::watching;
  if (!at_rest || s.window->ready() >= prefetch_below)
    return;
  if (s.window->queue_has_more()) {
    s.at = slot::stage::idle;
    ask(s);
  } else if (s.at == slot::stage::idle) {
    s.at = slot::stage::watching;
    self->send(s.actor, watch_queue{s.window->key(), s.window->next()});
  }
}

void consumer_group_state::on_entries(const entries_fetched& x) {
  const auto found = queues.find(x.queue);
  if (found == queues.end() || found->second.at != slot::stage::fetching ||
      found->second.asked != x.id.value)
    return;
  auto& s = found.value();
  s.at = slot::stage::idle;
  if (x.code != ec::ok) {
    ask_retry();
    return;
  }
  if (s.from_end) {
    s.from_end = false;
    s.window->grew(x.end);
    s.window->begin_at(x.end);
    dirty.insert(x.queue);
    ask_write();
  } else {
    s.window->take(x.entries, x.first, x.end);
    if (x.entries.empty() && s.window->queue_has_more()) {
      ask_retry();
      return;
    }
  }
  retry_held_acks();
  pump(x.queue.topic);
}

void consumer_group_state::on_grew(const queue_grew& x) {
  const auto found = queues.find(x.queue);
  if (found == queues.end() || found->second.at != slot::stage::watching)
    return;
  auto& s = found.value();
  s.at = slot::stage::idle;
  s.window->grew(x.end);
  refill(s);
}

void consumer_group_state::ask_retry() {
  if (std::exchange(retry_asked, true))
    return;
  self->delayed_send(self, retry_after, tick{retry_timer});
}

// -- fetching ---------------------------------------------------------------------

void consumer_group_state::on_fetch(const fetch_messages& x) {
  const auto who = self->current_sender();
  if (!who)
    return;
  if (stopping || !member->serving()) {
    self->send(connection_of(who), deliver{x.id, stopping ? ec::stopping : ec::recovering, {}});
    return;
  }
  if (x.queues == 0 || x.queues > limits::queues_max || x.max == 0) {
    self->send(connection_of(who), deliver{x.id, ec::bad_request, {}});
    return;
  }
  open_topic(x);
  parked_fetch fetch{who, member_of(who), x, {}};
  fetch.what.max = std::min(x.max, deliver_max);
  const auto wait = std::chrono::milliseconds{std::min(x.wait_ms, wait_ms_max)};
  fetch.until = env->time->now() + wait;
  const auto until = fetch.until;
  parked.push_back(std::move(fetch));
  pump(x.topic);
  if (!parked.empty())
    arm(until);
}

/// Serves the fetches that wait for `topic`, in the order in which they came.
void consumer_group_state::pump(topic_id topic) {
  const auto found = topics.find(topic);
  if (found == topics.end() || stopping)
    return;
  auto& slots = found->second;
  const auto now = env->time->now();
  bool dry = false;
  for (auto at = parked.begin(); at != parked.end();) {
    if (at->what.topic != topic) {
      ++at;
      continue;
    }
    dry = dry || !fill(*at, slots);
    if (!dry) {
      at = parked.erase(at);
      continue;
    }
    const bool over = at->until <= now;
    if (over && (settled(topic, slots) || at->until + grace <= now)) {
      end_fetch(*at, verdict_on(topic, slots));
      at = parked.erase(at);
    } else {
      ++at;
    }
  }
  for (std::uint32_t n = 0; n < slots.queues; ++n)
    refill(queues.find({topic, queue_no{static_cast<std::uint16_t>(n)}}).value());
}

void consumer_group_state::pump_all() {
  for (const auto& [topic, slots] : topics)
    pump(topic);
}

/// Hands out what there is, one queue after another. False if there was nothing.
bool consumer_group_state::fill(const parked_fetch& fetch, topic_slot& topic) {
  deliver out;
  out.id = fetch.what.id;
  const auto ends = env->time->now() + env->settings->consumer.lease;
  std::uint64_t bytes = 0;
  bool full = false;
  std::uint32_t idle = 0; // queues in a row that had nothing
  while (!full && idle < topic.queues) {
    const auto n = static_cast<std::uint16_t>(topic.turn % topic.queues);
    auto& window = *queues.find({fetch.what.topic, queue_no{n}}).value().window;
    const auto* next = window.peek();
    if (!next) {
      ++idle;
      ++topic.turn;
      continue;
    }
    bytes += next->length;
    if (fetch.what.bytes_max != 0 && bytes > fetch.what.bytes_max && !out.deliveries.empty())
      break;
    idle = 0;
    out.deliveries.push_back(window.hand_out(++last_lease, fetch.holder, ends));
    full = out.deliveries.size() >= fetch.what.max;
    ++topic.turn;
  }
  if (out.deliveries.empty())
    return false;
  self->send(connection_of(fetch.who), std::move(out));
  arm(ends);
  return true;
}

/// Whether each queue has said all that it has to say at the moment.
bool consumer_group_state::settled(topic_id topic, const topic_slot& slots) const {
  for (std::uint32_t n = 0; n < slots.queues; ++n) {
    const auto& s = queues.find({topic, queue_no{static_cast<std::uint16_t>(n)}})->second;
    const bool pending = s.at == slot::stage::finding || s.at == slot::stage::fetching ||
                         (s.at == slot::stage::idle && s.window->queue_has_more() &&
                          s.window->ready() < prefetch_below);
    if (pending)
      return false;
  }
  return true;
}

ec consumer_group_state::verdict_on(topic_id topic, const topic_slot& slots) const {
  for (std::uint32_t n = 0; n < slots.queues; ++n)
    if (queues.find({topic, queue_no{static_cast<std::uint16_t>(n)}})->second.at !=
        slot::stage::missing)
      return ec::ok;
  return ec::unknown_topic;
}

void consumer_group_state::end_fetch(const parked_fetch& fetch, ec code) {
  self->send(connection_of(fetch.who), deliver{fetch.what.id, code, {}});
}

// -- acknowledging ------------------------------------------------------------------

void consumer_group_state::on_acknowledge(const acknowledge& x) {
  const auto who = self->current_sender();
  if (!who)
    return;
  if (!member->serving()) {
    self->send(connection_of(who), acknowledged{x.id, ec::recovering, 0, 0});
    return;
  }
  if (try_acknowledge(who, x))
    return;
  if (held_acks.size() < held_acks_max)
    held_acks.push_back({who, x});
  else
    self->send(connection_of(who), acknowledged{x.id, ec::recovering, 0, 0});
}

/// False if the end of a queue is not known yet, as after a restart: then nothing was done.
bool consumer_group_state::try_acknowledge(const caf::strong_actor_ptr& who,
                                           const acknowledge& what) {
  bool known = true;
  for (const auto& item : what.items) {
    const auto& s = open(item.queue, false);
    known = known && (s.window->end_known() || s.at == slot::stage::missing);
  }
  if (!known)
    return false;
  acknowledged answer{what.id, ec::ok, 0, 0};
  for (const auto& item : what.items) {
    auto& window = *queues.find(item.queue).value().window;
    const auto before = window.leased();
    if (item.what == handling::unreadable)
      note_unreadable(item, window.held_at(item.offset));
    switch (window.acknowledge(item)) {
    case queue_window::ack::accepted:
      ++answer.accepted;
      break;
    case queue_window::ack::late:
      ++answer.late;
      break;
    case queue_window::ack::unknown:
      ++answer.late;
      break;
    }
    if (ends_delivery(item.what))
      dirty.insert(item.queue);
    else if (window.leased() != before)
      attempts_changed(item.queue);
  }
  answers.push_back({who, answer});
  ask_write();
  for (const auto& item : what.items)
    if (!parked.empty())
      pump(item.queue.topic);
  return true;
}

void consumer_group_state::retry_held_acks() {
  for (auto held = held_acks.size(); held > 0; --held) {
    auto next = std::move(held_acks.front());
    held_acks.pop_front();
    if (!try_acknowledge(next.who, next.what))
      held_acks.push_back(std::move(next));
  }
}

void consumer_group_state::note_unreadable(const acknowledgement& what, position at) {
  self->send(commit_log, note_damage{{at,
                                      "message",
                                      "topic " + std::to_string(what.queue.topic.value) +
                                          " queue " + std::to_string(what.queue.queue.value) +
                                          " offset " + std::to_string(what.offset.value) +
                                          ": its stored bytes fail their check, not delivered",
                                      {}}});
}

// -- progress -----------------------------------------------------------------------

void consumer_group_state::attempts_changed(queue_key key) {
  lazily_dirty.insert(key);
  if (std::exchange(lazy_asked, true))
    return;
  self->delayed_send(self, lazy_write, tick{lazy_timer});
}

/// Behind what else is in the mailbox now, so that one record answers all of it.
void consumer_group_state::ask_write() {
  if (!std::exchange(write_asked, true))
    self->send(self, tick{write_timer});
}

void consumer_group_state::write() {
  write_asked = false;
  if (in_flight.size() >= writes_max && !stopping)
    return; // goes on as soon as one of them is durable
  dirty.merge(lazily_dirty);
  lazily_dirty.clear();
  if (dirty.empty()) {
    answer_unchanged();
    return;
  }
  progress_record progress;
  progress.groups.reserve(dirty.size());
  for (const auto key : dirty)
    progress.groups.push_back(queues.find(key)->second.window->progress().record(group(), key));
  dirty.clear();
  log_record record;
  record.type = record_type::progress;
  record.time_ms = env->time->wall();
  record.cookie = cookies.next();
  record.content = std::move(progress);
  in_flight.emplace(record.cookie, std::exchange(answers, {}));
  append_records order{member->who(), {}};
  order.records.push_back(std::move(record));
  self->send(commit_log, std::move(order));
}

/// Answers those whose items changed nothing, as one that hands back what it no longer holds: a
/// record without a queue in it would never come back here. They wait only for what is being
/// written.
void consumer_group_state::answer_unchanged() {
  for (auto& answer : std::exchange(answers, {}))
    if (in_flight.empty())
      self->send(connection_of(answer.who), answer.what);
    else
      in_flight.rbegin()->second.push_back(std::move(answer));
}

void consumer_group_state::written(std::uint64_t cookie) {
  const auto found = in_flight.find(cookie);
  if (found == in_flight.end())
    return;
  const auto waiting = std::move(found->second);
  in_flight.erase(found);
  for (const auto& answer : waiting)
    self->send(connection_of(answer.who), answer.what);
  if (!answers.empty() || !dirty.empty())
    ask_write();
  finish_stop();
}

void consumer_group_state::apply(const log_record& record, bool replayed) {
  if (record.type != record_type::progress)
    return;
  member->fold.apply(std::get<progress_record>(record.content));
  if (!replayed && !in_flight.empty())
    written(record.cookie);
}

/// What was refused is not durable: it goes into the next record that is asked for.
void consumer_group_state::on_refused(const append_refused& x) {
  for (const auto cookie : x.cookies) {
    const auto found = in_flight.find(cookie);
    if (found == in_flight.end())
      continue;
    for (auto& answer : found->second) {
      answer.what.code = x.why.code;
      self->send(connection_of(answer.who), answer.what);
    }
    in_flight.erase(found);
  }
  for (const auto& [key, s] : queues)
    if (s.window->progress().base() > 0 || s.window->progress().ranges() > 0)
      attempts_changed(key);
  finish_stop();
}

// -- members and time ---------------------------------------------------------------

void consumer_group_state::on_member_left(const caf::actor_addr& who) {
  const auto found = members.find(who);
  if (found == members.end())
    return;
  const auto gone = found->second;
  members.erase(found);
  self->demonitor(who);
  std::erase_if(parked, [&](const parked_fetch& f) { return f.holder == gone; });
  for (auto at = queues.begin(); at != queues.end(); ++at)
    if (at.value().window->release(gone) > 0)
      attempts_changed(at->first);
  pump_all();
}

void consumer_group_state::arm(time_point when) {
  if (when >= armed_until)
    return;
  armed_until = when;
  const auto wait = std::max(when - env->time->now(), clock::time_point::duration::zero());
  self->delayed_send(self, std::chrono::ceil<std::chrono::milliseconds>(wait),
                     tick{deadline_timer});
}

void consumer_group_state::run_deadlines() {
  armed_until = time_point::max();
  const auto now = env->time->now();
  for (auto at = queues.begin(); at != queues.end(); ++at)
    if (at.value().window->expire(now) > 0)
      attempts_changed(at->first);
  pump_all();
  auto next = time_point::max();
  for (auto at = queues.begin(); at != queues.end(); ++at)
    if (const auto expiry = at.value().window->next_expiry())
      next = std::min(next, *expiry);
  for (const auto& fetch : parked)
    next = std::min(next, fetch.until > now ? fetch.until : fetch.until + grace);
  if (next != time_point::max())
    arm(next);
}

void consumer_group_state::on_tick(const tick& x) {
  switch (static_cast<timer>(x.timer)) {
  case write_timer:
    return write();
  case lazy_timer:
    lazy_asked = false;
    return write();
  case deadline_timer:
    return run_deadlines();
  case retry_timer:
    retry_asked = false;
    for (auto at = queues.begin(); at != queues.end(); ++at)
      refill(at.value());
    return;
  }
}

// -- being looked at, and the end -----------------------------------------------------

void consumer_group_state::on_stop() {
  stopping = true;
  stop_asker = self->current_sender();
  for (const auto& fetch : std::exchange(parked, {}))
    end_fetch(fetch, ec::stopping);
  for (const auto& held : std::exchange(held_acks, {}))
    self->send(connection_of(held.who), acknowledged{held.what.id, ec::stopping, 0, 0});
  write();
  finish_stop();
}

void consumer_group_state::finish_stop() {
  if (stop_asker && in_flight.empty())
    self->send(caf::actor_cast<node_supervisor_actor>(std::exchange(stop_asker, nullptr)),
               stopped{"consumer_group", {}});
}

slices_taken consumer_group_state::slices(const std::string& cursor) const {
  slices_taken taken;
  if (!member->serving()) {
    taken.code = ec::recovering;
    return taken;
  }
  taken.cursor = cursor;
  auto bytes = member->fold.save(taken.cursor);
  if (!bytes.empty())
    taken.slices.push_back({progress_table::slice_prefix(group()), std::move(bytes)});
  return taken;
}

status_report consumer_group_state::status() {
  const auto own = "group=\"" + std::to_string(group().value) + "\"";
  status_report report;
  report.actor = "consumer_group/" + std::to_string(group().value);
  const auto gauge = [&](const char* what, const std::string& labels, std::uint64_t value) {
    report.samples.push_back({what, labels, static_cast<double>(value)});
  };
  gauge("rocketmq_consumer_connections", own, members.size());
  gauge("handfast_consumer_parked_fetches", own, parked.size());
  for (const auto& [key, s] : queues) {
    const auto labels = own + ",topic=\"" + std::to_string(key.topic.value) + "\",queue=\"" +
                        std::to_string(key.queue.value) + "\"";
    const auto base = s.window->progress().base();
    const auto end = std::max(s.window->end().value, base);
    gauge("rocketmq_consumer_lag_messages", labels, end - base);
    gauge("rocketmq_consumer_inflight_messages", labels, s.window->leased());
    gauge("rocketmq_consumer_ready_messages", labels, s.window->ready());
    gauge("handfast_consumer_done_offset", labels, base);
    gauge("handfast_consumer_end_offset", labels, end);
  }
  report.quarantined = member->quarantined();
  return report;
}

consumer_group_actor::behavior_type consumer_group(consumer_group_state::pointer self,
                                                   const shard_environment* env,
                                                   fold_start<progress_table> from) {
  auto& state = self->state;
  state.begin(env, std::move(from));
  self->set_down_handler([&state](const caf::down_msg& x) { state.on_member_left(x.source); });
  const auto apply = [&state](const log_record& record, bool replayed) {
    state.apply(record, replayed);
  };
  return {
      [&state](const peers_changed& x) { state.on_peers(*x.peers); },
      [&state](const stop&) { state.on_stop(); },
      [&state](const status_request&) { return state.status(); },
      [&state](const appender_registered& x) { state.member->on_registered(x); },
      [&state](const slices_loaded& x) { state.member->on_slices(x); },
      [&state, apply](const log_replayed& x) { state.member->on_replayed(x, apply); },
      [&state, apply](const records_durable& x) { state.member->on_durable(x, apply); },
      [&state](const append_refused& x) { state.on_refused(x); },
      [&state](const take_slices& x) { return state.slices(x.cursor); },
      [&state](const fetch_messages& x) { state.on_fetch(x); },
      [&state](const acknowledge& x) { state.on_acknowledge(x); },
      [&state](const entries_fetched& x) { state.on_entries(x); },
      [&state](const queue_grew& x) { state.on_grew(x); },
      [&state, self](const member_left&) {
        state.on_member_left(caf::actor_cast<caf::actor_addr>(self->current_sender()));
      },
      [&state](const queue_found& x) { state.on_queue(x); },
      [&state](const tick& x) { state.on_tick(x); },
  };
}

} // namespace handfast
