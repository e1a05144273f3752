#include "actors/folds/queue_owners.hpp"

#include "messages/assert.hpp"

#include <algorithm>

namespace handfast {

void queue_owners::set_queues(std::uint32_t count) {
  if (count > queues_.size())
    queues_.resize(count);
}

bool queue_owners::join(member_no member) {
  HANDFAST_ASSERT(member != 0);
  return owned_.try_emplace(member, 0).second;
}

void queue_owners::leave(member_no member) {
  if (owned_.erase(member) == 0)
    return;
  for (auto& q : queues_)
    if (q.owner == member)
      q = {};
}

std::uint32_t queue_owners::owned_by(member_no member) const {
  const auto found = owned_.find(member);
  return found == owned_.end() ? 0 : found->second;
}

void queue_owners::settle(const in_flight& busy) {
  moving_ = 0;
  if (owned_.empty())
    return;
  const auto quota = quotas();
  give_up(quota, busy);
  hand_on(quota);
}

/// The larger shares go to those who have most now, so that as little as possible moves.
std::map<member_no, std::uint32_t> queue_owners::quotas() const {
  const auto members = static_cast<std::uint32_t>(owned_.size());
  const auto queues = static_cast<std::uint32_t>(queues_.size());
  std::vector<std::pair<std::uint32_t, member_no>> by_owned;
  for (const auto& [member, count] : owned_)
    by_owned.emplace_back(count, member);
  std::stable_sort(by_owned.begin(), by_owned.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::map<member_no, std::uint32_t> quota;
  for (std::uint32_t n = 0; n < members; ++n)
    quota[by_owned[n].second] = queues / members + (n < queues % members ? 1 : 0);
  return quota;
}

void queue_owners::free(queue_state& q) {
  --owned_[q.owner];
  q = {};
}

/// Of what is too much: first what has nothing in flight, then what was asked to leave before.
void queue_owners::give_up(const std::map<member_no, std::uint32_t>& quota, const in_flight& busy) {
  auto too_many = owned_;
  for (auto& [member, count] : too_many)
    count -= std::min(count, quota.at(member));
  const auto each_of_rich = [&](auto&& visit) {
    for (auto n = static_cast<std::uint32_t>(queues_.size()); n-- > 0;)
      if (auto& q = queues_[n]; q.owner != 0 && too_many[q.owner] > 0)
        visit(n, q);
  };
  each_of_rich([&](std::uint32_t n, queue_state& q) {
    if (busy(n))
      return;
    --too_many[q.owner];
    free(q);
  });
  std::vector<bool> leaves(queues_.size());
  for (const bool before : {true, false})
    each_of_rich([&](std::uint32_t n, queue_state& q) {
      if (q.leaving != before || leaves[n])
        return;
      --too_many[q.owner];
      leaves[n] = true;
      ++moving_;
    });
  for (std::size_t n = 0; n < queues_.size(); ++n)
    queues_[n].leaving = leaves[n];
}

void queue_owners::hand_on(const std::map<member_no, std::uint32_t>& quota) {
  auto poor = quota.begin();
  for (auto& q : queues_) {
    if (q.owner != 0)
      continue;
    while (poor != quota.end() && owned_[poor->first] >= poor->second)
      ++poor;
    if (poor == quota.end())
      return; // the rest is still with those who give up
    q.owner = poor->first;
    ++owned_[poor->first];
  }
}

} // namespace handfast
