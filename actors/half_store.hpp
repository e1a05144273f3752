#pragma once

/// HALF STORE: every transaction that is pending or being decided.
///
/// Receives       append_halves, decide, find_transaction, list_transactions, reopen_transaction,
/// producer_running (connections);
///                records_durable, append_refused, append_repeated (commit_log); decided,
///                outcome_known (op_store); deadlines_due, rearm_all (check_scheduler);
///                checks_handled, group_presence (producer groups); exhausted_judged
///                (check_listener); ask_topic_usage (topic_registry); take_slices (checkpointer);
///                records_read (log_reader).
/// Sends          append_records (commit_log); record_decisions, judge_decisions, find_outcome
/// (op_store); arm_deadlines; read_records (log_reader);
///                ask_producers; checks_exhausted; find_producer_group (supervisor); halves_stored,
///                decided and the answers to questions (whoever asked).
/// Owns           pending and deciding transactions, their attempts, and what is on its way to the
/// log for them. Supervised by  node_supervisor; a restarted one builds itself from checkpoint and
/// log. Blocks?        No.
///
/// Guarantees: a half is answered once it is durable, a decision once its record is; the first
/// durable decision stands, whoever made it. A decision that arrives while messages of its
/// transaction are on their way waits for them. Requests that were open when it died are not
/// answered: their senders learn of its new life and send them again.

