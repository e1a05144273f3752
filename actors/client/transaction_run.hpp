#pragma once

/// One `send_in_transaction` from its first half to its decision. Internal.

#include "actors/client/check_desk.hpp"
#include "actors/client/transaction_producer.hpp"

#include <atomic>

namespace handfast::client {

/// What the runs of one producer share.
struct run_environment {
  std::shared_ptr<session> via;
  std::string group;
  std::shared_ptr<check_desk> desk;
  worker_pool* execute_threads;
};

/// Steps: store the first half -> store the others -> execute -> decide -> result. Steps that wait
/// for the node run on the I/O thread, `execute` on a thread of the producer. It holds itself alive
/// until the result is given.
class transaction_run final : public transaction_context,
                              public std::enable_shared_from_this<transaction_run> {
public:
  transaction_run(run_environment environment, std::vector<message> messages, std::any argument);

  std::future<transaction_result> start();

  // transaction_context, for the listener
  [[nodiscard]] const transaction_id& id() const override { return id_; }
  [[nodiscard]] std::span<const message> messages() const override { return messages_; }
  [[nodiscard]] std::any& argument() override { return argument_; }
  answer<nothing> join(message another) override;

private:
  void first_stored(const reply& got);
  void other_stored(const reply& got);
  void all_stored();
  void execute();
  void decide(local_state state);
  [[nodiscard]] decision undecided() const;
  void finish();

  run_environment environment_;
  std::vector<message> messages_;
  std::any argument_;
  std::shared_ptr<transaction_listener> listener_;
  transaction_id id_;
  std::uint16_t stored_ = 0;
  std::size_t outstanding_ = 0;
  error problem_; ///< of a half; then the transaction is rolled back
  transaction_result result_;
  std::promise<transaction_result> promise_;
};

/// A half of `group`; joins `transaction` if that is not all zeros. `running` declares that a local
/// transaction goes on here.
result<request> half_request(session& via, const std::string& group, const message& what,
                             const transaction_id& transaction, bool running);

} // namespace handfast::client
