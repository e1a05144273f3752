// CONSUMER GROUP, progress: acknowledgements, and the records that make them durable.
#include "actors/consumer_group.hpp"
#include "actors/type_ids.hpp"

#include <caf/actor_cast.hpp>

#include <utility>

namespace handfast {

namespace {

/// Any actor that asked, whatever it is.
template <class Answer>
auto asker_of(const caf::strong_actor_ptr& who) {
  return caf::actor_cast<caf::typed_actor<caf::reacts_to<Answer>>>(who);
}

std::size_t bytes_of(const queue_progress& p) {
  return 64 + 16 * (p.ranges() + p.attempted());
}

} // namespace

// -- acknowledging ------------------------------------------------------------------

void consumer_group_state::on_acknowledge(const acknowledge& x) {
  const auto who = self->current_sender();
  if (!who)
    return;
  // An ordered stop still takes what members have done.
  const auto refusal = stopping && member->serving() ? ec::ok : not_now();
  if (refusal == ec::ok && try_acknowledge(who, x))
    return;
  if (refusal == ec::ok && !stopping && held_acks.size() < held_acks_max)
    held_acks.push_back({who, x});
  else
    send({who, acknowledged{x.id, refusal == ec::ok ? ec::recovering : refusal, 0, 0}}, ec::ok);
}

/// False if the end of a queue is not known yet, as after a restart: then nothing was done.
bool consumer_group_state::try_acknowledge(const caf::strong_actor_ptr& who,
                                           const acknowledge& what) {
  bool known = true;
  slot* last = nullptr;
  for (const auto& item : what.items)
    if (!last || last->window.key() != item.queue) {
      last = &open(item.queue);
      known = known && (last->window.end_known() || last->at == slot::stage::missing);
    }
  if (!known)
    return false;
  refresh_rules();
  acknowledged answer{what.id, ec::ok, 0, 0};
  std::shared_ptr<burial_wait> waits; // if something of it goes to the dead letters
  last = nullptr;
  const auto holder = known_member(who);
  for (const auto& item : what.items) {
    if (last && last->window.key() != item.queue)
      note_changes(*last);
    if (!last || last->window.key() != item.queue)
      last = queues.find(item.queue)->second.get();
    if (item.to == queue_offset{})
      acknowledge_one(*last, item, answer, waits);
    else
      for (const auto& one : last->window.held_in(item, holder))
        acknowledge_one(*last, one, answer, waits);
  }
  if (last)
    note_changes(*last);
  if (waits)
    waits->answer = {who, answer};
  else
    answers.push_back({who, answer});
  ask_write();
  bury_more();
  settle_moving();
  if (!parked.empty())
    for (const auto& item : what.items)
      if (&item == what.items.data() || item.queue.topic != (&item - 1)->queue.topic)
        pump(item.queue.topic);
  return true;
}

void consumer_group_state::acknowledge_one(slot& s, const acknowledgement& item,
                                           acknowledged& answer,
                                           std::shared_ptr<burial_wait>& waits) {
  if (item.what == handling::unreadable)
    note_unreadable({item.queue, item.offset}, s.window.held_at(item.offset));
  if (s.window.acknowledge(item, env->time->now()) == queue_window::ack::accepted)
    ++answer.accepted;
  else
    ++answer.late;
  if (item.what == handling::returned && item.retry_ms != 0)
    if (const auto next = s.window.next_expiry())
      arm(*next);
  if (item.what != handling::dead_letter || !s.window.is_dead(item.offset))
    return;
  if (!waits)
    waits = std::make_shared<burial_wait>();
  ++waits->open;
  burial_waits[{item.queue, item.offset.value}].push_back(waits);
}

void consumer_group_state::retry_held_acks() {
  for (auto held = held_acks.size(); held > 0; --held) {
    auto next = std::move(held_acks.front());
    held_acks.pop_front();
    if (!try_acknowledge(next.who, next.what))
      held_acks.push_back(std::move(next));
  }
}

void consumer_group_state::note_unreadable(queue_place where, position at) {
  self->send(commit_log, note_damage{{at,
                                      "message",
                                      "topic " + std::to_string(where.queue.topic.value) +
                                          " queue " + std::to_string(where.queue.queue.value) +
                                          " offset " + std::to_string(where.offset.value) +
                                          ": its stored bytes fail their check, not delivered",
                                      {}}});
}

// -- what must be written -------------------------------------------------------------

/// After anything that may have changed the progress.
void consumer_group_state::note_changes(slot& s) {
  switch (s.window.take_changes()) {
  case queue_window::urgency::nothing:
    return;
  case queue_window::urgency::lazy:
    return mark_lazily_dirty(s);
  case queue_window::urgency::now:
    mark_dirty(s);
    return ask_write();
  }
}

void consumer_group_state::mark_dirty(slot& s) {
  if (!std::exchange(s.dirty, true))
    dirty_slots.push_back(&s);
}

void consumer_group_state::mark_lazily_dirty(slot& s) {
  if (!std::exchange(s.lazily_dirty, true))
    lazily_dirty_slots.push_back(&s);
  if (!std::exchange(lazy_asked, true))
    self->delayed_send(self, lazy_write, tick{lazy_timer});
}

/// Behind what else is in the mailbox now, so that one record answers all of it.
void consumer_group_state::ask_write() {
  if (!std::exchange(write_asked, true))
    self->send(self, tick{write_timer});
}

/// PROGRESS before dead letters, and none while one is under way: a PROGRESS record is the whole
/// truth about its queues, so one that was made before a dead letter must not come behind it.
void consumer_group_state::write() {
  write_asked = false;
  if (letters_in_flight > 0 || ended || (in_flight.size() >= writes_max && !stopping))
    return; // goes on as soon as one of them is durable
  for (auto* s : std::exchange(lazily_dirty_slots, {})) {
    s->lazily_dirty = false;
    mark_dirty(*s);
  }
  append_records order{member->who(), {}};
  auto job = std::make_shared<log_order>();
  add_progress(order, job);
  add_letters(order, job);
  if (order.records.empty()) {
    answer_unchanged();
    return;
  }
  job->answers = std::exchange(answers, {});
  self->send(commit_log, std::move(order));
}

void consumer_group_state::add_progress(append_records& to,
                                        const std::shared_ptr<log_order>& order) {
  progress_record progress;
  order_part part{order, {}, {}, {}};
  std::size_t bytes = 0;
  const auto flush = [&] {
    if (progress.groups.empty())
      return;
    log_record record;
    record.type = record_type::progress;
    record.time_ms = env->time->wall();
    record.cookie = cookies.next();
    record.content = std::exchange(progress, {});
    ++order->open;
    in_flight.emplace(record.cookie, std::exchange(part, order_part{order, {}, {}, {}}));
    to.records.push_back(std::move(record));
    bytes = 0;
  };
  for (auto* s : std::exchange(dirty_slots, {})) {
    s->dirty = false;
    const auto size = bytes_of(s->window.progress());
    if (bytes + size > record_bytes_max)
      flush();
    bytes += size;
    progress.groups.push_back(s->window.progress().record(group(), s->window.key()));
    part.queues.push_back(s);
    if (auto counted = s->window.take_counted(); !counted.empty())
      part.counted.emplace_back(s, std::move(counted));
  }
  flush();
}

/// Answers those whose items changed nothing, as one that hands back what it no longer holds: a
/// record without a queue in it would never come back here. They wait only for what is being
/// written.
void consumer_group_state::answer_unchanged() {
  for (auto& answer : std::exchange(answers, {}))
    if (in_flight.empty())
      send(answer, ec::ok);
    else
      in_flight.rbegin()->second.order->answers.push_back(std::move(answer));
}

/// @param code not ok takes the place of the answer's own
void consumer_group_state::send(const late_answer& answer, ec code) {
  if (const auto* acks = std::get_if<acknowledged>(&answer.what)) {
    auto told = *acks;
    told.code = code != ec::ok ? code : told.code;
    self->send(asker_of<acknowledged>(answer.who), told);
  } else {
    auto told = std::get<progress_reset>(answer.what);
    told.code = code != ec::ok ? code : told.code;
    self->send(asker_of<progress_reset>(answer.who), std::move(told));
  }
}

// -- what became of it ------------------------------------------------------------------

void consumer_group_state::apply(const log_record& record, bool replayed) {
  if (record.type == record_type::progress)
    member->fold.apply(std::get<progress_record>(record.content));
  else if (record.type == record_type::dead_letter)
    member->fold.apply(std::get<dead_letter_record>(record.content));
  else
    return;
  if (replayed || in_flight.empty())
    return;
  if (const auto part = in_flight.find(record.cookie); part != in_flight.end())
    part_done(part, {});
}

/// One record is durable, or was refused.
void consumer_group_state::part_done(std::map<std::uint64_t, order_part>::iterator part,
                                     const error& why) {
  const auto done = std::move(part->second);
  in_flight.erase(part);
  const bool durable = why.code == ec::ok;
  const auto now = env->time->now();
  for (const auto& [s, offsets] : done.counted) {
    if (durable)
      s->window.counts_durable(offsets, now);
    else
      s->window.counts_refused(offsets);
    if (const auto next = s->window.next_expiry())
      arm(*next);
  }
  if (done.letter) {
    --letters_in_flight;
    if (durable)
      settle_burial(*done.letter);
    else
      give_up_burial(*done.letter);
  }
  if (!durable) {
    done.order->why = why;
    for (auto* s : done.queues) // it goes into the next record that is asked for
      mark_lazily_dirty(*s);
  }
  if (--done.order->open == 0)
    for (const auto& answer : done.order->answers)
      send(answer, done.order->why.code);
  if (!answers.empty() || !dirty_slots.empty() || wants_to_bury())
    ask_write();
  if (!done.counted.empty() || done.letter)
    pump_all();
  finish_stop();
  finish_end();
}

void consumer_group_state::on_refused(const append_refused& x) {
  for (const auto cookie : x.cookies)
    if (const auto part = in_flight.find(cookie); part != in_flight.end())
      part_done(part, x.why);
}

} // namespace handfast
