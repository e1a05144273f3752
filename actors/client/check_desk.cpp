#include "actors/client/check_desk.hpp"

#include "actors/client/calls.hpp"

#include <algorithm>

namespace handfast::client {

void transaction_listener::checked(const message&, const check_context&, local_state,
                                   const answer<decision>&) {}

outcome outcome_of(local_state state) {
  switch (state) {
  case local_state::commit:
    return outcome::committed;
  case local_state::rollback:
    return outcome::rolled_back;
  case local_state::unknown:
    return outcome::pending;
  }
  return outcome::pending;
}

check_desk::check_desk(std::weak_ptr<session> via, std::string group,
                       std::vector<std::string> topics,
                       std::shared_ptr<transaction_listener> general, std::size_t threads)
    : session_{std::move(via)}, group_{std::move(group)}, topics_{std::move(topics)},
      general_{std::move(general)}, threads_{std::max<std::size_t>(threads, 1)} {}

void check_desk::set_listener(std::string topic, std::shared_ptr<transaction_listener> listener) {
  std::lock_guard lock{mutex_};
  by_topic_[std::move(topic)] = std::move(listener);
}

std::shared_ptr<transaction_listener> check_desk::listener_of(const std::string& topic) const {
  std::lock_guard lock{mutex_};
  auto at = by_topic_.find(topic);
  return at == by_topic_.end() ? general_ : at->second;
}

std::vector<std::string> check_desk::topics() const {
  std::lock_guard lock{mutex_};
  auto declared = topics_;
  if (declared.empty() && general_)
    return {}; // any
  for (const auto& [topic, listener] : by_topic_)
    if (std::find(declared.begin(), declared.end(), topic) == declared.end())
      declared.push_back(topic);
  return declared;
}

void check_desk::on_check(const native::check_item& item, const std::string& topic) {
  threads_.run([this, item, topic] { ask(item, topic); });
}

void check_desk::ask(const native::check_item& item, const std::string& topic) {
  auto first = decode_message(topic, item.payload, item.properties_size);
  check_context context;
  context.id = item.transaction;
  context.attempt = item.attempt;
  context.attempts_left =
      static_cast<std::uint16_t>(item.attempts_max - std::min(item.attempt, item.attempts_max));
  context.messages = item.messages;
  context.first_stored = time_of(item.stored_ms);
  auto listener = listener_of(topic);
  auto state = local_state::unknown;
  try {
    if (listener)
      state = listener->check(first, context);
  } catch (...) { // the application's own; its transaction stays undecided and is asked about again
  }
  auto via = session_.lock();
  if (!via)
    return;
  auto answer = deciding_request(group_, item.transaction, outcome_of(state), origin::check, 0);
  answer.decision.attempt = item.attempt;
  auto result = decision_of(wait_for(*via, std::move(answer)));
  try {
    if (listener)
      listener->checked(first, context, state, result);
  } catch (...) { // nothing depends on it
  }
}

} // namespace handfast::client
