#include "runtime/shard_loop.hpp"

#include "messages/assert.hpp"

#include <asio/post.hpp>
#include <caf/resumable.hpp>

#include <csignal>
#include <utility>

namespace handfast::runtime {

namespace {

thread_local const shard_loop* current_loop = nullptr;

/// While there is always something ready, timers and new connections have a look this often, in
/// rounds.
constexpr std::uint32_t rounds_between_looks = 4;

} // namespace

void job_ring::push(caf::resumable* job) {
  if (tail_ - head_ == slots_.size()) {
    std::vector<caf::resumable*> larger(slots_.size() * 2);
    const auto count = tail_ - head_;
    for (std::size_t i = 0; i < count; ++i)
      larger[i] = slots_[(head_ + i) % slots_.size()];
    slots_ = std::move(larger);
    head_ = 0;
    tail_ = count;
  }
  slots_[tail_++ % slots_.size()] = job;
}

caf::resumable* job_ring::pop() {
  HANDFAST_ASSERT(!empty());
  return slots_[head_++ % slots_.size()];
}

shard_loop::shard_loop(caf::actor_system& system) : actor_loop{&system} {}

shard_loop::~shard_loop() {
  stop();
  take_foreign();
  while (!ready_.empty())
    caf::intrusive_ptr_release(ready_.pop());
}

void shard_loop::start() {
  HANDFAST_ASSERT(!thread_.joinable());
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread{[this] { run(); }};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "hf-shard");
}

void shard_loop::stop() {
  if (!thread_.joinable())
    return;
  HANDFAST_ASSERT(!on_loop());
  post([this] { stopping_ = true; });
  thread_.join();
}

void shard_loop::post(std::function<void()> what) {
  asio::post(io_, std::move(what));
}

bool shard_loop::on_loop() const {
  return current_loop == this;
}

void shard_loop::exec_later(caf::resumable* job) {
  if (on_loop()) {
    ready_.push(job);
    return;
  }
  bool wake = false;
  {
    const std::lock_guard lock{mutex_};
    foreign_.push_back(job);
    has_foreign_.store(true, std::memory_order_release);
    wake = std::exchange(asleep_, false); // one wake-up for a whole burst
  }
  if (wake)
    asio::post(io_, [] {});
}

void shard_loop::at_next_idle(std::function<void()> what) {
  idle_hooks_.push_back(std::move(what));
}

void shard_loop::run() {
  current_loop = this;
  std::uint32_t rounds = 0;
  while (!stopping_) {
    take_foreign();
    run_actors();
    for (auto* one : participants_)
      one->flush();
    const bool more = poll_participants() || !ready_.empty();
    if (more && ++rounds % rounds_between_looks != 0)
      continue;
    if (io_.poll() > 0 || more || has_foreign_.load(std::memory_order_acquire))
      continue;
    if (!run_idle_hooks())
      sleep();
  }
  current_loop = nullptr;
}

void shard_loop::take_foreign() {
  if (!has_foreign_.load(std::memory_order_acquire))
    return;
  {
    const std::lock_guard lock{mutex_};
    foreign_taken_.swap(foreign_);
    has_foreign_.store(false, std::memory_order_relaxed);
  }
  for (auto* job : foreign_taken_)
    ready_.push(job);
  foreign_taken_.clear();
}

void shard_loop::run_actors() {
  for (std::size_t turn = 0; turn < turns_per_round && !ready_.empty(); ++turn) {
    auto* job = ready_.pop();
    switch (job->resume(this, messages_per_turn)) {
    case caf::resumable::resume_later:
      ready_.push(job);
      break;
    case caf::resumable::shutdown_execution_unit:
      stopping_ = true;
      [[fallthrough]];
    case caf::resumable::awaiting_message:
    case caf::resumable::done:
      caf::intrusive_ptr_release(job);
      break;
    }
  }
}

bool shard_loop::poll_participants() {
  bool any = false;
  for (auto* one : participants_)
    any = one->poll() || any;
  return any;
}

bool shard_loop::run_idle_hooks() {
  if (idle_hooks_.empty())
    return false;
  idle_hooks_running_.swap(
      idle_hooks_); // a hook may ask for the next idle moment, which is a later one
  for (auto& hook : idle_hooks_running_)
    hook();
  idle_hooks_running_.clear();
  return true;
}

void shard_loop::sleep() {
  {
    const std::lock_guard lock{mutex_};
    if (!foreign_.empty())
      return;
    asleep_ = true;
  }
  io_.run_one();
  wake_ups_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock{mutex_};
  asleep_ = false;
}

} // namespace handfast::runtime
