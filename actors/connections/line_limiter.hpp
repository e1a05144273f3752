#pragma once

/// Keeps what clients do wrong from filling the log.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

namespace handfast {

/// A few lines a second. Thread-safe.
class line_limiter {
public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::uint32_t lines_per_second = 10;

  /// How many lines were left out since the last one; nothing if this one is left out, too.
  std::optional<std::uint64_t> admit(time_point now) {
    std::lock_guard hold{mutex_};
    if (now - second_ >= std::chrono::seconds{1}) {
      second_ = now;
      lines_ = 0;
    }
    if (lines_ == lines_per_second) {
      ++left_out_;
      return std::nullopt;
    }
    ++lines_;
    const auto before = left_out_;
    left_out_ = 0;
    return before;
  }

private:
  std::mutex mutex_;
  time_point second_{};
  std::uint32_t lines_ = 0;
  std::uint64_t left_out_ = 0;
};

} // namespace handfast
