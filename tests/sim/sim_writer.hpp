#pragma once

/// The log's writer as single steps: write, sync and report are apart, so that a power cut can fall
/// between any two of them. The planted mutants live here, so that the broker itself stays clean.

#include "actors/seams.hpp"
#include "storage/write_batch.hpp"
#include "tests/sim/sim_options.hpp"
#include "tests/sim/sim_random.hpp"

#include <deque>

namespace handfast::sim {

class sim_writer final : public log_writer {
public:
  sim_writer(storage::segment_set& log, sim_random random, mutant planted)
      : log_{log}, random_{random}, planted_{planted} {}

  void submit(storage::write_batch batch, std::size_t records, callback done) override;

  [[nodiscard]] bool has_step() const { return !jobs_.empty(); }
  /// Takes the oldest batch one step further.
  void step();
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

  storage::segment_set& log_;
  sim_random random_;
  mutant planted_;
  std::deque<job> jobs_;
  bool failed_ = false;
  std::uint64_t synced_ = 0;
};

} // namespace handfast::sim
