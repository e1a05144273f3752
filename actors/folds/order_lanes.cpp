#include "actors/folds/order_lanes.hpp"

#include "messages/assert.hpp"

#include <algorithm>

namespace handfast {

void order_lanes::add(key k, std::uint64_t offset) {
  const auto [found, is_new] = lanes_.try_emplace(k);
  auto& l = found.value();
  if (!is_new) {
    l.rest.push_back(offset);
    return;
  }
  l.first = offset;
  candidates_.push({offset, k});
}

std::optional<std::uint64_t> order_lanes::next() {
  while (!candidates_.empty()) {
    const auto top = candidates_.top();
    const auto found = lanes_.find(top.lane);
    if (found != lanes_.end() && found->second.first == top.offset && !found->second.blocked)
      return top.offset;
    candidates_.pop();
  }
  return std::nullopt;
}

void order_lanes::block(key k) {
  const auto found = lanes_.find(k);
  HANDFAST_ASSERT(found != lanes_.end() && !found->second.blocked);
  found.value().blocked = true;
  ++blocked_;
}

void order_lanes::unblock(key k) {
  const auto found = lanes_.find(k);
  HANDFAST_ASSERT(found != lanes_.end() && found->second.blocked);
  found.value().blocked = false;
  --blocked_;
  candidates_.push({found->second.first, k});
}

void order_lanes::remove(key k, std::uint64_t offset) {
  const auto found = lanes_.find(k);
  if (found == lanes_.end())
    return;
  auto& l = found.value();
  if (l.first == offset) {
    pop_first(k, l);
    return;
  }
  const auto from = l.rest.begin() + static_cast<std::ptrdiff_t>(l.taken);
  const auto at = std::lower_bound(from, l.rest.end(), offset);
  if (at != l.rest.end() && *at == offset)
    l.rest.erase(at);
}

void order_lanes::pop_first(key k, lane& l) {
  if (l.blocked)
    --blocked_;
  if (l.taken == l.rest.size()) {
    lanes_.erase(k);
    return;
  }
  l.blocked = false;
  l.first = l.rest[l.taken++];
  // What is gone from a busy lane is given up half by half, so that each costs little.
  if (l.taken * 2 > l.rest.size()) {
    l.rest.erase(l.rest.begin(), l.rest.begin() + static_cast<std::ptrdiff_t>(l.taken));
    l.taken = 0;
  }
  candidates_.push({l.first, k});
}

void order_lanes::clear() {
  lanes_.clear();
  candidates_ = {};
  blocked_ = 0;
}

} // namespace handfast
