#pragma once

/// CHECK SCHEDULER: when pending transactions are to be looked at.
///
/// Receives       arm_deadlines (half_store), its own tick.
/// Sends          deadlines_due (half_store), rearm_all (half_store, once, after a restart).
/// Owns           deadlines on the monotonic clock.
/// Supervised by  node_supervisor. What it forgets by a restart half_store arms anew.
/// Blocks?        No.
///
/// Guarantees: a deadline is reported no earlier than it is due, and at most 10 ms late when the
/// loop is free. Nothing is taken back: half_store ignores what no longer matters. No timer runs
/// while nothing is armed.

#include "actors/folds/timing_wheel.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <optional>

namespace handfast {

class check_scheduler_state {
public:
  static inline const char* name = "check-scheduler";
  using self_pointer = loop_pointer<check_scheduler_actor, check_scheduler_state>;

  explicit check_scheduler_state(self_pointer self) : self_{self} {}

  void begin(const shard_environment* env, bool restarted);
  void on_peers(const peers_changed& x);
  void on_arm(const arm_deadlines& x);
  void on_tick(const tick& x);
  void on_stop();
  [[nodiscard]] status_report status() const;

private:
  [[nodiscard]] mono_ms now() const;
  void set_timer();

  self_pointer self_;
  const shard_environment* env_ = nullptr;
  clock::time_point start_;
  bool rearm_ = false;
  bool stopping_ = false;
  half_store_actor half_store_;
  timing_wheel wheel_;
  /// When the newest timer fires; older ones are ignored.
  std::optional<mono_ms> timer_at_;
  std::uint32_t timer_ = 0;
};

/// @param restarted it takes the place of one that died
check_scheduler_actor::behavior_type check_scheduler(check_scheduler_state::self_pointer self,
                                                     const shard_environment* env, bool restarted);

} // namespace handfast
