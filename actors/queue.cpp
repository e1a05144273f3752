#include "actors/queue.hpp"

#include "actors/type_ids.hpp"
#include "messages/assert.hpp"
#include "messages/limits.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

void queue_state::begin(queue_start from) {
  index = std::move(from.index);
  whole = from.whole;
}

void queue_state::on_peers(const shard_peers& peers) {
  const bool reader_changed = log_reader.life != peers.log_reader.life;
  const bool log_changed = commit_log.life != peers.commit_log.life;
  commit_log = peers.commit_log;
  log_reader = peers.log_reader;
  if (!bound || log_changed || (!serving && reader_changed)) {
    bound = true;
    self->send(commit_log.actor, bind_queue{index.key()});
  }
  if (reader_changed) {
    for (const auto& [id, fetch] : relayed)
      relay(id, fetch);
    for (auto& [id, at] : searches)
      probe(id, at);
  }
}

// -- coming back ------------------------------------------------------------------

void queue_state::on_registered(const appender_registered& x) {
  if (serving)
    return;
  durable = x.durable;
  if (whole) {
    // Behind the entries that COMMIT LOG kept and sends together with this answer: only then the
    // index is complete.
    self->send(self, slices_loaded{});
    return;
  }
  ++question.value;
  self->send(log_reader.actor, load_slices{question, queue_index::slice_name(index.key())});
}

void queue_state::on_slices(const slices_loaded& x) {
  if (serving)
    return;
  if (whole) {
    serve();
    return;
  }
  if (x.id != question)
    return;
  HANDFAST_ASSERT(x.code == ec::ok);
  index = index.emptied();
  for (const auto& slice : x.slices)
    index.load(slice.name, slice.bytes);
  replay_from(x.replay_from);
}

void queue_state::replay_from(position from) {
  if (from >= durable)
    return serve();
  ++question.value;
  self->send(log_reader.actor, replay_log{question, from, durable});
}

void queue_state::on_replayed(const log_replayed& x) {
  if (serving || x.id != question)
    return;
  HANDFAST_ASSERT(x.code == ec::ok);
  if (x.batch)
    for (const auto& record : x.batch->records)
      index.apply(record);
  replay_from(x.next);
}

void queue_state::serve() {
  serving = true;
  for (const auto& held : std::exchange(held_entries, {}))
    for (const auto& entry : held.entries)
      index.add(entry);
  for (const auto& fetch : std::exchange(held_fetches, {}))
    answer(fetch.asker, fetch.what);
  for (auto& held : std::exchange(held_searches, {}))
    search(std::move(held));
  wake_watchers();
}

// -- entries ----------------------------------------------------------------------

void queue_state::on_visible(const entries_visible& x) {
  HANDFAST_ASSERT(x.queue == index.key());
  if (!serving) {
    held_entries.push_back(x);
    return;
  }
  for (const auto& entry : x.entries)
    index.add(entry);
  wake_watchers();
}

void queue_state::wake_watchers() {
  if (watchers.empty())
    return;
  const auto end = index.end();
  std::erase_if(watchers, [&](const watcher& w) {
    if (end <= w.from)
      return false;
    self->send(caf::actor_cast<consumer_group_actor>(w.who), queue_grew{index.key(), end});
    return true;
  });
}

void queue_state::on_watch(const watch_queue& x) {
  auto asker = self->current_sender();
  if (!asker)
    return;
  // One watch per asker: a new one replaces the old.
  std::erase_if(watchers, [&](const watcher& w) { return w.who == asker; });
  watchers.push_back({std::move(asker), x.from});
  if (serving)
    wake_watchers();
}

void queue_state::on_fetch(const fetch_entries& x) {
  const auto& asker = self->current_sender();
  if (!asker)
    return;
  if (serving) {
    answer(asker, x);
    return;
  }
  if (held_fetches.size() < held_fetches_max)
    held_fetches.push_back({asker, x});
  else
    self->send(caf::actor_cast<connection_actor>(asker),
               entries_fetched{x.id, x.queue, ec::recovering, {}, {}, {}});
}

