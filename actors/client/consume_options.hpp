#pragma once

/// What a consumer wants, and what its handler says.

#include "messages/delivery.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handfast::client {

/// Which messages of a topic: all by default. docs/filters.md has both languages. What it does not
/// want never leaves the node, and counts as done for the group.
struct message_filter {
  filter_kind kind = filter_kind::all;
  std::string expression;

  /// `a || b`: one of these tags.
  static message_filter tags(std::string expression) {
    return {filter_kind::tags, std::move(expression)};
  }
  /// A condition over properties.
  static message_filter sql(std::string condition) {
    return {filter_kind::sql, std::move(condition)};
  }
};

/// How a group reads a topic. All members must agree on mode and filter; one that differs is
/// refused with `subscription_differs`.
struct reading {
  start_point start{}; ///< for a group that is new on the topic
  delivery_mode mode = delivery_mode::concurrent;
  message_filter filter{};
};

/// What the handler says of a message.
struct consumed {
  handling what = handling::done;
  std::chrono::milliseconds pause{0}; ///< of `failed`; 0 = the group's back-off

  static const consumed done;        ///< it need not come again
  static const consumed failed;      ///< counts as an attempt; comes again after the back-off
  static const consumed dead_letter; ///< never try it again: it goes to the dead-letter topic
  static const consumed returned;    ///< not worked on: any member may have it at once
  /// Failed, and to come again after `pause`.
  static consumed retry_in(std::chrono::milliseconds pause) { return {handling::failed, pause}; }
};
inline constexpr consumed consumed::done{handling::done, {}};
inline constexpr consumed consumed::failed{handling::failed, {}};
inline constexpr consumed consumed::dead_letter{handling::dead_letter, {}};
inline constexpr consumed consumed::returned{handling::returned, {}};

class offset_store;

enum class consume_mode : std::uint8_t {
  concurrent, ///< the group's members share the messages, in any order
  /// As concurrent, but messages with the same order key are handled one after another, in the
  /// order in which they were stored; messages without a key count as one key of their queue.
  ordered,
  broadcasting, ///< each consumer handles all messages; nothing is retried or dead-lettered
};

struct consumer_options {
  std::string group{}; ///< of no meaning when broadcasting
  std::vector<std::string> topics{};
  consume_mode mode = consume_mode::concurrent;
  message_filter filter{};
  /// Where a group begins that is new on a topic, and a broadcasting consumer without a saved
  /// place. None = a group at the earliest message, broadcasting at the latest.
  std::optional<start_point> start{};
  std::size_t threads = 4; ///< that run the handler; when broadcasting one for each topic
  /// Messages of one topic that are here and not settled, at most.
  std::uint32_t credit = 1'024;
  /// Where broadcasting keeps how far it has come; none = nowhere.
  std::shared_ptr<offset_store> offsets{};
};

} // namespace handfast::client
