#pragma once

/// CONSUMER GROUP: who of one group gets which message, and how far the group has come.
///
/// Receives       fetch_messages, acknowledge, member_left (connections), entries_fetched and
///                queue_grew (queues), queue_found (node_supervisor), records_durable (commit_log).
/// Sends          deliver, acknowledged (connections), fetch_entries, watch_queue (queues),
///                find_queue (node_supervisor), append_records, note_damage (commit_log).
/// Owns           members, leases, progress of the group on every queue it reads.
/// Supervised by  node_supervisor; a restarted one has the durable progress and no leases.
/// Blocks?        No.
///
/// Guarantees: a message is held by at most one member at a time and handed out again until it is
/// acknowledged; what was answered as acknowledged is not delivered again, also after a crash.
/// Members share all queues of a topic fairly; a parked fetch is answered in the same round of the
/// loop in which a message becomes visible. Not guaranteed: order; a count of attempts that is
/// exact after a crash (it is written lazily).

#include "actors/fold_member.hpp"
#include "actors/folds/progress_table.hpp"
#include "actors/folds/queue_window.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <caf/actor_addr.hpp>
#include <tsl/robin_map.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace handfast {

struct consumer_group_state {
  static inline const char* name = "consumer-group";

  using pointer = loop_pointer<consumer_group_actor, consumer_group_state>;
  using time_point = clock::time_point;

  explicit consumer_group_state(pointer self_pointer) : self{self_pointer} {}

  void begin(const shard_environment* env, fold_start<progress_table> from);

  void on_peers(const shard_peers& peers);
  void on_fetch(const fetch_messages& x);
  void on_acknowledge(const acknowledge& x);
  void on_entries(const entries_fetched& x);
  void on_grew(const queue_grew& x);
  void on_queue(const queue_found& x);
  void on_member_left(const caf::actor_addr& who);
  void on_tick(const tick& x);
  void on_refused(const append_refused& x);
  void on_stop();
  void apply(const log_record& record, bool replayed);
  [[nodiscard]] slices_taken slices(const std::string& cursor) const;
  [[nodiscard]] status_report status();

  /// Entries asked for at once, and below how many more are asked for.
  static constexpr std::uint32_t prefetch_entries = 256;
  static constexpr std::size_t prefetch_below = 64;
  static constexpr std::uint32_t deliver_max = 1'024;
  static constexpr std::size_t held_acks_max = 1'024;
  /// Progress records under way at once; what comes meanwhile shares the next one.
  static constexpr std::size_t writes_max = 4;
  static constexpr std::uint32_t wait_ms_max = 10 * 60 * 1'000;
  /// Attempts become durable with the next acknowledgement, at the latest after this.
  static constexpr std::chrono::seconds lazy_write{1};
  /// A queue that answered "not now", or nothing though it has more, is asked again after this.
  static constexpr std::chrono::milliseconds retry_after{100};
  /// A fetch whose queues do not answer ends this long after its own wait.
  static constexpr std::chrono::seconds grace{1};

  enum timer : std::uint32_t { write_timer = 1, lazy_timer, deadline_timer, retry_timer };

  /// One queue as this group sees it.
  struct slot {
    enum class stage : std::uint8_t { finding, idle, fetching, watching, missing };
    std::unique_ptr<queue_window> window;
    queue_actor actor;
    incarnation life;
    stage at = stage::finding;
    bool from_end = false;   ///< a new group that starts at the latest: waits for the end
    std::uint64_t asked = 0; ///< correlation of the fetch under way
  };
  /// A topic that members fetch.
  struct topic_slot {
    std::uint32_t queues = 0;
    std::uint32_t turn = 0; ///< the queue that is served first next time
  };
  struct parked_fetch {
    caf::strong_actor_ptr who;
    member_no holder = 0;
    fetch_messages what;
    time_point until;
  };
  struct held_ack {
    caf::strong_actor_ptr who;
    acknowledge what;
  };
  /// An answer that waits for its progress record.
  struct ack_answer {
    caf::strong_actor_ptr who;
    acknowledged what;
  };

  pointer self;
  const shard_environment* env = nullptr;
  std::optional<fold_member<pointer, progress_table>> member; ///< always there after `begin`
  cookie_source cookies{incarnation{}};
  std::uint64_t last_lease = 0;
  std::uint64_t last_asked = 0;
  member_no last_member = 0;
  std::map<caf::actor_addr, member_no> members;
  std::map<topic_id, topic_slot> topics;
  tsl::robin_map<queue_key, slot, std::hash<queue_key>> queues;
  std::deque<parked_fetch> parked;
  std::deque<held_ack> held_acks;
  std::set<queue_key> dirty;        ///< to be written with the answers below
  std::set<queue_key> lazily_dirty; ///< attempts only
  std::vector<ack_answer> answers;  ///< for the next record
  std::map<std::uint64_t, std::vector<ack_answer>> in_flight; ///< by cookie
  bool write_asked = false;
  bool lazy_asked = false;
  bool retry_asked = false;
  time_point armed_until = time_point::max();
  peer<node_supervisor_actor> supervisor;
  commit_log_actor commit_log;
  caf::strong_actor_ptr stop_asker;
  bool stopping = false;

private:
  [[nodiscard]] group_id group() const { return member->fold.group(); }
  member_no member_of(const caf::strong_actor_ptr& who);
  slot& open(queue_key key, bool from_end);
  void open_topic(const fetch_messages& what);
  void ask(slot& s);
  void refill(slot& s);
  void pump(topic_id topic);
  void pump_all();
  [[nodiscard]] bool fill(const parked_fetch& fetch, topic_slot& topic);
  [[nodiscard]] ec verdict_on(topic_id topic, const topic_slot& slots) const;
  [[nodiscard]] bool settled(topic_id topic, const topic_slot& slots) const;
  void end_fetch(const parked_fetch& fetch, ec code);
  [[nodiscard]] bool try_acknowledge(const caf::strong_actor_ptr& who, const acknowledge& what);
  void retry_held_acks();
  void note_unreadable(const acknowledgement& what, position at);
  void attempts_changed(queue_key key);
  void ask_write();
  void write();
  void answer_unchanged();
  void written(std::uint64_t cookie);
  void run_deadlines();
  void arm(time_point when);
  void ask_retry();
  void finish_stop();
};

/// @param from the group's progress that recovery folded, or an empty table with its group
consumer_group_actor::behavior_type consumer_group(consumer_group_state::pointer self,
                                                   const shard_environment* env,
                                                   fold_start<progress_table> from);

} // namespace handfast
