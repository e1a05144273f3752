#pragma once

/// Many small entries that live in numbered places, which never move, so that a cursor over them
/// stays right while entries come and go.

#include "messages/assert.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace handfast {

/// Grows by chunks, so growing moves nothing. `T` must be default constructible. Not thread-safe.
template <class T>
class slab {
public:
  using place = std::uint32_t;

  [[nodiscard]] T& operator[](place p) { return chunks_[p >> chunk_bits][p & chunk_mask]; }
  [[nodiscard]] const T& operator[](place p) const {
    return chunks_[p >> chunk_bits][p & chunk_mask];
  }

  place take() {
    if (!free_.empty()) {
      const auto p = free_.back();
      free_.pop_back();
      return p;
    }
    HANDFAST_ASSERT(end_ < UINT32_MAX);
    if ((end_ & chunk_mask) == 0)
      chunks_.push_back(std::make_unique<T[]>(chunk_size));
    return end_++;
  }

  void give_back(place p) {
    (*this)[p] = T{};
    free_.push_back(p);
    if (free_.size() == end_ && end_ > chunk_size)
      clear(); // a flood is over: the memory goes back
  }

  void clear() {
    chunks_.clear();
    free_ = {};
    end_ = 0;
  }

  /// Places below are taken or were once; a free one holds `T{}`.
  [[nodiscard]] place end() const { return end_; }
  [[nodiscard]] std::size_t size() const { return end_ - free_.size(); }

private:
  static constexpr unsigned chunk_bits = 10;
  static constexpr place chunk_size = place{1} << chunk_bits;
  static constexpr place chunk_mask = chunk_size - 1;

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<place> free_;
  place end_ = 0;
};

} // namespace handfast
