#include "actors/client/admin.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <ostream>

namespace handfast::cli {

namespace {

struct given {
  std::uint32_t max = 100;
  bool json = false;
};

exit_code list(context& with, const given& what) {
  auto items = client::admin{with.node()}.quarantine(what.max);
  if (!items)
    return with.refuse("quarantine", items.why());
  if (what.json) {
    auto all = json::array();
    for (const auto& item : items.value())
      all.push_back(json_of(item));
    with.io.out << page_of(all) << '\n';
  } else if (items->empty()) {
    with.io.out << "nothing is in quarantine\n";
  } else {
    table rows{{{"POSITION", true}, {"WHAT"}, {"TRANSACTION"}, {"WHY"}}};
    for (const auto& item : items.value())
      rows.add({std::to_string(item.at.value),
                one_line(item.what),
                item.transaction.opened_at.value == 0 ? "-" : to_string(item.transaction),
                {one_line(item.why, 200), look::bad}});
    rows.print(with.io.out, with.io.colours, with.io.width);
  }
  return flush(with.io) ? exit_done : exit_refused;
}

} // namespace

void add_quarantine_commands(menu& to) {
  auto quarantine = to.group("quarantine", "See what was set aside because it cannot be read");
  auto what = std::make_shared<given>();
  auto& app = quarantine.add_client(
      {"list", "List records and messages that were set aside", "handfast quarantine list"},
      [what](context& with) { return list(with, *what); });
  app.add_option("--max", what->max, "At most N (100)")
      ->check(whole_number(1, 1'000))
      ->type_name("N");
  add_json_flag(app, what->json, "a JSON array of what was set aside");
}

} // namespace handfast::cli
