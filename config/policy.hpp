#pragma once

/// When a pending transaction is asked about, and what happens when the asking is exhausted.

#include "messages/log_record.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace handfast::config {

/// What happens to a transaction that nobody decided.
enum class give_up_action : std::uint8_t {
  roll_back = 0, ///< outcome `given_up`, with a copy in the give-up topic
  commit = 1,
  keep = 2, ///< go on asking for ever
  park = 3, ///< ask no more, stay pending until an operator decides
};

/// The text used in configuration: rollback, commit, keep, park.
std::string_view name_of(give_up_action action);

/// The effective rules for one transaction.
struct policy {
  std::chrono::milliseconds timeout{std::chrono::seconds{6}};         ///< age at the first check
  std::chrono::milliseconds check_interval{std::chrono::seconds{30}}; ///< between later checks
  double check_backoff = 1.0;                   ///< each wait is the last one times this
  std::uint32_t check_max = 15;                 ///< asked checks before giving up
  std::chrono::milliseconds check_total_age{0}; ///< age at which it is given up anyway, 0 = none

  friend bool operator==(const policy&, const policy&) = default;
};

/// What one level (group, topic or message) says itself; the rest is left to the level below.
struct policy_override {
  std::optional<std::chrono::milliseconds> timeout{};
  std::optional<std::chrono::milliseconds> check_interval{};
  std::optional<double> check_backoff{};
  std::optional<std::uint32_t> check_max{};
  std::optional<std::chrono::milliseconds> check_total_age{};

  friend bool operator==(const policy_override&, const policy_override&) = default;
};

/// What the stored attributes of a topic or group say; 0 there means "the node's default".
policy_override override_of(const attributes& stored);
/// What a message says itself; 0 means nothing.
policy_override override_of_message(std::uint32_t timeout_ms);

/// The effective rules, for each value the first that says something: message, topic, group, node.
policy merge(const policy& node, const policy_override& group, const policy_override& topic,
             const policy_override& message = {});

/// No wait between checks grows beyond this, whatever the back-off.
constexpr std::chrono::hours check_wait_max{24 * 30};

/// The wait before the next check when `attempts` checks were asked: the time-out first, then
/// interval × backoff^(attempts - 1), at most `check_wait_max`.
std::chrono::milliseconds wait_before_check(const policy& rules, std::uint32_t attempts);

} // namespace handfast::config
