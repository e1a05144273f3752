#pragma once

/// Finds a place in a `slab` or a ring by position.

#include "messages/ids.hpp"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace handfast {

/// About 16 bytes an entry. The log is looked at as pages of 32 KiB; a page is a short sorted list,
/// and a hash table finds it. Transactions are opened, decided and forgotten roughly in the order
/// of their positions, so what is touched next is mostly in the page that was touched last, and in
/// the CPU's cache, which a hash table of all entries would never be. Against a tree a search costs
/// less than half, and an insertion, which is nearly always at the end of the last page, a tenth.
/// Not thread-safe.
class place_index {
public:
  using place = std::uint32_t;

private:
  struct entry {
    std::uint32_t offset; ///< in its page
    place what;
  };
  using page_entries = std::vector<entry>;

  template <class Entries>
  static auto lower_bound(Entries& page, std::uint32_t offset) {
    return std::lower_bound(page.begin(), page.end(), offset,
                            [](const entry& e, std::uint32_t o) { return e.offset < o; });
  }

public:
  [[nodiscard]] std::optional<place> find(position p) const {
    const auto at = pages_.find(page_of(p));
    if (at == pages_.end())
      return {};
    const auto found = lower_bound(at->second, offset_of(p));
    if (found == at->second.end() || found->offset != offset_of(p))
      return {};
    return found->what;
  }

  /// The place of this position: new, and then 0 until it is set, or an old one. Valid until the
  /// next change.
  std::pair<place&, bool> insert(position p) {
    auto& page = pages_[page_of(p)];
    const auto offset = offset_of(p);
    if (page.empty() || page.back().offset < offset)
      return {page.emplace_back(entry{offset, 0}).what, true};
    auto found = lower_bound(page, offset);
    if (found->offset == offset)
      return {found->what, false};
    found = page.insert(found, entry{offset, 0});
    return {found->what, true};
  }

  /// Forgets it, and says where it was.
  std::optional<place> take(position p) {
    const auto at = pages_.find(page_of(p));
    if (at == pages_.end())
      return {};
    auto& page = at.value();
    const auto found = lower_bound(page, offset_of(p));
    if (found == page.end() || found->offset != offset_of(p))
      return {};
    const auto what = found->what;
    if (page.size() == 1)
      pages_.erase(at);
    else
      page.erase(found);
    return what;
  }

private:
  static constexpr unsigned page_bits = 15;
  static std::uint64_t page_of(position p) { return p.value >> page_bits; }
  static std::uint32_t offset_of(position p) {
    return static_cast<std::uint32_t>(p.value & ((std::uint64_t{1} << page_bits) - 1));
  }
  struct page_hash {
    std::size_t operator()(std::uint64_t page) const noexcept { return mix64(page); }
  };
  tsl::robin_map<std::uint64_t, page_entries, page_hash> pages_;
};

} // namespace handfast
