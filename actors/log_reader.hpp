#pragma once

/// LOG READER: reads what is no longer in memory.
///
/// Receives   load_slices, replay_log (restarted folds), read_records, read_view (connections),
/// read_heads, read_records (consumer groups), read_index (queues), find_outcomes
///            (op_store), checkpoint_made (checkpointer: there is a new derived run)
/// Sends      the answers, each with the correlation of its question; take_unsaved to commit_log,
/// for the newest part of a view Owns       the list of derived runs Supervised by node_supervisor;
/// a restarted one has forgotten what it was asked Blocks?    yes, in reads: spawn it detached
///
/// Guarantees: only durable records are given (those who ask name positions that were dispatched to
/// them; views end at the durable end); answers are in the order of the questions, except for
/// views; the work for one message is bounded. A part that cannot be read is answered with its own
/// code and costs nothing else.

#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "storage/log_scanner.hpp"
#include "storage/run_reader.hpp"
#include "storage/segment_set.hpp"
#include "storage/store_directory.hpp"

#include <optional>

namespace handfast {

struct log_reader_start {
  storage::file_system* disk = nullptr; ///< these three outlive the actor
  const storage::segment_set* log = nullptr;
  const storage::record_codec* codec = nullptr;
  storage::store_paths paths;
  std::uint64_t store_id = 0;
};

class log_reader_state;
using log_reader_pointer = loop_pointer<log_reader_actor, log_reader_state>;

class log_reader_state {
public:
  static inline const char* name = "log-reader";

  explicit log_reader_state(log_reader_pointer self) : self_{self} {}

  void start(log_reader_start from);
  void on_peers(const peers_changed& x) { peers_ = x.peers; }
  void on_stop();
  void on_checkpoint_made(const checkpoint_made& x);

  [[nodiscard]] slices_loaded load(const load_slices& x) const;
  [[nodiscard]] log_replayed replay(const replay_log& x) const;
  [[nodiscard]] static ec read_stretch(storage::log_scanner& scanner, record_batch& batch,
                                       std::vector<position>& damaged);
  [[nodiscard]] records_read read(const read_records& x) const;
  [[nodiscard]] heads_read heads(const read_heads& x) const;
  [[nodiscard]] entries_fetched index(const read_index& x) const;
  [[nodiscard]] outcomes_found outcomes(const find_outcomes& x) const;
  void on_read_view(const read_view& x);

  [[nodiscard]] status_report status() const;

  /// Sends `answer` to whoever asked.
  template <class Answer>
  void answer(Answer what);

private:
  [[nodiscard]] view_read view(const read_view& x, const unsaved_taken& tail) const;
  [[nodiscard]] position nearest_sample(const read_view& x, const unsaved_taken& tail) const;
  [[nodiscard]] std::string op_body(const decide_record& decided) const;
  [[nodiscard]] std::optional<queue_offset> half_offset(position opened) const;
  [[nodiscard]] result<std::optional<storage::stored_outcome>>
  outcome_of(position transaction) const;
  void refresh_runs();

  log_reader_pointer self_;
  log_reader_start from_;
  storage::run_catalog runs_;
  std::shared_ptr<const shard_peers> peers_;
  mutable std::uint64_t questions_ = 0;
  mutable std::uint64_t records_ = 0;
};

log_reader_actor::behavior_type log_reader(log_reader_pointer self,
                                           std::shared_ptr<log_reader_start> from);

} // namespace handfast
