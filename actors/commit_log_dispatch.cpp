// COMMIT LOG, the way out: what is durable is dispatched and answered; failure; checkpoints; stop.
#include "actors/commit_log.hpp"
#include "actors/fold_member.hpp"
#include "actors/type_ids.hpp"
#include "config/settings.hpp"
#include "messages/assert.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace handfast {

namespace {

using namespace std::chrono_literals;

constexpr auto mark_after = 1s;
constexpr auto checkpoint_retry_after = 5s;
constexpr auto damage_checkpoints_apart = 5s;
constexpr int last_checkpoint_attempts = 3;

} // namespace

void commit_log_state::on_batch_synced(const batch_synced& x) {
  if (!flight_ || flight_->number != x.number)
    return;
  if (x.why.code != ec::ok) {
    fail(x.why);
    continue_stop();
    return;
  }
  auto done = std::move(*flight_);
  flight_.reset();
  durable_ = done.to;
  builder_->set_durable(durable_);
  last_sync_ = env_->time->now();
  sync_us_last_ = x.took_us;
  sync_us_total_ += x.took_us;
  records_synced_ += done.records->records.size();
  dispatch(*done.records);
  for (const auto& member : subscribers_.concerned(summary_, durable_))
    self_->send(member, records_durable{done.records});
  dispatch_entries(durable_);
  answer(done.waiters);
  maybe_checkpoint();
  appended();
  arm_mark();
  continue_stop();
}

/// Folds what became durable, and gathers what it is and which entries it made visible.
void commit_log_state::dispatch(const record_batch& batch) {
  summary_.clear();
  visible_.clear();
  visible_index_.clear();
  for (const auto& record : batch.records) {
    summary_.note(record);
    tail_.samples.apply(record);
    if (record.type == record_type::half)
      tail_.heads.set_durable(queue_heads::half_view,
                              {std::get<message_record>(record.content).offset.value + 1});
    else if (record.type == record_type::decide)
      tail_.heads.set_durable(queue_heads::op_view,
                              {std::get<decide_record>(record.content).op_offset.value + 1});
    else if (const auto* meta = std::get_if<meta_record>(&record.content);
             meta && meta->change == meta_change::group_deleted)
      subscribers_.forget(group_id{meta->id});
    mark_needed_ = mark_needed_ || record.type != record_type::mark;
    for_each_visible(record, [&](queue_key queue, const visible_entry& entry) {
      if (visible_.empty() || visible_.back().queue != queue) {
        const auto [it, is_new] = visible_index_.try_emplace(queue, visible_.size());
        if (!is_new) {
          visible_[it->second].entries.push_back(entry);
          return;
        }
        visible_.push_back({queue, batch.to, {}});
      }
      visible_.back().entries.push_back(entry);
    });
  }
  if (summary_.types == batch_summary::bit(record_type::mark))
    mark_needed_ = false;
}

void commit_log_state::dispatch_entries(position to) {
  for (auto& group : visible_) {
    tail_.heads.set_durable(group.queue, {group.entries.back().offset.value + 1});
    const auto it = queues_.find(group.queue);
    if (it == queues_.end()) {
      for (const auto& entry : group.entries)
        tail_.untaken.add(group.queue, entry);
    } else {
      self_->send(it->second.actor, std::move(group));
    }
  }
  std::erase_if(new_queues_, [&](queue_key queue) {
    const auto& bound = queues_.find(queue)->second;
    if (visible_index_.count(queue) == 0)
      self_->send(bound.actor, entries_visible{queue, to, {}});
    return to >= bound.fence;
  });
  visible_.clear();
}

void commit_log_state::answer(batch_waiters& waiters) {
  for (auto& asker : waiters.askers)
    self_->send(caf::actor_cast<connection_actor>(asker.who),
                messages_stored{std::move(asker.results), {}});
  std::vector<std::pair<appender, append_repeated>> repeats;
  for (const auto& r : waiters.repeats) {
    if (repeats.empty() || repeats.back().first != r.who)
      repeats.emplace_back(r.who, append_repeated{});
    repeats.back().second.items.push_back(r.item);
  }
  for (auto& [who, answer] : repeats)
    if (const auto* actor = subscribers_.find(who))
      self_->send(caf::actor_cast<half_store_actor>(*actor), std::move(answer));
}

// -- failure --------------------------------------------------------------------

/// A write or sync failed: what is on the disk is unknown, so nothing more is accepted, and
/// everyone who waits is told so.
void commit_log_state::fail(const error& why) {
  failed_ = why;
  spdlog::critical("the log can't be written any more: {}", to_string(why));
  answer_unknown(flight_->waiters, flight_->records.get());
  const auto rest = builder_->take();
  answer_unknown(forming_, rest.records().get());
  flight_.reset();
  forming_ = {};
  report_failure();
}

void commit_log_state::answer_unknown(batch_waiters& waiters, const record_batch* records) {
  for (auto& asker : waiters.askers)
    for (auto& r : asker.results)
      r = {r.id, ec::outcome_unknown, {}, r.queue, {}};
  for (auto& asker : waiters.askers)
    self_->send(caf::actor_cast<connection_actor>(asker.who),
                messages_stored{std::move(asker.results), {}});
  const auto refuse = [&](const fold_actor* actor, std::uint64_t cookie) {
    if (actor)
      self_->send(*actor, append_refused{{cookie}, {ec::outcome_unknown, {}}});
  };
  for (const auto& r : waiters.repeats)
    refuse(subscribers_.find(r.who), r.item.cookie);
  if (!records)
    return;
  for (const auto& r : records->records)
    if (r.cookie != 0)
      refuse(subscribers_.find(cookie_source::life_of(r.cookie)), r.cookie);
}

