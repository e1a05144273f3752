#pragma once

/// Immutable bytes that many owners share: what a socket read becomes a message body, a log record
/// and a delivery without ever being copied.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handfast {

/// A window into a shared immutable buffer. Copying shares; the buffer lives as long as any window
/// into it. Safe to pass between threads; the bytes never change after the window was made.
class shared_bytes {
public:
  shared_bytes() = default;
  shared_bytes(std::shared_ptr<const std::byte> data, std::size_t size)
      : data_{std::move(data)}, size_{size} {}

  /// Copies `from` into a buffer of its own.
  static shared_bytes copy_of(std::span<const std::byte> from) {
    auto buffer = std::make_shared<std::byte[]>(from.size());
    if (!from.empty())
      std::memcpy(buffer.get(), from.data(), from.size());
    auto* raw = buffer.get();
    return {std::shared_ptr<const std::byte>{std::move(buffer), raw}, from.size()};
  }

  static shared_bytes copy_of(std::string_view from) {
    return copy_of(std::as_bytes(std::span{from.data(), from.size()}));
  }

  [[nodiscard]] const std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::span<const std::byte> span() const { return {data_.get(), size_}; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(data_.get()), size_};
  }

  /// A window of `count` bytes from `offset`; both must lie inside this one.
  [[nodiscard]] shared_bytes window(std::size_t offset, std::size_t count) const {
    return {std::shared_ptr<const std::byte>{data_, data_.get() + offset}, count};
  }

  friend bool operator==(const shared_bytes& a, const shared_bytes& b) {
    return a.text() == b.text();
  }

private:
  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
};

/// Serialises as a copy: sharing ends at the border of a process.
template <class Inspector>
auto inspect(Inspector& f, shared_bytes& x) {
  if constexpr (Inspector::writes_state) {
    std::string copy;
    auto result = f(copy);
    x = shared_bytes::copy_of(copy);
    return result;
  } else {
    std::string copy{x.text()};
    return f(copy);
  }
}

} // namespace handfast
