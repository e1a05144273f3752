#pragma once

/// A log writer without a thread: writes and syncs when told to, by default at once.

#include "actors/seams.hpp"
#include "storage/write_batch.hpp"

#include <chrono>
#include <deque>
#include <utility>

namespace handfast::test {

class inline_log_writer final : public log_writer {
public:
  explicit inline_log_writer(storage::segment_set& log) : log_{log} {}

  void submit(storage::write_batch batch, std::size_t, callback done) override {
    waiting_.push_back({std::move(batch), std::move(done)});
    while (!hold_ && finish_next()) {
    }
  }

  /// From now on batches wait for `finish_next`.
  void hold(bool on) { hold_ = on; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// Writes and syncs the oldest waiting batch. False if there is none, or the disk is full (it
  /// goes on waiting).
  bool finish_next() {
    if (waiting_.empty() || failed_)
      return false;
    auto& oldest = waiting_.front();
    auto done = oldest.batch.write(log_);
    if (!done && done.error().code == ec::disk_full)
      return false;
    if (done && !skip_sync_)
      done = oldest.batch.sync(log_);
    failed_ = !done;
    auto tell = std::move(oldest.done);
    waiting_.pop_front();
    tell(done ? error{} : done.error(), std::chrono::microseconds{80});
    return true;
  }
  /// Answers without a sync: for tests which show that a broken writer is found out.
  void skip_sync(bool on) { skip_sync_ = on; }

private:
  struct job {
    storage::write_batch batch;
    callback done;
  };
  storage::segment_set& log_;
  std::deque<job> waiting_;
  bool hold_ = false;
  bool failed_ = false;
  bool skip_sync_ = false;
};

} // namespace handfast::test
