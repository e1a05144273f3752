#include "messages/limits.hpp"
#include "messages/names.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <ostream>

namespace handfast::cli {

namespace {

struct given {
  std::string name;
  std::uint32_t queues = 0;
  std::uint32_t check_max = 0;
  std::string first_check;
  std::string check_interval;
  bool force = false;
  bool json = false;
};

std::string subject(const given& topic) {
  return "topic " + printable(topic.name);
}

std::uint64_t messages_in(const native::topic_item& topic) {
  std::uint64_t sum = 0;
  for (const auto& queue : topic.queues)
    sum += queue.end.value - queue.first.value;
  return sum;
}

std::string checks_of(const attributes& options) {
  std::string text;
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (options.transaction_timeout_ms != 0)
    add("first after " + span_text(options.transaction_timeout_ms));
  if (options.check_interval_ms != 0)
    add("then every " + span_text(options.check_interval_ms));
  if (options.check_max != 0)
    add("at most " + std::to_string(options.check_max));
  return text.empty() ? "as the node's configuration says" : text;
}

std::uint32_t ms_of(const std::string& text) {
  return text.empty() ? 0 : static_cast<std::uint32_t>(parse_seconds(text)->count());
}

exit_code create(context& with, const given& topic) {
  attributes options;
  options.transaction_timeout_ms = ms_of(topic.first_check);
  options.check_interval_ms = ms_of(topic.check_interval);
  options.check_max = topic.check_max;
  auto made = client::admin{with.node()}.create_topic(topic.name, topic.queues, options);
  if (!made)
    return with.refuse(subject(topic), made.why());
  if (topic.json)
    with.io.out << page_of(json_of(made.value())) << '\n';
  else
    with.io.out << "created " << made->info.name << " with " << counted(made->info.queues, "queue")
                << '\n';
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code list(context& with, const given& wanted) {
  auto topics = client::admin{with.node()}.topics();
  if (!topics)
    return with.refuse("list of topics", topics.why());
  if (wanted.json) {
    auto all = json::array();
    for (const auto& topic : topics.value())
      all.push_back(json_of(topic));
    with.io.out << page_of(all) << '\n';
  } else {
    table rows{{{"TOPIC", false, true}, {"QUEUES", true}, {"KIND"}}};
    for (const auto& topic : topics.value())
      rows.add({topic.info.name,
                count_text(topic.info.queues),
                {topic.info.read_only ? "kept by the node" : "", look::faint}});
    rows.print(with.io.out, with.io.colours, with.io.width);
  }
  return flush(with.io) ? exit_done : exit_refused;
}

void print(console& io, const native::topic_item& topic) {
  fact_sheet facts;
  facts.add("topic", {topic.info.name, look::strong});
  facts.add("id", std::to_string(topic.info.id.value));
  facts.add("messages", count_text(messages_in(topic)));
  if (topic.info.read_only)
    facts.add("kind", "kept by the node, read-only: `handfast browse " + topic.info.name + "`");
  else
    facts.add("checks", checks_of(topic.info.options));
  if (topic.info.options.buffered)
    facts.add("durability", "buffered: plain messages are answered before the sync");
  facts.print(io.out, io.colours, io.width);
  io.out << '\n';
  table rows{{{"QUEUE", true}, {"FIRST", true}, {"END", true}, {"MESSAGES", true}}};
  for (const auto& queue : topic.queues)
    rows.add({std::to_string(queue.queue.value), std::to_string(queue.first.value),
              std::to_string(queue.end.value), count_text(queue.end.value - queue.first.value)});
  rows.print(io.out, io.colours, io.width);
}

exit_code show(context& with, const given& wanted) {
  auto topic = client::admin{with.node()}.topic(wanted.name);
  if (!topic)
    return refuse_topic(with, wanted.name, topic.why());
  if (wanted.json)
    with.io.out << page_of(json_of(topic.value())) << '\n';
  else
    print(with.io, topic.value());
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code remove(context& with, const given& topic) {
  auto done = client::admin{with.node()}.delete_topic(topic.name, topic.force);
  if (!done && done.why().code == ec::topic_in_use) {
    complain(with.io, "topic " + done.why().detail,
             "Decide or cancel them first, see `handfast tx list --state pending --topic " +
                 topic.name + "` and `handfast delay list --topic " + topic.name +
                 "`; or do away with all of them with `handfast topic delete " + topic.name +
                 " --force`");
    return exit_refused;
  }
  if (!done)
    return refuse_topic(with, topic.name, done.why());
  with.io.out << "deleted " << topic.name << '\n';
  return flush(with.io) ? exit_done : exit_refused;
}

template <class Function>
action with_given(const std::shared_ptr<given>& what, Function function) {
  return [what, function](context& with) { return function(with, *what); };
}

void add_create(menu& topic) {
  auto what = std::make_shared<given>();
  auto& app = topic.add_client({"create", "Make a topic, or meet one that is already so",
                                "handfast topic create orders --queues 8"},
                               with_given(what, create));
  app.add_option("NAME", what->name, "Letters, digits, '_', '-', '%' and '|'; at most 127")
      ->required();
  app.add_option("--queues", what->queues, "Queues; the node's topic.default_queues without it")
      ->check(whole_number(1, limits::queues_max))
      ->type_name("N");
  app.add_option("--first-check", what->first_check,
                 "Ask about its transactions after this time; else as the node is configured")
      ->check(seconds())
      ->type_name("S");
  app.add_option("--check-interval", what->check_interval, "... and again after this time")
      ->check(seconds())
      ->type_name("S");
  app.add_option("--check-max", what->check_max, "... at most this often")
      ->check(whole_number(1, 65'535))
      ->type_name("N");
  add_json_flag(app, what->json, "the topic as a JSON object");
}

} // namespace

void add_topic_commands(menu& to) {
  auto topic = to.group("topic", "Make, list, show and delete topics");
  add_create(topic);

  auto listed = std::make_shared<given>();
  auto& list_app = topic.add_client({"list", "List all topics", "handfast topic list --json"},
                                    with_given(listed, list));
  add_json_flag(list_app, listed->json, "a JSON array of topics");

  auto shown = std::make_shared<given>();
  auto& show_app =
      topic.add_client({"show", "Show a topic and its queues", "handfast topic show orders"},
                       with_given(shown, show));
  show_app.add_option("NAME", shown->name, "The topic")->required();
  add_json_flag(show_app, shown->json, "the topic as a JSON object");

  auto deleted = std::make_shared<given>();
  auto& delete_app = topic.add_client(
      {"delete", "Delete a topic and its messages", "handfast topic delete orders"},
      with_given(deleted, remove));
  delete_app.add_option("NAME", deleted->name, "The topic")->required();
  delete_app.add_flag("--force", deleted->force,
                      "Roll back its pending transactions and cancel its delayed messages first");
}

} // namespace handfast::cli
