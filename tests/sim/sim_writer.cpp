#include "tests/sim/sim_writer.hpp"

#include <utility>

namespace handfast::sim {

void sim_writer::submit(storage::write_batch batch, std::size_t, callback done) {
  jobs_.push_back({std::move(batch), std::move(done)});
  if (jobs_.size() == 1)
    begin_step();
}

void sim_writer::step() {
  auto& j = jobs_.front();
  switch (j.at) {
  case stage::submitted:
    write(j);
    break;
  case stage::written:
    if (planted_ == mutant::answer_before_sync && j.done != nullptr)
      tell(j, {});
    else
      sync(j);
    break;
  case stage::synced:
    end(j, {});
    break;
  case stage::over:
    break;
  }
  if (j.at == stage::over)
    jobs_.pop_front();
  begin_step();
}

/// From now on the disk is busy for a while.
void sim_writer::begin_step() {
  const auto longest = static_cast<std::uint64_t>(step_max_.count());
  due_ = time_.now() +
         std::chrono::nanoseconds{random_.below(random_.chance(200) ? longest : longest / 20)};
}

void sim_writer::write(job& j) {
  if (const auto written =
          failed_ ? fail(ec::io_error, "the disk failed before") : j.batch.write(log_);
      !written) {
    failed_ = failed_ || written.error().code != ec::disk_full;
    end(j, written.error());
    return;
  }
  j.at = stage::written;
}

void sim_writer::sync(job& j) {
  if (planted_ == mutant::no_sync) {
    j.at = stage::synced;
    return;
  }
  if (const auto done = j.batch.sync(log_); !done) {
    failed_ = true;
    end(j, done.error());
    return;
  }
  ++synced_;
  j.at = stage::synced;
}

void sim_writer::end(job& j, error why) {
  j.at = stage::over;
  tell(j, std::move(why));
}

void sim_writer::tell(job& j, error why) {
  if (auto done = std::exchange(j.done, nullptr))
    done(std::move(why), std::chrono::microseconds{random_.between(20, 2'000)});
}

} // namespace handfast::sim
