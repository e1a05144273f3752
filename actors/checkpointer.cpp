#include "actors/checkpointer.hpp"

#include "actors/type_ids.hpp"
#include "messages/assert.hpp"
#include "storage/run_reader.hpp"

#include <spdlog/spdlog.h>

namespace handfast {

namespace {

constexpr std::chrono::seconds patience{5};

} // namespace

void checkpointer_state::start(checkpointer_start from) {
  HANDFAST_ASSERT(from.places.disk && from.places.log && from.places.codec && from.time);
  places_ = std::move(from.places);
  time_ = from.time;
}

void checkpointer_state::on_peers(const peers_changed& x) {
  peers_ = x.peers;
  if (const auto order = std::exchange(early_, std::nullopt))
    on_make(*order);
}

void checkpointer_state::on_stop() {
  if (peers_)
    self_->send(peers_->supervisor.actor, stopped{name, job_ ? "a checkpoint" : ""});
}

void checkpointer_state::on_make(const make_checkpoint& x) {
  if (!peers_) {
    early_ = x;
    return;
  }
  if (job_)
    abandon({ec::busy, "a newer checkpoint was asked for"});
  ++number_;
  began_ = time_->now();
  const auto run_from = newest_run_end();
  if (!run_from) {
    abandon(run_from.error());
    return;
  }
  auto job = checkpoint_job::begin(places_, *run_from, x.durable, time_->wall());
  if (!job) {
    abandon(job.error());
    return;
  }
  job_ = std::move(*job);
  members_ = x.members;
  if (members_)
    job_->add_entries(members_->untaken);
  list_sources();
  ask_more();
}

/// Where the next run begins: the same rule by which a recovery decides how far back it must
/// replay. Damaged runs count: LOG READER makes them again, and memory no longer has what they
/// held.
result<position> checkpointer_state::newest_run_end() const {
  auto last =
      storage::load_newest_checkpoint(*places_.disk, places_.paths.checkpoints(), places_.store_id);
  if (!last)
    return tl::unexpected{last.error()};
  const auto begin = places_.log->begin();
  if (!last->newest)
    return begin;
  auto runs = storage::open_runs(*places_.disk, places_.paths.runs(), places_.store_id, true);
  if (!runs)
    return tl::unexpected{runs.error()};
  return runs->first_unnamed(begin + storage::segment_header_bytes, last->newest->info.start);
}

void checkpointer_state::list_sources() {
  sources_.clear();
  next_source_ = asked_ = 0;
  const auto& p = *peers_;
  sources_.push_back({p.commit_log.actor, p.commit_log.actor, "commit_log", {}});
  sources_.push_back({p.op_store.actor, p.op_store.actor, "op_store", {}});
  sources_.push_back({p.half_store.actor, {}, "half_store", {}});
  sources_.push_back({p.delay_scheduler.actor, {}, "delay_scheduler", {}});
  sources_.push_back({p.topic_registry.actor, {}, "topic_registry", {}});
  if (!members_)
    return;
  for (const auto& group : members_->groups)
    sources_.push_back({group, {}, "consumer_group", {}});
  for (const auto& [key, queue] : members_->queues)
    sources_.push_back({queue, queue, "queue", key});
}

void checkpointer_state::ask_more() {
  while (job_ && asked_ < checkpoint_sources_at_once && next_source_ < sources_.size()) {
    ++asked_;
    ask_slices(next_source_++, {});
  }
  if (job_ && asked_ == 0)
    finish();
}

void checkpointer_state::ask_slices(std::size_t index, std::string cursor) {
  const auto failed = [this, index, number = number_](const caf::error&) {
    if (job_ && number == number_)
      source_failed(index, "does not answer");
  };
  const auto taken = [this, index, number = number_](const slices_taken& part) {
    if (!job_ || number != number_)
      return;
    if (part.code != ec::ok) {
      source_failed(index, "is being rebuilt");
    } else if (auto added = job_->add_slices(part); !added) {
      abandon(added.error());
    } else if (!part.cursor.empty()) {
      ask_slices(index, part.cursor);
    } else {
      ask_unsaved(index);
    }
  };
  if (!sources_[index].slices) {
    source_failed(index, "is missing");
    return;
  }
  self_->request(sources_[index].slices, patience, take_slices{std::move(cursor)})
      .then(taken, failed);
}

void checkpointer_state::ask_unsaved(std::size_t index) {
  if (!sources_[index].unsaved) {
    source_done();
    return;
  }
  const auto failed = [this, index, number = number_](const caf::error&) {
    if (job_ && number == number_)
      source_failed(index, "does not answer");
  };
  const auto taken = [this, index, number = number_](unsaved_taken& part) {
    if (!job_ || number != number_)
      return;
    if (part.code != ec::ok) {
      source_failed(index, "is being rebuilt");
      return;
    }
    job_->add_unsaved(std::move(part));
    source_done();
  };
  self_->request(sources_[index].unsaved, patience, take_unsaved{job_->start()})
      .then(taken, failed);
}

void checkpointer_state::source_done() {
  --asked_;
  ask_more();
}

void checkpointer_state::source_failed(std::size_t index, const std::string& why) {
  const auto& s = sources_[index];
  if (s.queue.topic.value == 0) {
    abandon({ec::recovering, std::string{s.role} + " " + why});
    return;
  }
  job_->add_lost(s.queue);
  source_done();
}

void checkpointer_state::finish() {
  auto made = job_->finish();
  if (!made) {
    abandon(made.error());
    return;
  }
  job_.reset();
  ++made_;
  last_ = *made;
  last_took_ = std::chrono::duration_cast<std::chrono::milliseconds>(time_->now() - began_);
  // First the reader, and its word for it: whoever frees memory now finds its entries in the run.
  // One that ended meanwhile has perhaps a successor who looked before the run was there; then
  // nobody frees anything, and the next run holds it once more.
  const checkpoint_made done{made->replay_from, made->bytes, {}};
  self_->request(peers_->log_reader.actor, patience, done)
      .then(
          [this, done, number = number_] {
            if (number == number_)
              tell_saved(done);
          },
          [this, done, number = number_](const caf::error&) {
            if (number != number_)
              return;
            members_.reset();
            announce(done);
          });
}

void checkpointer_state::tell_saved(const checkpoint_made& done) {
  const run_saved saved{done.replay_from};
  self_->send(peers_->op_store.actor, saved);
  if (members_)
    for (const auto& [key, queue] : members_->queues)
      self_->send(queue, saved);
  self_->send(peers_->commit_log.actor, saved);
  members_.reset();
  announce(done);
}

void checkpointer_state::abandon(error why) {
  job_.reset();
  members_.reset();
  ++abandoned_;
  spdlog::warn("the checkpoint is given up: {}", to_string(why));
  announce({{}, 0, std::move(why)});
}

void checkpointer_state::announce(const checkpoint_made& x) {
  self_->send(peers_->commit_log.actor, x);
  self_->send(peers_->supervisor.actor, x);
}

status_report checkpointer_state::status() const {
  const auto number = [](auto n) { return static_cast<double>(n); };
  status_report report;
  report.actor = name;
  report.samples = {
      {"handfast_checkpoints_made_total", "", number(made_)},
      {"handfast_checkpoints_abandoned_total", "", number(abandoned_)},
      {"handfast_checkpoint_bytes", "", number(last_.bytes)},
      {"handfast_checkpoint_run_entries", "", number(last_.entries)},
      {"handfast_checkpoint_run_outcomes", "", number(last_.outcomes)},
      {"handfast_checkpoint_lost_queues", "", number(last_.lost_queues)},
      {"handfast_checkpoint_seconds", "", number(last_took_.count()) / 1e3},
      {"handfast_checkpoint_running", "", job_ ? 1.0 : 0.0},
  };
  return report;
}

checkpointer_actor::behavior_type checkpointer(checkpointer_pointer self, checkpointer_start from) {
  auto& s = self->state;
  s.start(std::move(from));
  return {
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const make_checkpoint& x) { s.on_make(x); },
  };
}

} // namespace handfast
