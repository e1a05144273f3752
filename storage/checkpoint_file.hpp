#pragma once

/// Checkpoints: named byte strings, from which replay of the log makes the state again.

#include "messages/bytes.hpp"
#include "messages/ids.hpp"
#include "storage/file_system.hpp"

namespace handfast::storage {

constexpr std::uint32_t checkpoint_format_version = 1;

/// What stands at the head of a checkpoint.
struct checkpoint_info {
  std::uint64_t store_id = 0;
  std::uint64_t generation = 0; ///< counts checkpoints of a store, from 1
  position start;               ///< S: replay begins here
  position durable;             ///< everything below was durable when it was written
  std::uint64_t created_ms = 0;
};

struct checkpoint_slice {
  std::string name;
  shared_bytes bytes;
};

/// A checkpoint that passed every check. Slices share one buffer.
struct checkpoint {
  checkpoint_info info;
  std::uint64_t file_bytes = 0;
  std::vector<checkpoint_slice> slices;
};

/// A file that failed its checks.
struct damaged_file {
  std::string path;
  std::string reason;
};

/// Result of `load_newest_checkpoint`.
struct loaded_checkpoint {
  std::optional<checkpoint> newest; ///< none: replay from the log's beginning
  std::vector<damaged_file> damaged;
  /// Start of the oldest valid one kept: segments and runs below it are needed by none.
  position oldest_start;
};

/// Writes one checkpoint aside; nobody sees it before `commit`. Belongs to one thread. Dropped
/// without commit it leaves nothing that counts.
class checkpoint_writer {
public:
  /// Begins in `directory` (made if missing); `info.generation` is chosen here.
  static result<checkpoint_writer> begin(file_system& disk, std::string directory,
                                         checkpoint_info info);

  /// Appends one slice; the same name may come several times, order is kept. Names have 1 to 255
  /// bytes.
  result<void> add_slice(std::string_view name, std::span<const std::byte> bytes);
  /// Finishes: sync, rename, sync of the directory, then removal of all but the newest two, unless
  /// somebody copies the store (`hold_removals`). Call
  /// once, last. Returns the size of the file.
  result<std::uint64_t> commit();

private:
  checkpoint_writer(file_system& disk, std::string directory, checkpoint_info info);
  result<void> flush();

  file_system* disk_;
  std::string directory_;
  checkpoint_info info_;
  std::unique_ptr<file> file_;
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
  std::uint32_t slices_ = 0;
  std::uint32_t crc_ = 0;
};

/// Reads and checks one checkpoint. ec::corrupt if it is damaged or of another store,
/// ec::newer_format.
result<checkpoint> load_checkpoint(file_system& disk, const std::string& path,
                                   std::uint64_t store_id);
/// Loads the newest valid checkpoint of `store_id` in `directory`; damaged ones are passed over and
/// named. ec::newer_format if the newest is of a newer version; an empty or missing directory is no
/// error.
result<loaded_checkpoint> load_newest_checkpoint(file_system& disk, const std::string& directory,
                                                 std::uint64_t store_id);

} // namespace handfast::storage
