#include "runtime/cli/config_flags.hpp"

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
  for (const auto& assignment : assignments)
    loader.set(assignment);
  if (!data.empty())
    loader.set("store.dir", data, "--data");
  if (!listen.empty())
    loader.set("listen.native", listen, "--listen");
  return loader.finish();
}

} // namespace handfast::cli
