#pragma once

/// Every transaction that is not decided yet, about 100 bytes each. A plain container: it knows
/// what is stored, not what to do. Not thread-safe.

#include "actors/folds/place_index.hpp"
#include "actors/folds/slab.hpp"
#include "actors/folds/timing_wheel.hpp"
#include "messages/log_record.hpp"

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace handfast {

/// A moment on the monotonic clock that nobody has worked out yet.
constexpr mono_ms unknown_moment = std::numeric_limits<mono_ms>::min();

enum class pending_state : std::uint8_t {
  pending = 0,
  deciding = 1,    ///< a decision is on its way to the log
  parked = 2,      ///< asked no more; waits for an operator
  quarantined = 3, ///< a body of it is damaged
};

namespace pending_flags {
/// Its producer's library answers "in progress" while the local transaction runs.
constexpr std::uint16_t local_transaction = 1;
/// A producer is being asked.
constexpr std::uint16_t asking = 2;
/// Nobody of its group could be asked.
constexpr std::uint16_t waiting = 4;
/// It stands in the queue of checks that are due.
constexpr std::uint16_t queued = 8;
/// The check listener was asked what to do.
constexpr std::uint16_t judging = 16;
/// The check listener said: keep asking.
constexpr std::uint16_t keep_asking = 32;
/// It was pending before this life of its owner.
constexpr std::uint16_t recovered = 64;
/// Its count of attempts is not in the log yet.
constexpr std::uint16_t count_unlogged = 128;
/// Its newest ask is counted and not answered yet.
constexpr std::uint16_t counted = 256;
/// What a checkpoint keeps.
constexpr std::uint16_t kept = local_transaction | keep_asking;
} // namespace pending_flags

struct pending_entry {
  position id; ///< of the record that opened it; none = a free place
  producer_id producer;
  wall_ms stored_ms = 0;
  mono_ms stored_at = unknown_moment;
  mono_ms due_at = unknown_moment; ///< of the next check
  group_id group;
  topic_id topic; ///< this and the next four: of the first message
  std::uint32_t length = 0;
  std::uint32_t tag_hash = 0;
  std::uint32_t timeout_ms = 0; ///< the message's own, 0 = the policy's
  queue_no queue;
  std::uint16_t attempts = 0;
  std::uint16_t messages = 1;
  std::uint16_t flags = 0;
  pending_state state = pending_state::pending;

  [[nodiscard]] bool has(std::uint16_t flag) const { return (flags & flag) != 0; }
  void set(int flag) { flags = static_cast<std::uint16_t>(flags | flag); }
  void clear(int flag) { flags = static_cast<std::uint16_t>(flags & ~flag); }
};
static_assert(sizeof(pending_entry) == 72, "one million of them must fit");

class pending_table {
public:
  using place = std::uint32_t;
  static constexpr place none = UINT32_MAX;

  /// Opens a transaction; one that is there already stays as it is. Returns its place.
  /// @param delay_ms of its first message: how long that waits after the commit
  place open(const pending_entry& entry, std::uint64_t delay_ms = 0);
  /// Opens one on bodies that were stored for `old`, a given-up one; delays are in `due_ms`.
  place reopen(pending_entry entry, position old, std::span<const index_entry> messages);
  /// Adds a message, its delay in `due_ms`; twice the same changes nothing. False if the
  /// transaction is not pending.
  bool join(position transaction, const index_entry& message);
  bool erase(position transaction);
  /// The one at this place.
  void erase_at(place p);
  /// A body of it is damaged.
  void quarantine(place p);

  [[nodiscard]] place find(position transaction) const {
    return index_.find(transaction).value_or(none);
  }
  [[nodiscard]] pending_entry& at(place p) { return entries_[p]; }
  [[nodiscard]] const pending_entry& at(place p) const { return entries_[p]; }
  /// The entry at `p` if it is still the one of `transaction`, else null.
  [[nodiscard]] pending_entry* at(place p, position transaction);

  /// Appends where its messages are, in the order in which they were stored; offsets are not set,
  /// and `due_ms` is a delay.
  void append_messages(const pending_entry& entry, std::vector<index_entry>& to) const;
  /// Where the first body stands: at the id, unless it was reopened.
  [[nodiscard]] position first_body(const pending_entry& entry) const;
  /// The given-up transaction that it continues, or none.
  [[nodiscard]] position reopened_from(const pending_entry& entry) const;

  /// Places below are worth looking at in a scan; free ones have no id.
  [[nodiscard]] place end() const { return entries_.end(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Pending messages of a topic.
  [[nodiscard]] std::uint64_t messages_of(topic_id topic) const;
  [[nodiscard]] std::uint64_t transactions_of(group_id group) const;
  [[nodiscard]] const tsl::robin_set<position>& quarantined() const { return quarantined_; }
  [[nodiscard]] const tsl::robin_map<topic_id, std::uint64_t>& by_topic() const {
    return by_topic_;
  }
  [[nodiscard]] const tsl::robin_map<group_id, std::uint64_t>& by_group() const {
    return by_group_;
  }

  /// Gives every entry whose moment of storing is unknown one: its age is the difference of wall
  /// clocks, never negative.
  void settle_ages(wall_ms wall_now, mono_ms now);

  /// Entries from place `from` on, up to about `max` of them, as bytes; `next` is where to go on,
  /// `none` at the end. What comes and goes between two calls may be missing or in it twice: a
  /// replay of the log puts that right.
  [[nodiscard]] std::string save(place from, std::size_t max, place& next) const;
  void load(std::string_view bytes);

private:
  struct origin_link {
    position old;
    position first_body;
  };

  void count(topic_id topic, std::uint32_t length);
  void discount(topic_id topic, std::uint32_t length);

  slab<pending_entry> entries_;
  place_index index_;
  /// Messages but the first, of transactions that have several.
  tsl::robin_map<position, std::vector<index_entry>> more_;
  tsl::robin_map<position, origin_link> reopened_;
  /// Delays of first messages, by transaction: few have one.
  tsl::robin_map<position, std::uint64_t> first_delays_;
  tsl::robin_set<position> quarantined_;
  tsl::robin_map<topic_id, std::uint64_t> by_topic_;
  tsl::robin_map<group_id, std::uint64_t> by_group_;
  std::uint64_t bytes_ = 0;
};

} // namespace handfast