void commit_log_state::report_failure() {
  if (peers_)
    self_->send(peers_->supervisor.actor, shard_failed{*failed_});
}

// -- marks ----------------------------------------------------------------------

/// Also looks again whether damage is to be saved.
void commit_log_state::arm_mark() {
  if (!(mark_needed_ || damage_unsaved_) || mark_armed_ || failed_ || stage_ != stage::open)
    return;
  mark_armed_ = true;
  self_->delayed_send(self_, mark_after, tick{});
}

/// After a second without records the durable mark is written, so that a later look at the disk can
/// tell corruption from a torn tail.
void commit_log_state::on_tick(const tick&) {
  mark_armed_ = false;
  if (damage_unsaved_)
    maybe_checkpoint();
  if (flight_ || !builder_->empty() || env_->time->now() - last_sync_ < mark_after) {
    arm_mark();
    return;
  }
  if (!mark_needed_ || failed_ || stage_ != stage::open)
    return;
  append_own(record_type::mark, mark_record{});
  appended();
}

// -- checkpoints ----------------------------------------------------------------

void commit_log_state::maybe_checkpoint() {
  if (checkpoint_running_ || failed_ || stage_ != stage::open || !peers_)
    return;
  if (env_->time->now() < next_checkpoint_) {
    if (damage_unsaved_)
      arm_mark();
    return;
  }
  const auto due = std::max(env_->settings->store.checkpoint_bytes, 4 * checkpoint_bytes_);
  const bool for_damage = damage_unsaved_ && env_->time->now() >= next_for_damage_;
  if (for_damage || durable_.value - checkpoint_from_.value >= due)
    send_checkpoint(false);
  else if (damage_unsaved_)
    arm_mark();
}

void commit_log_state::send_checkpoint(bool final) {
  tail_.windows.forget_idle(tail_.newest_ms);
  auto members = std::make_shared<checkpoint_members>();
  members->queues.reserve(queues_.size());
  for (const auto& [queue, bound] : queues_)
    members->queues.emplace_back(queue, bound.actor);
  std::sort(members->queues.begin(), members->queues.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  members->groups = subscribers_.groups();
  members->untaken = tail_.untaken.all();
  members_ = std::move(members);
  checkpoint_running_ = true;
  if (std::exchange(damage_unsaved_, false))
    next_for_damage_ = env_->time->now() + damage_checkpoints_apart;
  self_->send(peers_->checkpointer.actor, make_checkpoint{durable_, final, members_});
}

slices_taken commit_log_state::on_take_slices(const take_slices& x) {
  auto part = tail_.save(x.cursor, durable_);
  slices_taken answer;
  answer.cursor = std::move(part.cursor);
  for (auto& slice : part.slices)
    answer.slices.push_back({std::move(slice.name), std::move(slice.bytes)});
  return answer;
}

unsaved_taken commit_log_state::on_take_unsaved(const take_unsaved&) const {
  unsaved_taken answer;
  for (const auto& sample : tail_.samples.unsaved()) {
    answer.view_entries.emplace_back(sample.view, record_place{sample.at, 0});
    answer.view_offsets.push_back(sample.offset.value);
  }
  answer.durable = durable_;
  answer.half_view_end = tail_.heads.durable(queue_heads::half_view);
  answer.op_view_end = tail_.heads.durable(queue_heads::op_view);
  return answer;
}

void commit_log_state::on_run_saved(const run_saved& x) {
  tail_.samples.saved(x.to);
  if (members_)
    tail_.untaken.forget(members_->untaken);
}

void commit_log_state::on_checkpoint_made(const checkpoint_made& x) {
  checkpoint_running_ = false;
  members_.reset();
  if (x.why.code == ec::ok) {
    ++checkpoints_;
    checkpoint_from_ = x.replay_from;
    checkpoint_bytes_ = x.bytes;
  } else {
    next_checkpoint_ = env_->time->now() + checkpoint_retry_after;
    damage_unsaved_ = !tail_.quarantined.empty();
  }
  if (damage_unsaved_)
    maybe_checkpoint();
  if (stage_ == stage::last_checkpoint && x.why.code != ec::ok &&
      last_checkpoints_ >= last_checkpoint_attempts)
    finish_stop("the last checkpoint: " + to_string(x.why));
  continue_stop();
}

// -- stop -----------------------------------------------------------------------

void commit_log_state::on_stop() {
  if (stage_ == stage::open)
    stage_ = stage::draining;
  continue_stop();
}

/// One step further if nothing is under way: what waits, the mark, the last checkpoint, the answer.
void commit_log_state::continue_stop() {
  if (stage_ == stage::open || stage_ == stage::over || flight_)
    return;
  if (failed_) {
    finish_stop("the log failed: " + to_string(*failed_));
    return;
  }
  if (builder_->empty() && mark_needed_)
    append_own(record_type::mark, mark_record{});
  if (!builder_->empty()) {
    submit();
    return;
  }
  if (checkpoint_running_)
    return;
  stage_ = stage::last_checkpoint;
  if (durable_ == checkpoint_from_ || !peers_) {
    finish_stop({});
    return;
  }
  ++last_checkpoints_;
  send_checkpoint(true);
}

void commit_log_state::finish_stop(std::string unfinished) {
  stage_ = stage::over;
  if (unfinished.empty())
    if (auto noted = log_->note_end(durable_); !noted)
      unfinished = "the note of the log's end: " + to_string(noted.error());
  if (peers_)
    self_->send(peers_->supervisor.actor, stopped{name, std::move(unfinished)});
}

} // namespace handfast
