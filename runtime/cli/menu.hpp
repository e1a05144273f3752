#pragma once

/// How commands are declared: one tree of CLI11 apps, of which help, suggestions and docs/cli.md
/// are made.

#include "actors/client/client.hpp"
#include "runtime/cli/console.hpp"

#include <CLI/App.hpp>

#include <functional>
#include <memory>
#include <string>

namespace handfast::cli {

/// What a command works with while it runs.
class context {
public:
  context(console& streams, std::string server) : io{streams}, server_{std::move(server)} {}

  console& io;

  /// `host:port` of the node.
  [[nodiscard]] const std::string& server() const { return server_; }
  /// The connection to it, made at the first call. A node that can't be reached ends the next
  /// request at once as unreachable.
  const client::client& node();
  /// Reports an error about `subject`; the exit code for it.
  exit_code refuse(std::string_view subject, const error& why);

private:
  std::string server_;
  std::unique_ptr<client::client> node_;
};

using action = std::function<exit_code(context&)>;

/// A command as help and documentation show it.
struct command_text {
  std::string name;
  std::string summary; ///< one line, without a full stop
  std::string example; ///< whole command lines
};

/// The commands under one point of the tree. A plain view; cheap to copy.
class menu {
public:
  /// What parsing leaves behind.
  struct outcome {
    action chosen; ///< empty when the command line only asked for help
    std::string server;
    bool server_given = false;
    bool wants_server = false; ///< whether the chosen command takes `--server`
  };

  menu(CLI::App& under, outcome& into) : app_{under}, into_{into} {}

  /// A word that is followed by one of several commands, such as `topic`.
  menu group(const std::string& name, const std::string& summary);
  /// A command that talks to a node: takes `--server`.
  CLI::App& add_client(const command_text& text, action what);
  /// A command that does not.
  CLI::App& add(const command_text& text, action what);

  /// Declares `--server` here, too: it may stand before or after the command's name.
  void add_server_option();

private:
  CLI::App& add_to_tree(const command_text& text, action what, bool wants_server);

  CLI::App& app_;
  outcome& into_;
};

/// `--json` with the usual text.
void add_json_flag(CLI::App& app, bool& into, const std::string& what);

} // namespace handfast::cli