void queue_state::answer(const caf::strong_actor_ptr& asker, const fetch_entries& what) {
  const auto from = std::max(what.from, index.first());
  const auto max = std::min<std::uint32_t>(what.max, limits::page_items_max);
  if (from < index.memory_first() && max > 0) {
    const auto id = ++last_relayed;
    auto bounded = what;
    bounded.from = from;
    bounded.max = max;
    const auto to = std::min(queue_offset{from.value + max}, index.memory_first());
    const auto& kept = relayed.emplace(id, relayed_fetch{asker, bounded, to}).first->second;
    relay(id, kept);
    return;
  }
  answer_from_memory(asker, what, from);
}

void queue_state::answer_from_memory(const caf::strong_actor_ptr& asker, const fetch_entries& what,
                                     queue_offset from) {
  const auto max = std::min<std::uint32_t>(what.max, limits::page_items_max);
  auto entries = max > 0 ? index.read(from, max) : std::vector<visible_entry>{};
  // Connections and consumer groups take the same answer; the handle type only names the message.
  self->send(caf::actor_cast<connection_actor>(asker),
             entries_fetched{what.id, index.key(), ec::ok, index.first(), index.end(),
                             std::move(entries)});
}

void queue_state::relay(std::uint64_t id, const relayed_fetch& fetch) {
  self->send(log_reader.actor, read_index{correlation{id}, index.key(), fetch.what.from, fetch.to});
}

void queue_state::on_fetched(entries_fetched& x) {
  const auto found = relayed.find(x.id.value);
  if (found == relayed.end()) {
    on_probed(x.id.value, x);
    return;
  }
  if (x.code == ec::ok && x.entries.empty() && found->second.to < index.memory_first()) {
    // Nothing stands there: offsets were lost. What comes next is wherever runs go on.
    found->second.to = index.memory_first();
    relay(found->first, found->second);
    return;
  }
  const auto fetch = std::move(found->second);
  relayed.erase(found);
  if (x.code == ec::ok && x.entries.empty()) {
    answer_from_memory(fetch.asker, fetch.what, index.memory_first());
    return;
  }
  if (x.entries.size() > fetch.what.max)
    x.entries.resize(fetch.what.max);
  self->send(caf::actor_cast<connection_actor>(fetch.asker),
             entries_fetched{fetch.what.id, index.key(), x.code, index.first(), index.end(),
                             std::move(x.entries)});
}

// -- offsets of moments -------------------------------------------------------------

void queue_state::on_find(const find_offset& x) {
  time_search wanted{self->current_sender(), x, {}, {}, {}};
  if (!wanted.asker)
    return;
  if (serving)
    search(std::move(wanted));
  else if (held_searches.size() < held_fetches_max)
    held_searches.push_back(std::move(wanted));
  else
    answer_offset(wanted, {}, ec::recovering);
}

void queue_state::search(time_search wanted) {
  const auto& point = wanted.what.point;
  switch (point.from) {
  case start_from::earliest:
    return answer_offset(wanted, index.first());
  case start_from::latest:
    return answer_offset(wanted, index.end());
  case start_from::offset:
    return answer_offset(wanted, queue_offset{point.value});
  case start_from::time:
    break;
  }
  const auto in_memory = index.visible_since(point.value);
  if (in_memory > index.memory_first() || index.memory_first() <= index.first())
    return answer_offset(wanted, in_memory);
  wanted.from = index.first();
  wanted.to = index.memory_first();
  const auto id = ++last_relayed;
  probe(id, searches.emplace(id, std::move(wanted)).first->second);
}

/// Asks for what stands in the middle.
void queue_state::probe(std::uint64_t id, time_search& at) {
  at.probe = queue_offset{at.from.value + (at.to.value - at.from.value) / 2};
  self->send(log_reader.actor, read_index{correlation{id}, index.key(), at.probe, at.to});
}

