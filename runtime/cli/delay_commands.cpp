#include "actors/client/admin.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <limits>
#include <ostream>

namespace handfast::cli {

namespace {

constexpr auto any_number = std::numeric_limits<std::int64_t>::max();

// -- delay list --------------------------------------------------------------

struct list_given {
  std::string topic;
  std::size_t max = 100;
  bool json = false;
};

void print(std::ostream& to, const std::vector<native::delayed_item>& items, wall_ms now,
           bool colours) {
  table rows{{{"ID", true},
              {"VISIBLE AT"},
              {"IN", true},
              {"TOPIC"},
              {"QUEUE", true},
              {"SIZE", true},
              {"TRANSACTION"}}};
  for (const auto& item : items)
    rows.add(
        {std::to_string(item.at.value),
         time_text(item.due_ms),
         item.due_ms > now ? cell{span_text(item.due_ms - now)} : cell{"due", look::waiting},
         item.topic.empty() ? "-" : item.topic,
         std::to_string(item.queue.value),
         bytes_text(item.length),
         {item.transaction.opened_at.value == 0 ? "-" : to_string(item.transaction), look::faint}});
  rows.print(to, colours);
}

exit_code list(context& with, const list_given& what) {
  auto found = client::admin{with.node()}.delayed(what.topic, what.max);
  if (!found && !what.topic.empty())
    return refuse_topic(with, what.topic, found.why());
  if (!found)
    return with.refuse("list of delayed messages", found.why());
  if (what.json) {
    auto all = json::array();
    for (const auto& item : found.value())
      all.push_back(json_of(item));
    with.io.out << page_of(all) << '\n';
  } else if (found->empty()) {
    with.io.out << "no message waits for its time\n";
  } else {
    print(with.io.out, found.value(), with.io.wall(), with.io.colours);
  }
  const auto got_through = flush(with.io);
  if (found->size() == what.max && !what.json)
    with.io.err << "ended after " << what.max << "; --max and --topic show more" << std::endl;
  return got_through ? exit_done : exit_refused;
}

// -- delay cancel ------------------------------------------------------------

struct cancel_given {
  std::uint64_t id = 0;
  bool json = false;
};

exit_code cancel(context& with, const cancel_given& what) {
  const auto done = client::admin{with.node()}.cancel_delayed(position{what.id});
  if (!done)
    return with.refuse("delayed message " + std::to_string(what.id), done.why());
  if (what.json)
    with.io.out << line_of({{"cancelled", what.id}}) << '\n';
  else
    with.io.out << "cancelled: it will not be delivered\n";
  return flush(with.io) ? exit_done : exit_refused;
}

} // namespace

void add_delay_commands(menu& to) {
  auto delay = to.group("delay", "See and cancel messages that become visible later");
  auto listed = std::make_shared<list_given>();
  auto& list_app = delay.add_client({"list", "List what waits for its time, the next first",
                                     "handfast delay list --topic orders"},
                                    [listed](context& with) { return list(with, *listed); });
  list_app.add_option("--topic", listed->topic, "Only messages of this topic")->type_name("TOPIC");
  list_app.add_option("--max", listed->max, "At most N (100)")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  add_json_flag(list_app, listed->json, "a JSON array of messages");

  auto cancelled = std::make_shared<cancel_given>();
  auto& cancel_app =
      delay.add_client({"cancel", "Have a message that still waits never delivered",
                        "handfast delay list --topic orders\n  handfast delay cancel 270336"},
                       [cancelled](context& with) { return cancel(with, *cancelled); });
  cancel_app.add_option("ID", cancelled->id, "The message, as `delay list` prints it")
      ->required()
      ->check(whole_number(1, any_number));
  add_json_flag(cancel_app, cancelled->json, "the id as a JSON object");
}

} // namespace handfast::cli
