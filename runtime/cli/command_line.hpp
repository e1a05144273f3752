#pragma once

/// From the words of a command line to an exit code.

#include "runtime/cli/menu.hpp"

#include <string>
#include <vector>

namespace handfast::cli {

/// Adds the commands of one family.
using family = void (*)(menu& to);

/// Parses `arguments` (without the program's name) and runs the command: those of the table in
/// `command_table.hpp` and those of `more` (the ones that need more than a client: `node`).
/// Everything that is wrong with the arguments is a line on `io.err` and `exit_usage`; nothing was
/// tried then. Never throws.
int run(std::vector<std::string> arguments, console& io, const std::vector<family>& more = {});

} // namespace handfast::cli
