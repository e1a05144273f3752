// CONSUMER GROUP, its queues: where reading begins, what comes next, what heads say, going back.
#include "actors/consumer_group.hpp"
#include "actors/record_heads.hpp"
#include "actors/type_ids.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

const filter everything;

} // namespace

// -- finding them ---------------------------------------------------------------------

consumer_group_state::slot& consumer_group_state::open(queue_key key) {
  auto found = queues.find(key);
  if (found == queues.end()) {
    const auto* progress = member->fold.find(key);
    auto made = std::make_unique<slot>(key, rules, progress ? *progress : queue_progress{});
    made->wanted = &everything;
    found = queues.emplace(key, std::move(made)).first;
    find(*found->second);
  } else if (found->second->at == slot::stage::missing) {
    find(*found->second);
  }
  return *found->second;
}

void consumer_group_state::find(slot& s) {
  s.at = slot::stage::finding;
  self->send(supervisor.actor, find_queue{s.window.key()});
}

/// Also when the topic has grown: queues that were added are read from their beginning.
void consumer_group_state::open_topic(topic_slot& topic, const fetch_messages& what, bool is_new) {
  const auto known = topic.queues.size();
  for (auto n = static_cast<std::uint32_t>(known); n < what.queues; ++n) {
    const queue_key key{what.topic, queue_no{static_cast<std::uint16_t>(n)}};
    auto& s = open(key);
    if (is_new && what.start.from != start_from::earliest && !member->fold.find(key))
      s.start = what.start;
    topic.queues.push_back(&s);
    read_as_agreed(topic, s);
  }
  for (const auto& s : topic.queues) // a topic that was missing may be there by now
    if (s->at == slot::stage::missing)
      find(*s);
  const auto each = prefetch_together / static_cast<std::uint32_t>(topic.queues.size());
  for (auto* s : topic.queues)
    s->prefetch = std::clamp(each, prefetch_min, prefetch_max);
  topic.owners.set_queues(static_cast<std::uint32_t>(topic.queues.size()));
}

/// What was fetched before on other terms is fetched again.
void consumer_group_state::read_as_agreed(topic_slot& topic, slot& s) {
  const queue_window::manner how{topic.ordered(),
                                 topic.ordered() || topic.wanted.needs_properties()};
  const bool as_before = s.wanted == &everything && topic.wanted.wants_all() &&
                         s.window.read_how().ordered == how.ordered &&
                         s.window.read_how().heads == how.heads;
  s.wanted = &topic.wanted;
  if (as_before)
    return;
  s.window.read_as(how);
  forget_questions(s);
}

/// Answers that are under way say nothing any more.
void consumer_group_state::forget_questions(slot& s) {
  s.heads = nullptr;
  s.window.forget_questions();
  if (s.at == slot::stage::fetching || s.at == slot::stage::watching)
    s.at = slot::stage::idle;
  s.asked = 0;
}

void consumer_group_state::on_queue(const queue_found& x) {
  const auto found = queues.find(x.queue);
  if (found == queues.end())
    return;
  auto& s = *found->second;
  if (!x.actor) {
    s.at = slot::stage::missing;
  } else if (s.life != x.life || s.at == slot::stage::finding || s.at == slot::stage::missing) {
    s.actor = x.actor;
    s.life = x.life;
    s.at = slot::stage::idle;
    ask(s);
    for (const auto& [id, job] : resets)
      ask_places(id, job, s);
  }
  retry_held_acks();
  pump(x.queue.topic);
}

// -- what comes next ------------------------------------------------------------------

/// Asks the queue for what comes next, or where the group begins there.
void consumer_group_state::ask(slot& s) {
  HANDFAST_ASSERT(s.at == slot::stage::idle);
  s.asked = ++last_asked;
  if (s.start) {
    s.at = slot::stage::locating;
    self->send(s.actor, find_offset{correlation{s.asked}, s.window.key(), *s.start});
    return;
  }
  s.at = slot::stage::fetching;
  self->send(s.actor,
             fetch_entries{correlation{s.asked}, s.window.key(), s.window.next(), s.prefetch});
}

