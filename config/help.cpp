#include "config/help.hpp"

#include "config/options.hpp"

#include <algorithm>

namespace handfast::config {

namespace {

constexpr std::string_view introduction = R"(# Configuration

*For operators.* This page is rendered from the option table (`config/options.cpp`) by `handfast config docs`; a test keeps
the two together.

A value comes from, the later winning: the default, the file given by `--config FILE` (TOML), flags such as `--data` and
`--listen`, and `--set key=value`. `handfast config show` prints every key with its value and where that came from;
`handfast config check` reads everything and starts nothing. All problems are reported together, with file and line.

```toml
# handfast.toml
[transaction]
timeout = "10s"
check_max = 30

[listen]
http = ""        # this door is off
```

**Forms.** Durations are a whole number with `ms`, `s`, `m`, `h` or `d`: `"500ms"`, `"2s"`, `"3d"`. Sizes are a whole number
of bytes, or one with `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024) or `KB`, `MB`, `GB`, `TB` (powers of 1000):
`"16MiB"`. Addresses are `HOST:PORT` or `[IPV6]:PORT`; an empty one turns the door off. `--set` takes the same forms without quotes.

**Levels.** The rules about checks (`transaction.timeout`, `check_interval`, `check_max`) can also be set for a topic or a group. What a
message says itself comes first, then its topic, its group, and this configuration.

**At run time** marks the values that can change without loss while a node runs; the others take a restart.
)";

std::string_view section_of(std::string_view key) {
  return key.substr(0, key.find('.'));
}

/// An address that is off and a path that is empty show as such.
std::string shown_default(const option& row) {
  auto text = default_of(row);
  return text.empty() ? "(empty)" : "`" + text + "`";
}

std::string values_of(const option& row) {
  auto text = range_of(row);
  return row.unit.empty() ? text : text + " " + std::string{row.unit};
}

std::string title_of(std::string_view section) {
  return section.find('.') == std::string_view::npos && find_option(section)
             ? std::string{"(no section)"}
             : "`[" + std::string{section} + "]`";
}

} // namespace

std::string render_markdown() {
  std::string page{introduction};
  std::string_view section;
  for (const auto& row : options()) {
    if (section_of(row.key) != section) {
      section = section_of(row.key);
      page += "\n## " + title_of(section) + "\n\n";
      page += "| key | default | values | at run time | meaning |\n|---|---|---|---|---|\n";
    }
    page += "| `" + std::string{row.key} + "` | " + shown_default(row) + " | " + values_of(row) +
            " | " + (row.at_run_time ? "yes" : "no") + " | " + std::string{row.help} + " |\n";
  }
  return page;
}

std::string render_help() {
  std::size_t width = 0;
  for (const auto& row : options())
    width = std::max(width, row.key.size() + default_of(row).size() + 3);
  std::string text;
  for (const auto& row : options()) {
    auto line = std::string{row.key} + " = " + default_of(row);
    line.resize(width, ' ');
    text += "  " + line + "  " + std::string{row.help} + "\n";
  }
  return text;
}

} // namespace handfast::config
