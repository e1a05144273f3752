#pragma once

/// How an actor that folds the log comes to serve: the same few steps for all of them.
///
/// At a node's start recovery hands over a whole fold. A restarted actor begins with an empty one: it registers with COMMIT LOG
/// (which fences its dead predecessor), loads its slices of the newest checkpoint, replays the log up to the durable end, applies
/// what was dispatched meanwhile, and serves once it has applied everything below the fence.
///
/// `Fold` is a plain class with
///   void load(const std::string& slice_name, std::string_view bytes);   // one slice of a checkpoint
///   Fold emptied() const;                                                // same settings, no content
/// The owner's `apply(const log_record&, bool replayed)` is called for each record in log order, exactly once, and must be total:
/// what it throws puts that record in quarantine and the fold goes on.

#include "actors/roles.hpp"
#include "messages/assert.hpp"

#include <deque>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace handfast {

/// What an actor starts from.
template <class Fold>
struct fold_start {
  Fold fold;
  bool whole = false; ///< recovery folded everything below `applied`; false for a restarted actor
  position applied;
  incarnation life;
};

/// Cookies of one life of an appender: unique over all its lives.
class cookie_source {
public:
  explicit cookie_source(incarnation life) : next_{(life.value << 40) + 1} {}
  std::uint64_t next() { return next_++; }

private:
  std::uint64_t next_;
};

template <class Self, class Fold>
class fold_member {
public:
  /// @param prefix of the names of its checkpoint slices
  fold_member(Self self, appender who, std::string prefix, fold_start<Fold> from)
      : fold{std::move(from.fold)}, self_{self}, who_{who}, prefix_{std::move(prefix)},
        applied_{from.applied}, stage_{from.whole ? stage::serving : stage::restoring} {
    who_.life = from.life;
  }

  Fold fold;

  [[nodiscard]] const appender& who() const { return who_; }
  [[nodiscard]] bool serving() const { return stage_ == stage::serving; }
  [[nodiscard]] position applied() const { return applied_; }
  [[nodiscard]] const std::vector<quarantined_item>& quarantined() const { return quarantined_; }

  /// Sets one record aside; the fold goes on without it.
  void quarantine(quarantined_item item) { quarantined_.push_back(std::move(item)); }

  /// The peers are known or have changed. Registers at the first call; begins again if a restore was under way.
  void connect(const shard_peers& peers) {
    commit_log_ = peers.commit_log.actor;
    log_reader_ = peers.log_reader.actor;
    if (!registered_ || stage_ == stage::restoring) {
      registered_ = true;
      self_->send(commit_log_, register_appender{who_});
    }
  }

  void on_registered(const appender_registered& x) {
    if (serving())
      return;
    durable_ = x.durable;
    fence_ = x.fence;
    self_->send(log_reader_, load_slices{{}, prefix_});
  }

  void on_slices(const slices_loaded& x) {
    if (serving())
      return;
    fold = fold.emptied();
    for (const auto& slice : x.slices)
      fold.load(slice.name, slice.bytes);
    applied_ = x.replay_from;
    replay_more();
  }

  /// @param apply called as `apply(record, replayed)`
  template <class Apply>
  void on_replayed(const log_replayed& x, Apply&& apply) {
    if (serving())
      return;
    if (x.batch)
      for (const auto& record : x.batch->records)
        apply_one(record, true, apply);
    applied_ = x.next;
    if (applied_ < durable_) {
      replay_more();
      return;
    }
    while (!held_.empty()) {
      auto batch = std::move(held_.front());
      held_.pop_front();
      apply_batch(*batch, apply);
    }
    serve_if_complete();
  }

  /// Applies the batch, or holds it back until the replay has caught up.
  template <class Apply>
  void on_durable(const records_durable& x, Apply&& apply) {
    if (stage_ == stage::restoring) {
      held_.push_back(x.batch);
      return;
    }
    apply_batch(*x.batch, apply);
    serve_if_complete();
  }

private:
  enum class stage { restoring, catching_up, serving };

  void replay_more() {
    self_->send(log_reader_, replay_log{{}, applied_, durable_});
  }

  void serve_if_complete() {
    if (stage_ == stage::serving)
      return;
    stage_ = applied_ >= fence_ ? stage::serving : stage::catching_up;
  }

  template <class Apply>
  void apply_batch(const record_batch& batch, Apply&& apply) {
    for (const auto& record : batch.records)
      if (record.at >= applied_)
        apply_one(record, false, apply);
    if (batch.to > applied_)
      applied_ = batch.to;
  }

  template <class Apply>
  void apply_one(const log_record& record, bool replayed, Apply&& apply) {
    try {
      apply(record, replayed);
    } catch (const std::exception& e) {
      quarantined_.push_back({record.at, std::string{name_of(record.type)}, e.what(), {}});
    }
  }

  Self self_;
  appender who_;
  std::string prefix_;
  position applied_;
  position durable_;
  position fence_;
  stage stage_;
  bool registered_ = false;
  commit_log_actor commit_log_;
  log_reader_actor log_reader_;
  std::deque<std::shared_ptr<const record_batch>> held_;
  std::vector<quarantined_item> quarantined_;
};

} // namespace handfast
