#include "config/loader.hpp"

#include "messages/names.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

// The parser lives in its header; without exceptions it reports the place of a fault as a value.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace handfast::config {

namespace {

constexpr std::uintmax_t file_bytes_max = 1 << 20;
constexpr std::string_view default_source = "default";

struct toml_value {
  std::string text;
  bool right_type = false;
  std::string_view found; ///< what it is, for an error
};

/// What stands in the file as the text that `assign` reads, and whether its TOML type suits the
/// row's kind.
toml_value read(const toml::node& node, option_kind kind) {
  using k = option_kind;
  if (auto text = node.value_exact<std::string>())
    return {*text, kind != k::integer && kind != k::number && kind != k::boolean, "a string"};
  if (auto flag = node.value_exact<bool>())
    return {*flag ? "true" : "false", kind == k::boolean, "a boolean"};
  if (auto count = node.value_exact<std::int64_t>())
    return {std::to_string(*count),
            kind == k::integer || kind == k::number || kind == k::size || kind == k::duration,
            "a whole number"};
  if (auto number = node.value_exact<double>()) {
    std::array<char, 32> digits{};
    auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *number).ptr;
    return {std::string(digits.data(), end), kind == k::number, "a number with a fraction"};
  }
  return {{}, false, node.is_array() ? "an array" : node.is_table() ? "a section" : "a date"};
}

bool is_section(std::string_view key) {
  auto rows = options();
  return std::any_of(rows.begin(), rows.end(), [&](const option& row) {
    return row.key.size() > key.size() && row.key.starts_with(key) && row.key[key.size()] == '.';
  });
}

/// Calls `visit(key, node)` for every value, with keys joined by dots; an empty section is a value
/// too.
template <class Visit>
void walk(const toml::table& table, const std::string& prefix, const Visit& visit) {
  for (const auto& [name, node] : table) {
    auto key = prefix + std::string{name.str()};
    const auto* inner = node.as_table();
    if (inner && !inner->empty() && !find_option(key))
      walk(*inner, key + ".", visit);
    else if (!(inner && is_section(key)))
      visit(key, node);
  }
}

std::string place(std::string_view name, toml::source_index line) {
  return std::string{name} + ":" + std::to_string(line);
}

/// In the quotes that TOML and JSON share.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      constexpr std::string_view digits = "0123456789abcdef";
      out += "\\u00";
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string literal(const effective_value& entry) {
  return entry.quoted ? in_quotes(entry.value) : entry.value;
}

} // namespace

configuration::configuration() : sources_(options().size(), std::string{default_source}) {}

std::vector<effective_value> configuration::effective() const {
  std::vector<effective_value> all;
  auto rows = options();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto kind = rows[i].kind;
    bool bare =
        kind == option_kind::integer || kind == option_kind::number || kind == option_kind::boolean;
    all.push_back({std::string{rows[i].key}, text_of(rows[i], values), sources_[i], !bare});
  }
  return all;
}

std::string render_text(const std::vector<effective_value>& values) {
  std::size_t width = 0;
  for (const auto& entry : values)
    width = std::max(width, entry.key.size() + literal(entry).size());
  std::string text;
  for (const auto& entry : values) {
    auto line = entry.key + " = " + literal(entry);
    line.resize(width + 3, ' ');
    text += line + "  # " + entry.source + "\n";
  }
  return text;
}

std::string render_json(const std::vector<effective_value>& values) {
  std::string text = "[";
  for (const auto& entry : values) {
    text += text.size() == 1 ? "\n" : ",\n";
    text += "  {\"key\": " + in_quotes(entry.key) + ", \"value\": " + literal(entry) +
            ", \"source\": " + in_quotes(entry.source) + "}";
  }
  return text + "\n]\n";
}

loader& loader::file(const std::filesystem::path& path) {
  auto name = path.string();
  std::error_code problem;
  auto status = std::filesystem::status(path, problem);
  if (problem) {
    report(name, problem.message());
    return *this;
  }
  if (!std::filesystem::is_regular_file(status)) {
    report(name, "is not a file");
    return *this;
  }
  if (std::filesystem::file_size(path, problem) > file_bytes_max || problem) {
    report(name, problem ? problem.message() : "is over 1 MiB, so hardly a configuration file");
    return *this;
  }
  std::ifstream in{path, std::ios::binary};
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) {
    report(name, std::string{"cannot be read: "} + std::strerror(errno));
    return *this;
  }
  return text(content.str(), name);
}

loader& loader::text(std::string_view toml, std::string_view name) {
  auto parsed = toml::parse(toml, name);
  if (!parsed) {
    const auto& fault = parsed.error();
    report(place(name, fault.source().begin.line),
           "TOML syntax: " + std::string{fault.description()});
    return *this;
  }
  walk(parsed.table(), "", [&](const std::string& key, const toml::node& node) {
    auto source = place(name, node.source().begin.line);
    const auto* row = find_option(key);
    if (!row)
      return unknown(key, source);
    auto value = read(node, row->kind);
    if (!value.right_type)
      return report(source, key + ": " + std::string{form_of(row->kind)} + " is wanted, not " +
                                std::string{value.found});
    apply(key, value.text, source);
  });
  return *this;
}

loader& loader::set(std::string_view assignment) {
  auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    report("--set", printable(assignment) + " is not of the form key=value");
    return *this;
  }
  return set(assignment.substr(0, equals), assignment.substr(equals + 1), "--set");
}

loader& loader::set(std::string_view key, std::string_view value, std::string_view source) {
  std::string from{source};
  if (find_option(key))
    apply(key, value, from);
  else
    unknown(key, from);
  return *this;
}

result<configuration> loader::finish() const {
  auto problems = problems_;
  auto more = validate(so_far_.values);
  problems.insert(problems.end(), more.begin(), more.end());
  if (problems.empty())
    return so_far_;
  std::string all;
  for (const auto& problem : problems)
    all += (all.empty() ? "" : "\n") + problem;
  return fail(ec::config_invalid, std::move(all));
}

void loader::apply(std::string_view key, std::string_view value, const std::string& source) {
  const auto* row = find_option(key);
  if (auto done = assign(*row, so_far_.values, value); !done)
    return report(source, done.error().detail);
  so_far_.sources_[static_cast<std::size_t>(row - options().data())] = source;
}

void loader::unknown(std::string_view key, const std::string& source) {
  auto problem = "unknown key " + printable(key);
  auto nearest = nearest_key(key);
  if (is_section(key))
    problem = printable(key) + " is a section; set one of its keys, such as `" +
              std::string{nearest} + "`";
  else
    problem += "; did you mean `" + std::string{nearest} + "`?";
  report(source, problem);
}

void loader::report(const std::string& source, const std::string& problem) {
  problems_.push_back(source + ": " + problem);
}

} // namespace handfast::config
