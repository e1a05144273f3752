#include "runtime/cli/json.hpp"

#include "messages/native/produce.hpp"
#include "runtime/cli/text.hpp"

#include <cstdio>

namespace handfast::cli {

namespace {

constexpr auto replace = json::error_handler_t::replace;

std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

bool is_none(const transaction_id& id) {
  return id.opened_at.value == 0;
}

std::uint64_t ms_of(std::chrono::system_clock::time_point at) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count());
}

json asks_of(const transaction_life& life) {
  auto asks = json::array();
  for (const auto& ask : life.asks) {
    json one{{"at_ms", ask.at_ms}, {"attempt", ask.attempt}, {"member", ask.member_name}};
    one["answer"] = ask.answer.empty() ? json(nullptr) : json(ask.answer);
    asks.push_back(std::move(one));
  }
  return asks;
}

bool is_decided(transaction_state state) {
  return state == transaction_state::committed || state == transaction_state::rolled_back ||
         state == transaction_state::given_up;
}

} // namespace

json json_of(const native::topic_item& topic) {
  const auto& info = topic.info;
  json value{{"name", info.name},
             {"id", info.id.value},
             {"queues", info.queues},
             {"read_only", info.read_only}};
  json options{{"transaction_timeout_ms", info.options.transaction_timeout_ms},
               {"check_interval_ms", info.options.check_interval_ms},
               {"check_max", info.options.check_max},
               {"retention_ms", info.options.retention_ms},
               {"retention_bytes", info.options.retention_bytes},
               {"buffered", info.options.buffered}};
  value["options"] = std::move(options);
  auto extents = json::array();
  for (const auto& queue : topic.queues)
    extents.push_back(
        {{"queue", queue.queue.value}, {"first", queue.first.value}, {"end", queue.end.value}});
  value["extents"] = std::move(extents);
  return value;
}

json json_of(const native::transaction_info& transaction) {
  const auto& life = transaction.life;
  json value{{"id", to_string(life.id)},    {"state", name_of(life.state)},
             {"group", transaction.group},  {"producer", hex(life.producer.value)},
             {"stored_ms", life.stored_ms}, {"age_ms", life.age_ms}};
  auto messages = json::array();
  for (std::size_t i = 0; i < life.messages.size(); ++i) {
    const auto& entry = life.messages[i];
    json one{{"topic", i < transaction.topics.size() ? transaction.topics[i] : ""},
             {"queue", entry.queue.value}};
    if (entry.is_delayed())
      one[life.state == transaction_state::committed ? "due_ms" : "delay_ms"] = entry.due_ms;
    else if (life.state == transaction_state::committed)
      one["offset"] = entry.offset.value;
    one["position"] = entry.at.value;
    messages.push_back(std::move(one));
  }
  value["messages"] = std::move(messages);
  value["messages_partial"] = life.messages_partial;
  value["checks"] = {{"asked", life.attempts_unknown ? json(nullptr) : json(life.attempts)},
                     {"max", life.attempts_max},
                     {"timeout_ms", life.timeout_ms},
                     {"interval_ms", life.check_interval_ms},
                     {"next_in_ms", life.next_check_in_ms},
                     {"waiting_for_producer", life.waiting_for_producer}};
  value["asks"] = asks_of(life);
  if (is_decided(life.state))
    value["decided"] = {{"by", name_of(life.decided_by)}, {"at_ms", life.decided_ms}};
  if (!is_none(life.reopened_as))
    value["reopened_as"] = to_string(life.reopened_as);
  if (!is_none(life.reopened_from))
    value["reopened_from"] = to_string(life.reopened_from);
  if (!life.note.empty())
    value["note"] = life.note;
  return value;
}

json json_of(const native::group_item& group) {
  json value{{"name", group.name},
             {"id", group.group.value},
             {"producers", group.producers},
             {"consumers", group.consumers}};
  auto progress = json::array();
  for (const auto& queue : group.progress)
    progress.push_back({{"topic", queue.topic},
                        {"queue", queue.queue.value},
                        {"done", queue.done.value},
                        {"end", queue.end.value},
                        {"leased", queue.leased}});
  value["progress"] = std::move(progress);
  return value;
}

