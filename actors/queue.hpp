#pragma once

/// QUEUE: the index of one queue of one topic, the last step of a message's way before its
/// delivery.
///
/// Receives       entries_visible (commit_log), fetch_entries, watch_queue and find_offset
/// (consumer
///                groups, connections), take_slices, take_unsaved, run_saved (checkpointer), and
///                what a restart needs.
/// Sends          bind_queue (commit_log), entries_fetched, queue_grew and offset_found (askers),
///                read_index, load_slices and replay_log (log_reader).
/// Owns           where each visible message stands.
/// Supervised by  node_supervisor; a restarted one builds itself from checkpoint and log.
/// Blocks?        No: what has left the memory is read by log_reader.
///
/// Guarantees: each offset once, without gaps unless a record that held some was lost, and never
/// shown before it is durable; a fetch is answered, also across a restart of log_reader. Not
/// guaranteed: watches survive a restart of the queue itself; its watchers learn of that by
/// `queue_found` and watch again.

#include "actors/folds/queue_index.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <map>
#include <vector>

namespace handfast {

/// What a queue starts from: `whole` at a node's start and for a new topic; false for a restart.
struct queue_start {
  queue_index index;
  bool whole = false;
};

struct queue_state {
  static inline const char* name = "queue";

  using pointer = loop_pointer<queue_actor, queue_state>;

  explicit queue_state(pointer self_pointer) : self{self_pointer} {}

  void begin(queue_start from);

  void on_peers(const shard_peers& peers);
  void on_registered(const appender_registered& x);
  void on_slices(const slices_loaded& x);
  void on_replayed(const log_replayed& x);
  void on_visible(const entries_visible& x);
  void on_fetch(const fetch_entries& x);
  void on_fetched(entries_fetched& x);
  void on_watch(const watch_queue& x);
  void on_find(const find_offset& x);
  void on_stop();
  [[nodiscard]] slices_taken slices() const;
  [[nodiscard]] unsaved_taken unsaved();
  [[nodiscard]] status_report status() const;

  /// A fetch that log_reader answers.
  struct relayed_fetch {
    caf::strong_actor_ptr asker;
    fetch_entries what;
    queue_offset to{}; ///< asked for up to here
  };
  /// Looks for a moment among what only derived runs have: what comes first at or after it lies in
  /// [from, to].
  struct time_search {
    caf::strong_actor_ptr asker;
    find_offset what;
    queue_offset from{};
    queue_offset to{};
    queue_offset probe{}; ///< asked for
  };
  struct watcher {
    caf::strong_actor_ptr who;
    queue_offset from;
  };

  /// Fetches held while a restart is under way; more are answered `recovering`.
  static constexpr std::size_t held_fetches_max = 1'024;

  pointer self;
  queue_index index{queue_key{}};
  bool whole = false; ///< started with everything that COMMIT LOG does not keep for it
  bool serving = false;
  bool bound = false;
  correlation question; ///< the newest to log_reader; answers to older ones are ignored
  position durable;     ///< replay ends here
  std::vector<entries_visible> held_entries; ///< dispatched while the replay was under way
  std::vector<relayed_fetch> held_fetches;
  std::map<std::uint64_t, relayed_fetch> relayed; ///< by our own correlation
  std::map<std::uint64_t, time_search> searches;  ///< by our own correlation, as above
  std::vector<time_search> held_searches;
  std::uint64_t last_relayed = 0;
  std::vector<watcher> watchers;
  peer<commit_log_actor> commit_log;
  peer<log_reader_actor> log_reader;

private:
  void answer(const caf::strong_actor_ptr& asker, const fetch_entries& what);
  void relay(std::uint64_t id, const relayed_fetch& fetch);
  void answer_from_memory(const caf::strong_actor_ptr& asker, const fetch_entries& what,
                          queue_offset from);
  void search(time_search wanted);
  void probe(std::uint64_t id, time_search& at);
  void on_probed(std::uint64_t id, const entries_fetched& x);
  void answer_offset(const time_search& to, queue_offset found, ec code = ec::ok);
  void replay_from(position from);
  void serve();
  void wake_watchers();
};

/// @param from the index that recovery folded, or an empty one
queue_actor::behavior_type queue(queue_state::pointer self, const shard_environment* env,
                                 queue_start from);

} // namespace handfast
