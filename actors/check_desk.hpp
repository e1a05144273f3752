#pragma once

/// The part of HALF STORE that sees to checks: deadlines handed to CHECK SCHEDULER, whom to ask and
/// how often, what counts as an attempt, and when the asking is exhausted. Lives inside its owner's
/// mailbox.
///
/// An ask that gets lost anywhere (a group or connection that was restarted, a message that never
/// came) costs nothing but time: each ask arms a deadline of its own, at which it is made again,
/// uncounted.

#include "actors/folds/check_pace.hpp"
#include "actors/folds/half_fold.hpp"
#include "actors/folds/producer_sessions.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <tsl/robin_map.h>

#include <deque>
#include <optional>
#include <vector>

namespace handfast {

/// What the desk needs of the actor that it belongs to.
class check_desk_owner {
public:
  virtual ~check_desk_owner() = default;
  virtual void decide_by_policy(pending_entry& entry, outcome what) = 0;
  virtual void append_attempts(checked_record attempts) = 0;
  virtual transaction_life life_of(const pending_entry& entry) const = 0;
  virtual void tell_observers(const transaction_event& event) = 0;
  virtual void start_timer(std::chrono::milliseconds in, std::uint32_t timer) = 0;
};

class check_desk {
public:
  using self_pointer = detail::loop_actor_of<half_store_actor>::type*;

  /// Timers of the desk; others of its owner begin at `first_free_timer`.
  enum timer_name : std::uint32_t { sweep = 1, log_attempts, drain, rearm, first_free_timer };

  check_desk(self_pointer self, const shard_environment* env, half_fold* fold,
             check_desk_owner* owner);

  void on_peers(const shard_peers& peers);
  /// Everything is applied: arms what is pending.
  void on_served();
  /// A transaction was opened. Its deadline is handed over only if it is still pending a little
  /// later, so that load that commits at once costs nothing there.
  void on_opened(pending_table::place place);
  /// A decision could not be recorded: it is pending as before.
  void on_pending_again(pending_entry& entry);
  /// The answer "unknown" or "in progress".
  void on_undecided(pending_entry& entry, const decide_request& answer);
  /// An answer that decides.
  void on_decided_by_check(pending_entry& entry, const decide_request& answer);

  void on_timer(std::uint32_t timer);
  void on_due(const deadlines_due& x);
  void on_handled(const checks_handled& x);
  void on_group_found(const producer_group_found& x);
  void on_presence(const group_presence& x);
  void on_running(const producer_running& x);
  void on_judged(const exhausted_judged& x);
  void on_rearm_all(const caf::strong_actor_ptr& from);

  /// Appends the counts that the log does not have yet.
  void flush_attempts();

  [[nodiscard]] mono_ms now() const;
  [[nodiscard]] config::policy policy_of(const pending_entry& entry) const;
  void add_samples(std::vector<sample>& to) const;

private:
  struct fresh_one {
    pending_table::place place;
    position id;
  };
  struct group_desk {
    producer_group_actor actor;
    mono_ms sought_at = unknown_moment;
    std::optional<std::uint32_t> members; ///< unknown until somebody says it
    mono_ms online_since = unknown_moment;
    std::vector<position> waiting;
    std::vector<check_order> orders;
  };

  void arm(pending_entry& entry, mono_ms due);
  void send_armed();
  [[nodiscard]] mono_ms next_due(const pending_entry& entry, const config::policy& rules,
                                 mono_ms now) const;
  void sweep_fresh();
  void rearm_some();

  void enqueue(pending_entry& entry);
  void drain_queue();
  bool drain_one(mono_ms now);
  /// @return false if the pace allows no more now
  bool process(pending_entry& entry, mono_ms now);
  [[nodiscard]] bool is_exhausted(const pending_entry& entry, const config::policy& rules,
                                  mono_ms now) const;
  void give_up_or_wait(pending_entry& entry, const config::policy& rules, mono_ms now);
  void ask(pending_entry& entry, group_desk& desk, const config::policy& rules, mono_ms now);
  void not_handed(pending_entry& entry, mono_ms now);
  void wait_for_member(pending_entry& entry, group_desk& desk);
  void wake(group_desk& desk);
  void find_group(group_id group, group_desk& desk);
  void take_receipt(pending_entry& entry, const check_result& result, mono_ms now, bool counts);
  /// Whether word of the ask with this number (0 = not known) speaks of the one that is under way.
  /// It does not if that one was counted already: it is late then.
  [[nodiscard]] static bool speaks_of_ask(const pending_entry& entry, std::uint16_t attempt) {
    return entry.has(pending_flags::asking) && (attempt == 0 || attempt > entry.attempts);
  }
  void undo_attempt(pending_entry& entry);
  void note_count(pending_entry& entry);

  self_pointer self_;
  const shard_environment* env_;
  half_fold* fold_;
  check_desk_owner* owner_;
  clock::time_point start_;
  peer<check_scheduler_actor> scheduler_;
  check_listener_actor listener_;
  node_supervisor_actor supervisor_;
  bool served_ = false;

  std::vector<fresh_one> young_; ///< since the last sweep
  std::vector<fresh_one> old_;   ///< one sweep older
  bool sweeping_ = false;
  std::vector<deadline> armed_; ///< to be sent at the end of this round
  std::optional<pending_table::place> rearm_cursor_;

  std::deque<position> due_;
  std::deque<std::vector<position>> woken_; ///< waited for a member that is there now
  bool draining_ = false;
  check_pace pace_;
  std::vector<group_id> touched_; ///< groups with orders to send
  tsl::robin_map<group_id, group_desk> groups_;
  producer_sessions sessions_;
  std::vector<position> unlogged_;
  bool logging_ = false;

  std::uint64_t handed_over_ = 0;
  std::uint64_t not_handed_ = 0;
  std::uint64_t given_up_ = 0;
};

} // namespace handfast
