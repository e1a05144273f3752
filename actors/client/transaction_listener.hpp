#pragma once

/// What an application implements to take part in transactions.

#include "actors/client/answer.hpp"
#include "actors/client/message.hpp"
#include "messages/log_record.hpp"

#include <any>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace handfast::client {

/// How the local transaction ended.
enum class local_state : std::uint8_t {
  commit,   ///< deliver the message
  rollback, ///< forget the message
  unknown,  ///< not clear: the node asks again later
};

/// The recorded decision about a transaction.
struct decision {
  transaction_id id;
  outcome recorded = outcome::pending; ///< pending when the local state was *unknown*
  origin by = origin::producer;
  std::uint16_t messages = 0;
  queue_key queue; ///< of the first message, when committed
  queue_offset offset;
  /// Milliseconds since 1970: when the first message becomes visible, and gets its offset; 0 = it
  /// has one.
  std::uint64_t due_ms = 0;
};

/// Given to `execute` while the local transaction runs.
class transaction_context {
public:
  virtual ~transaction_context() = default;
  [[nodiscard]] virtual const transaction_id& id() const = 0;
  /// All messages stored so far, in the order given.
  [[nodiscard]] virtual std::span<const message> messages() const = 0;
  /// What the caller of `send_in_transaction` passed along.
  [[nodiscard]] virtual std::any& argument() = 0;
  /// Adds a message to the transaction and waits until it is stored. If that is not *done*, the
  /// transaction can no longer be committed: the library rolls it back whatever `execute` returns.
  virtual answer<nothing> join(message another) = 0;
};

/// Given to `check`.
struct check_context {
  transaction_id id;
  std::uint16_t attempt = 1;       ///< 1 for the first time that a producer is asked about it
  std::uint16_t attempts_left = 0; ///< after this one; then the node gives up
  std::uint16_t messages = 1;      ///< in the transaction; the handler is shown the first
  std::chrono::system_clock::time_point first_stored; ///< by the node's clock
};

/// Both functions run on threads of the transaction producer, several at a time unless it was made
/// with one thread. An exception counts as `unknown`.
class transaction_listener {
public:
  virtual ~transaction_listener() = default;

  /// Runs the local transaction. `first` is the first message, stored but invisible. While this
  /// runs, the library answers checks with *in progress* by itself; they use up no attempt.
  virtual local_state execute(const message& first, transaction_context& context) = 0;

  /// What became of the local transaction? Asked when this process or another of the group left it
  /// undecided. Answer `rollback` only if it can no longer commit.
  virtual local_state check(const message& first, const check_context& context) = 0;

  /// The node's word on the answer to a check. For logs and tools.
  virtual void checked(const message& first, const check_context& context, local_state answered,
                       const answer<decision>& result);
};

} // namespace handfast::client
