#pragma once

/// DELAY SCHEDULER: messages that become visible later.
///
/// Receives       list_delayed, cancel_delayed, drop_delayed (connections); ask_topic_usage
/// (topic_registry);
///                records_durable, append_refused (commit_log); take_slices (checkpointer); its own
///                tick.
/// Sends          append_records, delay_room (commit_log); delayed_listed, delayed_cancelled
///                (connections); topic_usage (topic_registry).
/// Owns           every message that waits for its time.
/// Supervised by  node_supervisor; a restarted one builds itself from checkpoint and log.
/// Blocks?        No.
///
/// Guarantees: a message gets its place in the queue no earlier than it is due by the wall clock,
/// once, by the RELEASE record that this appends; no later than 100 ms after it is due while the
/// loop is free and fewer are due than can be written. Many that are due together are released a
/// few hundred a loop round, oldest first, so that nobody waits behind them. A cancellation is
/// answered once it is durable. What belongs to a topic that is gone by then is cancelled.

#include "actors/awaited_appends.hpp"
#include "actors/fold_member.hpp"
#include "actors/folds/delay_fold.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <tsl/robin_map.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace handfast {

class delay_scheduler_state {
public:
  static inline const char* name = "delay-scheduler";
  using self_pointer = loop_pointer<delay_scheduler_actor, delay_scheduler_state>;

  explicit delay_scheduler_state(self_pointer self) : self_{self} {}

  void begin(const shard_environment* env, fold_start<delay_fold> from);

  // -- the log
  void on_peers(const peers_changed& x);
  void on_registered(const appender_registered& x) { member_->on_registered(x); }
  void on_slices(const slices_loaded& x) { member_->on_slices(x); }
  void on_replayed(const log_replayed& x);
  void on_durable(const records_durable& x);
  void on_refused(const append_refused& x);
  [[nodiscard]] slices_taken slices(const take_slices& x) const { return member_->slices(x); }
  void on_stop();

  // -- requests
  void on_list(const list_delayed& x);
  void on_cancel(const cancel_delayed& x);
  void on_drop(const drop_delayed& x);
  void on_topic_usage(const ask_topic_usage& x);
  void on_tick(const tick& x);
  [[nodiscard]] status_report status() const;

  [[nodiscard]] const delay_fold& fold() const { return member_->fold; }

  /// Messages of one RELEASE, and RELEASEs on their way to the log: what is due together is
  /// written in pieces that nobody notices, and a slow disk still gets enough to write at once.
  static constexpr std::size_t release_batch = 512;
  static constexpr std::size_t releases_under_way_max = 8;
  /// The wall clock may be set: it is looked at this often while something waits.
  static constexpr std::chrono::milliseconds look_every{1'000};
  /// After a refusal of the log.
  static constexpr std::chrono::milliseconds retry_after{1'000};

private:
  enum timer_name : std::uint32_t { list_more, drop_more, first_wake };

  struct asker {
    caf::strong_actor_ptr who;
    correlation id;
  };
  enum class purpose : std::uint8_t { release, cancel, drop };
  /// A RELEASE on its way to the log: what it is to release, or to cancel for somebody.
  struct append_under_way {
    std::vector<position> messages;
    purpose what = purpose::release;
  };
  /// All messages of a topic are being cancelled; looked through so far.
  struct dropping {
    asker from;
    topic_id topic;
    due_place after;
  };
  struct listing {
    asker from;
    list_delayed what;
    due_place after;
    std::vector<delayed_entry> found;
  };

  void begin_service();
  void apply(const log_record& record, bool replayed);
  void count(const release_record& record);
  void release_some();
  void append(release_record record, append_under_way what);
  void tell_room();
  void set_timer();
  void wake_in(std::chrono::milliseconds in);
  void answer_cancel(position at, ec code);
  void drop_some();
  void end_dropping(ec code);
  void list_some();
  void send_listing(listing& from, bool more);
  void answer_stop_if_done();
  [[nodiscard]] ec not_now() const;

  self_pointer self_;
  const shard_environment* env_ = nullptr;
  std::optional<fold_member<self_pointer, delay_fold>> member_;
  std::shared_ptr<const shard_peers> peers_;
  bool served_ = false;
  bool stopping_ = false;
  caf::strong_actor_ptr stopper_;

  std::optional<awaited_appends<append_under_way>> appends_;
  std::size_t releases_under_way_ = 0;
  tsl::robin_map<position, std::vector<asker>> cancelling_;
  std::deque<dropping> droppings_;
  bool drop_under_way_ = false;
  std::deque<listing> listings_;
  bool told_full_ = false;

  /// When the newest timer fires; older ones are ignored.
  std::optional<clock::time_point> timer_at_;
  std::uint32_t timer_ = first_wake;

  std::uint64_t released_ = 0;
  std::uint64_t cancelled_ = 0;
  std::uint64_t taken_in_ = 0;
};

delay_scheduler_actor::behavior_type delay_scheduler(delay_scheduler_state::self_pointer self,
                                                     const shard_environment* env,
                                                     fold_start<delay_fold> from);

} // namespace handfast
