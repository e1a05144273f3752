#pragma once

/// When a message that a consumer failed on is handed out again, and when no more.

#include "messages/assert.hpp"
#include "messages/delay_levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace handfast {

/// A pure rule, an immutable value. The default is that of RocketMQ's consumers: 16 retries, the
/// first after 10 s, the last after 2 h.
class retry_policy {
public:
  static constexpr std::uint32_t retries_default = 16;
  /// For ordered consumption, which waits for a message however long it fails.
  static constexpr std::uint32_t retries_unlimited = UINT32_MAX;

  /// Waits in milliseconds, for the first retry, the second …; the last one goes on.
  explicit retry_policy(std::vector<std::uint64_t> waits_ms = levels_of_rocketmq(),
                        std::uint32_t retries_max = retries_default)
      : waits_ms_{std::move(waits_ms)}, retries_max_{retries_max} {
    HANDFAST_ASSERT(!waits_ms_.empty());
  }

  /// The first wait, and each next one `factor` (at least 1) times as long, up to `longest_ms`.
  static retry_policy growing(std::uint64_t first_ms, std::uint64_t longest_ms, double factor,
                              std::uint32_t retries_max = retries_default) {
    HANDFAST_ASSERT(first_ms <= longest_ms && std::isfinite(factor) && factor >= 1);
    std::vector<std::uint64_t> waits{first_ms};
    // Whatever grows at all has reached the longest wait after so many, or might as well stay.
    for (auto next = static_cast<double>(first_ms); waits.size() < steps_max;) {
      next *= factor;
      if (next >= static_cast<double>(longest_ms)) {
        waits.push_back(longest_ms);
        break;
      }
      waits.push_back(static_cast<std::uint64_t>(next));
    }
    return retry_policy{std::move(waits), retries_max};
  }

  /// How long to wait in milliseconds before the next delivery, after `failures` failed ones (at
  /// least 1); nothing: to the dead letters. `asked_ms` is what the consumer asked for, which
  /// counts in place of the policy's own wait, but gives no retry more.
  [[nodiscard]] std::optional<std::uint64_t>
  next_wait_ms(std::uint32_t failures, std::optional<std::uint64_t> asked_ms = {}) const {
    HANDFAST_ASSERT(failures > 0);
    if (failures > retries_max_ && retries_max_ != retries_unlimited)
      return std::nullopt;
    if (asked_ms)
      return asked_ms;
    return waits_ms_[std::min<std::size_t>(failures, waits_ms_.size()) - 1];
  }

  [[nodiscard]] std::uint32_t retries_max() const { return retries_max_; }

private:
  static constexpr std::size_t steps_max = 1'000;

  /// From level 3 on, where RocketMQ's consumers begin.
  static std::vector<std::uint64_t> levels_of_rocketmq() {
    return {delay_levels_ms.begin() + 2, delay_levels_ms.end()};
  }

  std::vector<std::uint64_t> waits_ms_;
  std::uint32_t retries_max_;
};

} // namespace handfast
