#include "runtime/cli/transaction_view.hpp"

#include "runtime/cli/text.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>

namespace handfast::cli {

namespace {

bool is_decided(transaction_state state) {
  return state == transaction_state::committed || state == transaction_state::rolled_back ||
         state == transaction_state::given_up;
}

std::string with_blanks(std::string_view name) {
  std::string text{name};
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string member_of(const ask_made& ask) {
  if (!ask.member_name.empty())
    return one_line(ask.member_name);
  char hash[16];
  std::snprintf(hash, sizeof hash, "%08x", static_cast<unsigned>(ask.member));
  return std::string{"member "} + hash;
}

std::string topics_of(const native::transaction_info& transaction) {
  std::vector<std::string> seen;
  for (const auto& topic : transaction.topics) {
    if (std::find(seen.begin(), seen.end(), topic) == seen.end())
      seen.push_back(topic);
  }
  if (seen.empty())
    return "-";
  return seen.size() == 1 ? seen[0] : seen[0] + " +" + std::to_string(seen.size() - 1);
}

/// `3`; `1+` when there may be more.
std::string count_of(const transaction_life& life) {
  if (life.messages.empty())
    return "-";
  return std::to_string(life.messages.size()) + (life.messages_partial ? "+" : "");
}

/// `2 to orders, 1 to stock`; before the decision also `1 to stock 30 min after the commit`.
std::string messages_text(const native::transaction_info& transaction) {
  std::map<std::string, std::uint64_t> by_topic;
  const auto& life = transaction.life;
  for (std::size_t i = 0; i < transaction.topics.size(); ++i) {
    const bool waits = i < life.messages.size() && life.messages[i].is_delayed() &&
                       life.state != transaction_state::committed;
    ++by_topic[transaction.topics[i] +
               (waits ? " " + span_text(life.messages[i].due_ms) + " after the commit" : "")];
  }
  std::string text;
  for (const auto& [topic, count] : by_topic)
    text += (text.empty() ? "" : ", ") + count_text(count) + " to " + topic;
  if (text.empty())
    return "not known any more";
  return transaction.life.messages_partial ? text + ", and perhaps more that joined" : text;
}

/// How long it has waited, or waited until it was decided. The node tells the time of storing of
/// decided ones only where it has to read their records anyway.
std::string open_text(const transaction_life& life) {
  if (!is_decided(life.state))
    return span_text(life.age_ms);
  if (life.stored_ms == 0)
    return "-";
  return span_text(life.decided_ms > life.stored_ms ? life.decided_ms - life.stored_ms : 0);
}

std::string asked_text(const transaction_life& life) {
  if (life.attempts_unknown)
    return "-";
  auto asked = std::to_string(life.attempts);
  return is_decided(life.state) ? asked : asked + "/" + std::to_string(life.attempts_max);
}

/// For the narrow column of `tx list`.
std::string short_decider(origin by) {
  switch (by) {
  case origin::producer:
    return "by producer";
  case origin::check:
    return "by check";
  case origin::admin:
    return "by operator";
  case origin::policy:
    break;
  }
  return "by give-up rule";
}

void add_asks(std::vector<life_event>& events, const transaction_life& life) {
  if (life.attempts_unknown)
    events.push_back({0, "whether it was asked about is not known any more", look::faint});
  auto known = life.asks.empty() ? std::uint32_t{0} : std::uint32_t{life.asks.front().attempt} - 1u;
  auto forgotten = life.asks.empty() ? life.attempts : std::min(known, life.attempts);
  if (forgotten > 0)
    events.push_back({0,
                      "asked " + counted(forgotten, "time") + ", of which no particulars are kept",
                      look::faint});
  for (const auto& ask : life.asks) {
    auto text = "asked " + member_of(ask) + " (" + std::to_string(ask.attempt);
    if (life.attempts_max != 0)
      text += " of " + std::to_string(life.attempts_max);
    text += "): " + (ask.answer.empty() ? "no answer" : with_blanks(ask.answer));
    events.push_back({ask.at_ms, text, ask.answer.empty() ? look::waiting : look::plain});
  }
}

void add_decision(std::vector<life_event>& events, const native::transaction_info& transaction) {
  const auto& life = transaction.life;
  events.push_back({life.decided_ms, state_text(life.state) + " " + decider_text(life.decided_by),
                    look_of(life.state)});
  if (life.state != transaction_state::committed)
    return;
  for (std::size_t i = 0; i < life.messages.size(); ++i) {
    const auto& entry = life.messages[i];
    auto topic = i < transaction.topics.size() ? transaction.topics[i] : std::string{"?"};
    const auto place = topic + ", queue " + std::to_string(entry.queue.value);
    if (entry.is_delayed())
      events.push_back({entry.due_ms, "becomes visible in " + place +
                                          ", unless it is cancelled (id " +
                                          std::to_string(entry.at.value) + ")"});
    else
      events.push_back({life.decided_ms,
                        "visible in " + place + ", offset " + std::to_string(entry.offset.value)});
  }
}

void add_outlook(std::vector<life_event>& events, const native::transaction_info& transaction) {
  const auto& life = transaction.life;
  switch (life.state) {
  case transaction_state::pending:
    if (life.waiting_for_producer)
      events.push_back(
          {0,
           "waits for a producer of group " + transaction.group + ": nobody is online to be asked",
           look::waiting});
    else
      events.push_back({0, "is asked about in " + span_text(life.next_check_in_ms), look::faint});
    break;
  case transaction_state::deciding:
    events.push_back({0, "a decision is being written", look::waiting});
    break;
  case transaction_state::parked:
    events.push_back(
        {0, "parked: nobody is asked any more; commit or roll back by hand", look::waiting});
    break;
  case transaction_state::quarantined:
    events.push_back({0, "set aside: " + one_line(life.note, 200), look::bad});
    break;
  case transaction_state::given_up:
    if (life.reopened_as.opened_at.value == 0)
      events.push_back(
          {0, "can be opened again: handfast tx reopen " + to_string(life.id), look::faint});
    break;
  case transaction_state::committed:
  case transaction_state::rolled_back:
    break;
  }
}

std::string next_text(const transaction_life& life) {
  if (is_decided(life.state))
    return short_decider(life.decided_by);
  if (life.state != transaction_state::pending)
    return {};
  return life.waiting_for_producer ? "no producer online"
                                   : "asked in " + span_text(life.next_check_in_ms);
}

std::string since(wall_ms start, wall_ms at) {
  return at >= start ? "+" + span_text(at - start) : "-" + span_text(start - at);
}

} // namespace

std::string state_text(transaction_state state) {
  return with_blanks(name_of(state));
}

std::string decider_text(origin by) {
  switch (by) {
  case origin::producer:
    return "by the producer";
  case origin::check:
    return "by an answer to a check";
  case origin::admin:
    return "by an operator";
  case origin::policy:
    break;
  }
  return "by the give-up rule";
}

std::vector<life_event> events_of(const native::transaction_info& transaction) {
  const auto& life = transaction.life;
  std::vector<life_event> events;
  auto stored = life.messages.empty() || life.messages_partial
                    ? std::string{"stored"}
                    : "stored " + counted(life.messages.size(), "message");
  if (life.reopened_from.opened_at.value != 0)
    stored = "opened again, after " + to_string(life.reopened_from) + " was given up";
  events.push_back({life.stored_ms, stored});
  add_asks(events, life);
  if (is_decided(life.state))
    add_decision(events, transaction);
  if (life.reopened_as.opened_at.value != 0)
    events.push_back({0, "opened again as " + to_string(life.reopened_as)});
  add_outlook(events, transaction);
  return events;
}

void print_life(std::ostream& to, const native::transaction_info& transaction, bool colours,
                std::size_t width) {
  const auto& life = transaction.life;
  fact_sheet facts;
  facts.add("transaction", {to_string(life.id), look::strong});
  facts.add("state", {state_text(life.state), look_of(life.state)});
  facts.add("group", transaction.group);
  facts.add("messages", messages_text(transaction));
  if (!is_decided(life.state)) {
    facts.add("age", span_text(life.age_ms));
    facts.add("checks", "asked " + std::to_string(life.attempts) + " of " +
                            std::to_string(life.attempts_max) + "; first after " +
                            span_text(life.timeout_ms) + ", then every " +
                            span_text(life.check_interval_ms));
  }
  facts.print(to, colours, width);
  to << '\n';
  table timeline{{{"WHEN"}, {"AFTER", true}, {"WHAT"}}};
  for (const auto& event : events_of(transaction)) {
    auto known = event.at != 0;
    timeline.add({{known ? time_text(event.at) : "", look::faint},
                  known && life.stored_ms != 0 ? since(life.stored_ms, event.at) : "",
                  {event.what, event.as}});
  }
  timeline.print(to, colours, width);
}

void print_lives(std::ostream& to, const std::vector<native::transaction_info>& transactions,
                 bool colours, std::size_t width) {
  constexpr std::size_t width_with_next = 100;
  const auto with_next = width == 0 || width >= width_with_next;
  std::vector<column> columns{
      {"ID"},         {"STATE"},      {"GROUP", false, true}, {"TOPIC", false, true},
      {"MSGS", true}, {"OPEN", true}, {"ASKED", true}};
  if (with_next)
    columns.push_back({"NEXT"});
  table rows{columns};
  for (const auto& transaction : transactions) {
    const auto& life = transaction.life;
    std::vector<cell> row{to_string(life.id), {state_text(life.state), look_of(life.state)},
                          transaction.group,  topics_of(transaction),
                          count_of(life),     open_text(life),
                          asked_text(life)};
    if (with_next)
      row.push_back({next_text(life), look::faint});
    rows.add(std::move(row));
  }
  rows.print(to, colours, width);
}

} // namespace handfast::cli
