#pragma once

/// What META says of topics and groups, as far as transactions need it: does a topic take halves,
/// and when are its transactions asked about.

#include "config/policy.hpp"
#include "messages/error.hpp"
#include "messages/log_record.hpp"

#include <tsl/robin_map.h>

#include <chrono>
#include <string>
#include <string_view>

namespace handfast {

class topic_rules {
public:
  void apply(const meta_record& record);

  /// Whether a half may go to that queue: ok, unknown_topic, unknown_queue or read_only_topic.
  [[nodiscard]] ec admits(queue_key queue) const;
  /// The effective rules for a transaction whose first message went to `topic`.
  [[nodiscard]] config::policy policy_of(const config::policy& node, topic_id topic, group_id group,
                                         std::uint32_t own_timeout_ms) const;
  /// The time-out that `policy_of` would give, for less: asked for each half that is stored.
  [[nodiscard]] std::chrono::milliseconds timeout_of(const config::policy& node, topic_id topic,
                                                     group_id group,
                                                     std::uint32_t own_timeout_ms) const;
  /// For labels; the number as text if the name is not known.
  [[nodiscard]] std::string topic_name(topic_id topic) const;
  [[nodiscard]] std::string group_name(group_id group) const;

  [[nodiscard]] std::string save() const;
  void load(std::string_view bytes);

private:
  struct topic_entry {
    std::string name;
    std::uint32_t queues = 0;
    attributes options;
  };
  struct group_entry {
    std::string name;
    attributes options;
  };

  tsl::robin_map<topic_id, topic_entry> topics_;
  tsl::robin_map<group_id, group_entry> groups_;
};

} // namespace handfast
