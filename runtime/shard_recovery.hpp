#pragma once

/// From a data folder to everything that a shard's actors start from. No CAF, no sockets, no
/// threads: the node and the simulation start in the same way.

#include "actors/folds/delay_fold.hpp"
#include "actors/folds/half_fold.hpp"
#include "actors/folds/log_tail.hpp"
#include "actors/folds/outcome_table.hpp"
#include "actors/folds/progress_table.hpp"
#include "actors/folds/queue_index.hpp"
#include "actors/folds/topic_table.hpp"
#include "config/settings.hpp"
#include "storage/record_codec.hpp"
#include "storage/recovery.hpp"

#include <map>
#include <memory>

namespace handfast::runtime {

/// A shard that can go on. The actors take the folds out of it; store and codec outlive them.
struct recovered_shard {
  storage::recovered_store store;
  storage::record_codec codec;
  std::uint32_t epoch = 1; ///< of what is appended from now on
  /// A checkpoint that passed its checks but could not be understood: the whole log was replayed
  /// instead.
  std::string checkpoint_refused;

  log_tail tail;
  half_fold half;
  outcome_table outcomes;
  delay_fold delays;
  topic_table topics;
  std::map<group_id, progress_table> groups;
  std::map<queue_key, queue_index>
      queues; ///< without the entries that `tail` keeps until a queue takes them
};

/// What this process brings along.
struct recovery_seams {
  wall_ms now_ms = 0;
  std::uint64_t new_store_id = 0;                  ///< random, for a store that is made now
  std::function<std::chrono::nanoseconds()> clock; ///< for the durations in the report
};

/// Recovers the shard in `settings.store.dir`, or makes it. A record that cannot be read or applied
/// is quarantined and listed in `tail.quarantined`; the errors are those of `storage::recover`.
result<std::unique_ptr<recovered_shard>> recover_shard(storage::file_system& disk,
                                                       const config::settings& settings,
                                                       const recovery_seams& seams);

} // namespace handfast::runtime
