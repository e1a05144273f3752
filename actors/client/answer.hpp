#pragma once

/// What became of a request, as a type: done, refused or unknown. Never a log line, never an
/// exception.

#include "messages/assert.hpp"
#include "messages/error.hpp"

#include <utility>
#include <variant>

namespace handfast::client {

/// It did not happen, and never will by this request.
struct refused {
  error why;
};

/// It may or may not have happened: ask for the status, or repeat the request. Repeats of the same
/// message, decision or acknowledgement are recognised by the node.
struct unknown {
  error why;
};

/// For requests whose success carries nothing.
struct nothing {
  friend bool operator==(const nothing&, const nothing&) = default;
};

/// Exactly one of: done with a `T`, refused, unknown.
template <class T>
class [[nodiscard]] answer {
public:
  answer(T value) : what_{std::move(value)} {}
  answer(refused why) : what_{std::move(why)} {}
  answer(unknown why) : what_{std::move(why)} {}
  /// Refused or unknown, by the verdict that belongs to the code.
  answer(error why) : what_{refused{}} {
    HANDFAST_ASSERT(why.code != ec::ok);
    if (verdict_of(why.code) == verdict::unknown)
      what_ = unknown{std::move(why)};
    else
      what_ = refused{std::move(why)};
  }

  [[nodiscard]] bool is_done() const { return std::holds_alternative<T>(what_); }
  [[nodiscard]] bool is_refused() const { return std::holds_alternative<refused>(what_); }
  [[nodiscard]] bool is_unknown() const { return std::holds_alternative<unknown>(what_); }
  explicit operator bool() const { return is_done(); }

  /// Only when `is_done()`.
  [[nodiscard]] const T& value() const& {
    HANDFAST_ASSERT(is_done());
    return std::get<T>(what_);
  }
  [[nodiscard]] T&& value() && {
    HANDFAST_ASSERT(is_done());
    return std::get<T>(std::move(what_));
  }
  const T* operator->() const { return &value(); }

  /// The reason; only when not `is_done()`.
  [[nodiscard]] const error& why() const {
    HANDFAST_ASSERT(!is_done());
    return is_refused() ? std::get<refused>(what_).why : std::get<unknown>(what_).why;
  }

  /// Calls the one of three functions that fits; all return the same type.
  template <class Done, class Refused, class Unknown>
  auto match(Done&& done, Refused&& on_refused, Unknown&& on_unknown) const {
    if (is_done())
      return done(value());
    return is_refused() ? on_refused(why()) : on_unknown(why());
  }

private:
  std::variant<T, refused, unknown> what_;
};

} // namespace handfast::client
