#pragma once

/// Reads everything in a data folder and says what is wrong. Changes nothing.

#include "storage/log_rules.hpp"
#include "storage/recovery.hpp"

namespace handfast::storage {

struct verify_report {
  store_identity identity;
  position begin;
  position end; ///< of the last valid record
  position durable_mark;
  std::uint64_t segments = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checkpoints = 0;       ///< valid ones
  std::uint64_t runs = 0;              ///< valid ones
  std::vector<damaged_record> damaged; ///< `record` is null in all
  std::vector<lost_range> lost;        ///< below the durable mark
  std::vector<lost_range> accepted;    ///< losses that an operator accepted earlier
  std::vector<damaged_file> damaged_files;
  std::vector<impossible_record> impossible; ///< whole records that say what cannot be
  std::uint64_t impossible_not_listed = 0;
  std::uint64_t torn_bytes = 0; ///< behind `end`: what the next start will cut

  /// Nothing that was durable is damaged or gone. A torn tail and accepted losses are fine.
  [[nodiscard]] bool whole() const {
    return damaged.empty() && lost.empty() && damaged_files.empty();
  }
  /// It is whole, and what it says can be true.
  [[nodiscard]] bool sound() const { return whole() && impossible.empty(); }
  /// A few lines for people.
  [[nodiscard]] std::string text() const;
};

/// Checks identity, the log's note, segments with every record, and every block of the checkpoints
/// and runs of shard `shard`. Takes no
/// lock: while a node writes, the tail may look torn. An error only if nothing can be checked (no
/// store there, newer format, read failure).
result<verify_report> verify_log(file_system& disk, const std::string& root,
                                 std::uint8_t shard = 0);

} // namespace handfast::storage
