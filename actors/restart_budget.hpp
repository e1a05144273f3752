#pragma once

/// How often something may be restarted. Plain, no CAF, no clock.

#include <chrono>
#include <cstdint>
#include <deque>

namespace handfast {

/// At most `restarts` within any `window`.
class restart_budget {
public:
  using time_point = std::chrono::steady_clock::time_point;

  restart_budget(std::uint32_t restarts, std::chrono::milliseconds window)
      : restarts_{restarts}, window_{window} {}

  /// Takes one restart at `now`; false when it would be one too many.
  [[nodiscard]] bool take(time_point now) {
    while (!taken_.empty() && now - taken_.front() >= window_)
      taken_.pop_front();
    if (taken_.size() >= restarts_)
      return false;
    taken_.push_back(now);
    return true;
  }

private:
  std::uint32_t restarts_;
  std::chrono::milliseconds window_;
  std::deque<time_point> taken_; // empty ones allocate: made only for what failed
};

} // namespace handfast
