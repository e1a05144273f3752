// CONSUMER GROUP: its start, members, time and end. Queues, fetches, progress and dead letters have
// files of their own.
#include "actors/consumer_group.hpp"

#include "actors/type_ids.hpp"
#include "config/settings.hpp"

#include <caf/actor_cast.hpp>
#include <caf/system_messages.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

void consumer_group_state::begin(const shard_environment* environment,
                                 fold_start<progress_table> from) {
  env = environment;
  cookies = cookie_source{from.life};
  // A lease of an earlier life must never look like one of this life.
  last_lease = from.life.value << 40;
  refresh_rules();
  const auto id = from.fold.group();
  HANDFAST_ASSERT(id != group_id{});
  member.emplace(self, appender{appender_role::consumer_group, id.value, from.life},
                 progress_table::slice_prefix(id), std::move(from));
}

void consumer_group_state::on_peers(const shard_peers& peers) {
  const bool reader_changed = log_reader.life != peers.log_reader.life;
  const bool registry_changed = topic_registry.life != peers.topic_registry.life;
  supervisor = peers.supervisor;
  commit_log = peers.commit_log.actor;
  log_reader = peers.log_reader;
  topic_registry = peers.topic_registry;
  member->connect(peers);
  if (registry_changed && topic_registry.actor) {
    ended = false; // whoever wanted to delete the group has forgotten it
    box.asked = false;
    self->send(topic_registry.actor, ask_group_rules{group()});
    bury_more();
  }
  if (reader_changed) {
    for (const auto& [key, s] : queues)
      if (s->heads)
        forget_questions(*s);
    for (auto& [id, places] : std::exchange(burial_reads, {}))
      ask_originals(std::move(places));
    pump_all();
  }
}

void consumer_group_state::on_rules(const group_rules& x) {
  group_name = x.name;
  unknown = x.name.empty();
  ended = false; // if it was to be deleted, that came to nothing
  own_delivery_max = x.delivery_max;
  refresh_rules();
  if (unknown)
    end_fetches(ec::unknown_group);
  else
    bury_more();
}

/// Options of the node may have changed.
void consumer_group_state::refresh_rules() {
  const auto& node = env->settings->consumer;
  rules.delivery_max = own_delivery_max != 0 ? own_delivery_max : node.delivery_max;
  rules.backoff_min_ms = static_cast<std::uint64_t>(node.retry_backoff_min.count());
  rules.backoff_max_ms = static_cast<std::uint64_t>(node.retry_backoff_max.count());
}

/// Why nobody is served now.
ec consumer_group_state::not_now() const {
  if (stopping)
    return ec::stopping;
  if (ended || unknown)
    return ec::unknown_group;
  return member->serving() ? ec::ok : ec::recovering;
}

// -- members --------------------------------------------------------------------------

member_no consumer_group_state::member_of(const caf::strong_actor_ptr& who,
                                          const std::string& called) {
  const auto [found, added] = members.try_emplace(caf::actor_cast<caf::actor_addr>(who));
  if (added) {
    found->second.number = ++last_member;
    self->monitor(caf::actor_cast<caf::actor>(who));
  }
  if (found->second.name.empty())
    found->second.name = called;
  return found->second.number;
}

member_no consumer_group_state::known_member(const caf::strong_actor_ptr& who) const {
  const auto found = members.find(caf::actor_cast<caf::actor_addr>(who));
  return found == members.end() ? 0 : found->second.number;
}

void consumer_group_state::on_member_left(const caf::actor_addr& who) {
  const auto found = members.find(who);
  if (found == members.end())
    return;
  const auto gone = found->second.number;
  members.erase(found);
  self->demonitor(who);
  std::erase_if(parked, [&](const parked_fetch& f) { return f.holder == gone; });
  const auto now = env->time->now();
  for (const auto& [key, s] : queues)
    if (s->window.release(gone, now) > 0)
      note_changes(*s);
  for (auto& [id, topic] : topics)
    if (topic.subscribers.erase(gone) > 0 && topic.ordered()) {
      topic.owners.leave(gone);
      settle_owners(topic);
    }
  bury_more();
  pump_all();
}

// -- time -----------------------------------------------------------------------------

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
  refresh_rules();
  const auto now = env->time->now();
  for (const auto& [key, s] : queues)
    if (s->window.expire(now) > 0)
      note_changes(*s);
  bury_more();
  auto next = time_point::max();
  for (auto& [id, topic] : topics)
    if (const auto idle = drop_idle(topic, now))
      next = std::min(next, *idle);
  settle_moving();
  pump_all();
  for (const auto& [key, s] : queues)
    if (const auto expiry = s->window.next_expiry())
      next = std::min(next, *expiry);
  for (const auto& fetch : parked)
    next = std::min(next, fetch.until > now ? fetch.until : fetch.until + grace);
  if (next != time_point::max())
    arm(next);
}

