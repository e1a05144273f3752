#pragma once

/// Recognises repeated sends: where each of the latest sends of every numbering producer stands in
/// the log. Plain, no CAF.

#include "messages/limits.hpp"
#include "messages/log_record.hpp"

#include <tsl/robin_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace handfast {

/// Where a numbered send stands. For a HALF `offset` is its place in the half view; for a MESSAGE
/// with delay it holds when that becomes visible (see `place_or_due.hpp`).
struct stored_send {
  position at; ///< 0: none
  queue_offset offset;
  queue_key queue;
  friend bool operator==(const stored_send&, const stored_send&) = default;
};

/// What is known of a (producer, sequence).
enum class send_seen : std::uint8_t {
  no,        ///< new
  yes,       ///< in the log already
  forgotten, ///< so far behind the producer's newest that nobody remembers
};

/// One window of sequence numbers for each producer, `sends_max` long (rounded up to a power of
/// two), up to its newest. A window takes 24 bytes for each number between its oldest and newest
/// send, and no more than it needs.
///
/// `add` may run ahead of durability: `save` is told what is durable. Order of `add`s does not
/// matter, nor do repeats, so a fuzzy checkpoint and replay from before it give the same again. Not
/// thread-safe.
class producer_windows {
public:
  explicit producer_windows(std::size_t sends_max = limits::producer_window);

  struct found {
    send_seen seen = send_seen::no;
    stored_send first; ///< set if seen
  };
  [[nodiscard]] found find(producer_id producer, sequence_no sequence) const;

  /// Remembers a send; one that is known already stays as it is. `time_ms` is the record's.
  void add(producer_id producer, sequence_no sequence, const stored_send& place, wall_ms time_ms);
  /// The same from a record; takes MESSAGE and HALF, if they are numbered.
  void apply(const log_record& record);

  /// Forgets producers whose newest send is older than `limits::producer_idle_max` before `now_ms`.
  /// Returns how many.
  std::size_t forget_idle(wall_ms now_ms);

  [[nodiscard]] std::size_t producers() const { return windows_.size(); }
  /// Ascending.
  [[nodiscard]] std::vector<producer_id> ids() const;

  /// One producer's sends below `durable` as bytes; empty if there are none.
  [[nodiscard]] std::string save(producer_id producer, position durable) const;
  /// Adds what `save` gave, for any number of producers one behind the other. False if the bytes
  /// make no sense.
  bool load(std::string_view bytes);

private:
  struct window {
    std::uint64_t newest = 0; ///< sequence
    std::uint64_t oldest = 0; ///< that the ring must keep
    wall_ms newest_ms = 0;
    std::vector<stored_send>
        ring; ///< power of two; slot = sequence modulo size; covers (newest - size, newest]
  };
  stored_send* slot_for(window& w, std::uint64_t sequence);
  static void grow(window& w, std::uint64_t size);

  std::uint64_t size_max_;
  tsl::robin_map<producer_id, window, std::hash<producer_id>> windows_;
};

} // namespace handfast
