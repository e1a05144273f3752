#pragma once

/// A queue in one block of memory that is empty memory when it is empty: for state that exists ten
/// thousand times and is mostly idle.

#include "messages/assert.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace handfast {

/// `T` must be cheap to copy and default-constructible. References live until the next `push_back`
/// or `pop_front`. Not thread-safe.
template <class T>
class ring {
public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T& operator[](std::size_t n) { return items_[(first_ + n) & (capacity_ - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t n) const {
    return items_[(first_ + n) & (capacity_ - 1)];
  }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }

  void push_back(const T& value) {
    if (size_ == capacity_)
      grow();
    items_[(first_ + size_++) & (capacity_ - 1)] = value;
  }
  void pop_front() {
    HANDFAST_ASSERT(size_ > 0);
    first_ = (first_ + 1) & (capacity_ - 1);
    if (--size_ == 0 && capacity_ > kept_max)
      clear();
  }
  void clear() {
    items_.reset();
    first_ = size_ = capacity_ = 0;
  }

private:
  /// A block of more than this goes when the ring is empty.
  static constexpr std::size_t kept_max = 64;

  void grow() {
    const auto capacity = capacity_ == 0 ? std::size_t{16} : capacity_ * 2;
    auto items = std::make_unique<T[]>(capacity);
    for (std::size_t n = 0; n < size_; ++n)
      items[n] = std::move((*this)[n]);
    items_ = std::move(items);
    first_ = 0;
    capacity_ = capacity;
  }

  std::unique_ptr<T[]> items_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0; ///< a power of two
};

} // namespace handfast
