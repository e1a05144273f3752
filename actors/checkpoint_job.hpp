#pragma once

/// One checkpoint in the making: takes what the folds give and writes a derived run and a
/// checkpoint file. No actor in here.

#include "actors/roles.hpp"
#include "actors/run_content.hpp"
#include "storage/checkpoint_file.hpp"
#include "storage/segment_set.hpp"
#include "storage/store_directory.hpp"

#include <vector>

namespace handfast {

/// Where checkpoints go and what they are made from. Everything pointed to outlives all jobs.
struct checkpoint_places {
  storage::file_system* disk = nullptr;
  const storage::segment_set* log = nullptr;
  const storage::record_codec* codec = nullptr;
  storage::store_paths paths;
  std::uint64_t store_id = 0;
};

/// What was made.
struct checkpoint_result {
  position replay_from;
  std::uint64_t bytes = 0; ///< of the checkpoint file
  std::size_t entries = 0; ///< in the run
  std::size_t outcomes = 0;
  std::size_t lost_queues = 0; ///< whose part was read from the log instead
};

/// Replay will start at `start`, which was noted before anything else was taken. Whatever slices
/// say beyond it is made right by the replay. Dropped without `finish` it leaves the older
/// checkpoints as they are.
class checkpoint_job {
public:
  /// `run_from` is where the newest run ends.
  static result<checkpoint_job> begin(const checkpoint_places& places, position run_from,
                                      position start, wall_ms now_ms);

  [[nodiscard]] position start() const { return start_; }

  result<void> add_slices(const slices_taken& part);
  void add_unsaved(unsaved_taken&& part);
  void add_entries(const std::vector<std::pair<queue_key, visible_entry>>& entries);
  /// This queue does not answer: its part is folded from the log.
  void add_lost(queue_key queue) { lost_.push_back(queue); }

  /// Writes the run, then the checkpoint; both are durable when it returns. Call once, last.
  result<checkpoint_result> finish();

private:
  checkpoint_job(const checkpoint_places& places, position run_from, position start, wall_ms now_ms,
                 storage::checkpoint_writer writer);
  result<void> fold_lost_queues();
  result<void> write_run();

  checkpoint_places places_;
  position run_from_;
  position start_;
  wall_ms now_ms_;
  storage::checkpoint_writer writer_;
  run_content content_;
  std::vector<queue_key> lost_;
};

} // namespace handfast
