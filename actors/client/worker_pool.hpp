#pragma once

/// A few threads that run the application's callbacks.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace handfast::client {

/// Runs tasks in order of arrival on `threads` threads. Tasks must not throw. Thread-safe.
class worker_pool {
public:
  explicit worker_pool(std::size_t threads);
  /// Drops what has not begun and waits for what runs.
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// False, and nothing done, after `stop`.
  bool run(std::function<void()> task);
  /// Drops what has not begun, and waits for what runs. Must not be called from a task.
  void stop();

private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

} // namespace handfast::client
