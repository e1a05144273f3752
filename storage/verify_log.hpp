#pragma once

/// Reads everything in a data folder and says what is wrong. Changes nothing.

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
  std::uint64_t torn_bytes = 0; ///< behind `end`: what the next start will cut

  /// Nothing that was durable is damaged. A torn tail and accepted losses are fine.
  [[nodiscard]] bool sound() const {
    return damaged.empty() && lost.empty() && damaged_files.empty();
  }
  /// A few lines for people.
  [[nodiscard]] std::string text() const;
};

/// Checks identity, segments with every record, checkpoints and runs of shard `shard`. Takes no
/// lock: while a node writes, the tail may look torn. An error only if nothing can be checked (no
/// store there, newer format, read failure).
result<verify_report> verify_log(file_system& disk, const std::string& root,
                                 std::uint8_t shard = 0);

} // namespace handfast::storage
