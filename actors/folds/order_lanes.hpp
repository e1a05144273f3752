#pragma once

/// Which messages of a queue may be handed out when those with the same order key must follow one
/// another. Plain, no CAF; part of `queue_window`.

#include <tsl/robin_map.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace handfast {

/// One lane for each key: its messages by offset, of which the first alone may be with a consumer.
/// Not thread-safe.
class order_lanes {
public:
  using key = std::uint64_t;

  /// Messages without a key share one lane.
  static constexpr key no_key = 0;
  static constexpr key key_of(bool has_key, std::uint32_t order_hash) {
    return has_key ? (std::uint64_t{1} << 32) | order_hash : no_key;
  }

  /// `offset` waits in the lane of `k`, behind all that came before.
  void add(key k, std::uint64_t offset);
  /// The lowest offset that is the first of its lane and not with a consumer, nor held back.
  [[nodiscard]] std::optional<std::uint64_t> next();
  /// The first of the lane goes to a consumer, or is held back: nothing of the lane may go out.
  void block(key k);
  /// The first of the lane may be handed out again.
  void unblock(key k);
  /// `offset` leaves its lane, from whatever place.
  void remove(key k, std::uint64_t offset);

  /// Lanes whose first one is blocked.
  [[nodiscard]] std::size_t blocked() const { return blocked_; }
  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }
  void clear();

private:
  struct lane {
    std::uint64_t first = 0;
    bool blocked = false;
    std::size_t taken = 0;           ///< of `rest`: gone already
    std::vector<std::uint64_t> rest; ///< behind `first`, rising
  };
  struct candidate {
    std::uint64_t offset;
    key lane;
    friend bool operator>(const candidate& a, const candidate& b) { return a.offset > b.offset; }
  };

  void pop_first(key k, lane& l);

  tsl::robin_map<key, lane> lanes_;
  /// Firsts of lanes; those that are no longer so are dropped when they come to the top.
  std::priority_queue<candidate, std::vector<candidate>, std::greater<>> candidates_;
  std::size_t blocked_ = 0;
};

} // namespace handfast
