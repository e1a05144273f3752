#include "actors/client/worker_pool.hpp"

#include "messages/assert.hpp"

namespace handfast::client {

worker_pool::worker_pool(std::size_t threads) {
  HANDFAST_ASSERT(threads > 0);
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this] { work(); });
}

worker_pool::~worker_pool() {
  stop();
}

bool worker_pool::run(std::function<void()> task) {
  {
    std::lock_guard lock{mutex_};
    if (stopping_)
      return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void worker_pool::stop() {
  std::deque<std::function<void()>> dropped;
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
    dropped.swap(tasks_);
  }
  changed_.notify_all();
  for (auto& thread : threads_)
    if (thread.joinable())
      thread.join();
}

void worker_pool::work() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty())
        return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

} // namespace handfast::client
