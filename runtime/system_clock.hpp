#pragma once

#include "actors/seams.hpp"

#include <chrono>

namespace handfast::runtime {

/// The machine's clocks. Thread-safe.
class system_clock final : public clock {
public:
  [[nodiscard]] time_point now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] wall_ms wall() const override {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<wall_ms>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
  }
};

} // namespace handfast::runtime
