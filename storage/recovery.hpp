#pragma once

/// From a data folder, in whatever state a crash left it, to a log that can go on.

#include "storage/checkpoint_file.hpp"
#include "storage/log_scanner.hpp"
#include "storage/run_reader.hpp"
#include "storage/segment_set.hpp"
#include "storage/store_directory.hpp"

#include <functional>

namespace handfast::storage {

struct recovery_options {
  segment_options segments;
  /// Go on in spite of records that are lost below the durable mark: they are reported and skipped,
  /// durably.
  bool accept_corruption = false;
  /// Ignore checkpoints and replay the whole log (a test and repair switch).
  bool ignore_checkpoints = false;
  /// Records are handed over in batches of about this size.
  std::size_t batch_bytes = 1 * limits::mib;
  std::size_t chunk_bytes = 4 * limits::mib;
  /// For a store that is made now.
  std::uint64_t new_store_id = 0;
  wall_ms now_ms = 0;
  /// Makes the derived run of [from, to) again from the log, into its place; `until` is where the
  /// next run ends (`to` without one): what is visible or decided there may go into this one too.
  /// None: the log is replayed from before a damaged run.
  using run_maker = std::function<result<void>(const segment_set& log, std::uint64_t store_id,
                                               position from, position to, position until)>;
  run_maker remake_run;
  /// A monotonic clock, for the durations in the report. None: they stay 0.
  std::function<std::chrono::nanoseconds()> clock;
};

/// A record that is there, but not whole.
struct damaged_record {
  position at;
  std::uint32_t length = 0;
  decode_status reason = decode_status::ok; ///< bad_payload or undecodable
  /// Without its payload; null if `reason` is undecodable.
  const log_record* record = nullptr;
};

/// A stretch of the log that is lost.
struct lost_range {
  position from;
  position to;
  std::string reason;
};

/// Takes what recovery finds, in this order: the checkpoint (if any), then batches and damaged
/// records in log order.
class recovery_visitor {
public:
  virtual ~recovery_visitor() = default;
  /// Slices of the newest valid checkpoint. An error ends the recovery.
  virtual result<void> on_checkpoint(const checkpoint& found) = 0;
  /// Records in log order (replay = true); `from` of the first batch is where replay starts. May be
  /// kept. An error ends the recovery.
  virtual result<void> on_batch(std::shared_ptr<const record_batch> batch) = 0;
  /// Comes before the batch that holds the record: with bad_payload the record is in that batch
  /// too, with an empty payload, to be folded but marked; with undecodable it is in none.
  virtual void on_damaged(const damaged_record& damaged) = 0;
  /// Lost records whose loss is accepted now or was at an earlier start; before the batch that
  /// holds what stands behind them.
  virtual void on_lost(const lost_range& lost) = 0;
};

/// What recovery did.
struct recovery_report {
  bool created = false;      ///< the store is new
  position checkpoint_start; ///< none: no valid checkpoint
  std::uint64_t checkpoint_generation = 0;
  position scan_from;    ///< below `checkpoint_start` if runs are missing or damaged
  position end;          ///< where appending goes on
  position durable_mark; ///< largest durable position that anything on disk proves
  /// The highest that any writer used; the caller goes on with the next one.
  std::uint32_t last_epoch = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t quarantined = 0;
  position cut_from;           ///< first byte of the torn tail; none if the log ended cleanly
  std::uint64_t cut_bytes = 0; ///< from there to the last byte that was not zero
  std::vector<lost_range> lost;
  std::vector<damaged_file> damaged_files;
  std::uint64_t remade_runs = 0; ///< of the damaged files, those made again from the log
  /// Stretches of damaged runs that the log no longer has: what they said is gone.
  std::vector<lost_range> gone_runs;
  std::string note_missing;            ///< why nothing was known of what the log must consist of
  std::chrono::nanoseconds opening{0}; ///< lock, checkpoint, segments, sync of the tail
  std::chrono::nanoseconds replaying{0};
  std::chrono::nanoseconds cutting{0};

  /// One paragraph for people.
  [[nodiscard]] std::string text() const;
};

/// A store that can go on.
struct recovered_store {
  store_directory directory;
  std::unique_ptr<segment_set> log; ///< its tail is at `report.end`
  run_catalog runs;
  /// Start of the oldest checkpoint kept; nothing at or above it may be retired. 0 if there is
  /// none.
  position oldest_checkpoint_start;
  recovery_report report;
};

/// Recovers the store in `root`, or makes it. Never throws on any bytes. Besides the errors of
/// `store_directory::open`: ec::corrupt when records below the durable mark are lost, naming the
/// exact positions (unless accepted); ec::io_error; ec::disk_full only for a store that is made
/// now.
result<recovered_store> recover(file_system& disk, const std::string& root,
                                const recovery_options& options, recovery_visitor& visitor);

} // namespace handfast::storage
