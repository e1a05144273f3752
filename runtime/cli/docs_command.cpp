#include "runtime/cli/docs_command.hpp"

#include "runtime/cli/json_members.hpp"

#include <vector>

namespace handfast::cli {

namespace {

constexpr std::string_view opening = R"(# Command line

*Made by `handfast docs cli` from the same declarations as the help; a test keeps it so.*

One binary, `handfast`, is the node and every tool for it.

* Every command that talks to a node takes `--server HOST:PORT`, before or after the command's name; without it
  `$HANDFAST_SERVER` says where, and without that it is `127.0.0.1:7310`.
* `--json` prints one JSON value: an object for what was made or shown, an array for a list. Streams (`consume`, `browse`,
  `tx listen`, `log dump`) print one object a line instead, as soon as they have it. Times are milliseconds since 1970
  (`..._ms`), a transaction's `id` is 24 hex digits. A body that is not UTF-8 comes as `body_base64` instead of `body`.
  [Members of JSON objects](#members-of-json-objects) says what each member means.
* Errors go to standard error as `handfast: <what was wrong with which input>. <what to do next>`.
* On a terminal, tables have colours, unless `NO_COLOR` is set, and keep to its width; elsewhere lines are whole.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refused: the node or the files say no; nothing happened |
| 2 | the command line is wrong; nothing was tried |
| 3 | unknown or unreachable: it may or may not have happened, `tx show` tells |

)";

std::string without_pipes(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string usage_of(const CLI::App& app, const std::string& path) {
  auto usage = path;
  for (const auto* option : app.get_options()) {
    if (option->get_positional())
      usage += " " + (option->get_required() ? option->get_name() : "[" + option->get_name() + "]");
  }
  for (const auto* option : app.get_options()) {
    if (!option->get_positional() && option->get_required())
      usage += " " + option->get_name() + " " + option->get_type_name();
  }
  return usage;
}

void render_command(const CLI::App& app, const std::string& path, std::string& page) {
  page += "### `" + usage_of(app, path) + "`\n\n" + app.get_description() + ".\n\n";
  std::string rows;
  for (const auto* option : app.get_options()) {
    auto name = option->get_name(option->get_positional(), false);
    if (name == "--help" || name == "--server" || name == "-h,--help")
      continue;
    auto type = option->get_positional() || option->get_type_size() == 0
                    ? std::string{}
                    : " " + option->get_type_name();
    rows += "| `" + name + type + "` | " + without_pipes(option->get_description()) + " |\n";
  }
  if (!rows.empty())
    page += "| | |\n|---|---|\n" + rows + "\n";
  auto example = app.get_footer();
  constexpr std::string_view title = "Example:\n";
  if (example.starts_with(title)) {
    page += "```\n";
    example.erase(0, title.size());
    for (std::size_t at = 0; at < example.size();) {
      auto end = std::min(example.find('\n', at), example.size());
      auto line = example.substr(at, end - at);
      page += (line.starts_with("  ") ? line.substr(2) : line) + "\n";
      at = end + 1;
    }
    page += "```\n\n";
  }
}

void render_members(std::string& page) {
  page += "## Members of JSON objects\n\n"
          "Newer versions add members. Those in *italics* are left out where there is nothing to "
          "say.\n\n";
  for (const auto& shape : json_shapes()) {
    page += "### A " + std::string{shape.name} + ": " + std::string{shape.printed_by} +
            "\n\n| member | meaning |\n|---|---|\n";
    for (const auto& member : shape.members) {
      auto path = "`" + std::string{member.path} + "`";
      page += "| " + (member.sometimes ? "*" + path + "*" : path) + " | " +
              without_pipes(std::string{member.meaning}) + " |\n";
    }
    page += "\n";
  }
}

} // namespace

std::string render_markdown(const CLI::App& root) {
  std::string page{opening};
  auto commands_of = [](const CLI::App& app) {
    return app.get_subcommands(
        [](const CLI::App* command) { return !command->get_group().empty(); });
  };
  for (const auto* command : commands_of(root)) {
    auto path = root.get_name() + " " + command->get_name();
    auto inner = commands_of(*command);
    if (inner.empty()) {
      page += "## " + command->get_name() + "\n\n";
      render_command(*command, path, page);
      continue;
    }
    page += "## " + command->get_name() + "\n\n" + command->get_description() + ".\n\n";
    for (const auto* one : inner)
      render_command(*one, path + " " + one->get_name(), page);
  }
  render_members(page);
  while (page.ends_with("\n\n"))
    page.pop_back();
  return page;
}

} // namespace handfast::cli
