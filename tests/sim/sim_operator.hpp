#pragma once

/// A simulated operator: looks at transactions, decides and reopens some; at the end audits the
/// whole node.

#include "tests/sim/sim_client.hpp"
#include "tests/sim/sim_database.hpp"
#include "tests/sim/sim_options.hpp"

#include <set>
#include <vector>

namespace handfast::sim {

class sim_operator final : public sim_client {
public:
  sim_operator(sim_timeline& time, sim_door& door, const std::vector<topic_plan>& topics,
               const sim_plan& plan)
      : sim_client{time, door, "operator"}, topics_{topics}, plan_{plan} {}

  /// Asks for the outcome of every transaction that the journal names, reads every index entry of
  /// every queue and the progress of every group, and lists what is still pending. Begins again if
  /// the connection is lost.
  void audit();
  [[nodiscard]] bool audited() const { return auditing_ && nothing_open(); }
  /// Pending according to the last listing that was whole.
  [[nodiscard]] const std::set<transaction_id>& pending() const { return pending_; }
  /// Opens some of what was given up again, and decides some of that. Once, without faults.
  void give_second_chances();
  [[nodiscard]] bool second_chances_given() const { return chances_ == 0 && nothing_open(); }
  /// Asks for the node's own report.
  void ask_status();
  /// The newest answer; empty until it is there.
  [[nodiscard]] const std::string& status_json() const { return status_json_; }
  /// Index entries that the audit found in each topic.
  [[nodiscard]] const std::map<topic_id, std::uint64_t>& entries_listed() const {
    return entries_listed_;
  }
  /// A fresh listing of what is pending; see `pending`.
  void look();
  [[nodiscard]] bool looked() const { return looked_; }
  [[nodiscard]] std::string waiting_for() const override;

protected:
  void on_welcome() override;
  void on_lost() override;
  void on_frame(const native::frame& from) override;

private:
  struct question {
    enum class kind {
      topic,
      list,
      given_up,
      query,
      decision,
      reopen,
      view,
      groups,
      status,
      dead_topic,
      dead_view
    } what = kind::list;
    transaction_state state = transaction_state::pending; ///< that is listed
    transaction_id id;
    outcome wanted = outcome::pending;
    std::size_t topic = 0;
    std::uint32_t queue = 0;
    std::uint64_t offset = 0;
    std::uint64_t asked_at = 0; ///< events in the journal then
    std::string group{};        ///< whose dead letters
    topic_id dead{};            ///< where they are
  };

  correlation ask(question q);
  void wander();
  /// What is pending, and then what waits for the record of its decision.
  void list(position after, transaction_state state = transaction_state::pending);
  void list_given_up();
  void on_reopened(const native::reopened& x, const question& q);
  void query(transaction_id id);
  void decide(transaction_id id);
  void reopen(transaction_id id);
  void read_queue(std::size_t topic, std::uint32_t queue, std::uint64_t offset);
  void begin_audit();
  void find_dead(question q);
  void read_dead(question q);
  void on_dead(const native::delivered& x, const question& q);
  void again_later(const question& q);
  void again(question q);
  [[nodiscard]] bool nothing_open() const {
    return connected() && open_questions_.empty() && asked_again_ == 0;
  }

  void on_topic(const native::topic_resolved& x, const question& q);
  void on_transactions(const native::transactions& x, const question& q);
  void on_entries(const native::delivered& x, const question& q);
  void on_groups(const native::groups& x, const question& q);
  bool on_decided(const native::frame& from);
  void on_refused(const native::refused& x, const question& q);

  const std::vector<topic_plan>& topics_;
  const sim_plan& plan_;
  std::vector<topic_id> topic_ids_;
  std::vector<std::uint32_t> queue_counts_;
  std::map<std::uint64_t, question> open_questions_;
  std::size_t asked_again_ = 0;          ///< refused questions that will be asked once more
  std::vector<transaction_id> seen_;     ///< for a second look
  std::vector<transaction_id> given_up_; ///< from the newest listing
  std::uint64_t chances_ = 0;            ///< still to give to transactions that are given up
  std::set<transaction_id> listing_;
  std::set<transaction_id> pending_;
  bool looked_ = false;
  bool auditing_ = false;
  std::map<topic_id, std::uint64_t> entries_listed_;
  std::string status_json_;
};

} // namespace handfast::sim
