#pragma once

/// Sends messages that become visible only if a local transaction commits.

#include "actors/client/answer.hpp"
#include "actors/client/client.hpp"
#include "actors/client/message.hpp"
#include "actors/client/transaction_listener.hpp"
#include "messages/requests.hpp"

#include <any>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace handfast::client {

struct transaction_options {
  /// Producers of one group answer for each other's transactions.
  std::string group{};
  /// Topics that this member can answer for; empty = those it has listeners for, or any.
  std::vector<std::string> topics{};
  std::size_t execute_threads = 4;
  std::size_t check_threads = 2;
};

/// An open transaction: its id and how many messages it holds. A plain value; decide it with any
/// producer of the group.
struct transaction {
  transaction_id id;
  std::uint16_t messages = 0;
};

/// What `send_in_transaction` did.
struct transaction_result {
  /// Whether all messages were stored as halves. If not, the local transaction was not run; what
  /// was stored is rolled back, or will be asked about.
  answer<transaction> stored{error{ec::internal, {}}};
  local_state state = local_state::unknown;
  /// The node's word on the decision. With `state` unknown: done, recorded as pending. If the
  /// first message was not stored: why not.
  answer<decision> decided{error{ec::internal, {}}};

  /// The id if there is one, all zeros otherwise.
  [[nodiscard]] transaction_id id() const { return id_; }
  transaction_id id_;
};

/// A member of a producer group. Thread-safe. Destroying it leaves the group and waits for running
/// listeners.
class transaction_producer {
public:
  /// `listener` may be null for a producer that uses only begin / join / commit / rollback; the
  /// node then asks other members of the group, and an attempt counts only when one of them was
  /// asked.
  transaction_producer(const client& from, transaction_options options,
                       std::shared_ptr<transaction_listener> listener = nullptr);
  ~transaction_producer();
  transaction_producer(const transaction_producer&) = delete;
  transaction_producer& operator=(const transaction_producer&) = delete;

  /// A listener for messages of one topic, instead of the general one. Declares the topic to the
  /// node.
  void set_listener(std::string topic, std::shared_ptr<transaction_listener> listener);

  /// Stores the message as a half, runs `execute` on a thread of this producer, decides as it says,
  /// and waits for all that.
  transaction_result send_in_transaction(message what, std::any argument = {});
  /// Several messages, also to several topics, in one transaction. The listener of the first one's
  /// topic runs.
  transaction_result send_all_in_transaction(std::vector<message> what, std::any argument = {});
  std::future<transaction_result> send_all_in_transaction_async(std::vector<message> what,
                                                                std::any argument = {});

  /// Opens a transaction. With `running` the library answers checks with *in progress* until it is
  /// decided here or `release`d; without, the node asks as the policy says.
  answer<transaction> begin(message first, bool running = true);
  /// Adds a message; `to.messages` grows when done.
  answer<nothing> join(transaction& to, message another);
  /// Visible together, or `incomplete` if the node holds another number of messages.
  answer<decision> commit(const transaction& what);
  answer<decision> rollback(const transaction& what);
  /// The local transaction no longer runs here; from now on checks go to the listener.
  void release(const transaction_id& id);
  answer<transaction_life> status(const transaction_id& id);

  /// Waits until the node knows this member, so that it is asked about undecided transactions of
  /// its group.
  answer<nothing> wait_until_member();

private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

} // namespace handfast::client
