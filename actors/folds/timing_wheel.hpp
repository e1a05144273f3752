#pragma once

/// Deadlines on a monotonic clock: arming costs the same whatever waits already, 16 bytes each. A
/// hierarchical timing wheel with ticks of 8 ms; nothing is ever reported early, and at most one
/// tick late.

#include "actors/folds/slab.hpp"
#include "messages/ids.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace handfast {

/// Milliseconds of a monotonic clock since some fixed start.
using mono_ms = std::int64_t;

class timing_wheel {
public:
  static constexpr mono_ms tick_ms = 8;

  timing_wheel();

  /// `due` is reported once time has reached it; one in the past at the next `take_due`. The same
  /// thing may be armed several times and is reported as often.
  void arm(position what, mono_ms due);

  /// Appends to `due` what is due at `now`, at most `max` items. Returns whether more is due.
  bool take_due(mono_ms now, std::size_t max, std::vector<position>& due);

  /// When to call `take_due` next; nothing when no deadline is armed. Far deadlines need a few
  /// calls on the way.
  [[nodiscard]] std::optional<mono_ms> next_wake() const;

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

private:
  static constexpr unsigned level_bits = 8;
  static constexpr unsigned levels = 4;
  static constexpr std::uint64_t slots = 1 << level_bits;
  static constexpr std::uint32_t end_of_list = UINT32_MAX;

  struct node {
    position what;
    std::uint32_t due = 0; ///< low bits of its tick
    std::uint32_t next = end_of_list;
  };
  struct level {
    std::array<std::uint32_t, slots> heads;
    std::array<std::uint64_t, slots / 64> used{};
  };

  [[nodiscard]] std::uint64_t tick_of(const node& n) const;
  void link(std::uint32_t place, std::uint64_t tick);
  std::uint32_t unlink_all(unsigned of, std::uint64_t slot);
  [[nodiscard]] std::optional<std::uint64_t> next_event(unsigned of) const;
  [[nodiscard]] std::optional<std::uint64_t> next_event() const;
  void cascade(unsigned of);

  slab<node> nodes_;
  std::array<level, levels> levels_;
  std::uint64_t now_ = 0; ///< tick up to which everything is reported
};

} // namespace handfast
