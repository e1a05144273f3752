#pragma once

/// The floor program as a child of `bench`.

#include "config/address.hpp"
#include "messages/error.hpp"

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace handfast::cli {

/// Runs `handfast-floor` from this program's own folder, on loopback, with its log in a folder of
/// its own under `directory`. Ends the program and removes the folder when it goes.
class floor_process {
public:
  /// Waits until it listens, which takes as long as zeroing `prepare_bytes`.
  static result<floor_process> start(const std::string& directory, std::uint64_t prepare_bytes);
  ~floor_process();
  floor_process(floor_process&& other) noexcept;
  floor_process& operator=(floor_process&&) = delete;

  [[nodiscard]] const config::address& address() const { return address_; }

private:
  floor_process(pid_t child, std::string folder) : child_{child}, folder_{std::move(folder)} {}

  pid_t child_;
  std::string folder_;
  config::address address_;
};

} // namespace handfast::cli
