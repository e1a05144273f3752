#pragma once

/// From a file and the command line to `settings`, with every problem reported at once.

#include "config/options.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace handfast::config {

/// One key with its value and where that came from: `default`, `FILE:LINE`, `--set` or the flag's
/// name.
struct effective_value {
  std::string key;
  std::string value;
  std::string source;
  bool quoted = true; ///< whether TOML and JSON write it in quotes

  friend bool operator==(const effective_value&, const effective_value&) = default;
};

/// What holds after everything was read.
class configuration {
public:
  configuration();

  /// A plain struct; what the node works with.
  settings values;

  /// Every key in the table's order.
  [[nodiscard]] std::vector<effective_value> effective() const;

private:
  friend class loader;
  std::vector<std::string> sources_; ///< by row of the table
};

/// `key = value  # source`, one a line; what is printed can be used as a configuration file.
std::string render_text(const std::vector<effective_value>& values);
/// A JSON array of `{"key": ..., "value": ..., "source": ...}`.
std::string render_json(const std::vector<effective_value>& values);

/// Problems of the whole that no single key shows: doors open to others without `insecure`, limits
/// that contradict each other. One text per problem, empty when all is well.
std::vector<std::string> validate(const settings& values);

/// Collects values in the order of the calls; a later one wins. Nothing throws; problems wait for
/// `finish`.
class loader {
public:
  /// Reads a TOML file.
  loader& file(const std::filesystem::path& path);
  /// Reads TOML text; `name` stands for the file in messages.
  loader& text(std::string_view toml, std::string_view name);
  /// `key=value`, as given to `--set`.
  loader& set(std::string_view assignment);
  /// A value given by a flag of its own, such as `--data`.
  loader& set(std::string_view key, std::string_view value, std::string_view source);

  /// The whole, or `ec::config_invalid` with every problem, one a line.
  [[nodiscard]] result<configuration> finish() const;

private:
  void apply(std::string_view key, std::string_view value, const std::string& source);
  void unknown(std::string_view key, const std::string& source);
  void report(const std::string& source, const std::string& problem);

  configuration so_far_;
  std::vector<std::string> problems_;
};

} // namespace handfast::config