/// An answer holds many entries, so the last steps need no question.
void queue_state::on_probed(std::uint64_t id, const entries_fetched& x) {
  const auto found = searches.find(id);
  if (found == searches.end())
    return;
  auto& at = found->second;
  if (x.code != ec::ok) {
    answer_offset(at, {}, x.code);
    searches.erase(found);
    return;
  }
  const auto since = at.what.point.value;
  if (x.entries.empty()) { // nothing stands from there on: offsets were lost
    at.to = at.probe;
  } else if (x.entries.front().visible_ms >= since) {
    at.to = at.probe;
  } else {
    const auto later = std::find_if(x.entries.begin(), x.entries.end(),
                                    [&](const visible_entry& e) { return e.visible_ms >= since; });
    at.from = queue_offset{std::prev(later)->offset.value + 1};
    if (later != x.entries.end())
      at.from = at.to = later->offset;
  }
  if (at.from < at.to) {
    probe(id, at);
    return;
  }
  answer_offset(at, at.from);
  searches.erase(found);
}

void queue_state::answer_offset(const time_search& to, queue_offset found, ec code) {
  const auto kept = std::clamp(found, index.first(), index.end());
  self->send(caf::actor_cast<caf::typed_actor<caf::reacts_to<offset_found>>>(to.asker),
             offset_found{to.what.id, index.key(), code, kept, index.first(), index.end()});
}

// -- checkpoints and status ---------------------------------------------------------

slices_taken queue_state::slices() const {
  slices_taken taken;
  if (!serving)
    taken.code = ec::recovering;
  else if (auto bytes = index.save(); !bytes.empty())
    taken.slices.push_back({queue_index::slice_name(index.key()), std::move(bytes)});
  return taken;
}

unsaved_taken queue_state::unsaved() {
  unsaved_taken taken;
  if (!serving) {
    taken.code = ec::recovering;
    return taken;
  }
  const auto entries = index.take_unsaved();
  taken.entries.reserve(entries.size());
  for (const auto& entry : entries)
    taken.entries.emplace_back(index.key(), entry);
  return taken;
}

status_report queue_state::status() const {
  const auto labels = "topic=\"" + std::to_string(index.key().topic.value) + "\",queue=\"" +
                      std::to_string(index.key().queue.value) + "\"";
  status_report report;
  report.actor = "queue/" + std::to_string(index.key().topic.value) + "/" +
                 std::to_string(index.key().queue.value);
  report.samples = {
      {"handfast_queue_first_offset", labels, static_cast<double>(index.first().value)},
      {"handfast_queue_end_offset", labels, static_cast<double>(index.end().value)},
      {"handfast_queue_entries_in_memory", labels, static_cast<double>(index.in_memory())},
      {"handfast_queue_watchers", labels, static_cast<double>(watchers.size())},
      {"handfast_queue_serving", labels, serving ? 1.0 : 0.0},
  };
  return report;
}

void queue_state::on_stop() {
  watchers.clear();
  self->send(caf::actor_cast<node_supervisor_actor>(self->current_sender()), stopped{"queue", {}});
}

queue_actor::behavior_type queue(queue_state::pointer self, const shard_environment*,
                                 queue_start from) {
  auto& state = self->state;
  state.begin(std::move(from));
  // The busiest first: CAF compares a message with one after the other.
  return {
      [&state](const entries_visible& x) { state.on_visible(x); },
      [&state](const fetch_entries& x) { state.on_fetch(x); },
      [&state](const watch_queue& x) { state.on_watch(x); },
      [&state](const find_offset& x) { state.on_find(x); },
      [&state](const peers_changed& x) { state.on_peers(*x.peers); },
      [&state](const stop&) { state.on_stop(); },
      [&state](const status_request&) { return state.status(); },
      [&state](const appender_registered& x) { state.on_registered(x); },
      [&state](const slices_loaded& x) { state.on_slices(x); },
      [&state](const log_replayed& x) { state.on_replayed(x); },
      [&state](entries_fetched& x) { state.on_fetched(x); },
      [&state](const run_saved&) { state.index.saved(); },
      [&state](const take_slices&) { return state.slices(); },
      [&state](const take_unsaved&) { return state.unsaved(); },
  };
}

} // namespace handfast
