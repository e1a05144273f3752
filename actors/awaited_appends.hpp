#pragma once

/// What an appender has on its way to the log, by cookie. They come back nearly in order, so a
/// queue does.

#include "actors/fold_member.hpp"

#include <deque>
#include <optional>
#include <utility>

namespace handfast {

template <class T>
class awaited_appends {
public:
  explicit awaited_appends(incarnation life) : cookies_{life} {}

  /// Returns the cookie that the record must carry.
  std::uint64_t add(T what) {
    const auto cookie = cookies_.next();
    if (queue_.empty())
      first_ = cookie;
    queue_.emplace_back(std::move(what));
    ++waiting_;
    return cookie;
  }

  /// What was waiting for `cookie`; nothing if it is not one of this life, or came before.
  std::optional<T> take(std::uint64_t cookie) {
    if (cookie < first_ || cookie - first_ >= queue_.size())
      return {};
    auto found = std::exchange(queue_[cookie - first_], std::nullopt);
    waiting_ -= found ? 1 : 0;
    while (!queue_.empty() && !queue_.front()) {
      queue_.pop_front();
      ++first_;
    }
    return found;
  }

  [[nodiscard]] std::size_t size() const { return waiting_; }
  [[nodiscard]] bool empty() const { return waiting_ == 0; }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& x : queue_)
      if (x)
        visit(*x);
  }

private:
  cookie_source cookies_;
  std::deque<std::optional<T>> queue_;
  std::uint64_t first_ = 0;
  std::size_t waiting_ = 0;
};

} // namespace handfast
