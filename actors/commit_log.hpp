#pragma once

/// COMMIT LOG: the tail of one shard's log.
///
/// Receives   append_messages (connections), append_records (fenced appenders), register_appender,
/// bind_queue, batch_synced
///            (writer), flush (idle hook), take_slices / take_unsaved / run_saved / checkpoint_made
///            (checkpointer), disk_state, delay_room (delay_scheduler)
/// Sends      records_durable (folds), entries_visible (queues), messages_stored (connections),
/// append_refused, append_repeated,
///            appender_registered, make_checkpoint, shard_failed, stopped
/// Owns       the forming batch and the one in flight, next offsets, windows of numbered sends, who
/// folds Supervised by node_supervisor: its abnormal end restarts the shard as a unit, through
/// recovery Blocks?    no, the writer does; but its last act in an ordered stop is one small sync
///
/// Guarantees: positions and offsets are given in the order of arrival; at most one batch is in
/// flight, and what came meanwhile forms the next; nothing is said or dispatched before its batch
/// is synced; batches are dispatched in log order, each to op_store, half_store, topic_registry,
/// delay_scheduler, groups and queues before connections are answered; a repeated numbered send is
/// stored once; appends of a dead incarnation are refused once its successor has registered; damage
/// that is noted is in a checkpoint soon after; after a failed write or sync nothing is accepted
/// any more. Not guaranteed: an answer after a failure
/// (`outcome_unknown` is said as far as possible). Messages of `buffered` topics are treated as
/// durable ones.

#include "actors/batch_waiters.hpp"
#include "actors/folds/log_tail.hpp"
#include "actors/log_subscribers.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"
#include "storage/batch_builder.hpp"

#include <optional>

namespace handfast {

/// What it starts from: what recovery found.
struct commit_log_start {
  incarnation life;
  storage::segment_set* log = nullptr;          ///< outlives the actor, as `codec` does
  const storage::record_codec* codec = nullptr; ///< of the store
  log_tail tail;
  position end;             ///< where appending goes on
  std::uint32_t epoch = 1;  ///< higher than any in the log
  position checkpoint_from; ///< where the next replay would start; none = the log's begin
  std::string reason = "start";
};

/// Bytes in the forming batch and in flight beyond which new messages and halves are refused as
/// busy.
constexpr std::uint64_t log_admission_bytes_max = 64 * limits::mib;
/// On a full disk, prepared room that decisions and progress leave for marks.
constexpr std::uint64_t log_reserve_bytes = 1 * limits::mib;

class commit_log_state;
using commit_log_pointer = loop_pointer<commit_log_actor, commit_log_state>;

class commit_log_state {
public:
  static inline const char* name = "commit-log";

  explicit commit_log_state(commit_log_pointer self) : self_{self} {}

  void start(const shard_environment& env, commit_log_start from);

  void on_peers(const peers_changed& x);
  void on_append_messages(append_messages& x);
  void on_append_records(append_records& x);
  void on_register(const register_appender& x);
  void on_bind(const bind_queue& x);
  void on_flush();
  void on_batch_synced(const batch_synced& x);
  void on_tick(const tick& x);
  void on_disk_state(const disk_state& x) { disk_ = x; }
  void on_delay_room(const delay_room& x) { delays_full_ = x.full; }
  void on_damage(const note_damage& x);
  void on_stop();

  slices_taken on_take_slices(const take_slices& x);
  unsaved_taken on_take_unsaved(const take_unsaved& x) const;
  void on_run_saved(const run_saved& x);
  void on_checkpoint_made(const checkpoint_made& x);

  [[nodiscard]] status_report status() const;

private:
  using clock_point = clock::time_point;

  struct flight {
    std::uint64_t number = 0;
    position to;
    std::shared_ptr<const record_batch> records;
    batch_waiters waiters;
  };
  struct bound_queue {
    queue_actor actor;
    position fence;
  };
  struct refusals;

  // commit_log_append.cpp
  [[nodiscard]] ec refusal_of_new() const;
  [[nodiscard]] ec refusal_of_rest() const;
  /// What there is to say beyond the code.
  [[nodiscard]] std::string detail_of(ec refusal) const;
  wall_ms stamp_time();
  void accept_message(store_request& r, const caf::strong_actor_ptr& asker, ec refusal, wall_ms now,
                      std::vector<message_stored>& at_once);
  void accept_record(log_record& r, const append_records& from, wall_ms now, refusals& refused,
                     std::vector<repeated_append>& at_once);
  result<position> append(log_record& r);
  void take_offsets(log_record& r);
  batch_waiters* waiters_for(position at);
  void append_own(record_type type, record_content content);
  void appended();
  void submit();
  void refuse_all(const append_records& x, ec why);

  // commit_log_dispatch.cpp
  void dispatch(const record_batch& batch);
  void dispatch_entries(position to);
  void answer(batch_waiters& waiters);
  void fail(const error& why);
  void answer_unknown(batch_waiters& waiters, const record_batch* records);
  void report_failure();
  void maybe_checkpoint();
  void send_checkpoint(bool final);
  void arm_mark();
  void continue_stop();
  void finish_stop(std::string unfinished);

  commit_log_pointer self_;
  const shard_environment* env_ = nullptr;
  storage::segment_set* log_ = nullptr;
  std::optional<storage::batch_builder> builder_;
  log_tail tail_;
  std::shared_ptr<const shard_peers> peers_;

  batch_waiters forming_;
  std::optional<flight> flight_;
  position durable_;
  std::uint64_t batches_ = 0;
  bool asked_idle_ = false;

  log_subscribers subscribers_;
  tsl::robin_map<queue_key, bound_queue, std::hash<queue_key>> queues_;
  std::vector<queue_key> new_queues_; ///< not past their fence
  // Scratch of one dispatch.
  batch_summary summary_;
  std::vector<entries_visible> visible_;
  tsl::robin_map<queue_key, std::size_t, std::hash<queue_key>> visible_index_;

  bool mark_needed_ = false; ///< something durable has no durable mark above it
  bool mark_armed_ = false;
  clock_point last_sync_;

  position checkpoint_from_;
  std::uint64_t checkpoint_bytes_ = 0;
  bool checkpoint_running_ = false;
  bool damage_unsaved_ = false; ///< something is listed that no checkpoint has
  clock_point next_for_damage_; ///< not before, so that much damage makes few checkpoints
  clock_point next_checkpoint_; ///< not before, after a failed one
  std::shared_ptr<const checkpoint_members> members_;

  disk_state disk_;
  bool delays_full_ = false;
  std::optional<error> failed_;
  enum class stage : std::uint8_t { open, draining, last_checkpoint, over } stage_ = stage::open;
  int last_checkpoints_ = 0; ///< attempts

  // For status.
  std::uint64_t records_synced_ = 0;
  std::uint64_t messages_in_ = 0;
  std::uint64_t repeats_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t sync_us_total_ = 0;
  std::uint64_t sync_us_last_ = 0;
  std::uint64_t checkpoints_ = 0;
};

commit_log_actor::behavior_type commit_log(commit_log_pointer self, const shard_environment* env,
                                           std::shared_ptr<commit_log_start> from);

} // namespace handfast
