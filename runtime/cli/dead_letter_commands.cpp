#include "actors/client/admin.hpp"
#include "actors/client/producer.hpp"
#include "messages/names.hpp"
#include "messages/properties.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/progress.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

namespace handfast::cli {

namespace {

using std::chrono::milliseconds;

/// Operators share one group: what one of them resent no other resends.
constexpr std::string_view operators = "handfast-operators";
constexpr std::uint32_t page_max = 32;

struct given {
  std::string group;
  std::uint64_t max = 100;
  std::uint64_t offset = 0;
  bool json = false;
};

std::string value_of(const client::message& message, std::string_view key) {
  const auto found = message.properties.find(std::string{key});
  return found == message.properties.end() ? std::string{} : found->second;
}

/// Where it comes from: `orders, queue 1, offset 7`.
std::string origin_of(const client::message& message) {
  return value_of(message, property_keys::dlq_origin_topic) + "/" +
         value_of(message, property_keys::dlq_origin_queue) + "@" +
         value_of(message, property_keys::dlq_origin_offset);
}

/// The group's dead-letter topic, which is made for the first of them: an empty one where there is
/// none. The exit code after a complaint.
tl::expected<native::topic_item, exit_code> box_of(context& with, const std::string& group) {
  client::admin node{with.node()};
  native::topic_item none;
  none.info.name = dead_letter_topic_of(group);
  auto there = node.topic(none.info.name);
  if (there)
    return std::move(there.value());
  auto known = node.group(group);
  if (known && there.why().code == ec::unknown_topic)
    return none;
  return tl::unexpected{known
                            ? with.refuse("dead letters of group " + printable(group), there.why())
                            : refuse_group(with, group, known.why())};
}

// -- list ---------------------------------------------------------------------------

/// Messages of a dead-letter topic that are there, and of them those that nobody resent.
struct amount {
  std::string group;
  std::uint64_t messages = 0;
  std::uint64_t waiting = 0;
};

amount amount_of(const native::topic_item& topic, const std::vector<native::group_place>& resent) {
  amount sum{topic.info.name.substr(dead_letter_prefix.size()), 0, 0};
  for (const auto& queue : topic.queues) {
    auto base = queue.first;
    for (const auto& place : resent)
      if (place.topic == topic.info.name && place.queue == queue.queue)
        base = std::clamp(place.base, queue.first, queue.end);
    sum.messages += queue.end.value - queue.first.value;
    sum.waiting += queue.end.value - base.value;
  }
  return sum;
}

exit_code list_all(context& with, const given& wanted) {
  client::admin node{with.node()};
  auto topics = node.topics();
  if (!topics)
    return with.refuse("list of topics", topics.why());
  auto known = node.group(std::string{operators});
  const auto resent = known ? known->places : std::vector<native::group_place>{};
  std::vector<amount> amounts;
  progress shown{with.io, "looking at dead-letter topics", 0};
  for (const auto& topic : topics.value()) {
    if (!is_dead_letter_topic(topic.info.name))
      continue;
    auto whole = node.topic(topic.info.name);
    if (!whole)
      return with.refuse("topic " + printable(topic.info.name), whole.why());
    amounts.push_back(amount_of(whole.value(), resent));
    shown.at(amounts.size());
  }
  auto all = json::array();
  table rows{{{"GROUP"}, {"DEAD LETTERS", true}, {"NOT RESENT", true}}};
  for (const auto& one : amounts) {
    all.push_back(
        {{"group", one.group}, {"dead_letters", one.messages}, {"not_resent", one.waiting}});
    rows.add({one.group, count_text(one.messages),
              cell{count_text(one.waiting), one.waiting > 0 ? look::bad : look::good}});
  }
  if (wanted.json)
    with.io.out << page_of(all) << '\n';
  else
    rows.print(with.io.out, with.io.colours, with.io.width);
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code list_group(context& with, const given& wanted) {
  client::admin node{with.node()};
  const auto topic = dead_letter_topic_of(wanted.group);
  const auto there = box_of(with, wanted.group);
  if (!there)
    return there.error();
  auto all = json::array();
  table rows{{{"OFFSET", true}, {"SINCE"}, {"FAILED", true}, {"FROM"}, {"WHY"}, {"BODY"}}};
  auto left = wanted.max;
  for (const auto& queue : there->queues) {
    auto from = std::max(queue.first, queue_offset{wanted.offset});
    while (left > 0 && from < queue.end) {
      const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, page_max));
      auto page = node.peek(topic, queue.queue, from, count);
      if (!page)
        return with.refuse("topic " + printable(topic), page.why());
      if (page->empty())
        break;
      for (const auto& m : page.value()) {
        const auto since = std::chrono::duration_cast<milliseconds>(m.visible.time_since_epoch());
        all.push_back(json_of(m));
        rows.add({std::to_string(m.delivery.offset.value),
                  time_text(static_cast<wall_ms>(since.count())),
                  value_of(m.content, property_keys::reconsume_time), origin_of(m.content),
                  one_line(value_of(m.content, property_keys::dlq_reason)),
                  one_line(m.content.body.text(), 40)});
      }
      left -= std::min<std::uint64_t>(left, page->size());
      from = queue_offset{page->back().delivery.offset.value + 1};
    }
  }
  if (wanted.json)
    with.io.out << page_of(all) << '\n';
  else
    rows.print(with.io.out, with.io.colours, with.io.width);
  if (rows.empty() && !wanted.json)
    with.io.err << printable(wanted.group) << " has no dead letters" << std::endl;
  if (left == 0)
    with.io.err << "ended after " << wanted.max << "; --max and --offset show more" << std::endl;
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code list(context& with, const given& wanted) {
  return wanted.group.empty() ? list_all(with, wanted) : list_group(with, wanted);
}

// -- resend -------------------------------------------------------------------------

/// The message as it was before it died.
client::message revived(const client::message& letter) {
  auto message = letter;
  message.topic = value_of(letter, property_keys::dlq_origin_topic);
  message.queue.reset();
  for (const auto key : {property_keys::dlq_origin_topic, property_keys::dlq_origin_message_id,
                         property_keys::dlq_origin_queue, property_keys::dlq_origin_offset,
                         property_keys::dlq_reason, property_keys::reconsume_time})
    message.properties.erase(std::string{key});
  return message;
}

/// Sends one batch. What can't be sent goes back, with all behind it; the rest is done.
exit_code resend_batch(context& with, client::subscription& from, client::producer& to,
                       const std::vector<client::received_message>& batch, std::uint64_t& sent) {
  std::vector<client::receipt> done;
  std::vector<client::receipt> back;
  std::optional<exit_code> failed;
  for (const auto& letter : batch) {
    if (failed) {
      back.push_back(letter.delivery);
      continue;
    }
    auto message = revived(letter.content);
    const auto subject = "dead letter at offset " + std::to_string(letter.delivery.offset.value) +
                         " for topic " + printable(message.topic);
    if (auto stored = to.send(std::move(message))) {
      done.push_back(letter.delivery);
    } else {
      failed = with.refuse(subject, stored.why());
      back.push_back(letter.delivery);
    }
  }
  static_cast<void>(from.hand_back(back));
  sent += done.size();
  if (auto settled = from.acknowledge(done); !settled && !failed)
    failed = with.refuse("acknowledgement of the last " + counted(done.size(), "dead letter") +
                             ", which a second resend would send again",
                         settled.why());
  return failed.value_or(exit_done);
}

exit_code resend(context& with, const given& wanted) {
  const auto topic = dead_letter_topic_of(wanted.group);
  const auto there = box_of(with, wanted.group);
  if (!there)
    return there.error();
  client::subscription from{with.node(), std::string{operators}, topic};
  client::producer to{with.node()};
  interrupt ctrl_c;
  const auto total = amount_of(*there, {}).messages;
  progress shown{with.io, "resending", std::min(total, wanted.max)};
  std::uint64_t sent = 0;
  auto code = exit_done;
  while (total > 0 && sent < wanted.max && code == exit_done && !interrupt::came()) {
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(page_max, wanted.max - sent));
    auto batch = from.fetch(count, milliseconds{0});
    if (!batch)
      code = with.refuse("topic " + printable(topic), batch.why());
    else if (batch->empty())
      break;
    else
      code = resend_batch(with, from, to, batch.value(), sent);
    shown.at(sent);
  }
  if (wanted.json)
    with.io.out << line_of({{"group", wanted.group}, {"resent", sent}}) << '\n';
  else
    with.io.out << "resent " << counted(sent, "dead letter") << " of " << wanted.group << '\n';
  return flush(with.io) ? code : exit_refused;
}

} // namespace