/// Fetches ahead, or watches the end, so that a member that waits need not wait longer.
void consumer_group_state::refill(slot& s) {
  const bool at_rest = s.at == slot::stage::idle || s.at == slot::stage::watching;
  if (!at_rest)
    return;
  if (s.start || s.window.wants_more(s.prefetch / 2)) {
    s.at = slot::stage::idle;
    ask(s);
  } else if (s.at == slot::stage::idle && !s.window.queue_has_more()) {
    s.at = slot::stage::watching;
    self->send(s.actor, watch_queue{s.window.key(), s.window.next()});
  }
}

void consumer_group_state::on_entries(const entries_fetched& x) {
  const auto found = queues.find(x.queue);
  if (found == queues.end() || found->second->at != slot::stage::fetching ||
      found->second->asked != x.id.value)
    return;
  auto& s = *found->second;
  s.at = slot::stage::idle;
  if (x.code != ec::ok) {
    ask_retry();
    return;
  }
  skipped += s.window.take(x.entries, x.first, x.end, *s.wanted);
  note_changes(s);
  if (x.entries.empty() && s.window.queue_has_more()) {
    ask_retry();
    return;
  }
  retry_held_acks();
  bury_more();
  pump(x.queue.topic);
}

void consumer_group_state::on_grew(const queue_grew& x) {
  const auto found = queues.find(x.queue);
  if (found == queues.end() || found->second->at != slot::stage::watching)
    return;
  auto& s = *found->second;
  s.at = slot::stage::idle;
  s.window.grew(x.end);
  refill(s);
}

// -- heads ------------------------------------------------------------------------------

/// From the page cache if possible; LOG READER reads the rest. One batch at a time, so that keys
/// are learnt in the order of the queue.
void consumer_group_state::read_heads_of(slot& s) {
  while (s.window.read_how().heads && !s.heads) {
    auto batch = std::make_unique<head_batch>();
    batch->entries = s.window.take_unread(heads_max);
    if (batch->entries.empty())
      return;
    batch->heads.resize(batch->entries.size());
    for (std::size_t n = 0; n < batch->entries.size(); ++n) {
      const auto& entry = batch->entries[n];
      const auto record = env->records && entry.length <= cached_head_max
                              ? env->records->try_read(entry.at, entry.length)
                              : std::nullopt;
      if (record)
        batch->heads[n] = head_of(*record);
      else
        batch->missing.push_back(n);
    }
    s.heads = std::move(batch);
    if (s.heads->missing.empty())
      judge_heads(s);
    else
      ask_heads(s);
  }
}

void consumer_group_state::ask_heads(slot& s) {
  s.heads->asked = ++last_asked;
  read_heads order{correlation{last_asked}, {}};
  for (const auto n : s.heads->missing)
    order.places.push_back({s.heads->entries[n].at, s.heads->entries[n].length});
  self->send(log_reader.actor, std::move(order));
}

/// A head that can't be read wants its message: whoever gets it finds out what is wrong with it.
void consumer_group_state::judge_heads(slot& s) {
  const auto batch = std::exchange(s.heads, nullptr);
  for (std::size_t n = 0; n < batch->entries.size(); ++n) {
    const auto& head = batch->heads[n];
    const bool readable = head.code == ec::ok;
    const bool wanted = !readable || s.wanted->matches(head.properties);
    const auto key =
        readable
            ? order_lanes::key_of((head.flags & message_flags::has_order_key) != 0, head.order_hash)
            : order_lanes::no_key;
    s.window.learnt(batch->entries[n].offset, wanted, key);
  }
  note_changes(s);
}

