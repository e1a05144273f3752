#pragma once

/// What one consumer group has to do on one queue: what waits to be handed out, who holds what,
/// what is done. Plain, no CAF, no clock; owned by CONSUMER GROUP.

#include "actors/folds/progress_table.hpp"
#include "messages/delivery.hpp"

#include <tsl/robin_map.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace handfast {

/// Number of a member inside its group, never used twice in the life of the group's actor.
using member_no = std::uint32_t;

/// Rules of leases. Each message is held by at most one member at a time. A lease ends by its
/// acknowledgement, by time, or with its member; a message whose lease ended without success counts
/// an attempt and is handed out again before new ones. A late acknowledgement still counts, unless
/// another member holds the message by now. Nothing is handed out more than `outstanding_max` ahead
/// of the oldest message that is not done. Not thread-safe.
class queue_window {
public:
  using time_point = std::chrono::steady_clock::time_point;

  static constexpr std::uint64_t outstanding_max = 65'536;

  /// What became of one acknowledgement.
  enum class ack : std::uint8_t {
    accepted,
    late,    ///< the lease had ended
    unknown, ///< no such message yet
  };

  explicit queue_window(queue_key key) : key_{key} {}
  queue_window(queue_key key, const queue_progress& from)
      : key_{key}, progress_{from}, next_{from.base()} {}

  [[nodiscard]] queue_key key() const { return key_; }
  [[nodiscard]] const queue_progress& progress() const { return progress_; }

  // -- filling

  /// Whether the queue's end was told at least once.
  [[nodiscard]] bool end_known() const { return end_known_; }
  [[nodiscard]] queue_offset end() const { return queue_offset{end_}; }
  /// The next entry that is wanted from the queue.
  [[nodiscard]] queue_offset next() const { return queue_offset{next_}; }
  /// The queue has entries that are not here.
  [[nodiscard]] bool queue_has_more() const { return !end_known_ || next_ < end_; }
  /// Entries that wait to be handed out.
  [[nodiscard]] std::size_t ready() const { return ready_.size() + again_.size(); }
  /// What the queue answered to a fetch from `next()`.
  void take(const std::vector<visible_entry>& entries, queue_offset first, queue_offset end);
  /// The queue said that it has grown.
  void grew(queue_offset end);
  /// Everything before `offset` does not concern this group.
  void begin_at(queue_offset offset);

  // -- handing out

  /// The next message for a member; null when there is none, or when too many are outstanding.
  /// Valid until the next call of any member function.
  [[nodiscard]] const visible_entry* peek();
  /// Hands out what `peek` shows, which must not be null.
  delivery hand_out(std::uint64_t lease, member_no holder, time_point ends);
  [[nodiscard]] std::size_t leased() const { return leases_.size(); }
  /// Where a message stands that a member holds; none if nobody does.
  [[nodiscard]] position held_at(queue_offset offset) const {
    const auto held = leases_.find(offset.value);
    return held == leases_.end() ? position{} : held->second.entry.at;
  }

  // -- ending leases

  ack acknowledge(const acknowledgement& what);
  /// Ends leases that have run out by `now`. Returns how many.
  std::size_t expire(time_point now);
  /// When the next lease runs out, if one is held. May be early.
  [[nodiscard]] std::optional<time_point> next_expiry();
  /// Ends all leases of `holder`. Returns how many.
  std::size_t release(member_no holder);

private:
  struct lease {
    std::uint64_t id = 0;
    member_no holder = 0;
    visible_entry entry;
  };
  struct expiry {
    time_point at;
    std::uint64_t offset;
    std::uint64_t lease;
  };
  [[nodiscard]] bool is_open(const expiry& x) const;
  void give_back(const lease& ended);

  queue_key key_;
  queue_progress progress_;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
  bool end_known_ = false;
  std::deque<visible_entry> ready_;              ///< never handed out in this life
  std::map<std::uint64_t, visible_entry> again_; ///< to be handed out again
  tsl::robin_map<std::uint64_t, lease> leases_;  ///< by offset
  std::deque<expiry> expiries_; ///< in order of time; closed leases stay for a while
};

} // namespace handfast
