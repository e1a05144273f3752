#include "actors/client/admin.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"

#include <ostream>
#include <set>

namespace handfast::cli {

namespace {

std::vector<cell> row_of(const native::group_item& group) {
  std::set<std::string> topics;
  std::uint64_t behind = 0;
  for (const auto& queue : group.progress) {
    topics.insert(queue.topic);
    behind += queue.end.value - queue.done.value;
  }
  std::string names;
  for (const auto& topic : topics)
    names += (names.empty() ? "" : ", ") + topic;
  return {group.name, std::to_string(group.producers), std::to_string(group.consumers),
          group.progress.empty()
              ? cell{"-", look::faint}
              : cell{count_text(behind), behind > 0 ? look::waiting : look::good},
          names};
}

exit_code list(context& with, bool as_json) {
  auto groups = client::admin{with.node()}.groups();
  if (!groups)
    return with.refuse("list of groups", groups.why());
  if (as_json) {
    auto all = json::array();
    for (const auto& group : groups.value())
      all.push_back(json_of(group));
    with.io.out << page_of(all) << '\n';
  } else {
    table rows{{{"GROUP", false, true},
                {"PRODUCERS", true},
                {"CONSUMERS", true},
                {"BEHIND", true},
                {"TOPICS"}}};
    for (const auto& group : groups.value())
      rows.add(row_of(group));
    rows.print(with.io.out, with.io.colours, with.io.width);
  }
  return flush(with.io) ? exit_done : exit_refused;
}

} // namespace

void add_group_commands(menu& to) {
  auto group = to.group("group", "See who is online and how far consumers are");
  auto as_json = std::make_shared<bool>(false);
  auto& app = group.add_client(
      {"list", "List groups: members online, messages behind", "handfast group list"},
      [as_json](context& with) { return list(with, *as_json); });
  add_json_flag(app, *as_json, "a JSON array of groups with their progress by queue");
}

} // namespace handfast::cli
