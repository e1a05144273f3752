#pragma once

/// So many checks in a second and no more: a token bucket that holds a tenth of a second.

#include "actors/folds/timing_wheel.hpp"

#include <algorithm>

namespace handfast {

class check_pace {
public:
  explicit check_pace(std::uint32_t per_second)
      : per_ms_{std::max(1.0, static_cast<double>(per_second)) / 1'000},
        most_{std::max(1.0, per_ms_ * 100)}, tokens_{most_} {}

  /// Whether one more may go now; it is counted.
  bool take(mono_ms now) {
    tokens_ = std::min(most_, tokens_ + per_ms_ * static_cast<double>(now - last_));
    last_ = now;
    if (tokens_ < 1)
      return false;
    tokens_ -= 1;
    return true;
  }

private:
  double per_ms_;
  double most_;
  double tokens_;
  mono_ms last_ = 0;
};

} // namespace handfast
