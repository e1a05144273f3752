#pragma once

/// CHECKPOINTER: fuzzy checkpoints and derived runs, one at a time.
///
/// Receives   make_checkpoint (commit_log)
/// Sends      take_slices, take_unsaved (requests to commit_log, op_store, half_store,
/// delay_scheduler, topic_registry, groups and queues);
///            checkpoint_made to log_reader, commit_log and node_supervisor; run_saved to
///            commit_log, op_store and queues
/// Owns       the checkpoint in the making
/// Supervised by node_supervisor: a restarted one begins with nothing under way
/// Blocks?    yes, in writes behind the file seam: spawn it detached
///
/// Guarantees: replay starts at the position that came with the order, which is older than
/// everything taken afterwards; a checkpoint counts only when all of it is durable, its run before
/// it; a fold that does not answer ends this one and is no harm to the last; of a queue that does
/// not answer the part is folded from the log instead, so that one dead queue stops no checkpoints.

#include "actors/checkpoint_job.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <optional>
#include <vector>

namespace handfast {

struct checkpointer_start {
  checkpoint_places places;
  clock* time = nullptr;
};

/// Sources that are asked at the same time.
constexpr std::size_t checkpoint_sources_at_once = 16;

class checkpointer_state;
using checkpointer_pointer = loop_pointer<checkpointer_actor, checkpointer_state>;

class checkpointer_state {
public:
  static inline const char* name = "checkpointer";

  explicit checkpointer_state(checkpointer_pointer self) : self_{self} {}

  void start(checkpointer_start from);
  void on_peers(const peers_changed& x);
  void on_stop();
  void on_make(const make_checkpoint& x);
  [[nodiscard]] status_report status() const;

private:
  using slice_source = caf::typed_actor<caf::replies_to<take_slices>::with<slices_taken>>;
  using unsaved_source = caf::typed_actor<caf::replies_to<take_unsaved>::with<unsaved_taken>>;
  struct source {
    slice_source slices;
    unsaved_source unsaved; ///< may be null
    const char* role = "";
    queue_key queue; ///< topic 0: not a queue
  };

  [[nodiscard]] result<position> newest_run_end() const;
  void list_sources();
  void ask_more();
  void ask_slices(std::size_t index, std::string cursor);
  void ask_unsaved(std::size_t index);
  void source_done();
  void source_failed(std::size_t index, const std::string& why);
  void finish();
  void tell_saved(const checkpoint_made& done);
  void abandon(error why);
  void announce(const checkpoint_made& x);

  checkpointer_pointer self_;
  checkpoint_places places_;
  clock* time_ = nullptr;
  std::shared_ptr<const shard_peers> peers_;

  std::optional<make_checkpoint> early_; ///< an order that came before the peers were known
  std::optional<checkpoint_job> job_;
  std::shared_ptr<const checkpoint_members> members_;
  std::uint64_t number_ = 0; ///< of the job: answers to an abandoned one are ignored
  std::vector<source> sources_;
  std::size_t next_source_ = 0;
  std::size_t asked_ = 0;
  clock::time_point began_;

  std::uint64_t made_ = 0;
  std::uint64_t abandoned_ = 0;
  checkpoint_result last_;
  std::chrono::milliseconds last_took_{0};
};

checkpointer_actor::behavior_type checkpointer(checkpointer_pointer self, checkpointer_start from);

} // namespace handfast
