#pragma once

/// What the log of one shard must consist of, kept outside of it: so that files that are gone, or
/// cut short, are not taken for a log that never was longer. `docs/format-log.md` has the layout.

#include "messages/ids.hpp"
#include "storage/file_system.hpp"

namespace handfast::storage {

constexpr std::uint32_t log_note_version = 1;

/// Lower bounds: the log may have grown since. A default one says that there is no segment yet.
struct log_note {
  std::uint64_t number = 0;   ///< counts the notes of a store; the highest one counts
  position oldest;            ///< base of the oldest segment that is kept
  position newest;            ///< base of the newest segment that must be there
  std::uint64_t size = 0;     ///< of that one, when wholly prepared; 0: there is no segment yet
  std::uint64_t prepared = 0; ///< bytes that its file has at least
  position durable;           ///< everything below was durable
  bool ended = false;         ///< in order, with `durable` as the log's end
  std::uint32_t epoch = 0;    ///< highest that a writer of this store may have used

  /// Where the newest segment ends; `oldest` without one.
  [[nodiscard]] position end() const { return size == 0 ? oldest : newest + size; }
  friend bool operator==(const log_note&, const log_note&) = default;
};

/// The file that keeps the last two notes, each in a sector of its own, so that a torn write costs
/// only the one that was being written. Belongs to one thread at a time.
class log_note_file {
public:
  /// Makes the file, durably, in place of any other. Its first note says `first`.
  static result<void> make(file_system& disk, const std::string& path, std::uint64_t store_id,
                           const log_note& first);
  /// Opens one that exists. ec::corrupt if neither note passes its check, ec::newer_format.
  static result<log_note_file> open(file_system& disk, const std::string& path,
                                    std::uint64_t store_id, open_mode mode);

  [[nodiscard]] const log_note& last() const { return last_; }
  /// Puts `note` over the older of the two, durably; its number is chosen here.
  result<void> write(log_note note);

private:
  log_note_file(std::unique_ptr<file> content, std::uint64_t store_id)
      : content_{std::move(content)}, store_id_{store_id} {}

  std::unique_ptr<file> content_;
  std::uint64_t store_id_;
  log_note last_;
};

} // namespace handfast::storage
