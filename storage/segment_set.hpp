#pragma once

/// The log as one range of positions over many files.

#include "storage/log_note.hpp"
#include "storage/record_codec.hpp"
#include "storage/segment.hpp"

#include <mutex>
#include <shared_mutex>

namespace handfast::storage {

struct segment_options {
  std::uint8_t shard = 0;
  /// Of segments made from now on, header included; a multiple of 4 KiB. Existing ones keep their
  /// size.
  std::uint64_t segment_bytes = 256 * limits::mib;
  /// Prepared before a new segment is used, so that a first start is quick. `prepare_step` does the
  /// rest.
  std::uint64_t first_prepared_bytes = 1 * limits::mib;
};

/// Where segments end, also those that do not exist yet. A plain value; stays right for as long as
/// the set is open.
class segment_layout {
public:
  segment_layout(std::vector<std::pair<position, position>> existing, position first_base,
                 std::uint64_t segment_bytes)
      : existing_{std::move(existing)}, first_base_{first_base}, segment_bytes_{segment_bytes} {}

  /// First and end position of the segment that holds `p`; an end position belongs to the next
  /// segment.
  struct bounds {
    position base;
    position end;
    [[nodiscard]] position first() const { return base + segment_header_bytes; }
  };
  [[nodiscard]] bounds segment_of(position p) const;
  /// The longest record that a new segment can hold.
  [[nodiscard]] std::uint64_t record_bytes_max() const {
    return segment_bytes_ - segment_header_bytes;
  }

private:
  std::vector<std::pair<position, position>> existing_;
  position first_base_; ///< of the first segment that does not exist yet
  std::uint64_t segment_bytes_;
};

/// A stretch of positions for which the file is missing or cannot be opened, or which was cut off
/// its end.
struct missing_segment {
  position from;
  position to;
  std::string reason;
};

/// All segments of one shard.
///
/// Threads: `write`, `sync` and `ensure` belong to the writer; `prepare_step` to one other thread
/// (or the same); `find`, `segments` and reads through segments are safe from any thread; `retire`
/// from any one thread. A segment that was retired stays readable for those that still hold it.
///
/// A segment that another one follows has its whole size on the disk. With a note (`log_note`),
/// what the note asks for and the disk has not is listed in `missing` and `cut`, and the note is
/// kept up to date: a growing file after it was synced, a retired one before it is removed.
///
/// Disk full: `ensure` (and so `write_batch::write`) can fail with ec::disk_full before anything
/// was written; the same call may be repeated when there is room. Any other error of a write or
/// sync is final: stop the shard.
class segment_set {
public:
  /// Opens what is in `directory` (made if missing) and removes the leftovers of an unfinished
  /// preparation. A segment that cannot be opened is listed in `missing`, not an error, unless its
  /// format is newer. `note_path` names the note's file; without one nothing is asked for or noted.
  static result<std::unique_ptr<segment_set>> open(file_system& disk, std::string directory,
                                                   std::uint64_t store_id,
                                                   const segment_options& options,
                                                   std::string note_path = {});
  /// For checks: changes nothing; only reads may follow.
  static result<std::unique_ptr<segment_set>>
  open_read_only(file_system& disk, std::string directory, std::uint64_t store_id,
                 std::uint8_t shard, std::string note_path = {});

  /// Base of the segment in a file of this name; none for other files.
  static std::optional<position> base_in(const std::string& name);

  [[nodiscard]] std::vector<std::shared_ptr<segment>> segments() const;
  [[nodiscard]] const std::vector<missing_segment>& missing() const { return missing_; }
  /// Ends of files that were there and are not, so that what they held is lost.
  [[nodiscard]] const std::vector<missing_segment>& cut() const { return cut_; }
  /// What the note said when the set was opened; null if there was none that could be read.
  [[nodiscard]] const log_note* noted() const { return noted_ ? &*noted_ : nullptr; }
  /// Why there is none. Empty if there is one, or no path was given.
  [[nodiscard]] const std::string& note_missing() const { return note_missing_; }
  /// The segment that holds `p`, or null.
  [[nodiscard]] std::shared_ptr<segment> find(position p) const;
  /// The first one that ends behind `p`, or null.
  [[nodiscard]] std::shared_ptr<segment> find_from(position p) const;
  /// Base of the oldest segment; the shard's first position when there is none.
  [[nodiscard]] position begin() const;
  [[nodiscard]] segment_layout layout() const;

