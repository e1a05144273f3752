#pragma once

/// What one consumer group has to do on one queue: what waits to be handed out, who holds what,
/// what failed, what is done. Plain, no CAF, no clock; owned by CONSUMER GROUP.

#include "actors/folds/order_lanes.hpp"
#include "actors/folds/progress_table.hpp"
#include "actors/folds/queue_owners.hpp"
#include "actors/folds/ring.hpp"
#include "messages/delivery.hpp"
#include "messages/filter/filter.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace handfast {

/// When a failed message is handed out again, and when no more. Waits in milliseconds.
struct failure_rules {
  std::uint32_t delivery_max = 16; ///< failed deliveries, then the dead-letter topic
  std::uint64_t backoff_min_ms = 10'000;
  std::uint64_t backoff_max_ms = 2 * 60 * 60 * 1'000;

  /// After the failed delivery number `failures`: as RocketMQ waits, within the bounds.
  [[nodiscard]] std::chrono::milliseconds wait(std::uint32_t failures) const;
};

/// Rules. Each message is held by at most one member at a time. A lease ends by its
/// acknowledgement, by time, or with its member; one that ended without success counts as a failed
/// delivery, and the message is handed out again, before new ones, once that count is durable and
/// its back-off has passed. After the last failure allowed it is dead: it waits to be moved to the
/// dead-letter topic. A late acknowledgement still counts, unless another member holds the message
/// by now. Nothing new is handed out more than `outstanding_max` ahead of the oldest message that
/// is not done, nor while more is unsettled than one PROGRESS record can say. Not thread-safe.
class queue_window {
public:
  using time_point = std::chrono::steady_clock::time_point;

  static constexpr std::uint64_t outstanding_max = 65'536;
  /// Ranges that are done plus messages that are held, failed or dead: 16 bytes each in a record
  /// of at most 512 KiB.
  static constexpr std::size_t unsettled_max = 28'000;

  /// How messages of the queue are read.
  struct manner {
    bool ordered = false;
    bool heads = false; ///< whether it is wanted, or its key, is known only from the record itself
  };

  /// What became of one acknowledgement.
  enum class ack : std::uint8_t {
    accepted,
    late,    ///< the lease had ended
    unknown, ///< no such message yet
  };

  /// How soon changes must be written.
  enum class urgency : std::uint8_t { nothing, lazy, now };

  /// @param rules outlive the window, and may change
  queue_window(queue_key key, const failure_rules& rules, const queue_progress& from = {});

  [[nodiscard]] queue_key key() const { return key_; }
  [[nodiscard]] const queue_progress& progress() const { return progress_; }
  /// Everything that is not done is fetched again, and leases end, uncounted.
  void read_as(manner how);
  [[nodiscard]] const manner& read_how() const { return how_; }

  // -- filling

  /// Whether the queue's end was told at least once.
  [[nodiscard]] bool end_known() const { return end_known_; }
  [[nodiscard]] queue_offset end() const { return queue_offset{end_}; }
  /// The next entry that is wanted from the queue.
  [[nodiscard]] queue_offset next() const { return queue_offset{next_}; }
  /// The queue has entries that are not here.
  [[nodiscard]] bool queue_has_more() const { return !end_known_ || next_ < end_; }
  /// More entries may be taken now: not too many are here already.
  [[nodiscard]] bool has_room() const { return next_ < progress_.base() + outstanding_max; }
  /// Messages that can be handed out, or will be as soon as their heads are known.
  [[nodiscard]] std::size_t ready() const { return ready_ + again_.size() + raw_; }
  /// Fewer than `below` could be handed out one after the other.
  [[nodiscard]] bool wants_more(std::size_t below) const;
  /// What the queue answered to a fetch from `next()`. What the filter cannot want is done at once.
  /// Returns how many messages are gone from the queue that were not done.
  std::uint64_t take(const std::vector<visible_entry>& entries, queue_offset first,
                     queue_offset end, const filter& wanted);
  /// The queue said that it has grown.
  void grew(queue_offset end);
  /// Everything before `offset` does not concern this group.
  void begin_at(queue_offset offset);
  /// Goes on from `offset`, as if nothing had been there before. Leases end; what their holders say
  /// later changes nothing.
  void reset(queue_offset offset, std::uint64_t newest_lease);

  // -- heads, where they are needed

  /// Entries whose heads are to be read next, at most `max`; each is given once.
  [[nodiscard]] std::vector<visible_entry> take_unread(std::size_t max);
  /// A head was read: whether the filter wants the message, and its order key.
  void learnt(queue_offset offset, bool wanted, order_lanes::key key);
  /// Those given are to be given again: their reader was restarted.
  void forget_questions();

  // -- handing out