#include "actors/answer_batches.hpp"
#include "actors/awaited_appends.hpp"
#include "actors/check_desk.hpp"
#include "actors/fold_member.hpp"
#include "actors/folds/half_fold.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <tsl/robin_map.h>

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace handfast {

/// What HALF STORE keeps about requests that are under way.
namespace half_store_parts {

/// A record of ours on its way to the log.
struct awaited {
  enum kind : std::uint8_t { half, reopen, attempts };
  caf::strong_actor_ptr asker;
  correlation id;
  position transaction; ///< that a half joins, or that is opened again
  std::uint64_t bytes = 0;
  topic_id topic;
  kind what = half;
  group_id group{};
};
struct waiter {
  caf::strong_actor_ptr asker;
  correlation id;
  outcome wanted = outcome::pending;
};
/// One decision on its way to the log, and who wants to hear of it.
struct decision_under_way {
  decision what;
  pending_state before = pending_state::pending;
  waiter first;
  std::vector<waiter> others;
};
struct held_decision {
  caf::strong_actor_ptr asker;
  decide_request request;
};
/// Messages of a transaction on their way to the log, and decisions that wait for them.
struct joins_under_way {
  std::uint32_t count = 0;
  std::vector<held_decision> held;
};
struct question {
  caf::strong_actor_ptr asker;
  correlation id;
  transaction_id transaction;
  bool reopen = false;
  /// Known here since the question was asked; the answer may be older than that.
  position reopened_as;
};
/// Bodies that are looked at, a few at a time.
struct bodies_under_way {
  correlation asked;
  std::vector<record_place> places;
  std::vector<position> owners; ///< transaction of each
  pending_table::place from = 0;
  pending_table::place next = 0;
};
struct listing {
  caf::strong_actor_ptr asker;
  list_transactions what;
  pending_table::place next = 0;
  std::vector<position> found;
};

} // namespace half_store_parts

class half_store_state : public check_desk_owner {
public:
  static inline const char* name = "half-store";
  using self_pointer = loop_pointer<half_store_actor, half_store_state>;

  explicit half_store_state(self_pointer self) : self_{self} {}

  void begin(const shard_environment* env, fold_start<half_fold> from);

  // -- the log
  void on_peers(const peers_changed& x);
  void on_registered(const appender_registered& x) { member_->on_registered(x); }
  void on_slices(const slices_loaded& x) { member_->on_slices(x); }
  void on_replayed(const log_replayed& x);
  void on_durable(const records_durable& x);
  void on_refused(const append_refused& x);
  void on_repeated(const append_repeated& x);
  [[nodiscard]] slices_taken slices(const take_slices& x) const { return member_->slices(x); }
  void on_stop();

  // -- requests
  void on_append(append_halves& x);
  void on_decide(const decide& x);
  void on_decided(const decided& x);
  void on_find(const find_transaction& x);
  void on_list(const list_transactions& x);
  void on_reopen(const reopen_transaction& x);
  void on_outcome(const outcome_known& x);
  void on_topic_usage(const ask_topic_usage& x);
  void on_bodies(const records_read& x);
  void on_tick(const tick& x);
  [[nodiscard]] status_report status() const;

  [[nodiscard]] check_desk& checks() { return *checks_; }
  [[nodiscard]] const half_fold& fold() const { return member_->fold; }
  [[nodiscard]] bool serving() const { return served_ && !stopping_; }

  // -- for the check desk
  void decide_by_policy(pending_entry& entry, outcome what) override;
  void append_attempts(checked_record attempts) override;
  [[nodiscard]] transaction_life life_of(const pending_entry& entry) const override;
  [[nodiscard]] bool is_observed() const;
  void tell_observers(const transaction_event& event) override;
  void start_timer(std::chrono::milliseconds in, std::uint32_t timer) override;

  /// Bodies are looked at from this long after the start, in steps this far apart.
  static constexpr std::chrono::milliseconds before_bodies{100};
  static constexpr std::chrono::milliseconds between_bodies{5};

private:
  enum timer_name : std::uint32_t { list_more = check_desk::first_free_timer, look_at_bodies };

  using awaited = half_store_parts::awaited;
  using waiter = half_store_parts::waiter;
  using decision_under_way = half_store_parts::decision_under_way;
  using held_decision = half_store_parts::held_decision;
  using joins_under_way = half_store_parts::joins_under_way;
  using question = half_store_parts::question;
  using listing = half_store_parts::listing;
  using bodies_under_way = half_store_parts::bodies_under_way;

  void begin_service();
  template <class Fold>
  void apply_with_time(Fold&& fold);
  void apply(const log_record& record, bool replayed, mono_ms now);
  void apply_half(const log_record& record, bool replayed, mono_ms now);
  void apply_reopen(const log_record& record, bool replayed, mono_ms now);
  void apply_decide(const log_record& record, bool replayed);
  void send_gathered();
  void send_halves();

  void await_half(half_request& request, const caf::strong_actor_ptr& asker,
                  std::vector<log_record>& out);
  [[nodiscard]] static bool may_be_stored_already(const half_request& request, ec code);
  [[nodiscard]] ec admits(const half_request& request) const;
  [[nodiscard]] ec admits_join(const half_request& request) const;
  void join_ended(position transaction);
  void refuse(const awaited& what, ec code);

  void take_decision(const decide_request& request, const caf::strong_actor_ptr& asker);
  [[nodiscard]] ec refusal_of(const decide_request& request, const pending_entry& entry) const;
  void mark_deciding(pending_table::place place, const decide_request& request, waiter first);
  /// Null if the transaction at this place is not being decided.
  [[nodiscard]] decision_under_way* under_way(pending_table::place place);
  void forget_decision(pending_table::place place);
  void add_order(const decision_under_way& under_way, const pending_entry& entry);
  void send_orders();
  void resend_to_op_store();
  void settle(const decision& made, std::span<const index_entry> messages);
  void abandon(position transaction, ec code);
  void answer(const waiter& to, position transaction, outcome recorded, origin by,
              std::span<const index_entry> messages);

  void ask_op_store(question q);
  void answer_find(const question& q, const outcome_known& known);
  void answer_reopen(const question& q, const outcome_known& known);
  [[nodiscard]] static position reopened_as(const question& q, const outcome_known& known);
  void list_some();
  [[nodiscard]] bool matches(const pending_entry& entry, const list_transactions& wanted) const;
  void send_listing(listing& from);
  void ask_for_bodies();
  void set_aside(position transaction, position body);
  void answer_stop_if_done();

  self_pointer self_;
  const shard_environment* env_ = nullptr;
  std::optional<fold_member<self_pointer, half_fold>> member_;
  std::optional<check_desk> checks_;
  std::shared_ptr<const shard_peers> peers_;
  bool served_ = false;
  bool stopping_ = false;
  caf::strong_actor_ptr stopper_;

  std::optional<awaited_appends<awaited>> appends_;
  std::uint64_t opening_ = 0; ///< transactions on their way to the log
  std::uint64_t bytes_under_way_ = 0;
  slab<decision_under_way> decisions_;
  /// By the place of the pending transaction: where in `decisions_`, or `no_decision`.
  std::vector<slab<decision_under_way>::place> deciding_;
  static constexpr slab<decision_under_way>::place no_decision = UINT32_MAX;
  tsl::robin_map<position, joins_under_way> joining_;
  std::uint64_t last_question_ = 0;
  tsl::robin_map<std::uint64_t, held_decision> judged_; ///< by our own correlation
  tsl::robin_map<std::uint64_t, question> questions_;
  tsl::robin_map<position, std::vector<question>> reopening_;
  std::deque<listing> listings_;
  bodies_under_way bodies_;

  // Sent at the end of the turn.
  std::vector<log_record> halves_;
  record_decisions orders_;
  // As many as in the turn before: room is made once, and not by growing each time.
  std::size_t halves_expected_ = 0;
  std::size_t orders_expected_ = 0;
  judge_decisions to_judge_;
  answer_batches<halves_stored, connection_actor> stored_;
  answer_batches<decided, connection_actor> decided_;

  std::uint64_t commits_ = 0;
  std::uint64_t rollbacks_ = 0;
  std::uint64_t given_up_ = 0;
  std::uint64_t conflicts_ = 0;
  std::uint64_t refusals_ = 0;
};

half_store_actor::behavior_type half_store(half_store_state::self_pointer self,
                                           const shard_environment* env,
                                           fold_start<half_fold> from);

} // namespace handfast
