#include "runtime/cli/menu.hpp"

#include "runtime/cli/values.hpp"

#include <unistd.h>

namespace handfast::cli {

namespace {

/// `name@host:pid`, so that `tx show` and the node's log tell which of many runs it was.
std::string client_name() {
  char host[65] = "localhost";
  ::gethostname(host, sizeof host - 1);
  return "handfast@" + std::string{host} + ":" + std::to_string(::getpid());
}

} // namespace

const client::client& context::node() {
  if (!node_) {
    client::connection_options options;
    options.servers = {server_};
    options.name = client_name();
    options.connect_patience = std::chrono::milliseconds{0};
    node_ = std::make_unique<client::client>(std::move(options));
  }
  return *node_;
}

exit_code context::refuse(std::string_view subject, const error& why) {
  if (why.code == ec::unreachable) {
    complain(io, "no node can be reached at " + server_,
             "Start one with `handfast node`, or name another with --server HOST:PORT");
    return exit_unknown;
  }
  return complain(io, subject, why);
}

menu menu::group(const std::string& name, const std::string& summary) {
  auto* app = app_.add_subcommand(name, summary);
  app->group("Commands");
  app->require_subcommand(1);
  menu inside{*app, into_};
  inside.add_server_option();
  return inside;
}

CLI::App& menu::add_client(const command_text& text, action what) {
  auto& app = add_to_tree(text, std::move(what), true);
  menu{app, into_}.add_server_option();
  return app;
}

CLI::App& menu::add(const command_text& text, action what) {
  return add_to_tree(text, std::move(what), false);
}

CLI::App& menu::add_to_tree(const command_text& text, action what, bool wants_server) {
  auto* app = app_.add_subcommand(text.name, text.summary);
  app->group("Commands");
  app->footer("Example:\n  " + text.example);
  app->final_callback([into = &into_, what = std::move(what), wants_server] {
    into->chosen = what;
    into->wants_server = wants_server;
  });
  return *app;
}

void menu::add_server_option() {
  app_.add_option_function<std::string>(
          "--server",
          [into = &into_](const std::string& server) {
            into->server = server;
            into->server_given = true;
          },
          "The node to talk to; else $HANDFAST_SERVER, else 127.0.0.1:7310")
      ->check(server_address())
      ->type_name("HOST:PORT");
}

void add_json_flag(CLI::App& app, bool& into, const std::string& what) {
  app.add_flag("--json", into, "Print " + what);
}

} // namespace handfast::cli
