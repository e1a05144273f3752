#pragma once

/// A simulated producer: transactions with every outcome, repeats, conflicts, silence; plain
/// messages; answers to checks.

#include "tests/sim/sim_client.hpp"
#include "tests/sim/sim_database.hpp"
#include "tests/sim/sim_options.hpp"

#include <memory>
#include <vector>

namespace handfast::sim {

class sim_producer final : public sim_client {
public:
  sim_producer(sim_timeline& time, sim_door& door, std::string name, std::string group,
               std::shared_ptr<sim_database> database, const std::vector<topic_plan>& topics,
               const sim_plan& plan);

  /// The process dies and is started again: everything but the database is forgotten, transactions
  /// are orphans.
  void crash();
  void wind_up() override;
  [[nodiscard]] bool finished() const override;
  [[nodiscard]] std::string waiting_for() const override;
  [[nodiscard]] std::uint64_t opened() const { return opened_; }
  /// Transactions that this process has begun and not ended.
  [[nodiscard]] std::size_t open() const { return transactions_.size(); }
  /// A message of it is not answered yet.
  [[nodiscard]] bool append_outstanding() const;
  /// A decision of it is not answered yet.
  [[nodiscard]] bool decision_outstanding() const;

protected:
  [[nodiscard]] producer_id producer() const override { return producer_; }
  void on_welcome() override;
  void on_lost() override;
  void on_frame(const native::frame& from) override;

private:
  enum class stage { open, sending, sent };

  /// One message on its way to the node.
  struct outgoing {
    std::string key;
    std::size_t topic = 0;
    sequence_no sequence;
    std::string body;
    std::uint64_t delay_ms = 0;
    stage at = stage::open;
  };

  /// What the local side of a transaction comes to.
  enum class plot {
    commit,
    roll_back,
    slow,      ///< decides after the first check is due
    silent,    ///< decides nothing by itself, answers checks
    forgotten, ///< nobody ever knows: checks are answered "unknown"
  };

  struct transaction {
    std::string name;
    plot end = plot::commit;
    std::vector<outgoing> halves;
    transaction_id id; ///< once the first half is answered
    bool local_runs = false;
    bool decided = false; ///< an outcome was heard, or there is nothing to decide
    outcome wanted = outcome::pending;
    std::uint32_t repeats = 0; ///< of the decision that are still to come
  };
  using transaction_ptr = std::shared_ptr<transaction>;

  /// What an expected answer is about.
  struct question {
    enum class kind { half, plain, decision, cancel, setup } what = kind::setup;
    transaction_ptr of{};
    std::size_t half = 0;
    std::shared_ptr<outgoing> message{};
    transaction_id id{};
    outcome wanted = outcome::pending;
  };

  [[nodiscard]] bool any_open(question::kind what) const;
  void be_born();
  void work();
  void open_transaction();
  void send_plain();
  void send_half(const transaction_ptr& t, std::size_t number);
  void send_next_half(const transaction_ptr& t);
  void send_message(const std::shared_ptr<outgoing>& m);
  [[nodiscard]] std::uint64_t some_delay();
  void cancel(const std::shared_ptr<outgoing>& m, position at);
  void on_cancelled(const question& q, ec code);
  void run_local(const transaction_ptr& t);
  void end_local(const transaction_ptr& t);
  void decide(const transaction_ptr& t, outcome wanted);
  void go_on(const transaction_ptr& t);
  [[nodiscard]] bool ready() const;
  [[nodiscard]] native::send_item item_of(const outgoing& m, correlation id) const;

  void on_setup(const native::frame& from);
  void on_halves(const native::frame& from);
  void on_half(const question& q, ec code, transaction_id id);
  void on_sent(const native::frame& from);
  void on_decided(const native::frame& from);
  void on_decision(const question& q, ec code, outcome recorded);
  void on_checks(const native::frame& from);
  void on_check(const native::check_item& x);
  void on_refused(const native::frame& from);

  std::string group_name_;
  std::shared_ptr<sim_database> database_;
  const std::vector<topic_plan>& topics_;
  const sim_plan& plan_;

  producer_id producer_;
  std::uint64_t process_ = 0; ///< of the process that runs now
  std::uint64_t life_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t opened_ = 0;
  std::uint64_t plain_opened_ = 0;
  group_id group_;
  std::vector<topic_id> topic_ids_;
  std::vector<transaction_ptr> transactions_; ///< that this process began and has not ended
  std::vector<std::shared_ptr<outgoing>> plain_;
  std::map<std::uint64_t, question> questions_;
  std::map<std::uint64_t, std::size_t> topic_questions_;
};

} // namespace handfast::sim
