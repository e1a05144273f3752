#pragma once

/// Every message that becomes visible later, about 50 bytes each. A plain container over wall time,
/// since a date may be years and restarts away; it reads no clock. Not thread-safe.

#include "actors/folds/slab.hpp"
#include "messages/log_record.hpp"

#include <tsl/robin_map.h>

#include <absl/container/btree_set.h>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handfast {

/// What an index entry will be made from, and when.
struct delayed_entry {
  wall_ms due = 0;      ///< when it is to become visible
  position at;          ///< of the record that holds the body; none = a free place
  position transaction; ///< that committed it; none for a plain message
  topic_id topic;
  std::uint32_t length = 0; ///< of the whole record at `at`
  std::uint32_t tag_hash = 0;
  queue_no queue;
  bool releasing = false; ///< taken; its RELEASE is not in the log yet

  friend bool operator==(const delayed_entry&, const delayed_entry&) = default;
};
static_assert(sizeof(delayed_entry) == 40, "one million of them must fit");

/// A place in the order in which delayed messages become visible.
struct due_place {
  wall_ms due = 0;
  position at;

  constexpr auto operator<=>(const due_place&) const = default;
};

class delay_table {
public:
  delay_table();

  /// False if there is an entry of this position: nothing changes, as in a replay.
  bool insert(const delayed_entry& entry);
  /// It was released or cancelled. False if there is none.
  bool erase(position at);
  /// Null if there is none; valid until the next change.
  [[nodiscard]] const delayed_entry* find(position at) const;

  /// Appends to `to` what is due at `now`, in the order of (due, position), at most `max` entries;
  /// true if more is due. They stay in the table as `releasing`, so that a checkpoint keeps them,
  /// until `erase`, or `put_back` if their release failed; until then nobody takes them again.
  bool take_due(wall_ms now, std::size_t max, std::vector<delayed_entry>& to);
  /// Takes this one alone, for a cancellation. False if it is not there or `releasing` already.
  bool take(position at);
  /// False if it is not there or not `releasing`.
  bool put_back(position at);
  /// When the next one is due that nobody took; nothing when there is none.
  [[nodiscard]] std::optional<wall_ms> next_due() const;

  /// Appends to `to` at most `max` entries behind `after` in the order of (due, position), without
  /// those that are `releasing`; moves `after` to the last of them. False when none is left. What
  /// comes and goes between two calls is in it or not, everything else exactly once.
  bool page(due_place& after, std::size_t max, std::vector<delayed_entry>& to) const;

  [[nodiscard]] std::size_t size() const { return by_position_.size(); }
  /// Of the records that hold the bodies.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t messages_of(topic_id topic) const;
  [[nodiscard]] const tsl::robin_map<topic_id, std::uint64_t>& by_topic() const {
    return by_topic_;
  }
  /// The oldest body that must not go from the log yet; nothing when the table is empty.
  [[nodiscard]] std::optional<position> oldest() const;

  /// At most `max` entries from position `from` on, as bytes; `next` is where to go on, none at
  /// the end. What comes and goes between two calls may be missing: a replay of the log puts that
  /// right. Whoever loads this sees no entry as `releasing`.
  [[nodiscard]] std::string save(position from, std::size_t max, position& next) const;
  void load(std::string_view bytes);

private:
  using place = slab<delayed_entry>::place;

  /// The trees hold numbers of places only, 4 bytes an entry; what orders them is in the slab.
  struct in_order_of_due {
    using is_transparent = void;
    const slab<delayed_entry>* entries;

    [[nodiscard]] due_place key(place p) const { return {(*entries)[p].due, (*entries)[p].at}; }
    [[nodiscard]] static due_place key(const due_place& k) { return k; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return key(a) < key(b);
    }
  };
  struct in_order_of_position {
    using is_transparent = void;
    const slab<delayed_entry>* entries;

    [[nodiscard]] position key(place p) const { return (*entries)[p].at; }
    [[nodiscard]] static position key(const position& p) { return p; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return key(a) < key(b);
    }
  };

  std::unique_ptr<slab<delayed_entry>> entries_;   ///< stays where it is when the table is moved
  absl::btree_set<place, in_order_of_due> by_due_; ///< without those that are `releasing`
  absl::btree_set<place, in_order_of_position> by_position_;
  tsl::robin_map<topic_id, std::uint64_t> by_topic_;
  std::uint64_t bytes_ = 0;
};

} // namespace handfast