void consumer_group_state::on_heads(heads_read& x) {
  const auto found = std::find_if(queues.begin(), queues.end(), [&](const auto& q) {
    return q.second->heads && q.second->heads->asked == x.id.value;
  });
  if (found == queues.end())
    return;
  auto& s = *found->second;
  HANDFAST_ASSERT(x.heads.size() == s.heads->missing.size());
  for (std::size_t n = 0; n < x.heads.size(); ++n)
    s.heads->heads[s.heads->missing[n]] = std::move(x.heads[n]);
  judge_heads(s);
  bury_more();
  pump(s.window.key().topic);
}

// -- where to begin, and going back ---------------------------------------------------------

void consumer_group_state::on_offset(const offset_found& x) {
  if (const auto job = resets.find(x.id.value); job != resets.end()) {
    auto& places = job->second.places;
    if (x.code != ec::ok) {
      send({job->second.who, progress_reset{job->second.what.id, x.code, {}}}, ec::ok);
      resets.erase(job);
      return;
    }
    places.at(x.queue) = x.offset;
    if (std::all_of(places.begin(), places.end(), [](const auto& p) { return p.second; }))
      reset_now(job);
    return;
  }
  const auto found = queues.find(x.queue);
  if (found == queues.end() || found->second->at != slot::stage::locating ||
      found->second->asked != x.id.value)
    return;
  auto& s = *found->second;
  s.at = slot::stage::idle;
  if (x.code != ec::ok) {
    ask_retry();
    return;
  }
  s.start.reset();
  s.window.grew(x.end);
  s.window.begin_at(x.offset);
  mark_dirty(s); // so that a restart begins there too
  ask_write();
  retry_held_acks();
  pump(x.queue.topic);
}

void consumer_group_state::on_reset(const reset_progress& x) {
  const auto who = self->current_sender();
  if (!who)
    return;
  const bool possible =
      x.queues > 0 && x.queues <= limits::queues_max && (!x.one_queue || x.queue.value < x.queues);
  const auto refusal = not_now() != ec::ok ? not_now() : possible ? ec::ok : ec::bad_request;
  if (refusal != ec::ok) {
    send({who, progress_reset{x.id, refusal, {}}}, ec::ok);
    return;
  }
  const auto id = ++last_asked;
  auto& job = resets[id];
  job.who = who;
  job.what = x;
  for (std::uint32_t n = 0; n < x.queues; ++n)
    if (const queue_no queue{static_cast<std::uint16_t>(n)}; !x.one_queue || x.queue == queue)
      job.places[{x.topic, queue}];
  for (const auto& [key, place] : job.places)
    ask_places(id, job, open(key));
}

/// One that is not found yet is asked as soon as it is.
void consumer_group_state::ask_places(std::uint64_t id, const reset_job& job, const slot& s) {
  const auto place = job.places.find(s.window.key());
  if (place == job.places.end() || place->second || !s.actor)
    return;
  self->send(s.actor, find_offset{correlation{id}, s.window.key(), job.what.point});
}

void consumer_group_state::reset_now(std::map<std::uint64_t, reset_job>::iterator job) {
  progress_reset answer{job->second.what.id, ec::ok, {}};
  for (const auto& [key, place] : job->second.places) {
    auto& s = open(key);
    answer.places.push_back({key, *place});
    s.start.reset();
    s.window.reset(*place, last_lease);
    if (s.at == slot::stage::locating)
      s.at = slot::stage::idle;
    forget_questions(s);
    mark_dirty(s);
    // What is on its way to the log cannot be called back; the rest is not dead any more.
    for (auto b = burials.lower_bound({key, 0}); b != burials.end() && b->first.first == key;)
      b = b->second.appended ? std::next(b) : burials.erase(b);
    for (auto w = burial_waits.lower_bound({key, 0});
         w != burial_waits.end() && w->first.first == key;) {
      const auto where = (w++)->first;
      if (!burials.contains(where))
        settle_burial(where);
    }
  }
  answers.push_back({job->second.who, std::move(answer)});
  const auto topic = job->second.what.topic;
  resets.erase(job);
  ask_write();
  if (const auto found = topics.find(topic); found != topics.end())
    settle_owners(found->second);
  pump(topic);
}

} // namespace handfast
