#pragma once

/// All that COMMIT LOG folds: next offsets, windows of numbering producers, samples of the views,
/// and entries of queues that nobody has taken over yet. Plain, no CAF.

#include "actors/folds/producer_windows.hpp"
#include "actors/folds/queue_heads.hpp"
#include "actors/folds/queue_index.hpp"
#include "actors/folds/slice_io.hpp"
#include "actors/folds/view_samples.hpp"
#include "messages/delivery.hpp"
#include "messages/status.hpp"

#include <tsl/robin_map.h>

#include <string>
#include <string_view>
#include <vector>

namespace handfast {

/// Entries of queues whose actor has not bound itself yet. A checkpoint takes them along, so that
/// none is lost when it comes before the queue does.
class untaken_entries {
public:
  void add(queue_key queue, const visible_entry& entry) { by_queue_[queue].push_back(entry); }
  /// All of one queue, in order of offset; they are no longer here.
  [[nodiscard]] std::vector<visible_entry> take(queue_key queue);
  /// All, by queue and offset.
  [[nodiscard]] std::vector<std::pair<queue_key, visible_entry>> all() const;
  /// Forgets what `all` gave before the newest `queue` entries: those with an offset below what a
  /// run holds now.
  void forget(const std::vector<std::pair<queue_key, visible_entry>>& saved);
  [[nodiscard]] bool empty() const { return by_queue_.empty(); }

private:
  tsl::robin_map<queue_key, std::vector<visible_entry>, std::hash<queue_key>> by_queue_;
};

/// Recovery makes one: `load` for each slice of the checkpoint whose name begins with `prefix`,
/// then `apply` for each record.
class log_tail {
public:
  static constexpr std::string_view prefix = "commit_log/";

  queue_heads heads;
  producer_windows windows;
  view_samples samples;
  untaken_entries untaken;
  wall_ms newest_ms = 0; ///< of all records; time stamps never go back behind it
  /// Records that recovery could not read or apply. Kept over checkpoints, so that they stay listed
  /// when the log before is no longer replayed.
  std::vector<quarantined_item> quarantined;

  /// Lists a record, once. The list is bounded; what is beyond it is in the log of the start.
  void quarantine(quarantined_item item);

  /// A record of the log's durable part, in log order; those that a loaded slice knows already may
  /// come again.
  void apply(const log_record& record);

  /// The next part for a checkpoint; begin with an empty cursor, go on until it comes back empty.
  /// Nothing at or above `durable` is in it.
  struct part {
    std::vector<fold_slice> slices;
    std::string cursor;
  };
  part save(const std::string& cursor, position durable);
  /// Takes one slice; others than its own are ignored. A slice that makes no sense is a broken
  /// invariant.
  void load(const std::string& name, std::string_view bytes);

private:
  std::vector<producer_id>
      saving_; ///< still to be saved for the checkpoint under way, from the cursor on
};

} // namespace handfast
