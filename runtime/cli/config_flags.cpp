#include "runtime/cli/config_flags.hpp"

#include <algorithm>
#include <string_view>

namespace handfast::cli {

void config_flags::add_to(CLI::App& app) {
  app.add_option("--config", file, "A TOML file, see docs/configuration.md")->type_name("FILE");
  app.add_option("--data", data, "The data folder (store.dir)")->type_name("DIR");
  app.add_option("--listen", listen, "Address of the native door (listen.native)")
      ->type_name("HOST:PORT");
  // One value for each `--set`, so that what follows may be an argument of another kind.
  app.add_option("--set", assignments, "Set any key; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

result<config::configuration> config_flags::load() const {
  config::loader loader;
  if (!file.empty())
    loader.file(file);
  if (!data.empty())
    loader.set("store.dir", data, "--data");
  if (!listen.empty())
    loader.set("listen.native", listen, "--listen");
  for (const auto& assignment : assignments)
    loader.set(assignment);
  return loader.finish();
}

exit_code complain_about(console& io, const error& problems) {
  std::string_view rest{problems.detail};
  while (!rest.empty()) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    complain(io, line, rest.empty() ? "`handfast config docs` explains every key" : "");
  }
  return exit_refused;
}

} // namespace handfast::cli
