#pragma once

/// Collects records into write batches and gives them their positions.

#include "storage/record_codec.hpp"
#include "storage/write_batch.hpp"

namespace handfast::storage {

struct batch_limits {
  std::size_t bytes_max = limits::batch_bytes_max;
  std::size_t records_max = limits::batch_records_max;
};

/// Builds one batch after another, each from where the one before ended. Belongs to one thread.
///
/// Records never straddle segments: one that does not fit into the rest of its segment goes to the
/// next, and a PAD fills the rest. Payloads are not copied (but those of at most 256 bytes, for
/// which a copy is cheaper than a piece of their own).
class batch_builder {
public:
  batch_builder(const record_codec& codec, segment_layout layout, position tail,
                const batch_limits& limits = {});

  /// Goes into the header of every record from now on.
  void set_epoch(std::uint32_t epoch) { epoch_ = epoch; }
  /// Everything below is known to be durable: headers say how far behind it is.
  void set_durable(position durable) { durable_ = durable; }

  /// Where the next record of `stored_bytes` (see `record_codec::size_of`) will stand.
  /// ec::body_too_large if no segment can hold it. Changes nothing.
  [[nodiscard]] result<position> next_position(std::uint64_t stored_bytes) const;
  /// Appends `record`, of which type, time, content and cookie are set, and stamps `at`, `length`
  /// and `epoch`. Returns its position, the one that `next_position` named. ec::body_too_large and
  /// ec::bad_request refuse it and change nothing.
  result<position> add(log_record record);

  /// The batch has reached its limit of bytes or records: write it before adding more. (`add` goes
  /// on all the same.)
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool empty() const { return records_.empty(); }
  [[nodiscard]] std::size_t records() const { return records_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return tail_.value - from_.value; }
  /// Just behind what was added so far.
  [[nodiscard]] position tail() const { return tail_; }

  /// The batch so far; the next one starts empty.
  write_batch take();
  /// Gives the memory of a batch that is done back for reuse. Optional.
  void recycle(write_batch&& done);

private:
  [[nodiscard]] segment_layout::bounds bounds_at(position p) const;
  void pad_to(position at, wall_ms time_ms);
  void append_bytes(position at, std::span<const std::byte> bytes);
  void append_payload(position at, const shared_bytes& payload);
  [[nodiscard]] std::uint32_t lag_of(position at) const;

  const record_codec& codec_;
  segment_layout layout_;
  batch_limits limits_;
  segment_layout::bounds bounds_; ///< of the segment at the tail
  position from_;
  position tail_;
  position durable_;
  position run_end_; ///< where the bytes appended so far end
  std::uint32_t epoch_ = 0;
  write_batch batch_;
  write_batch spare_; ///< memory of a batch that is done
  std::vector<log_record> records_;
};

} // namespace handfast::storage