void add_dead_letter_commands(menu& to) {
  constexpr std::uint64_t no_end = std::numeric_limits<std::int64_t>::max();
  auto dlq = to.group("dlq", "Messages that a group gave up: look at them, send them again");
  auto listed = std::make_shared<given>();
  auto& list_app = dlq.add_client({"list", "Count dead letters by group, or list those of a group",
                                   "handfast dlq list\n"
                                   "  handfast dlq list mail"},
                                  [listed](context& with) { return list(with, *listed); });
  list_app.add_option("GROUP", listed->group, "The group; all of them without it");
  list_app.add_option("--max", listed->max, "End after N messages (100)")
      ->check(whole_number(1, no_end))
      ->type_name("N");
  list_app.add_option("--offset", listed->offset, "Begin at this offset; at the oldest without it")
      ->check(whole_number(0, no_end))
      ->type_name("X");
  add_json_flag(list_app, listed->json, "a JSON array of groups or messages");

  auto resent = std::make_shared<given>();
  resent->max = no_end;
  auto& resend_app =
      dlq.add_client({"resend", "Send dead letters to the topic they came from, each once",
                      "handfast dlq resend mail --max 100"},
                     [resent](context& with) { return resend(with, *resent); });
  resend_app.add_option("GROUP", resent->group, "The group that gave them up")->required();
  resend_app.add_option("--max", resent->max, "End after N messages")
      ->check(whole_number(1, no_end))
      ->type_name("N");
  add_json_flag(resend_app, resent->json, "how many as a JSON object");
}

} // namespace handfast::cli
