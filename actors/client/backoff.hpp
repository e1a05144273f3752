#pragma once

/// Pauses between attempts: growing, capped, and different for every client.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace handfast::client {

/// Doubles from `first` to `max`. Each pause is shortened at random by up to a half, so that
/// clients which lost their node together do not return together.
class backoff {
public:
  backoff(std::chrono::milliseconds first, std::chrono::milliseconds max)
      : first_{first}, max_{max}, next_{first} {}

  /// The next pause; `random` is any 64-bit number.
  std::chrono::milliseconds next(std::uint64_t random) {
    auto whole = next_;
    next_ = std::min(max_, next_ * 2);
    auto half = whole.count() / 2;
    auto cut =
        half > 0 ? static_cast<std::int64_t>(random % static_cast<std::uint64_t>(half + 1)) : 0;
    return whole - std::chrono::milliseconds{cut};
  }
  /// After a success.
  void reset() { next_ = first_; }

private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds max_;
  std::chrono::milliseconds next_;
};

} // namespace handfast::client
