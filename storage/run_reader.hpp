#pragma once

/// Reads derived runs by binary search, block by block, each checked when it is read.

#include "storage/checkpoint_file.hpp"
#include "storage/run_format.hpp"

#include <functional>

namespace handfast::storage {

/// One open run. Immutable: safe from any thread. Calls may wait for the disk. A damaged block is
/// ec::corrupt and names file and block.
class run_reader {
public:
  /// Reads and checks the first block only.
  static result<std::shared_ptr<const run_reader>> open(file_system& disk, const std::string& path,
                                                        std::uint64_t store_id);

  [[nodiscard]] const run_info& info() const { return info_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t count(run_section s) const {
    return info_.sections[static_cast<std::size_t>(s)].count;
  }

  /// Entries of `key` with offsets in [from, to), at most `count_max`, ascending and consecutive.
  /// `first` is the offset of the first one found: the smallest at or above `from` that this run
  /// has.
  struct entries {
    queue_offset first;
    std::vector<queue_entry> found;
  };
  [[nodiscard]] result<entries> find_entries(queue_key key, queue_offset from, queue_offset to,
                                             std::size_t count_max) const;
  [[nodiscard]] result<std::optional<stored_outcome>> find_outcome(position transaction) const;
  /// The sample with the largest offset at or below `offset`.
  [[nodiscard]] result<std::optional<view_sample>> find_view_sample(view which,
                                                                    queue_offset offset) const;
  /// Calls `each` for all queues of the run, ascending.
  result<void> for_each_extent(const std::function<void(const queue_extent&)>& each) const;
  /// Calls `each` for all outcomes, ascending by transaction.
  result<void> for_each_outcome(const std::function<void(const stored_outcome&)>& each) const;
  /// Reads and checks every block.
  [[nodiscard]] result<void> verify() const;

private:
  run_reader(std::string path, std::unique_ptr<file> content, const run_info& info);
  /// Checked items of block `number` of `s`, as bytes.
  result<void> read_block(run_section s, std::uint64_t number, std::span<std::byte> into) const;
  class cursor;

  std::string path_;
  std::unique_ptr<file> content_;
  run_info info_;
  std::uint32_t seed_;
};

/// The runs of a store, oldest first.
struct run_catalog {
  std::vector<std::shared_ptr<const run_reader>> runs;
  std::vector<damaged_file> damaged;
  /// What the damaged ones cover, by their names.
  std::vector<std::pair<position, position>> damaged_ranges;

  /// The lowest position in [begin, end) that no run covers; `end` if all is covered.
  [[nodiscard]] position first_uncovered(position begin, position end) const;
  /// The same, with damaged ones counted: for who makes those again.
  [[nodiscard]] position first_unnamed(position begin, position end) const;
  /// Where the run that goes on at `end` ends; `end` if there is none.
  [[nodiscard]] position end_of_next(position end) const;
};

/// The file name of the run of [from, to).
std::string run_name(position from, position to);
/// Where the run begins whose file name `name` starts with; nothing for other names.
std::optional<position> run_begin(std::string_view name);
/// Keeps what can be read of the bytes of `path` as `path` + ".damaged", beside it.
result<void> keep_damaged_copy(file_system& disk, const std::string& path);

/// Opens all runs in `directory`, and removes leftovers of unfinished ones unless `read_only`.
/// Damaged ones are named, not an error; ec::newer_format is. A missing directory holds none.
result<run_catalog> open_runs(file_system& disk, const std::string& directory,
                              std::uint64_t store_id, bool read_only = false);

} // namespace handfast::storage