json json_of(const native::group_description& group) {
  json value{{"name", group.name}, {"id", group.group.value}, {"dead_letters", group.dead_letters}};
  auto members = json::array();
  for (const auto& member : group.members)
    members.push_back(
        {{"name", member.name}, {"held", member.held}, {"queues_held", member.queues_held}});
  value["members"] = std::move(members);
  auto terms = json::array();
  for (const auto& [topic, agreed] : group.terms) {
    json one{{"topic", topic},
             {"mode", agreed.mode == delivery_mode::ordered ? "ordered" : "concurrent"}};
    if (agreed.filter != filter_kind::all)
      one[agreed.filter == filter_kind::tags ? "tags" : "sql"] = agreed.expression;
    terms.push_back(std::move(one));
  }
  value["terms"] = std::move(terms);
  auto progress = json::array();
  for (const auto& place : group.places)
    progress.push_back({{"topic", place.topic},
                        {"queue", place.queue.value},
                        {"done", place.base.value},
                        {"end", place.end.value},
                        {"held", place.in_flight},
                        {"failed", place.waiting_again},
                        {"paused", place.paused}});
  value["progress"] = std::move(progress);
  return value;
}

json json_of(const quarantined_item& item) {
  json value{{"position", item.at.value}, {"what", item.what}, {"why", item.why}};
  if (!is_none(item.transaction))
    value["transaction"] = to_string(item.transaction);
  return value;
}

json json_of(const native::delayed_item& item) {
  json value{{"id", item.at.value},
             {"due_ms", item.due_ms},
             {"topic", item.topic},
             {"queue", item.queue.value},
             {"bytes", item.length}};
  if (!is_none(item.transaction))
    value["transaction"] = to_string(item.transaction);
  return value;
}

json json_of(const client::decision& decision) {
  json value{{"id", to_string(decision.id)},
             {"outcome", name_of(decision.recorded)},
             {"by", name_of(decision.by)},
             {"messages", decision.messages}};
  if (decision.recorded == outcome::committed) {
    value["queue"] = decision.queue.queue.value;
    if (decision.due_ms != 0)
      value["due_ms"] = decision.due_ms;
    else
      value["offset"] = decision.offset.value;
  }
  return value;
}

json json_of(const client::received_message& message) {
  const auto& content = message.content;
  json value{{"topic", content.topic},
             {"queue", message.delivery.queue.queue.value},
             {"offset", message.delivery.offset.value},
             {"attempt", message.attempt},
             {"visible_ms", ms_of(message.visible)},
             {"born_ms", ms_of(message.born)}};
  if (!is_none(message.transaction))
    value["transaction"] = to_string(message.transaction);
  if (!content.tag.empty())
    set_text(value, "tag", content.tag);
  if (!content.keys.empty())
    set_text(value, "keys", content.keys);
  if (!content.order_key.empty())
    set_text(value, "order_key", content.order_key);
  if (!content.properties.empty())
    value["properties"] = content.properties;
  set_text(value, "body", content.body.text());
  return value;
}

json json_of(const std::string& topic, const client::stored_message& stored) {
  json value{{"topic", topic}, {"queue", stored.queue.queue.value}};
  if (stored.due_ms != 0)
    value["due_ms"] = stored.due_ms;
  else
    value["offset"] = stored.offset.value;
  value["position"] = stored.at.value;
  return value;
}

void set_text(json& object, const std::string& key, std::string_view text) {
  if (is_utf8(text))
    object[key] = text;
  else
    object[key + "_base64"] = base64(text);
}

std::string line_of(const json& value) {
  return value.dump(-1, ' ', false, replace);
}

std::string page_of(const json& value) {
  return value.dump(2, ' ', false, replace);
}

} // namespace handfast::cli