  /// The next message for a member; null when there is none, or when too many are outstanding.
  /// Valid until the next call of any member function.
  [[nodiscard]] const visible_entry* peek();
  /// Hands out what `peek` shows, which must not be null.
  delivery hand_out(std::uint64_t lease, member_no holder, time_point ends);
  [[nodiscard]] std::size_t leased() const { return leased_; }
  [[nodiscard]] std::size_t leased_by(member_no holder) const;
  /// Failed ones that wait for their count or back-off.
  [[nodiscard]] std::size_t failed() const { return failed_.size(); }
  [[nodiscard]] std::size_t dead() const { return dead_; }
  /// Hand-out of new messages is held back by the bounds above.
  [[nodiscard]] bool paused();
  /// Where a message stands that a member holds; none if nobody does.
  [[nodiscard]] position held_at(queue_offset offset) const;

  // -- ending leases

  /// Of one message. A range is cut into pieces before.
  ack acknowledge(const acknowledgement& what, time_point now);
  /// The messages of [from, to) that `holder` has.
  [[nodiscard]] std::vector<acknowledgement> held_in(const acknowledgement& range,
                                                     member_no holder) const;
  /// Ends leases and back-offs that have run out by `now`. Returns how many leases.
  std::size_t expire(time_point now);
  /// When `expire` has something to do next. May be early.
  [[nodiscard]] std::optional<time_point> next_expiry();
  /// Ends all leases of `holder`. Returns how many.
  std::size_t release(member_no holder, time_point now);

  // -- what must become durable

  /// How soon the progress must be written; asking forgets it.
  [[nodiscard]] urgency take_changes() { return std::exchange(changes_, urgency::nothing); }
  /// Failed ones whose counts stand in the record that is being made now.
  [[nodiscard]] std::vector<std::uint64_t> take_counted() { return std::exchange(counted_, {}); }
  /// That record is durable, or was refused.
  void counts_durable(const std::vector<std::uint64_t>& offsets, time_point now);
  void counts_refused(const std::vector<std::uint64_t>& offsets);

  /// A message that must go to the dead-letter topic.
  struct dead_message {
    visible_entry entry;
    std::uint32_t attempts = 0;
    bool refused = false; ///< by a consumer; else after too many failures
  };
  /// At most `max` of them; each is given once.
  [[nodiscard]] std::vector<dead_message> take_dead(std::size_t max);
  [[nodiscard]] bool has_dead() const { return !dying_.empty(); }
  [[nodiscard]] bool is_dead(queue_offset offset) const;
  /// It stands in the dead-letter topic, or needs nothing any more.
  void buried(queue_offset offset);
  /// It could not be moved; `take_dead` gives it again.
  void not_buried(queue_offset offset);

private:
  enum class stage : std::uint8_t {
    raw,     ///< its head must be read
    asked,   ///< its head is being read
    ready,   ///< was never handed out in this life
    leased,  ///
    counted, ///< failed; the count is not durable
    waiting, ///< failed, or not to be had now; waits for its time
    again,   ///< to be handed out again
    dead,    ///< to be moved to the dead-letter topic
    done,    ///
  };
  struct slot {
    visible_entry entry;
    std::uint64_t lease = 0;
    order_lanes::key lane = 0;
    member_no holder = 0;
    stage at = stage::ready;
    bool laned = false;   ///< stands in its lane
    bool refused = false; ///< dead by a consumer's word
  };
  struct expiry {
    time_point at;
    std::uint64_t offset = 0;
    std::uint64_t lease = 0;
  };

  [[nodiscard]] std::uint64_t first() const { return next_ - slots_.size(); }
  [[nodiscard]] slot* find(std::uint64_t offset);
  [[nodiscard]] const slot* find(std::uint64_t offset) const;
  [[nodiscard]] bool is_open(const expiry& x) const;
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] bool may_begin(std::uint64_t offset) const;
  bool pass_over_lost(std::uint64_t to);
  void skip(std::uint64_t to);
  void add(const visible_entry& entry, const filter& wanted);
  void leave_stage(slot& s);
  void finish(slot& s);
  void fail(slot& s, time_point due);
  void set_aside(slot& s, time_point due);
  void hand_again(slot& s);
  void kill(slot& s);
  void drop_finished();
  void drop_all();
  void changed(urgency how) { changes_ = std::max(changes_, how); }

  queue_key key_;
  const failure_rules* rules_;
  manner how_;
  queue_progress progress_;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
  bool end_known_ = false;
  urgency changes_ = urgency::nothing;
  std::uint64_t void_leases_ = 0; ///< up to this one: their holders have no say any more
  ring<slot> slots_;              ///< of the offsets before `next_`, from the base on
  std::uint64_t fresh_ = 0;       ///< nothing before it is ready
  std::uint64_t unread_ = 0;      ///< nothing before it is raw
  std::size_t ready_ = 0;
  std::size_t raw_ = 0; ///< and asked
  std::size_t leased_ = 0;
  std::size_t dead_ = 0;
  std::set<std::uint64_t> again_;
  order_lanes lanes_;
  std::map<std::uint64_t, time_point> failed_;             ///< when their back-off ends
  std::set<std::pair<time_point, std::uint64_t>> waiting_; ///< of these, counts are durable
  std::vector<std::uint64_t> counted_;                     ///< of these, counts must be written
  std::vector<std::uint64_t> dying_;                       ///< dead ones that nobody took
  ring<expiry> expiries_; ///< in order of time; closed leases stay for a while
};

} // namespace handfast
