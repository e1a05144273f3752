#include "config/policy.hpp"

#include <cmath>

namespace handfast::config {

namespace {

template <class T>
std::optional<T> unless_zero(std::uint32_t stored) {
  return stored == 0 ? std::nullopt : std::optional<T>{T{stored}};
}

/// The value of the first level that has one, the node's if none has.
template <class T>
T pick(const std::optional<T>& message, const std::optional<T>& topic,
       const std::optional<T>& group, const T& node) {
  return message ? *message : topic ? *topic : group.value_or(node);
}

} // namespace

std::string_view name_of(give_up_action action) {
  switch (action) {
  case give_up_action::roll_back:
    return "rollback";
  case give_up_action::commit:
    return "commit";
  case give_up_action::keep:
    return "keep";
  case give_up_action::park:
    return "park";
  }
  return "invalid";
}

policy_override override_of(const attributes& stored) {
  policy_override said;
  said.timeout = unless_zero<std::chrono::milliseconds>(stored.transaction_timeout_ms);
  said.check_interval = unless_zero<std::chrono::milliseconds>(stored.check_interval_ms);
  said.check_max = unless_zero<std::uint32_t>(stored.check_max);
  return said;
}

policy_override override_of_message(std::uint32_t timeout_ms) {
  policy_override said;
  said.timeout = unless_zero<std::chrono::milliseconds>(timeout_ms);
  return said;
}

policy merge(const policy& node, const policy_override& group, const policy_override& topic,
             const policy_override& message) {
  return {
      .timeout = pick(message.timeout, topic.timeout, group.timeout, node.timeout),
      .check_interval = pick(message.check_interval, topic.check_interval, group.check_interval,
                             node.check_interval),
      .check_backoff =
          pick(message.check_backoff, topic.check_backoff, group.check_backoff, node.check_backoff),
      .check_max = pick(message.check_max, topic.check_max, group.check_max, node.check_max),
      .check_total_age = pick(message.check_total_age, topic.check_total_age, group.check_total_age,
                              node.check_total_age),
  };
}

std::chrono::milliseconds wait_before_check(const policy& rules, std::uint32_t attempts) {
  if (attempts == 0)
    return rules.timeout;
  constexpr std::chrono::milliseconds longest = check_wait_max;
  double wait = static_cast<double>(rules.check_interval.count()) *
                std::pow(rules.check_backoff, static_cast<double>(attempts - 1));
  // Compared as a fraction first: an overgrown power does not fit an integer.
  if (!(wait < static_cast<double>(longest.count())))
    return longest;
  return std::chrono::milliseconds{static_cast<std::int64_t>(wait)};
}

} // namespace handfast::config
