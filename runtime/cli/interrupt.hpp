#pragma once

/// Ctrl-C for commands that run until it.

namespace handfast::cli {

/// While it lives, the first SIGINT or SIGTERM only sets a mark, so that the command can end in
/// order; the second ends the process. At most one at a time in a process.
class interrupt {
public:
  interrupt();
  ~interrupt();
  interrupt(const interrupt&) = delete;
  interrupt& operator=(const interrupt&) = delete;

  [[nodiscard]] static bool came();
};

} // namespace handfast::cli
