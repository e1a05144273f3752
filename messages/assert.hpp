#pragma once

/// Assertions that stay on in every build: a broken invariant must stop the actor (or the process)
/// before it writes something wrong. HANDFAST_ASSERT throws, so that supervision can restart the
/// actor.

#include <stdexcept>
#include <string>

namespace handfast {

/// A broken invariant: a fault of this program, never of its input.
class invariant_broken : public std::logic_error {
public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void fail_invariant(const char* what, const char* file, int line) {
  throw invariant_broken(std::string{what} + " at " + file + ":" + std::to_string(line));
}

} // namespace handfast

#define HANDFAST_ASSERT(condition)                                                                 \
  do {                                                                                             \
    if (!(condition)) [[unlikely]]                                                                 \
      ::handfast::fail_invariant(#condition, __FILE__, __LINE__);                                  \
  } while (false)
