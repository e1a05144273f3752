#pragma once

/// Latencies in constant memory with a relative error below one per cent.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace handfast::bench {

/// Log-linear: 128 steps per power of two. Values in nanoseconds; anything above about 18 minutes
/// counts as that.
class histogram {
public:
  void record(std::uint64_t ns) {
    ++counts_[slot_of(ns)];
    ++count_;
    if (ns > max_)
      max_ = ns;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }

  /// The value below or at which `share` (0 to 1) of all lie, rounded up to the end of its step; 0
  /// when empty.
  [[nodiscard]] std::uint64_t at(double share) const {
    auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(count_) + 0.5);
    std::uint64_t seen = 0;
    for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
      seen += counts_[slot];
      if (seen >= wanted && seen > 0)
        return std::min(end_of(slot), max_);
    }
    return max_;
  }

private:
  static constexpr unsigned step_bits = 7;
  static constexpr std::size_t steps = std::size_t{1} << step_bits;
  static constexpr unsigned octaves = 34;

  static std::size_t slot_of(std::uint64_t ns) {
    if (ns < steps)
      return ns;
    auto shift = static_cast<unsigned>(std::bit_width(ns)) - step_bits - 1;
    if (shift >= octaves)
      return steps * (octaves + 1) - 1;
    return steps * (shift + 1) + ((ns >> shift) - steps);
  }
  static std::uint64_t end_of(std::size_t slot) {
    if (slot < steps)
      return slot;
    auto shift = slot / steps - 1;
    return (((slot % steps) + steps + 1) << shift) - 1;
  }

  std::array<std::uint64_t, steps*(octaves + 1)> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

} // namespace handfast::bench
