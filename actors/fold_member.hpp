#pragma once

/// How an actor that folds the log comes to serve: the same few steps for all of them.
///
/// At a node's start recovery hands over a whole fold. A restarted actor begins with an empty one:
/// it registers with COMMIT LOG (which fences its dead predecessor), loads its slices of the newest
/// checkpoint, replays the log up to the durable end, applies what was dispatched meanwhile, and
/// serves once it has applied everything below the fence.
///
/// `Fold` is a plain class with
///   void load(const std::string& slice_name, std::string_view bytes);   // one slice of a
///   checkpoint Fold emptied() const;                                                // same
///   settings, no content
/// The owner's `apply(const log_record&, bool replayed)` is called for each record in log order,
/// exactly once in this life, and must be total: what it throws puts that record in quarantine and
/// the fold goes on. Records that a loaded slice knows already may be among them, since slices are
/// younger than the place where replay starts.
///
/// `void mark_damaged(position half, position transaction)`, if it has one, is called before a
/// replayed HALF whose body is damaged.
///
/// While it is not `serving`, the owner answers `take_slices` and `take_unsaved` with
/// `ec::recovering`. A checkpoint or log that cannot be read ends the actor (its supervisor tries
/// again, then stops the shard).

#include "actors/type_ids.hpp"
#include "messages/assert.hpp"
#include "messages/record_rule.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <stdexcept>
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
  explicit cookie_source(incarnation life) : next_{(life.value << life_shift) + 1} {
    HANDFAST_ASSERT(life.value < std::uint64_t{1} << (64 - life_shift));
  }
  std::uint64_t next() { return next_++; }
  /// Whose cookie it is.
  static incarnation life_of(std::uint64_t cookie) { return incarnation{cookie >> life_shift}; }

private:
  static constexpr unsigned life_shift = 40;
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

  /// The answer to `take_slices` of a fold that saves itself in parts: `save_slice(cursor)` gives
  /// one and moves the cursor on, to empty after the last.
  [[nodiscard]] slices_taken slices(const take_slices& x) const {
    if (!serving())
      return {{}, {}, ec::recovering};
    slices_taken taken;
    taken.cursor = x.cursor;
    auto [slice, bytes] = fold.save_slice(taken.cursor);
    taken.slices.push_back({std::move(slice), std::move(bytes)});
    return taken;
  }

  /// Sets one record aside; the fold goes on without it.
  void quarantine(quarantined_item item) { quarantined_.push_back(std::move(item)); }

  /// The peers are known or have changed. Registers at the first call; begins to restore again if
  /// the LOG READER was restarted meanwhile.
  void connect(const shard_peers& peers) {
    const bool reader_changed = reader_life_ != peers.log_reader.life;
    commit_log_ = peers.commit_log.actor;
    log_reader_ = peers.log_reader.actor;
    reader_life_ = peers.log_reader.life;
    if (!registered_ || (stage_ == stage::restoring && reader_changed)) {
      registered_ = true;
      self_->send(commit_log_, register_appender{who_});
    }
  }

  void on_registered(const appender_registered& x) {
    if (stage_ != stage::restoring)
      return;
    durable_ = x.durable;
    fence_ = x.fence;
    self_->send(log_reader_, load_slices{next_question(), prefix_});
  }

  void on_slices(const slices_loaded& x) {
    if (stage_ != stage::restoring || x.id != question_)
      return;
    must_be_read(x.code);
    fold = fold.emptied();
    for (const auto& slice : x.slices)
      fold.load(slice.name, slice.bytes);
    applied_ = x.replay_from;
    replay_more();
  }

  /// @param apply called as `apply(record, replayed)`
  template <class Apply>
  void on_replayed(const log_replayed& x, Apply&& apply) {
    if (stage_ != stage::restoring || x.id != question_)
      return;
    must_be_read(x.code);
    if (x.batch) {
      mark_damaged(x);
      for (const auto& record : x.batch->records)
        apply_one(record, true, apply);
    }
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

  void replay_more() { self_->send(log_reader_, replay_log{next_question(), applied_, durable_}); }

  /// Answers to older questions, from before a restart of the reader, are ignored.
  correlation next_question() {
    ++question_.value;
    return question_;
  }

  void mark_damaged(const log_replayed& x) {
    if constexpr (requires { fold.mark_damaged(position{}, position{}); }) {
      if (x.damaged.empty())
        return;
      for (const auto& r : x.batch->records)
        if (r.type == record_type::half &&
            std::find(x.damaged.begin(), x.damaged.end(), r.at) != x.damaged.end())
          fold.mark_damaged(r.at, std::get<message_record>(r.content).transaction);
    }
  }

  static void must_be_read(ec code) {
    if (code != ec::ok)
      throw std::runtime_error("can't fold the log again: " + std::string{advice_of(code)});
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
      quarantined_.push_back({record.at, std::string{name_of(record.type)}, sentence_of(e), {}});
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
  incarnation reader_life_;
  correlation question_;
  commit_log_actor commit_log_;
  log_reader_actor log_reader_;
  std::deque<std::shared_ptr<const record_batch>> held_;
  std::vector<quarantined_item> quarantined_;
};

} // namespace handfast
