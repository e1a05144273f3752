#pragma once

/// Where a command reads and writes, and how it ends.

#include "messages/error.hpp"
#include "messages/log_record.hpp"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace handfast::cli {

/// What the shell sees.
enum exit_code : int {
  exit_done = 0,
  exit_refused = 1, ///< the node, or the files, say no
  exit_usage = 2,   ///< the command line itself is wrong; nothing was tried
  exit_unknown = 3, ///< no answer, or no node there: it may or may not have happened
};

/// Of this machine's clock.
wall_ms system_wall();

/// The surroundings of one run. Tests hand in string streams; `real_console` the process's own.
struct console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_terminal = false;
  bool colours = false; ///< `out` is a terminal and NO_COLOR is not set
  /// Reads an environment variable; nothing when it is unset or empty.
  std::function<std::optional<std::string>(std::string_view name)> environment;
  std::size_t width = 0; ///< columns of the terminal behind `out`; 0 = it is none
  bool err_is_terminal = false;
  std::function<wall_ms()> wall = system_wall; ///< the time of day
};

/// Standard streams, terminals as they are.
console real_console();

/// Writes `handfast: <what>. <todo>` to `io.err`. Full stops are added where they are missing.
void complain(console& io, std::string_view what, std::string_view todo);
/// The same for an error about `subject` (the input, such as "topic 'orders'"), with the advice
/// that belongs to the code. Returns the exit code for it.
exit_code complain(console& io, std::string_view subject, const error& why);
/// The text that `complain` writes about an error, without the name of the program.
std::string sentence_of(std::string_view subject, const error& why);

/// Refused or unknown, by the verdict of the code.
exit_code exit_code_of(ec code);

/// Flushes `io.out`; complains and is false if what was written did not get through.
bool flush(console& io);

} // namespace handfast::cli
