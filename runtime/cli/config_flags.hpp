#pragma once

/// The flags by which a configuration is given, the same for `node` and `config`.

#include "config/loader.hpp"
#include "runtime/cli/console.hpp"

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace handfast::cli {

/// File first, then `--set`, then the flags of single keys: a later one wins.
struct config_flags {
  std::string file;
  std::string data;
  std::string listen;
  std::vector<std::string> assignments;

  /// Declares `--config`, `--data`, `--listen` and `--set`. This object must outlive `app`.
  void add_to(CLI::App& app);
  /// Everything together, or ec::config_invalid with every problem, one a line.
  [[nodiscard]] result<config::configuration> load() const;
};

/// Says every problem that `load` found, one a line. Returns `refused`.
exit_code complain_about(console& io, const error& problems);

} // namespace handfast::cli