void consumer_group_state::ask_retry() {
  if (!std::exchange(retry_asked, true))
    self->delayed_send(self, retry_after, tick{retry_timer});
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
    for (const auto& [key, s] : queues)
      refill(*s);
    return;
  case burial_timer:
    burial_asked = false;
    return bury_more();
  }
}

// -- the end --------------------------------------------------------------------------

void consumer_group_state::end_fetches(ec code) {
  for (const auto& fetch : std::exchange(parked, {})) {
    end_fetch(fetch, code);
    forget_parked(fetch);
  }
}

void consumer_group_state::on_stop() {
  stopping = true;
  stop_asker = self->current_sender();
  end_fetches(ec::stopping);
  for (const auto& held : std::exchange(held_acks, {}))
    send({held.who, acknowledged{held.what.id, ec::stopping, 0, 0}}, ec::ok);
  for (const auto& [id, job] : std::exchange(resets, {}))
    send({job.who, progress_reset{job.what.id, ec::stopping, {}}}, ec::ok);
  for (const auto& [place, waits] : std::exchange(burial_waits, {}))
    for (const auto& wait : waits)
      if (std::exchange(wait->open, 0) != 0)
        send(wait->answer, ec::stopping);
  write();
  finish_stop();
}

void consumer_group_state::finish_stop() {
  if (stop_asker && in_flight.empty())
    self->send(caf::actor_cast<node_supervisor_actor>(std::exchange(stop_asker, nullptr)),
               stopped{"consumer_group", {}});
}

/// The group is to be deleted: refused while it has members.
void consumer_group_state::on_end() {
  const auto asker = self->current_sender();
  if (!asker)
    return;
  if (!members.empty() || !member->serving() || stopping) {
    self->send(caf::actor_cast<topic_registry_actor>(asker),
               group_ended{group(), members.empty() ? ec::recovering : ec::group_in_use});
    return;
  }
  ended = true;
  end_asker = asker;
  finish_end();
}

void consumer_group_state::finish_end() {
  if (end_asker && in_flight.empty())
    self->send(caf::actor_cast<topic_registry_actor>(std::exchange(end_asker, nullptr)),
               group_ended{group(), ec::ok});
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

consumer_group_actor::behavior_type consumer_group(consumer_group_state::pointer self,
                                                   const shard_environment* env,
                                                   fold_start<progress_table> from) {
  auto& state = self->state;
  state.begin(env, std::move(from));
  self->set_down_handler([&state](const caf::down_msg& x) { state.on_member_left(x.source); });
  const auto apply = [&state](const log_record& record, bool replayed) {
    state.apply(record, replayed);
  };
  // The busiest first: CAF compares a message with one after the other.
  return {
      [&state](const acknowledge& x) { state.on_acknowledge(x); },
      [&state](const fetch_messages& x) { state.on_fetch(x); },
      [&state, apply](const records_durable& x) { state.member->on_durable(x, apply); },
      [&state](const entries_fetched& x) { state.on_entries(x); },
      [&state](const queue_grew& x) { state.on_grew(x); },
      [&state](const tick& x) { state.on_tick(x); },
      [&state](heads_read& x) { state.on_heads(x); },
      [&state](records_read& x) { state.on_records(x); },
      [&state](const peers_changed& x) { state.on_peers(*x.peers); },
      [&state](const stop&) { state.on_stop(); },
      [&state](const status_request&) { return state.status(); },
      [&state](const appender_registered& x) { state.member->on_registered(x); },
      [&state](const slices_loaded& x) { state.member->on_slices(x); },
      [&state, apply](const log_replayed& x) { state.member->on_replayed(x, apply); },
      [&state](const append_refused& x) { state.on_refused(x); },
      [&state](const take_slices& x) { return state.slices(x.cursor); },
      [&state](const reset_progress& x) { state.on_reset(x); },
      [&state](const describe_group& x) { state.on_describe(x); },
      [&state](const offset_found& x) { state.on_offset(x); },
      [&state](const group_rules& x) { state.on_rules(x); },
      [&state](const dead_letters_open& x) { state.on_dead_letters_open(x); },
      [&state](const end_group&) { state.on_end(); },
      [&state, self](const member_left&) {
        state.on_member_left(caf::actor_cast<caf::actor_addr>(self->current_sender()));
      },
      [&state](const queue_found& x) { state.on_queue(x); },
  };
}

} // namespace handfast
