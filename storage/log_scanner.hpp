#pragma once

/// Reads the log forward, record by record.

#include "storage/record_codec.hpp"
#include "storage/segment_set.hpp"

#include <functional>

namespace handfast::storage {

struct scan_options {
  /// How much one read brings in.
  std::size_t chunk_bytes = 4 * limits::mib;
  /// Stop here; none = at the end of what is prepared.
  position to{};
  /// Called for each PAD, over which the scanner passes.
  std::function<void(const record_header&)> on_pad{};
};

/// What `log_scanner::next` found.
enum class scan_status : std::uint8_t {
  record,    ///< `record` is set; the scanner stands behind it
  damaged,   ///< a record whose payload or content is bad (`reason`); the scanner stands behind it
  invalid,   ///< no valid record stands here; the scanner stays
  end,       ///< `to`, or the end of all segments
  io_failed, ///< `failure` says why
};

/// Reads records in log order from a set of segments. Belongs to one thread; any number may read
/// the same set, also while it is written, as long as `to` is not beyond what is durable. PADs are
/// passed over in silence. Payloads are windows into the read chunk: who keeps one for long should
/// copy it, since it holds the whole chunk.
class log_scanner {
public:
  log_scanner(const segment_set& log, const record_codec& codec, position from,
              const scan_options& options = {});

  /// Reads one record. `damaged` sets `record` too if `reason()` is bad_payload (then without its
  /// payload).
  scan_status next(log_record& record);
  /// Records as one batch (replay = true) of about `bytes_max`, at least one if there is any. Null
  /// at the end. A damaged or invalid record, and a missing segment, are ec::corrupt: for readers
  /// below the durable end, where nothing of the kind may be. With `skip_damaged` a damaged payload
  /// is delivered empty and an undecodable record left out.
  result<std::shared_ptr<record_batch>> next_batch(std::size_t bytes_max, bool skip_damaged);

  /// Where the next record is expected.
  [[nodiscard]] position at() const { return at_; }
  /// Goes on at `p`, which must be where a record can stand.
  void seek(position p);
  /// Header of the record that `next` returned last.
  [[nodiscard]] const record_header& header() const { return header_; }
  /// Why the last one was `damaged` or `invalid`.
  [[nodiscard]] decode_status reason() const { return reason_; }
  [[nodiscard]] const error& failure() const { return failure_; }
  /// Largest durable mark in any header so far.
  [[nodiscard]] position durable() const { return durable_; }

private:
  /// Sets `segment_` to the one that holds `at_`, stepping over file headers and the unusable rest
  /// of a segment.
  bool enter_segment();
  result<void> load(std::size_t bytes);
  [[nodiscard]] std::span<const std::byte> window() const;
  result<decode_status> decode_here(log_record& record);
  scan_status settle(decode_status status);

  const segment_set& log_;
  const record_codec& codec_;
  scan_options options_;
  position at_;
  std::shared_ptr<segment> segment_;
  std::shared_ptr<std::byte[]> chunk_;
  bool chunk_is_shared_ = false; ///< windows into it were handed out
  std::size_t chunk_capacity_ = 0;
  std::size_t chunk_size_ = 0;
  position chunk_at_;
  record_header header_;
  decode_status reason_ = decode_status::ok;
  error failure_;
  position durable_;
};

} // namespace handfast::storage
