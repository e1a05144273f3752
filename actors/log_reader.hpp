#pragma once

/// LOG READER: reads what is no longer in memory.
///
/// Receives   load_slices, replay_log (restarted folds), read_records, read_view (connections),
/// read_heads, read_records (consumer groups), read_index (queues), find_outcomes
///            (op_store), checkpoint_made (checkpointer: there is a new derived run)
/// Sends      the answers, each with the correlation of its question; take_unsaved to commit_log,
/// for the newest part of a view and the durable end
/// Owns       the list of derived runs, and making damaged ones again
/// Supervised by node_supervisor; a restarted one has forgotten what it was asked
/// Blocks?    yes, in reads, and while a run is made again: spawn it detached
///
/// Guarantees: only durable records are given (those who ask name positions that were dispatched to
/// them; views end at the durable end); answers are in the order of the questions, except for views
/// and for what a damaged run has to say; the work for one message is bounded. A part that cannot
/// be read is answered with its own code and costs nothing else. A run of which a block fails its
/// check is never taken for one that says nothing: it is made again from the log, its bytes kept as
/// `*.damaged` and listed, and only then the question is answered.

#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/type_ids.hpp"
#include "storage/log_scanner.hpp"
#include "storage/run_reader.hpp"
#include "storage/segment_set.hpp"
#include "storage/store_directory.hpp"

#include <caf/actor_cast.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>

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
  void on_peers(const peers_changed& x);
  void on_stop();
  void on_checkpoint_made(const checkpoint_made& x);

  void on_read_index(const read_index& x) { serve(x, &log_reader_state::index); }
  void on_find_outcomes(const find_outcomes& x) { serve(x, &log_reader_state::outcomes); }
  void on_read_view(const read_view& x);

  [[nodiscard]] slices_loaded load(const load_slices& x) const;
  [[nodiscard]] log_replayed replay(const replay_log& x) const;
  [[nodiscard]] static ec read_stretch(storage::log_scanner& scanner, record_batch& batch,
                                       std::vector<position>& damaged);
  [[nodiscard]] records_read read(const read_records& x) const;
  [[nodiscard]] heads_read heads(const read_heads& x) const;
  [[nodiscard]] entries_fetched index(const read_index& x);
  [[nodiscard]] outcomes_found outcomes(const find_outcomes& x);

  [[nodiscard]] status_report status() const;

  template <class Answer>
  void answer_to(const caf::strong_actor_ptr& asker, Answer what) {
    self_->send(caf::actor_cast<caf::typed_actor<caf::reacts_to<Answer>>>(asker), std::move(what));
  }

private:
  using run_range = std::pair<position, position>;

  /// Answers, or keeps the question until the damaged run that it met is made again.
  template <class Question, class Answer>
  void serve(const Question& x, Answer (log_reader_state::*work)(const Question&)) {
    const auto asker = self_->current_sender();
    if (!asker)
      return;
    met_damage_ = false;
    auto answer = (this->*work)(x);
    if (met_damage_ && begin_repair()) {
      held_.push_back([this, asker, x, work](ec why) {
        auto again = why == ec::ok ? (this->*work)(x) : Answer{};
        if (why != ec::ok) {
          again.id = x.id;
          again.code = why;
          name_queue(again, x);
        }
        answer_to(asker, std::move(again));
      });
      return;
    }
    answer_to(asker, std::move(answer));
  }
  static void name_queue(entries_fetched& answer, const read_index& x) { answer.queue = x.queue; }
  static void name_queue(outcomes_found&, const find_outcomes&) {}

  [[nodiscard]] view_read view(const read_view& x, const unsaved_taken& tail);
  [[nodiscard]] position nearest_sample(const read_view& x, const unsaved_taken& tail);
  [[nodiscard]] std::string op_body(const decide_record& decided) const;
  [[nodiscard]] std::optional<queue_offset> half_offset(position opened,
                                                        std::uint32_t length = 0) const;
  [[nodiscard]] result<std::optional<storage::stored_outcome>> outcome_of(position transaction);
  void refresh_runs();

  // log_reader_repair.cpp
  void note_damaged(const storage::run_reader& run, const error& why);
  bool begin_repair();
  void repair(position durable);
  void repair_one(run_range range, const std::string& why, position durable);
  void end_repair(ec why);
  void list(position at, std::string what);
  void list_set_aside();

  log_reader_pointer self_;
  log_reader_start from_;
  storage::run_catalog runs_;
  std::vector<position> next_ends_; ///< by run: where the one that goes on behind it ends
  std::shared_ptr<const shard_peers> peers_;
  std::map<run_range, std::string> damaged_; ///< to be made again, with what is wrong
  std::set<run_range> hopeless_; ///< could not be made again; tried once more after a checkpoint
  bool met_damage_ = false;      ///< by the question that is being answered
  bool repairing_ = false;
  std::vector<std::function<void(ec)>> held_; ///< questions that wait for the repair
  std::vector<quarantined_item> listed_;
  mutable std::uint64_t questions_ = 0;
  mutable std::uint64_t records_ = 0;
  std::uint64_t remade_ = 0;
};

log_reader_actor::behavior_type log_reader(log_reader_pointer self,
                                           std::shared_ptr<log_reader_start> from);

} // namespace handfast
