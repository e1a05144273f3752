#include "actors/commit_log.hpp"

#include "actors/type_ids.hpp"
#include "messages/assert.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>

namespace handfast {

namespace {

/// Until then everyone has come up and can give a part.
constexpr std::chrono::seconds recovered_damage_after{2};

} // namespace

void commit_log_state::start(const shard_environment& env, commit_log_start from) {
  HANDFAST_ASSERT(env.time && env.idle && env.writer && env.settings);
  HANDFAST_ASSERT(from.log && from.codec);
  env_ = &env;
  log_ = from.log;
  tail_ = std::move(from.tail);
  durable_ = from.end;
  checkpoint_from_ = from.checkpoint_from.value != 0 ? from.checkpoint_from : log_->begin();
  last_sync_ = env.time->now();
  // Not all that a recovery lists would be found again by the next one.
  damage_unsaved_ = !tail_.quarantined.empty();
  if (damage_unsaved_)
    next_for_damage_ = last_sync_ + recovered_damage_after;
  builder_.emplace(*from.codec, log_->layout(), from.end);
  builder_->set_epoch(from.epoch);
  builder_->set_durable(durable_);
  append_own(record_type::epoch, epoch_record{from.epoch, std::move(from.reason)});
  appended();
}

void commit_log_state::on_peers(const peers_changed& x) {
  const auto before = std::exchange(peers_, x.peers);
  if (before && before->checkpointer.life != peers_->checkpointer.life && checkpoint_running_)
    on_checkpoint_made({{}, 0, {ec::recovering, "the checkpointer was restarted"}});
  if (!before && failed_)
    report_failure();
}

void commit_log_state::on_register(const register_appender& x) {
  const auto& sender = self_->current_sender();
  if (!sender)
    return;
  auto actor = caf::actor_cast<fold_actor>(sender);
  const auto fence = builder_->tail();
  if (x.who.role != appender_role::node) {
    subscribers_.put(x.who, actor, fence);
  }
  self_->send(actor, appender_registered{durable_, fence, {}});
}

void commit_log_state::on_bind(const bind_queue& x) {
  const auto& sender = self_->current_sender();
  if (!sender)
    return;
  auto actor = caf::actor_cast<queue_actor>(sender);
  const auto fence = builder_->tail();
  queues_[x.queue] = {actor, fence};
  if (durable_ < fence &&
      std::find(new_queues_.begin(), new_queues_.end(), x.queue) == new_queues_.end())
    new_queues_.push_back(x.queue);
  self_->send(actor, appender_registered{durable_, fence, tail_.heads.durable(x.queue)});
  if (auto entries = tail_.untaken.take(x.queue); !entries.empty())
    self_->send(actor, entries_visible{x.queue, durable_, std::move(entries)});
}

void commit_log_state::on_damage(const note_damage& x) {
  const auto before = tail_.quarantined.size();
  tail_.quarantine(x.item);
  if (tail_.quarantined.size() == before)
    return; // listed already
  spdlog::error("quarantined: {} at position {}: {}", x.item.what, x.item.at.value, x.item.why);
  damage_unsaved_ = true;
  maybe_checkpoint();
}

status_report commit_log_state::status() const {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  status_report report;
  report.actor = name;
  report.quarantined = tail_.quarantined;
  for (auto& item : report.quarantined)
    if (item.transaction.opened_at != position{})
      item.transaction = env_->ids.at(item.transaction.opened_at);
  report.samples = {
      {"rocketmq_messages_in_total", "", number(messages_in_)},
      {"rocketmq_storage_size", "", number(durable_.value - log_->begin().value)},
      {"rocketmq_storage_flush_behind_bytes", "", number(builder_->tail().value - durable_.value)},
      {"handfast_log_appended_position", "", number(byte_of(builder_->tail()))},
      {"handfast_log_durable_position", "", number(byte_of(durable_))},
      {"handfast_log_syncs_total", "", number(batches_)},
      {"handfast_log_records_synced_total", "", number(records_synced_)},
      {"handfast_log_sync_seconds_total", "", number(sync_us_total_) / 1e6},
      {"handfast_log_sync_seconds_last", "", number(sync_us_last_) / 1e6},
      {"handfast_log_repeats_total", "", number(repeats_)},
      {"handfast_log_refused_total", "", number(refused_)},
      {"handfast_log_producers", "", number(tail_.windows.producers())},
      {"handfast_log_queues", "", number(queues_.size())},
      {"handfast_log_disk_full", "", disk_.full ? 1.0 : 0.0},
      {"handfast_log_failed", "", failed_ ? 1.0 : 0.0},
      {"handfast_checkpoints_total", "", number(checkpoints_)},
      {"handfast_checkpoint_behind_bytes", "", number(durable_.value - checkpoint_from_.value)},
  };
  return report;
}

commit_log_actor::behavior_type commit_log(commit_log_pointer self, const shard_environment* env,
                                           std::shared_ptr<commit_log_start> from) {
  auto& s = self->state;
  s.start(*env, std::move(*from));
  // The busiest first: CAF compares a message with one after the other.
  return {
      [&s](append_records& x) { s.on_append_records(x); },
      [&s](const batch_synced& x) { s.on_batch_synced(x); },
      [&s](const flush&) { s.on_flush(); },
      [&s](append_messages& x) { s.on_append_messages(x); },
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const register_appender& x) { s.on_register(x); },
      [&s](const bind_queue& x) { s.on_bind(x); },
      [&s](const tick& x) { s.on_tick(x); },
      [&s](const checkpoint_made& x) { s.on_checkpoint_made(x); },
      [&s](const run_saved& x) { s.on_run_saved(x); },
      [&s](const disk_state& x) { s.on_disk_state(x); },
      [&s](const delay_room& x) { s.on_delay_room(x); },
      [&s](const note_damage& x) { s.on_damage(x); },
      [&s](const take_slices& x) { return s.on_take_slices(x); },
      [&s](const take_unsaved& x) { return s.on_take_unsaved(x); },
  };
}

} // namespace handfast
