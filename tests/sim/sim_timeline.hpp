#pragma once

/// Time, chance and the journal of one run, shared by all its parts. Virtual: nothing waits.

#include "tests/sim/sim_random.hpp"
#include "tests/support/journal.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace handfast::sim {

class sim_timeline {
public:
  using duration = std::chrono::nanoseconds;
  /// Wall time at the beginning of the timeline, in milliseconds; it runs along, across power cuts
  /// too.
  static constexpr std::uint64_t first_wall = 1'700'000'000'000;

  explicit sim_timeline(std::uint64_t seed) : random{seed} {}

  sim_random random;
  proof::journal journal;

  [[nodiscard]] duration now() const { return now_; }
  [[nodiscard]] std::uint64_t now_ms() const {
    return static_cast<std::uint64_t>(now_.count()) / 1'000'000;
  }

  /// Calls `what` once `delay` has passed; things due at the same time in the order given.
  void after(duration delay, std::function<void()> what) {
    waiting_.emplace(now_ + delay, std::move(what));
  }
  [[nodiscard]] bool has_due() const {
    return !waiting_.empty() && waiting_.begin()->first <= now_;
  }
  /// When the next one is due; the largest value without one.
  [[nodiscard]] duration next_due() const {
    return waiting_.empty() ? duration::max() : waiting_.begin()->first;
  }
  void run_one_due() {
    auto what = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    what();
  }
  void advance_to(duration time) { now_ = time > now_ ? time : now_; }

  /// Stamps the event and adds it.
  std::uint64_t witness(proof::event e) {
    e.at_ms = now_ms();
    return journal.add(std::move(e));
  }
  void note(std::string text) {
    witness({.kind = proof::event_kind::note, .text = std::move(text)});
  }

private:
  duration now_{std::chrono::seconds{1}};
  std::multimap<duration, std::function<void()>> waiting_;
};

} // namespace handfast::sim
