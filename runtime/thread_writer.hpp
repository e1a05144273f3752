#pragma once

/// The log writer of a real node: pwritev and fdatasync on a thread of its own, or at once on the
/// caller's when that is quicker.

#include "actors/seams.hpp"
#include "storage/write_batch.hpp"

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace handfast::runtime {

/// When a batch is written on the caller's thread. Two hops between threads cost as much as a fast
/// sync, so a small batch on a fast disk is better written at once; on a slow disk that would stall
/// every connection.
struct inline_rule {
  std::size_t records_max = 64;
  std::chrono::microseconds sync_max{300}; ///< the median of the last syncs must be below
};

/// `submit` belongs to one thread, and callers submit the next batch only after the last one's
/// callback. A full disk is no error: nothing of the batch was written, so it is tried again five
/// times a second until there is room, or until the end. Destruction waits for the batch under way;
/// one that waits for room ends with ec::disk_full.
class thread_writer final : public log_writer {
public:
  explicit thread_writer(storage::segment_set& log, const inline_rule& rule = {});
  ~thread_writer() override;
  thread_writer(const thread_writer&) = delete;
  thread_writer& operator=(const thread_writer&) = delete;

  void submit(storage::write_batch batch, std::size_t records, callback done) override;

  /// Batches so far that were written on the caller's thread.
  [[nodiscard]] std::uint64_t written_inline() const { return inline_; }
  /// Median of the last syncs; the largest value before the first.
  [[nodiscard]] std::chrono::microseconds recent_sync() const;

private:
  struct job {
    storage::write_batch batch;
    callback done;
  };
  static constexpr std::size_t syncs_remembered = 15;

  [[nodiscard]] bool fits_inline(const storage::write_batch& batch, std::size_t records) const;
  struct outcome {
    error why;
    std::chrono::microseconds took{0};
  };
  /// Writes and syncs. Nothing if the disk is full; then nothing happened.
  std::optional<outcome> attempt(const storage::write_batch& batch);
  /// The same, until there is room; with ec::disk_full at the end.
  outcome attempt_until_room(const storage::write_batch& batch);
  void remember(std::chrono::microseconds sync);
  void run();

  storage::segment_set& log_;
  inline_rule rule_;
  std::uint64_t inline_ = 0;

  mutable std::mutex mutex_; ///< guards all below
  std::condition_variable wake_;
  std::deque<job> jobs_;
  bool busy_ = false; ///< the thread works on one
  bool over_ = false;
  bool failed_ = false;
  std::array<std::chrono::microseconds, syncs_remembered> syncs_;
  std::size_t sync_count_ = 0;

  std::thread thread_; ///< last: it uses all above
};

} // namespace handfast::runtime
