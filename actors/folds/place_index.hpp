#pragma once

/// Finds a place in a `slab` or a ring by position.

#include "messages/ids.hpp"

#include <absl/container/btree_map.h>
#include <cstdint>

namespace handfast {

/// In order of position, 16 to 32 bytes an entry. A tree and no hash table: transactions are
/// opened, decided and forgotten roughly in the order of their positions, so that what is touched
/// next is near what was touched last, and in the CPU's cache; and growing never moves all entries
/// at once. Not thread-safe.
class place_index {
public:
  /// Wide enough to number everything that ever comes; a narrower one would save nothing.
  using place = std::uint64_t;
  static constexpr place none = UINT64_MAX;

  [[nodiscard]] place find(position p) const {
    const auto found = places_.find(p);
    return found == places_.end() ? none : found->second;
  }
  /// False if there is an entry of this position: nothing changes.
  bool insert(position p, place of) {
    // Mostly the newest so far.
    const auto before = places_.size();
    places_.try_emplace(places_.end(), p, of);
    return places_.size() != before;
  }
  void erase(position p) { places_.erase(p); }

private:
  absl::btree_map<position, place> places_;
};

} // namespace handfast
