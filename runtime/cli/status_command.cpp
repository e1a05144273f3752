#include "runtime/cli/status_command.hpp"

#include "actors/client/admin.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"

#include <algorithm>
#include <ostream>

namespace handfast::cli {

namespace {

std::string label_of(std::string key) {
  for (std::string_view unit : {"_at_ms", "_ms", "_bytes"}) {
    if (key.ends_with(unit)) {
      key.resize(key.size() - unit.size());
      break;
    }
  }
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

std::string value_text(const std::string& key, const json& value) {
  if (value.is_string())
    return one_line(value.get<std::string>(), 200);
  if (value.is_boolean())
    return value.get<bool>() ? "yes" : "no";
  if (value.is_null())
    return "-";
  if (value.is_number_unsigned()) {
    auto number = value.get<std::uint64_t>();
    if (key.ends_with("_at_ms"))
      return time_text(number);
    if (key.ends_with("_ms"))
      return span_text(number);
    if (key.ends_with("_bytes") || key == "bytes")
      return bytes_text(number);
    return count_text(number);
  }
  return line_of(value);
}

bool is_list_of_objects(const json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const json& item) { return item.is_object(); });
}

void print_list(std::ostream& to, const json& items, bool colours) {
  std::vector<std::string> keys;
  for (const auto& item : items) {
    for (const auto& [key, value] : item.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
    }
  }
  std::vector<column> columns;
  for (const auto& key : keys) {
    auto title = label_of(key);
    std::transform(title.begin(), title.end(), title.begin(), [](char c) {
      return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    });
    auto numbers = std::all_of(items.begin(), items.end(), [&](const json& item) {
      return !item.contains(key) || item[key].is_number();
    });
    columns.push_back({title, numbers});
  }
  table rows{columns};
  for (const auto& item : items) {
    std::vector<cell> row;
    for (const auto& key : keys)
      row.emplace_back(item.contains(key) ? value_text(key, item[key]) : "");
    rows.add(std::move(row));
  }
  rows.print(to, colours);
}

exit_code status(context& with, bool as_json) {
  auto report = client::admin{with.node()}.status();
  if (!report)
    return with.refuse("status", report.why());
  auto parsed = json::parse(report.value(), nullptr, false);
  if (parsed.is_discarded()) {
    complain(with.io, "the status of " + with.server() + " is not JSON",
             "Compare the versions of this program and the node");
    return exit_refused;
  }
  if (as_json)
    with.io.out << page_of(parsed) << '\n';
  else
    print_status(with.io.out, parsed, with.io.colours);
  return flush(with.io) ? exit_done : exit_refused;
}

} // namespace

void print_status(std::ostream& to, const json& status, bool colours) {
  fact_sheet facts;
  for (const auto& [key, value] : status.items()) {
    if (!value.is_object() && !is_list_of_objects(value) && !(value.is_array() && value.empty()))
      facts.add(label_of(key), value_text(key, value));
  }
  facts.print(to, colours);
  for (const auto& [key, value] : status.items()) {
    if (value.is_object() && !value.empty()) {
      to << '\n' << painted(label_of(key), look::strong, colours) << '\n';
      print_status(to, value, colours);
    } else if (is_list_of_objects(value)) {
      to << '\n' << painted(label_of(key), look::strong, colours) << '\n';
      print_list(to, value, colours);
    }
  }
}

void add_status_command(menu& to) {
  auto as_json = std::make_shared<bool>(false);
  auto& app = to.add_client({"status", "Show how a node is doing", "handfast status"},
                            [as_json](context& with) { return status(with, *as_json); });
  add_json_flag(app, *as_json, "everything as a JSON object");
}

} // namespace handfast::cli
