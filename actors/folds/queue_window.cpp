#include "actors/folds/queue_window.hpp"

#include "messages/assert.hpp"

#include <algorithm>

namespace handfast {

void queue_window::take(const std::vector<visible_entry>& entries, queue_offset first,
                        queue_offset end) {
  grew(end);
  if (first.value > progress_.base())
    begin_at(first);
  for (const auto& entry : entries) {
    if (entry.offset.value < next_)
      continue;
    if (entry.offset.value > next_) // what stood between was lost with its record
      progress_.mark_done(next_, entry.offset.value);
    next_ = entry.offset.value + 1;
    if (!progress_.is_done(entry.offset.value))
      ready_.push_back(entry);
  }
  HANDFAST_ASSERT(next_ <= end_);
}

void queue_window::grew(queue_offset end) {
  end_known_ = true;
  end_ = std::max(end_, end.value);
}

void queue_window::begin_at(queue_offset offset) {
  progress_.advance_to(offset.value);
  next_ = std::max(next_, offset.value);
  end_ = std::max(end_, offset.value);
}

const visible_entry* queue_window::peek() {
  if (!again_.empty())
    return &again_.begin()->second;
  while (!ready_.empty() && progress_.is_done(ready_.front().offset.value))
    ready_.pop_front();
  if (ready_.empty() || ready_.front().offset.value >= progress_.base() + outstanding_max)
    return nullptr;
  return &ready_.front();
}

delivery queue_window::hand_out(std::uint64_t lease_id, member_no holder, time_point ends) {
  const auto* next = peek();
  HANDFAST_ASSERT(next != nullptr);
  delivery out;
  out.queue = key_;
  out.entry = *next;
  out.lease = lease_id;
  const auto offset = out.entry.offset.value;
  out.attempts = progress_.attempts(offset) + 1;
  if (!again_.empty())
    again_.erase(again_.begin());
  else
    ready_.pop_front();
  const bool added = leases_.insert({offset, lease{lease_id, holder, out.entry}}).second;
  HANDFAST_ASSERT(added);
  HANDFAST_ASSERT(expiries_.empty() || expiries_.back().at <= ends);
  expiries_.push_back({ends, offset, lease_id});
  return out;
}

queue_window::ack queue_window::acknowledge(const acknowledgement& what) {
  HANDFAST_ASSERT(what.queue == key_);
  const auto offset = what.offset.value;
  if (progress_.is_done(offset))
    return ack::accepted;
  const auto held = leases_.find(offset);
  if (held == leases_.end()) {
    if (offset >= end_)
      return ack::unknown;
    if (ends_delivery(what.what)) {
      again_.erase(offset);
      progress_.mark_done(offset);
    }
    return ack::late;
  }
  if (held->second.id != what.lease)
    return ack::late;
  const auto ended = held->second;
  leases_.erase(held);
  if (ends_delivery(what.what))
    progress_.mark_done(offset);
  else if (what.what == handling::failed)
    give_back(ended);
  else
    again_.emplace(offset, ended.entry);
  return ack::accepted;
}

void queue_window::give_back(const lease& ended) {
  progress_.count_attempt(ended.entry.offset.value);
  again_.emplace(ended.entry.offset.value, ended.entry);
}

bool queue_window::is_open(const expiry& x) const {
  const auto held = leases_.find(x.offset);
  return held != leases_.end() && held->second.id == x.lease;
}

std::size_t queue_window::expire(time_point now) {
  std::size_t ended = 0;
  while (!expiries_.empty() && expiries_.front().at <= now) {
    if (is_open(expiries_.front())) {
      const auto held = leases_.find(expiries_.front().offset);
      give_back(held->second);
      leases_.erase(held);
      ++ended;
    }
    expiries_.pop_front();
  }
  return ended;
}

std::optional<queue_window::time_point> queue_window::next_expiry() {
  while (!expiries_.empty() && !is_open(expiries_.front()))
    expiries_.pop_front();
  if (expiries_.empty())
    return std::nullopt;
  return expiries_.front().at;
}

std::size_t queue_window::release(member_no holder) {
  std::size_t ended = 0;
  for (auto at = leases_.begin(); at != leases_.end();) {
    if (at->second.holder != holder) {
      ++at;
      continue;
    }
    give_back(at->second);
    at = leases_.erase(at);
    ++ended;
  }
  return ended;
}

} // namespace handfast
