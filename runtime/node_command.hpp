#pragma once

/// `handfast node`: a node in the foreground, from its first line to its exit code.

#include "config/settings.hpp"
#include "runtime/cli/menu.hpp"

namespace handfast::runtime {

/// Runs a node until a signal or a failure ends it. SIGTERM and SIGINT stop in order, a second one
/// hurries; SIGHUP opens the log file again. Leaves the process itself (with the returned code)
/// when an actor does not end.
cli::exit_code run_node(const config::settings& settings, cli::console& io);

/// Adds the command to the others.
void add_node_command(cli::menu& to);

} // namespace handfast::runtime
