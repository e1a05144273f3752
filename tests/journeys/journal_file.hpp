#pragma once

/// A journal that several threads write, kept in a file as well.

#include "tests/support/journal.hpp"

#include <chrono>
#include <mutex>
#include <string>

namespace handfast::proof {

/// Thread-safe. An event is in the file before `add` returns, so the end of this process loses
/// none; it is on the disk after `sync`, which happens by itself about ten times a second.
class journal_file {
public:
  /// Throws std::system_error if `path` can't be written.
  explicit journal_file(const std::string& path);
  ~journal_file();
  journal_file(const journal_file&) = delete;
  journal_file& operator=(const journal_file&) = delete;

  std::uint64_t add(event e);
  [[nodiscard]] std::uint64_t size();
  /// A copy of all events so far.
  [[nodiscard]] std::vector<event> events();
  void sync();

private:
  using clock = std::chrono::steady_clock;

  int file_;
  std::mutex mutex_;
  journal journal_;
  clock::time_point start_ = clock::now();
  clock::time_point last_sync_ = clock::now();
};

} // namespace handfast::proof
