#pragma once

/// Writes one derived run.

#include "storage/file_system.hpp"
#include "storage/run_format.hpp"

namespace handfast::storage {

/// Takes sorted input, section after section (calls of a later section end the earlier ones):
/// queues ascending by key, outcomes ascending by transaction, half samples, op samples, both
/// ascending by offset. A violated order is a broken invariant. Memory: one block, and 32 bytes per
/// queue. Belongs to one thread. Nobody sees the file before `commit`.
///
/// Write one with every checkpoint, even if it holds nothing: recovery replays from the first
/// stretch that no run covers.
class run_writer {
public:
  /// Begins a run of [from, to) in `directory` (made if missing). `aside` is the name of the
  /// unfinished file there: two that are written at the same time need two.
  static result<run_writer> begin(file_system& disk, std::string directory, std::uint64_t store_id,
                                  position from, position to, std::uint64_t now_ms,
                                  const std::string& aside = "next.tmp");

  /// Entries of one queue with consecutive offsets from `first`. Several calls for one queue go on
  /// upwards.
  result<void> add_entries(queue_key key, queue_offset first, std::span<const queue_entry> entries);
  result<void> add_outcome(const stored_outcome& outcome);
  result<void> add_view_sample(view which, const view_sample& sample);
  /// Sync, rename, sync of the directory. Call once, last. Returns the path.
  result<std::string> commit();

private:
  run_writer(file_system& disk, std::string directory, const std::string& aside,
             const run_info& info);
  /// Ends the sections before `section`.
  result<void> go_to(run_section section);
  /// Room for the next item of the current section.
  result<std::byte*> next_item();
  result<void> end_block();
  result<void> flush();

  file_system* disk_;
  std::string directory_;
  std::string aside_;
  run_info info_;
  std::uint32_t seed_;
  std::unique_ptr<file> file_;
  std::vector<std::byte> pending_; ///< blocks that are not written yet, the open one last
  std::uint64_t written_ = 0;      ///< bytes of the file before `pending_`
  std::size_t block_items_ = 0;    ///< of the open block; 0: there is none
  run_section section_ = run_section::entries;
  std::vector<queue_extent> extents_;
  std::array<std::optional<std::uint64_t>, run_sections> last_key_; ///< of what must ascend
};

} // namespace handfast::storage
