#include "actors/client/admin.hpp"
#include "messages/limits.hpp"
#include "messages/names.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/group_view.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <ostream>

namespace handfast::cli {

namespace {

struct given {
  std::string name;
  std::string topic;
  std::string to;
  std::optional<std::uint32_t> queue;
  std::uint32_t delivery_max = 0;
  bool json = false;
};

std::string subject(const given& group) {
  return "group " + printable(group.name);
}

exit_code list(context& with, const given& wanted) {
  auto groups = client::admin{with.node()}.groups();
  if (!groups)
    return with.refuse("list of groups", groups.why());
  if (wanted.json) {
    auto all = json::array();
    for (const auto& group : groups.value())
      all.push_back(json_of(group));
    with.io.out << page_of(all) << '\n';
  } else {
    print_groups(with.io, groups.value());
  }
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code show(context& with, const given& wanted) {
  auto group = client::admin{with.node()}.group(wanted.name);
  if (!group)
    return refuse_group(with, wanted.name, group.why());
  if (wanted.json)
    with.io.out << page_of(json_of(group.value())) << '\n';
  else
    print_group(with.io, group.value());
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code set(context& with, const given& wanted) {
  auto done = client::admin{with.node()}.set_group(wanted.name,
                                                   static_cast<std::uint16_t>(wanted.delivery_max));
  if (!done)
    return with.refuse(subject(wanted), done.why());
  with.io.out << wanted.name << " gives a message up after "
              << (wanted.delivery_max == 0
                      ? "as many failed deliveries as the node's consumer.delivery_max says"
                      : counted(wanted.delivery_max, "failed delivery"))
              << '\n';
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code reset(context& with, const given& wanted) {
  std::optional<queue_no> queue;
  if (wanted.queue)
    queue = queue_no{static_cast<std::uint16_t>(*wanted.queue)};
  auto places =
      client::admin{with.node()}.reset_group(wanted.name, wanted.topic, start_of(wanted.to), queue);
  if (!places && places.why().code == ec::unknown_group)
    return refuse_group(with, wanted.name, places.why());
  if (!places && places.why().code == ec::unknown_topic)
    return refuse_topic(with, wanted.topic, places.why());
  if (!places)
    return with.refuse(subject(wanted) + " on topic " + printable(wanted.topic), places.why());
  auto all = json::array();
  for (const auto& place : places.value()) {
    if (wanted.json)
      all.push_back({{"queue", place.queue.value}, {"offset", place.offset.value}});
    else
      with.io.out << wanted.name << " goes on in " << wanted.topic << ", queue "
                  << place.queue.value << ", at offset " << place.offset.value << '\n';
  }
  if (wanted.json)
    with.io.out << page_of(all) << '\n';
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code remove(context& with, const given& wanted) {
  auto done = client::admin{with.node()}.delete_group(wanted.name);
  if (!done)
    return refuse_group(with, wanted.name, done.why());
  with.io.out << "deleted " << wanted.name << '\n';
  return flush(with.io) ? exit_done : exit_refused;
}

/// A command about one group; its options are added to what comes back.
std::pair<CLI::App*, std::shared_ptr<given>> add(menu& group, const command_text& text,
                                                 exit_code (*run)(context&, const given&)) {
  auto what = std::make_shared<given>();
  auto& app = group.add_client(text, [what, run](context& with) { return run(with, *what); });
  return {&app, what};
}

void add_reset(menu& group) {
  auto [app, what] = add(group,
                         {"reset", "Let a group go on from elsewhere, also while its members read",
                          "handfast group reset mail orders --to earliest\n"
                          "  handfast group reset mail orders --to 2026-11-30T08:30:00Z\n"
                          "  handfast group reset mail orders --queue 3 --to offset:1000"},
                         reset);
  app->add_option("GROUP", what->name, "The group")->required();
  app->add_option("TOPIC", what->topic, "The topic")->required();
  app->add_option("--to", what->to,
                  "earliest, latest, offset:N, a date such as 2026-11-30T08:30:00Z, or how long "
                  "ago, such as 30m")
      ->check(start())
      ->required()
      ->type_name("WHERE");
  app->add_option("--queue", what->queue, "This queue alone; all of them without it")
      ->check(whole_number(0, limits::queues_max - 1))
      ->type_name("N");
  add_json_flag(*app, what->json, "a JSON array of queues with their offsets");
}

} // namespace

void add_group_commands(menu& to) {
  auto group = to.group("group", "See who is online and how far consumers are; set them back");
  auto [list_app, listed] = add(
      group, {"list", "List groups: members online, messages behind", "handfast group list"}, list);
  add_json_flag(*list_app, listed->json, "a JSON array of groups with their progress by queue");

  auto [show_app, shown] =
      add(group,
          {"show", "Show a consumer group: members, progress by queue, dead letters",
           "handfast group show mail"},
          show);
  show_app->add_option("GROUP", shown->name, "The group")->required();
  add_json_flag(*show_app, shown->json, "the group as a JSON object");

  auto [set_app, changed] =
      add(group,
          {"set", "Say how often a message may fail before it is a dead letter",
           "handfast group set mail --delivery-max 5"},
          set);
  set_app->add_option("GROUP", changed->name, "The group; made if it is missing")->required();
  set_app
      ->add_option("--delivery-max", changed->delivery_max,
                   "Failed deliveries; 0 = as the node's consumer.delivery_max says")
      ->check(whole_number(0, 65'535))
      ->required()
      ->type_name("N");

  add_reset(group);

  auto [delete_app, deleted] =
      add(group,
          {"delete", "Delete a group and its progress, once no member is online",
           "handfast group delete mail"},
          remove);
  delete_app->add_option("GROUP", deleted->name, "The group")->required();
}

} // namespace handfast::cli
