#pragma once

/// What actors of one shard say to each other about the log: starting and stopping, appends and
/// what became durable, reading, checkpoints. None of these messages leaves a shard, and none
/// carries a handle.

#include "messages/delivery.hpp"
#include "messages/log_record.hpp"
#include "messages/requests.hpp"
#include "messages/status.hpp"

#include <caf/type_id.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace handfast {

// -- control verbs -------------------------------------------------------------

/// The loop has nothing else ready: commit what was gathered.
struct flush {};
/// A timer of the actor itself has run out. `timer` tells several apart.
struct tick {
  std::uint32_t timer = 0;
};
/// How is it going? Answered from state, at once.
struct status_request {};
/// Ordered stop: finish what is under way (own appends durable), take nothing new, answer
/// `stopped`. A connection then ends by itself. All others stay, since the final checkpoint still
/// takes slices from them: the supervisor ends them by an exit message. COMMIT LOG comes last: it
/// drains, asks for the final checkpoint (`make_checkpoint::final`), writes the mark, then answers.
struct stop {};
struct stopped {
  std::string actor;
  std::string unfinished; ///< empty, or what could not be finished
};

template <class Inspector>
auto inspect(Inspector& f, flush&) {
  return f();
}
template <class Inspector>
auto inspect(Inspector& f, tick& x) {
  return f(x.timer);
}
template <class Inspector>
auto inspect(Inspector& f, status_request&) {
  return f();
}
template <class Inspector>
auto inspect(Inspector& f, stop&) {
  return f();
}
template <class Inspector>
auto inspect(Inspector& f, stopped& x) {
  return f(x.actor, x.unfinished);
}

// -- the log, inside its shard -------------------------------------------------

/// Who may append and is fenced. Connections append plain messages without a fence: a dead one's
/// messages are simply stored.
enum class appender_role : std::uint8_t {
  half_store = 1,
  op_store = 2,
  topic_registry = 3,
  consumer_group = 4, ///< one for each group: `instance` is the group's id
  node = 5,           ///< marks and epochs
  delay_scheduler = 6,
};

struct appender {
  appender_role role = appender_role::node;
  std::uint32_t instance = 0;
  incarnation life;

  friend bool operator==(const appender&, const appender&) = default;
};

/// Anyone that folds -> commit_log. From now on older incarnations of this role are refused, and
/// every `records_durable` goes to the sender. Answer: `appender_registered`.
struct register_appender {
  appender who;
};

/// queue -> commit_log: from now on the entries of this queue go to the sender. Answer:
/// `appender_registered`, then as `entries_visible` what no derived run has and nobody took so far.
struct bind_queue {
  queue_key queue;
};

/// Everything below `durable` is for the newcomer to replay; the rest comes by dispatch. It serves
/// once it has applied everything below `fence`.
struct appender_registered {
  position durable;
  position fence;
  queue_offset
      next; ///< answer to `bind_queue`: offset of the queue's first entry at or behind `durable`
};

/// half_store, op_store, topic_registry, delay_scheduler, consumer_group -> commit_log. Each
/// record's `cookie` must be unique in the appender's life (see `cookie_source`). The answer is the
/// record itself in `records_durable`, with that cookie; or `append_refused`; or `append_repeated`.
struct append_records {
  appender who;
  std::vector<log_record> records;
  /// Not ok: HALFs that may be repeats of stored ones. Those are answered as such, the others
  /// refused with this code; nothing is stored.
  ec unless_repeated = ec::ok;
};

struct append_refused {
  std::vector<std::uint64_t> cookies;
  error why;
};

/// A numbered send that the log holds already: where it stands. Said only once that record is
/// durable.
struct repeated_append {
  std::uint64_t cookie = 0;
  position at;
  queue_key queue;
  queue_offset offset;
};
struct append_repeated {
  std::vector<repeated_append> items;
};

/// commit_log -> everyone that folds: the records of one sync, in log order, each exactly once.
struct records_durable {
  std::shared_ptr<const record_batch> batch;
};

/// log_writer -> commit_log: everything of batch `number` is written and synced, or the disk
/// failed.
struct batch_synced {
  std::uint64_t number = 0;
  error why; ///< code ok when it is durable
  std::uint64_t took_us = 0;
};

/// A restarted fold -> log_reader: its slices of the newest checkpoint. Answer: `slices_loaded`.
struct load_slices {
  correlation id;
  std::string prefix; ///< of the slice names wanted
};
struct named_slice {
  std::string name;
  std::string bytes;
};
struct slices_loaded {
  correlation id;
  ec code = ec::ok;
  position replay_from; ///< of the checkpoint; the log's start without one
  std::vector<named_slice> slices;
};

/// A restarted fold -> log_reader: records from `from` on, below `to`, about 1 MiB. Answer:
/// `log_replayed`.
struct replay_log {
  correlation id;
  position from;
  position to;
};
struct log_replayed {
  correlation id;
  ec code = ec::ok;
  position next; ///< where to go on; `to` when all was read
  std::shared_ptr<const record_batch> batch;
  std::vector<position>
      damaged; ///< records of the batch whose payload is damaged: it is empty there
};

