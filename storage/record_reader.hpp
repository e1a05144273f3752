#pragma once

/// Reads single records by position: bodies for deliveries, old records for answers.

#include "storage/record_codec.hpp"
#include "storage/segment_set.hpp"

#include <functional>

namespace handfast::storage {

/// Random access to one log. Immutable over a set that may grow; safe from any thread. Only
/// positions below the durable end may be asked for.
class record_reader {
public:
  record_reader(const segment_set& log, const record_codec& codec) : log_{log}, codec_{codec} {}

  /// The record at `at`, waiting for the disk if needed. `length_hint` (the stored length, if
  /// known) saves a second read. ec::position_not_found if the segment is gone or no record starts
  /// there; ec::corrupt if payload or content is damaged.
  [[nodiscard]] result<log_record> read(position at, std::uint32_t length_hint = 0) const;
  /// The same from memory only: nothing if the disk would be needed. `length` is the stored length,
  /// as index entries have it.
  [[nodiscard]] result<std::optional<log_record>> try_read(position at, std::uint32_t length) const;

  struct spot {
    position at;
    std::uint32_t length = 0; ///< as stored
  };
  using visitor = std::function<void(std::size_t n, const log_record& record)>;
  /// `try_read` for many: those that stand close together are read in one go, in the order of
  /// their positions. Calls `found` for each one that is whole and in memory; the payloads of
  /// neighbours share one buffer.
  void try_read_all(std::span<const spot> places, const visitor& found) const;

private:
  void try_read_run(std::span<const spot> places, std::span<const std::uint32_t> run,
                    const visitor& found) const;

  const segment_set& log_;
  const record_codec& codec_;
};

} // namespace handfast::storage
