#include "runtime/cli/group_view.hpp"

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

std::string text_of(const subscription_terms& terms) {
  std::string text = terms.mode == delivery_mode::ordered ? "in order" : "in any order";
  if (terms.filter == filter_kind::tags)
    text += ", tags " + one_line(terms.expression, 200);
  else if (terms.filter == filter_kind::sql)
    text += ", where " + one_line(terms.expression, 200);
  return text;
}

} // namespace

void print_groups(console& io, const std::vector<native::group_item>& groups) {
  table rows{{{"GROUP", false, true},
              {"PRODUCERS", true},
              {"CONSUMERS", true},
              {"BEHIND", true},
              {"TOPICS"}}};
  for (const auto& group : groups)
    rows.add(row_of(group));
  rows.print(io.out, io.colours, io.width);
}

void print_group(console& io, const native::group_description& group) {
  fact_sheet facts;
  facts.add("group", {group.name, look::strong});
  facts.add("id", std::to_string(group.group.value));
  facts.add("dead letters",
            group.dead_letters == 0
                ? cell{"none since the node's start"}
                : cell{count_text(group.dead_letters) +
                           " since the node's start: `handfast dlq list " + group.name + "`",
                       look::bad});
  for (const auto& terms : group.terms)
    facts.add("reads " + terms.topic, text_of(terms.terms));
  facts.print(io.out, io.colours, io.width);
  if (!group.members.empty()) {
    io.out << '\n';
    table members{{{"MEMBER"}, {"HOLDS", true}, {"QUEUES", true}}};
    for (const auto& member : group.members)
      members.add({one_line(member.name), count_text(member.held), count_text(member.queues_held)});
    members.print(io.out, io.colours, io.width);
  }
  if (group.places.empty())
    return;
  io.out << '\n';
  table places{{{"TOPIC"},
                {"QUEUE", true},
                {"DONE", true},
                {"END", true},
                {"BEHIND", true},
                {"HELD", true},
                {"FAILED", true},
                {""}}};
  for (const auto& place : group.places) {
    const auto behind = place.end.value - std::min(place.end, place.base).value;
    places.add({place.topic, std::to_string(place.queue.value), std::to_string(place.base.value),
                std::to_string(place.end.value),
                cell{count_text(behind), behind > 0 ? look::waiting : look::good},
                count_text(place.in_flight), count_text(place.waiting_again),
                cell{place.paused ? "paused: too much is unfinished" : "", look::bad}});
  }
  places.print(io.out, io.colours, io.width);
}

} // namespace handfast::cli
