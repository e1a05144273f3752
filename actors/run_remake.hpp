#pragma once

/// Makes a derived run again from the log, because its file is damaged. No actor in here.

#include "messages/error.hpp"
#include "messages/log_record.hpp"
#include "storage/record_codec.hpp"
#include "storage/segment_set.hpp"

#include <string>
#include <vector>

namespace handfast {

/// Where runs go and what they are made from.
struct run_places {
  storage::file_system& disk;
  std::string directory;
  std::uint64_t store_id = 0;
  const storage::segment_set& log;
  const storage::record_codec& codec;
};

/// A stretch of the log that could not be read.
struct unread_stretch {
  position from;
  position to;
  std::string why;
};

struct remade_run {
  std::size_t entries = 0;
  std::size_t outcomes = 0;
  std::vector<unread_stretch> unread; ///< what records there said is not in the run
};

/// Writes the run of [from, to), durably, in place of whatever has its name. It takes everything
/// that became visible or was decided in [from, until): a run may hold more than its name says,
/// since its checkpoint went on while records came, and what it has twice with the next run is the
/// same. All of that must be durable. Records that are gone or unreadable are passed over and
/// named; the errors are those of the disk, and ec::internal for what no run can hold.
result<remade_run> remake_run(const run_places& places, position from, position to, position until);

} // namespace handfast
