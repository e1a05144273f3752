#include "config/help.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/config_flags.hpp"

#include <ostream>

namespace handfast::cli {

namespace {

struct given {
  config_flags flags;
  bool json = false;
};

exit_code show(context& with, const given& what) {
  auto loaded = what.flags.load();
  if (!loaded)
    return complain_about(with.io, loaded.error());
  auto values = loaded->effective();
  with.io.out << (what.json ? config::render_json(values) : config::render_text(values));
  if (what.json)
    with.io.out << '\n';
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code check(context& with, const given& what) {
  auto loaded = what.flags.load();
  if (!loaded)
    return complain_about(with.io, loaded.error());
  std::size_t changed = 0;
  for (const auto& value : loaded->effective())
    changed += value.source == "default" ? 0 : 1;
  with.io.out << "valid: " << changed << (changed == 1 ? " key is" : " keys are")
              << " set, the others have their defaults\n";
  return flush(with.io) ? exit_done : exit_refused;
}

} // namespace

void add_config_commands(menu& to) {
  auto config = to.group("config", "Show, check and explain the configuration of a node");

  auto shown = std::make_shared<given>();
  auto& show_app = config.add({"show", "Print every key with its value and where that came from",
                               "handfast config show --config node.toml --set log.level=debug"},
                              [shown](context& with) { return show(with, *shown); });
  shown->flags.add_to(show_app);
  add_json_flag(show_app, shown->json, "a JSON array of key, value and source");

  auto checked = std::make_shared<given>();
  auto& check_app = config.add({"check", "Say what is wrong with a configuration, all at once",
                                "handfast config check --config node.toml"},
                               [checked](context& with) { return check(with, *checked); });
  checked->flags.add_to(check_app);

  config.add({"docs", "Print docs/configuration.md", "handfast config docs | less"},
             [](context& with) {
               with.io.out << config::render_markdown();
               return flush(with.io) ? exit_done : exit_refused;
             });
}

} // namespace handfast::cli