  /// Makes and prepares segments until [.., `to`) can be written.
  result<void> ensure(position to);
  /// Writes `pieces` from `at`; all inside one segment and its prepared part.
  result<void> write(position at, std::span<const iovec> pieces);
  /// Makes everything written in the segments that [from, to) touches durable.
  result<void> sync(position from, position to);

  /// One paced step of preparing: zeros for at most `bytes_max` (4 MiB at most) in the segment at
  /// the tail, then in the next one. Returns whether there is more to do. ec::disk_full leaves
  /// everything as it was and may be repeated later.
  result<bool> prepare_step(std::uint64_t bytes_max);
  /// The same, but a whole segment at once, without writing it: for a log that grows faster than it
  /// is worth filling ahead. Where the file system cannot, a step of `prepare_step`.
  result<bool> reserve_step();
  /// Of segments made from now on.
  [[nodiscard]] std::uint64_t segment_bytes() const { return options_.segment_bytes; }
  /// Bytes that can still be appended without making or extending any file.
  [[nodiscard]] std::uint64_t prepared_ahead() const;
  /// Bytes of disk that preparing has still to take until the rest of the segment at the tail and
  /// one more are there.
  [[nodiscard]] std::uint64_t still_to_prepare();
  /// Tells where appending goes on, so that preparing knows the tail; `write` moves it forward by
  /// itself.
  void set_tail(position tail);
  [[nodiscard]] position tail() const { return position{tail_.load(std::memory_order_acquire)}; }

  /// Writes zeros over what is prepared of [from, to), segment headers excepted, and makes them
  /// durable.
  result<void> erase(position from, position to);
  /// Puts PADs that stand for accepted losses over [from, to), where the file exists, and makes
  /// them durable.
  result<void> bridge(const record_codec& codec, position from, position to, std::uint32_t epoch,
                      wall_ms time_ms);

  /// For accepted losses: puts a segment that holds one such PAD into the place of each missing
  /// one, durably; a file that cannot be opened is set aside as `*.damaged`. Before any reading.
  result<void> fill_missing(const record_codec& codec, wall_ms time_ms);
  /// The end of a recovery, with the log's end and the epoch of whoever writes next: gives files
  /// that were cut their size back, and notes what the log consists of now (in a new note if there
  /// was none).
  result<void> settle(position end, std::uint32_t epoch);
  /// Notes that the log ended in order at `end`, where everything is durable: the next start need
  /// not look for more. Nothing may be written afterwards.
  result<void> note_end(position end);

  /// Deletes the segments that end at or below `limit`, oldest first, each durably, but never the
  /// one at the tail. It is noted first, so that what is left after a crash is no loss. Returns the
  /// bytes freed: none while somebody copies the store (`hold_removals`).
  result<std::uint64_t> retire(position limit);

private:
  segment_set(file_system& disk, std::string directory, std::uint64_t store_id,
              const segment_options& options, std::string note_path);
  result<void> load_note(open_mode mode);
  result<void> load(open_mode mode);
  result<void> load_segment(position base, open_mode mode, position& end);
  void compare_with_note(position end);
  result<void> publish_next();
  result<void> begin_next();
  result<bool> make_room(std::uint64_t bytes_max, room how);
  result<void> complete(segment& one);
  [[nodiscard]] log_note note_now() const;
  result<void> write_note(const log_note& note);
  result<void> fill(const record_codec& codec, position base, std::uint64_t size, wall_ms time_ms);
  [[nodiscard]] position next_base() const;
  [[nodiscard]] std::string path_of(position base) const;

  file_system& disk_;
  std::string directory_;
  std::uint64_t store_id_;
  segment_options options_;
  std::string note_path_;
  std::vector<missing_segment> missing_;
  std::vector<missing_segment> cut_;
  std::optional<log_note> noted_;
  std::string note_missing_;
  std::atomic<std::uint64_t> tail_{0};

  mutable std::shared_mutex list_mutex_; ///< guards `segments_`
  std::vector<std::shared_ptr<segment>> segments_;

  std::mutex prepare_mutex_;          ///< guards `next_`, `note_` and every change of a file's size
  std::unique_ptr<segment> next_;     ///< still under its temporary name
  std::optional<log_note_file> note_; ///< none: nothing is noted
};

} // namespace handfast::storage
