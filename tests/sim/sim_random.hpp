#pragma once

/// The one source of chance of a simulated run: the same seed gives the same run on every machine,
/// so nothing from <random>.

#include "messages/ids.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace handfast::sim {

class sim_random {
public:
  explicit sim_random(std::uint64_t seed) : state_{mix64(seed)} {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix64(state_);
  }
  /// 0 up to, not including, `n`; 0 for n = 0.
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : next() % n; }
  /// `from` up to and including `to`.
  std::uint64_t between(std::uint64_t from, std::uint64_t to) {
    return from + below(to - from + 1);
  }
  std::chrono::milliseconds between(std::chrono::milliseconds from, std::chrono::milliseconds to) {
    return from +
           std::chrono::milliseconds{below(static_cast<std::uint64_t>((to - from).count()) + 1)};
  }
  /// True in `per_mille` of 1000 cases.
  bool chance(std::uint32_t per_mille) { return below(1000) < per_mille; }
  template <class T>
  T& pick(std::vector<T>& from) {
    return from[below(from.size())];
  }
  /// A generator of its own, so that one part's draws do not shift another's.
  sim_random split() { return sim_random{next()}; }

private:
  std::uint64_t state_;
};

} // namespace handfast::sim
