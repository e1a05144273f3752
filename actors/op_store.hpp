#pragma once

/// OP STORE: every decided transaction, and the appending of decisions.
///
/// Receives       record_decisions, judge_decisions, find_outcome (half_store); list_transactions
/// (connections);
///                records_durable, append_refused (commit_log); outcomes_found, records_read
///                (log_reader); take_slices, take_unsaved, run_saved (checkpointer).
/// Sends          append_records (commit_log); decided, outcome_known (half_store); find_outcomes,
/// read_records (log_reader);
///                transactions_listed (whoever asked).
/// Owns           the newest outcomes in memory, and decisions on their way to the log.
/// Supervised by  node_supervisor; a restarted one builds itself from checkpoint and log, and holds
/// orders until it serves. Blocks?        No: what has left the memory is read by log_reader.
///
/// Guarantees: one DECIDE entry for each transaction; an outcome is told only once it is durable.
/// Lists cover what is in memory; a single outcome is found as long as its record is kept.

#include "actors/answer_batches.hpp"
#include "actors/awaited_appends.hpp"
#include "actors/fold_member.hpp"
#include "actors/folds/outcome_table.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <tsl/robin_map.h>

#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace handfast {

/// What OP STORE keeps about questions that are under way.
namespace op_store_parts {

struct judged {
  caf::strong_actor_ptr asker;
  decide_request request;
};
/// Questions about outcomes that are not in memory, on their way through log_reader.
struct lookup {
  enum class stage : std::uint8_t { outcomes, decisions, bodies };
  stage at = stage::outcomes;
  caf::strong_actor_ptr asker;
  std::vector<decide_request> requests; ///< judged together; empty for `find_outcome`
  std::vector<stored_outcome> outcomes;
  std::vector<record_place> places; ///< of the records asked for
  outcome_known known;              ///< the answer to `find_outcome` so far
};

} // namespace op_store_parts

class op_store_state {
public:
  static inline const char* name = "op-store";
  using self_pointer = loop_pointer<op_store_actor, op_store_state>;

  explicit op_store_state(self_pointer self) : self_{self} {}

  void begin(const shard_environment* env, fold_start<outcome_table> from);

  void on_peers(const peers_changed& x);
  void on_registered(const appender_registered& x) { member_->on_registered(x); }
  void on_slices(const slices_loaded& x) { member_->on_slices(x); }
  void on_replayed(const log_replayed& x);
  void on_durable(const records_durable& x);
  void on_refused(const append_refused& x);
  void on_record(record_decisions& x);
  void on_judge(judge_decisions& x);
  void on_find(const find_outcome& x);
  void on_outcomes(const outcomes_found& x);
  void on_records(const records_read& x);
  void on_list(const list_transactions& x);
  void on_stop();
  [[nodiscard]] slices_taken slices(const take_slices& x) const { return member_->slices(x); }
  [[nodiscard]] unsaved_taken unsaved(const take_unsaved& x);
  void on_run_saved();
  [[nodiscard]] status_report status() const;

  [[nodiscard]] const outcome_table& outcomes() const { return member_->fold; }

private:
  using judged = op_store_parts::judged;
  using lookup = op_store_parts::lookup;
  using held_message =
      std::variant<record_decisions, judge_decisions, find_outcome, list_transactions>;

  void begin_service();
  void apply(const log_record& record);
  void answer_waiting(const outcome_entry& entry);
  void evict();

  [[nodiscard]] bool is_fresh(const record_decisions& x) const;
  void drop_known(record_decisions& x);
  void append(record_decisions x);
  void append_part(std::vector<decision> decisions, std::vector<index_entry> entries);

  [[nodiscard]] static decision_result result_of(const decide_request& request,
                                                 const stored_outcome& known);
  [[nodiscard]] stored_outcome stored(const outcome_entry& entry) const;
  [[nodiscard]] decision_result judge(const decide_request& request,
                                      const outcome_entry& entry) const;
  [[nodiscard]] ec reason_for_missing(position transaction, ec opening) const;
  void start(lookup what);
  void send(std::uint64_t id, const lookup& what);
  void read_decisions(std::uint64_t id, lookup& what);
  void answer_judged(lookup& what, const records_read* read);
  void answer_found(std::uint64_t id, lookup& what, const records_read& read);
  void take_opening(outcome_known& known, const log_record& record) const;
  void hold(held_message what);
  [[nodiscard]] bool may_hold() const;
  void answer_stop_if_done();

  self_pointer self_;
  const shard_environment* env_ = nullptr;
  std::optional<fold_member<self_pointer, outcome_table>> member_;
  std::shared_ptr<const shard_peers> peers_;
  bool served_ = false;
  caf::strong_actor_ptr stopper_;

  std::optional<awaited_appends<std::vector<position>>> appends_;
  tsl::robin_map<position, outcome> deciding_; ///< appended, not durable yet
  tsl::robin_map<position, std::vector<judged>> waiting_;
  position half_applied_; ///< half_store knows everything decided below
  position offered_;      ///< newest decision that a run was given
  std::vector<std::pair<caf::strong_actor_ptr, held_message>> held_;
  std::uint64_t last_lookup_ = 0;
  tsl::robin_map<std::uint64_t, lookup> lookups_;
  answer_batches<decided, half_store_actor> answers_;

  std::uint64_t recorded_ = 0;
  std::uint64_t repeats_ = 0;
};

op_store_actor::behavior_type op_store(op_store_state::self_pointer self,
                                       const shard_environment* env,
                                       fold_start<outcome_table> from);

} // namespace handfast