/// Anyone -> log_reader: records by position (length 0 = unknown). Answer: `records_read` in the
/// same order.
struct record_place {
  position at;
  std::uint32_t length = 0;
};
struct read_records {
  correlation id;
  std::vector<record_place> places;
};
struct record_read {
  ec code = ec::ok;
  log_record record;
};
struct records_read {
  correlation id;
  std::vector<record_read> records;
};

/// consumer_group -> log_reader: what filters and order keys need to know of messages. Answer:
/// `heads_read` in the same order.
struct read_heads {
  correlation id;
  std::vector<record_place> places;
};
struct record_head {
  ec code = ec::ok; ///< otherwise the rest says nothing
  std::uint16_t flags = 0;
  std::uint32_t order_hash = 0;
  std::uint64_t delay_ms = 0;
  position transaction; ///< that opened it; none for a plain message
  std::string properties;
};
struct heads_read {
  correlation id;
  std::vector<record_head> heads;
};

/// queue -> log_reader: index entries that are only in derived runs. Answer: `entries_fetched`.
struct read_index {
  correlation id;
  queue_key queue;
  queue_offset from;
  queue_offset to;
};

/// op_store -> log_reader: outcomes that have left its memory. Answer: `outcomes_found`, in the
/// same order.
struct find_outcomes {
  correlation id;
  std::vector<position> transactions;
};
struct stored_outcome {
  position transaction;
  outcome result = outcome::pending; ///< pending = not found
  origin by = origin::producer;
  group_id group;
  std::uint16_t messages = 0;
  position decided_at; ///< of the DECIDE record, which has queues and offsets
  wall_ms decided_ms = 0;
  position reopened_as;
};
struct outcomes_found {
  correlation id;
  ec code = ec::ok;
  std::vector<stored_outcome> outcomes;
};

/// connection -> log_reader: entries of the half view or op view. Answer: `view_read`.
struct read_view {
  correlation id;
  topic_id view;
  queue_offset from;
  std::uint32_t max = 32;
};
struct view_read {
  correlation id;
  ec code = ec::ok;
  queue_offset end;
  std::vector<log_record> records; ///< HALF or DECIDE records
  /// For each DECIDE record: the half-view offsets that it ends, in RocketMQ's form `a,b,`.
  std::vector<std::string> op_bodies;
};

// -- checkpoints ----------------------------------------------------------------

/// checkpointer -> each fold: the next part of its state. Start with an empty cursor; parts take at
/// most about 1 ms each.
struct take_slices {
  std::string cursor;
};
/// `cursor` empty: that was all. A fold that is being rebuilt answers `ec::recovering`; the
/// checkpoint is then tried again later.
struct slices_taken {
  std::vector<named_slice> slices;
  std::string cursor;
  ec code = ec::ok;
};

/// checkpointer -> queue, op_store, commit_log (views): what no derived run has yet of the records
/// below `to`, which is the end of a dispatched batch. More than that may be given, since
/// everything dispatched is durable. `ec::recovering` as above.
struct take_unsaved {
  position to;
};
struct unsaved_taken {
  std::vector<std::pair<queue_key, visible_entry>> entries;
  std::vector<stored_outcome> outcomes;
  std::vector<std::pair<queue_key, record_place>>
      view_entries; ///< `length` unused, offset in `view_offsets`
  std::vector<std::uint64_t> view_offsets;
  ec code = ec::ok;
  /// commit_log's answer only, which log_reader asks for too: the durable end, and the next offsets
  /// of the half and op view there.
  position durable;
  queue_offset half_view_end;
  queue_offset op_view_end;
};
/// checkpointer -> the same, after the run is durable: what lies below `to` may leave the memory.
struct run_saved {
  position to;
};

/// commit_log -> checkpointer: this much was appended since the last one; also asked for at stop.
/// Everything below `durable` was dispatched before: it is where replay will start. `members`: who
/// folds, apart from the roles that there is one of.
struct make_checkpoint {
  position durable;
  bool final = false;
  std::shared_ptr<const struct checkpoint_members> members;
};
/// checkpointer -> commit_log, node_supervisor. Sent to log_reader too, before any `run_saved`.
struct checkpoint_made {
  position replay_from;
  std::uint64_t bytes = 0;
  error why;
};

/// consumer_group -> commit_log: a message whose stored bytes fail their check. It stays listed,
/// over checkpoints too.
struct note_damage {
  quarantined_item item;
};

/// segment_keeper -> commit_log: the disk has no room for another segment, or has it again.
struct disk_state {
  bool full = false;
  std::string detail{}; ///< how much is free where, how much is needed, and for what
};

/// delay_scheduler -> commit_log: as many messages wait for their time as may, or there is room
/// again. While it is full, delayed messages and halves are refused.
struct delay_room {
  bool full = false;
};

} // namespace handfast
