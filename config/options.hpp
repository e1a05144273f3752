#pragma once

/// The one option table. Parsing, validation, `--set`, `--help`, `config show` and
/// docs/configuration.md all read it.

#include "config/settings.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace handfast::config {

enum class option_kind : std::uint8_t {
  duration,
  size,
  integer,
  number, ///< with a fraction
  boolean,
  address,
  choice, ///< one of `option::choices`
  path,
};

std::string_view name_of(option_kind kind);

/// Where the value lives. A choice's enumerators count its `choices` from 0.
using option_member =
    std::variant<milliseconds& (*)(settings&), std::uint64_t& (*)(settings&),
                 std::uint32_t& (*)(settings&), double& (*)(settings&), bool& (*)(settings&),
                 address& (*)(settings&), std::filesystem::path& (*)(settings&),
                 give_up_action& (*)(settings&), log_level& (*)(settings&),
                 log_format& (*)(settings&)>;

struct option_bounds {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::int64_t>::max();
};

/// One row. Bounds are in milliseconds, bytes, or the number itself, by `kind`.
struct option {
  std::string_view key;
  option_kind kind;
  option_member member;
  option_bounds bounds;
  std::string_view unit; ///< what an integer counts; empty where the value says it
  std::span<const std::string_view> choices;
  bool
      at_run_time; ///< could be changed while the node runs without loss; the others need a restart
  std::string_view help;
};

/// All rows, in the order of the documentation. Immutable.
std::span<const option> options();

/// The row of `key`, or null.
const option* find_option(std::string_view key);

/// The known key nearest to `key` by edit distance, also when only the section is missing
/// (`timeout`).
std::string_view nearest_key(std::string_view key);

/// Parses `text` by the row's kind, checks the bounds and stores it. `ec::config_invalid` whose
/// detail begins with the key.
result<void> assign(const option& row, settings& to, std::string_view text);

/// The value in the form that `assign` reads.
std::string text_of(const option& row, const settings& from);
/// The default in that form.
std::string default_of(const option& row);
/// `1MiB to 4GiB`, the choices, or the form of an address; empty where anything goes.
std::string range_of(const option& row);
/// The example of a value in this kind, for error messages.
std::string_view form_of(option_kind kind);

} // namespace handfast::config
