#include "runtime/thread_writer.hpp"

#include <algorithm>
#include <pthread.h>

namespace handfast::runtime {

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto full_disk_pause = 200ms;

std::chrono::microseconds since(steady::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - start);
}

} // namespace

thread_writer::thread_writer(storage::segment_set& log, const inline_rule& rule)
    : log_{log}, rule_{rule}, thread_{[this] { run(); }} {
  pthread_setname_np(thread_.native_handle(), "log-writer");
}

thread_writer::~thread_writer() {
  {
    const std::lock_guard lock{mutex_};
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

std::chrono::microseconds thread_writer::recent_sync() const {
  const std::lock_guard lock{mutex_};
  const auto count = std::min(sync_count_, syncs_remembered);
  if (count == 0)
    return std::chrono::microseconds::max();
  auto sorted = syncs_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

void thread_writer::remember(std::chrono::microseconds sync) {
  const std::lock_guard lock{mutex_};
  syncs_[sync_count_++ % syncs_remembered] = sync;
}

bool thread_writer::fits_inline(const storage::write_batch& batch, std::size_t records) const {
  if (records > rule_.records_max || recent_sync() >= rule_.sync_max)
    return false;
  // Not if a file would have to be made or extended first.
  if (log_.prepared_ahead() < batch.to().value - log_.tail().value)
    return false;
  const std::lock_guard lock{mutex_};
  return !busy_ && jobs_.empty() && !failed_;
}

void thread_writer::submit(storage::write_batch batch, std::size_t records, callback done) {
  if (fits_inline(batch, records))
    if (const auto made = attempt(batch)) {
      ++inline_;
      done(made->why, made->took);
      return;
    }
  {
    const std::lock_guard lock{mutex_};
    jobs_.push_back({std::move(batch), std::move(done)});
  }
  wake_.notify_one();
}

std::optional<thread_writer::outcome> thread_writer::attempt(const storage::write_batch& batch) {
  {
    const std::lock_guard lock{mutex_};
    if (failed_)
      return outcome{{ec::io_error, "an earlier write or sync failed"}, 0us};
  }
  const auto start = steady::now();
  auto done = batch.write(log_);
  if (!done && done.error().code == ec::disk_full)
    return std::nullopt;
  if (done) {
    const auto synced_from = steady::now();
    done = batch.sync(log_);
    remember(since(synced_from));
  }
  if (!done) {
    const std::lock_guard lock{mutex_};
    failed_ = true;
  }
  return outcome{done ? error{} : done.error(), since(start)};
}

thread_writer::outcome thread_writer::attempt_until_room(const storage::write_batch& batch) {
  for (;;) {
    if (auto made = attempt(batch))
      return *made;
    std::unique_lock lock{mutex_};
    if (wake_.wait_for(lock, full_disk_pause, [&] { return over_; }))
      return {{ec::disk_full, "no room for another segment"}, 0us};
  }
}

void thread_writer::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    wake_.wait(lock, [&] { return over_ || !jobs_.empty(); });
    if (jobs_.empty())
      return;
    busy_ = true;
    const auto work = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    const auto made = attempt_until_room(work.batch);
    lock.lock();
    busy_ = false; // before the answer, which may bring the next batch at once
    lock.unlock();
    work.done(made.why, made.took);
    lock.lock();
  }
}

} // namespace handfast::runtime
