#pragma once

/// Looking at a node and operating it: what the command line uses.

#include "actors/client/answer.hpp"
#include "actors/client/client.hpp"
#include "actors/client/consumer.hpp"
#include "actors/client/transaction_listener.hpp"
#include "messages/native/admin.hpp"
#include "messages/native/consume.hpp"
#include "messages/native/delays.hpp"
#include "messages/native/groups.hpp"
#include "messages/native/transactions.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace handfast::client {

/// Empty names and no state mean "any".
struct transaction_filter {
  std::optional<transaction_state> state;
  std::string group;
  std::string topic;
};

/// All calls wait for the answer, at most `total_timeout`. Thread-safe.
class admin {
public:
  explicit admin(const client& from) : session_{from.link()} {}

  answer<native::topic_item> create_topic(std::string name, std::uint32_t queues = 0,
                                          attributes options = {});
  /// All topics, page by page until the end.
  answer<std::vector<native::topic_item>> topics();
  answer<native::topic_item> topic(std::string name);
  answer<nothing> delete_topic(std::string name, bool force = false);

  /// At most `max` transactions.
  answer<std::vector<native::transaction_info>> transactions(transaction_filter filter,
                                                             std::size_t max);
  answer<native::transaction_info> transaction(const transaction_id& id);
  /// Decides as an operator, for any group.
  answer<decision> commit(const transaction_id& id);
  answer<decision> rollback(const transaction_id& id);
  /// The id of the new transaction on the same stored messages.
  answer<transaction_id> reopen(const transaction_id& id);

  /// At most `max` messages that wait for their time, the next first; an empty topic means any.
  answer<std::vector<native::delayed_item>> delayed(std::string topic, std::size_t max);
  /// The message at `at` is never delivered, durably. Refused as `unknown_message` if it does not
  /// wait (any more).
  answer<nothing> cancel_delayed(position at);

  /// JSON text, see docs/protocol.md.
  answer<std::string> status();
  answer<std::vector<native::group_item>> groups();
  answer<native::group_description> group(std::string name);
  /// Makes the group, or changes it: failed deliveries before a message goes to its dead-letter
  /// topic; 0 = the node's default.
  answer<nothing> set_group(std::string name, std::uint16_t delivery_max);
  /// Refused while members are connected.
  answer<nothing> delete_group(std::string name);
  /// The group goes on from `point` on the topic, or on one queue of it; members may be reading.
  /// Where that is, by queue.
  answer<std::vector<native::found_offset>>
  reset_group(std::string name, std::string topic, start_point point,
              std::optional<queue_no> queue = std::nullopt);
  /// What `point` means on each queue of a topic.
  answer<std::vector<native::found_offset>> find_offsets(std::string topic, start_point point);
  answer<std::vector<quarantined_item>> quarantine(std::uint32_t max = 1'000);

  /// Messages of a queue or view by offset, without a group.
  answer<std::vector<received_message>> peek(std::string topic, queue_no queue, queue_offset from,
                                             std::uint32_t max);

private:
  std::shared_ptr<session> session_;
};

} // namespace handfast::client
