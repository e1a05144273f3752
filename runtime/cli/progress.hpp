#pragma once

/// How far a command has come, for people who wait.

#include "runtime/cli/console.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace handfast::cli {

/// One line on standard error that is written over again and again, from one second after the
/// start on, and only on a terminal. It is gone when the object is.
class progress {
public:
  /// @param total 0 if nobody knows
  progress(console& io, std::string what, std::uint64_t total)
      : io_{io}, what_{std::move(what)}, total_{total} {}
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void at(std::uint64_t count);

private:
  using clock = std::chrono::steady_clock;

  console& io_;
  std::string what_;
  std::uint64_t total_;
  clock::time_point next_ = clock::now() + std::chrono::seconds{1};
  bool shown_ = false;
};

/// What the line says: `resending  [#####.....]  50 %  1,000 of 2,000`.
std::string progress_line(const std::string& what, std::uint64_t count, std::uint64_t total);

} // namespace handfast::cli
