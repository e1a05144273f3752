#pragma once

/// One connection's part of what all connections of a node hold together.

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace handfast {

/// Counts in a sum that others count in, too, and takes its part back when it ends.
class shared_amount {
public:
  using sum_type = std::shared_ptr<std::atomic<std::uint64_t>>;

  explicit shared_amount(sum_type sum = nullptr) : sum_{std::move(sum)} {}
  ~shared_amount() { set(0); }
  shared_amount(const shared_amount&) = delete;
  shared_amount& operator=(const shared_amount&) = delete;

  void join(sum_type sum) { sum_ = std::move(sum); }
  /// @return what all hold now
  std::uint64_t set(std::uint64_t amount) {
    if (!sum_)
      return 0;
    const auto change = amount - std::exchange(mine_, amount); // wraps around for less
    return sum_->fetch_add(change) + change;
  }
  [[nodiscard]] std::uint64_t mine() const { return mine_; }

private:
  sum_type sum_;
  std::uint64_t mine_ = 0;
};

} // namespace handfast
