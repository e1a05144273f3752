#pragma once

/// The log's writer as single steps: write, sync and report are apart, so that a power cut can fall
/// between any two of them. The planted mutants live here, so that the broker itself stays clean.

#include "actors/seams.hpp"
#include "storage/write_batch.hpp"
#include "tests/sim/sim_options.hpp"
#include "tests/sim/sim_timeline.hpp"

#include <deque>

namespace handfast::sim {

class sim_writer final : public log_writer {
public:
  /// @param step_max the longest that one write or sync takes; most are much quicker
  sim_writer(sim_timeline& time, storage::segment_set& log, sim_timeline::duration step_max,
             mutant planted)
      : time_{time}, random_{time.random.split()}, log_{log}, step_max_{step_max}, planted_{
                                                                                       planted} {}

  void submit(storage::write_batch batch, std::size_t records, callback done) override;

  [[nodiscard]] bool has_step() const { return !jobs_.empty() && due_ <= time_.now(); }
  /// When the disk is done with what it does now; the largest value when it does nothing.
  [[nodiscard]] sim_timeline::duration next_step() const {
    return jobs_.empty() ? sim_timeline::duration::max() : due_;
  }
  /// Takes the oldest batch one step further.
  void step();
  /// Batches not yet reported as done.
  [[nodiscard]] std::size_t open() const { return jobs_.size(); }
  [[nodiscard]] std::uint64_t synced() const { return synced_; }

private:
  enum class stage { submitted, written, synced, over };
  struct job {
    storage::write_batch batch;
    callback done;
    stage at = stage::submitted;
  };

  void write(job& j);
  void sync(job& j);
  void end(job& j, error why);
  void tell(job& j, error why);

  void begin_step();

  sim_timeline& time_;
  sim_random random_;
  storage::segment_set& log_;
  sim_timeline::duration step_max_;
  sim_timeline::duration due_{0};
  mutant planted_;
  std::deque<job> jobs_;
  bool failed_ = false;
  std::uint64_t synced_ = 0;
};

} // namespace handfast::sim
