#include "runtime/cli/command_line.hpp"

#include "messages/names.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/docs_command.hpp"
#include "runtime/cli/suggest.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"
#include "runtime/cli/version.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <exception>
#include <ostream>
#include <sstream>

namespace handfast::cli {

namespace {

/// Where the help's second column begins.
constexpr std::size_t help_column = 30;
constexpr std::string_view default_server = "127.0.0.1:7310";

constexpr family families[] = {
    add_topic_commands,       add_produce_command,      add_consume_command,     add_browse_command,
    add_message_commands,     add_transaction_commands, add_delay_commands,      add_group_commands,
    add_dead_letter_commands, add_status_command,       add_quarantine_commands, add_bench_command,
    add_config_commands,      add_log_commands,         add_backup_commands,
};

/// How far the words lead into the tree of commands.
struct walk {
  const CLI::App* at;
  std::string path;                   ///< `handfast tx send`
  std::optional<std::string> unknown; ///< a word where a command was expected
};

bool takes_value(const CLI::App& app, const std::string& word) {
  const auto* option = app.get_option_no_throw(word);
  return option && option->get_items_expected_max() > 0;
}

walk follow(const CLI::App& root, const std::vector<std::string>& words) {
  walk so_far{&root, root.get_name(), std::nullopt};
  auto commands_under = [](const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    auto commands = commands_under(*so_far.at);
    if (commands.empty() || word == "--")
      break;
    if (word.starts_with('-')) {
      i += takes_value(*so_far.at, word) ? 1 : 0;
      continue;
    }
    auto found = std::find_if(commands.begin(), commands.end(),
                              [&](const CLI::App* app) { return app->check_name(word); });
    if (found == commands.end()) {
      so_far.unknown = word;
      break;
    }
    so_far.at = *found;
    so_far.path += " " + word;
  }
  return so_far;
}

std::vector<std::string> command_names(const CLI::App& under) {
  std::vector<std::string> names;
  for (const auto* app : under.get_subcommands([](const CLI::App*) { return true; })) {
    if (!app->get_group().empty())
      names.push_back(app->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& of) {
  std::vector<std::string> names;
  for (const auto* option : of.get_options()) {
    for (const auto& name : option->get_lnames())
      names.push_back("--" + name);
  }
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string help_of(const walk& where) {
  return "See `" + where.path + " --help`";
}

exit_code unknown_command(console& io, const walk& where) {
  auto meant = nearest(*where.unknown, command_names(*where.at));
  complain(io, "`" + where.path + "` has no command " + printable(*where.unknown),
           meant ? "Did you mean `" + where.path + " " + *meant + "`?"
                 : "Its commands are " + listed(command_names(*where.at)));
  return exit_usage;
}

exit_code unexpected_word(console& io, const walk& where, const std::string& word) {
  if (!word.starts_with('-')) {
    complain(io, "`" + where.path + "` takes no further argument " + printable(word),
             "Put a text with blanks in quotes. " + help_of(where));
    return exit_usage;
  }
  auto meant = nearest(word.substr(0, word.find('=')), option_names(*where.at));
  complain(io, "`" + where.path + "` has no option " + printable(word),
           meant ? "Did you mean `" + *meant + "`?"
                 : "Put `--` before a text that begins with a dash. " + help_of(where));
  return exit_usage;
}

/// `--queues: takes a whole number...` reads better without the colon, and `1 required N missing`
/// as a sentence.
std::string readable(std::string text) {
  if (auto at = text.find(": takes "); at != std::string::npos)
    text.erase(at, 1);
  constexpr std::string_view needs = ": 1 required ";
  constexpr std::string_view missing = " missing";
  if (auto at = text.find(needs); at != std::string::npos && text.ends_with(missing)) {
    text.replace(at, needs.size(), " wants a value: ");
    text.resize(text.size() - missing.size());
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

exit_code wrong_usage(console& io, const walk& where, const CLI::App& root,
                      const CLI::ParseError& why) {
  if (auto extras = root.remaining(true); !extras.empty())
    return unexpected_word(io, where, extras.front());
  if (auto commands = command_names(*where.at); !commands.empty()) {
    complain(io, "`" + where.path + "` wants a command: " + listed(commands), help_of(where));
    return exit_usage;
  }
  complain(io, "`" + where.path + "`: " + readable(why.what()), help_of(where));
  return exit_usage;
}

/// The node to talk to: the flag, the environment, the default. Empty after a complaint.
std::string chosen_server(console& io, const menu::outcome& parsed) {
  if (parsed.server_given)
    return parsed.server;
  auto named = io.environment("HANDFAST_SERVER");
  if (!named)
    return std::string{default_server};
  if (auto wrong = server_address()(*named); !wrong.empty()) {
    complain(io, "$HANDFAST_SERVER " + wrong, "Correct it, or give --server HOST:PORT");
    return {};
  }
  return *named;
}

void declare(CLI::App& app, menu::outcome& parsed, console& io, const std::vector<family>& more) {
  auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(help_column);
  formatter->label("SUBCOMMAND", "COMMAND");
  formatter->label("REQUIRED", "");
  formatter->label("TEXT", "");
  formatter->label("Positionals", "Arguments");
  app.formatter(formatter);
  app.set_help_flag("-h,--help", "Show this help");
  app.set_version_flag("--version",
                       "handfast " + std::string{version()} + " (" + std::string{commit()} + ")",
                       "Show the version");
  app.require_subcommand(1);
  app.footer("`handfast COMMAND --help` shows the options of a command and an example.");

  menu all{app, parsed};
  all.add_server_option();
  for (auto add : more)
    add(all);
  for (auto add : families)
    add(all);
  auto docs = all.group("docs", "Pages of the documentation that are made by the program");
  docs.add({"cli", "Print docs/cli.md", "handfast docs cli"}, [&app, &io](context&) {
    io.out << render_markdown(app);
    return flush(io) ? exit_done : exit_refused;
  });
  app.get_subcommand("docs")->group("");
}

/// A page of help whose long lines go on under their own text.
std::string fitted(const std::string& page, std::size_t width) {
  if (width == 0)
    return page;
  std::string text;
  std::istringstream lines{page};
  for (std::string line; std::getline(lines, line);) {
    auto two_columns = line.size() > help_column && line.starts_with("  ") &&
                       line[help_column] != ' ' && line[help_column - 1] == ' ';
    auto indent = two_columns ? help_column : std::size_t{0};
    auto begin = line.substr(0, indent);
    auto room = std::max(width, indent + help_column) - indent;
    for (const auto& part : wrapped(std::string_view{line}.substr(indent), room)) {
      text += begin + part + "\n";
      begin.assign(indent, ' ');
    }
  }
  return text;
}

exit_code run_chosen(console& io, const menu::outcome& parsed, const walk& where) {
  if (parsed.server_given && !parsed.wants_server) {
    complain(io, "`" + where.path + "` talks to no node, so it takes no --server", help_of(where));
    return exit_usage;
  }
  auto server = parsed.wants_server ? chosen_server(io, parsed) : std::string{default_server};
  if (server.empty())
    return exit_usage;
  context with{io, server};
  return parsed.chosen(with);
}

} // namespace

int run(std::vector<std::string> arguments, console& io, const std::vector<family>& more) {
  CLI::App app{"Handfast, a transactional message broker", "handfast"};
  menu::outcome parsed;
  declare(app, parsed, io, more);
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.push_back("--help");
  }
  auto where = follow(app, arguments);
  if (where.unknown)
    return unknown_command(io, where);
  try {
    std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};
    app.parse(std::move(reversed));
  } catch (const CLI::Success& asked) {
    std::ostringstream page;
    app.exit(asked, page, io.err);
    io.out << fitted(page.str(), io.width);
    return flush(io) ? exit_done : exit_refused;
  } catch (const CLI::ParseError& why) {
    return wrong_usage(io, where, app, why);
  }
  try {
    return run_chosen(io, parsed, where);
  } catch (const std::exception& fault) {
    complain(io, "`" + where.path + "` failed: " + fault.what(),
             "This is a fault of the program: please report it");
    return exit_unknown;
  }
}

} // namespace handfast::cli
