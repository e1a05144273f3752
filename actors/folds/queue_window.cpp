#include "actors/folds/queue_window.hpp"

#include "actors/folds/retry_policy.hpp"
#include "messages/assert.hpp"

#include <algorithm>

namespace handfast {

std::chrono::milliseconds failure_rules::wait(std::uint32_t failures) const {
  static const retry_policy as_rocketmq;
  const auto level = std::clamp(failures, 1U, retry_policy::retries_default);
  const auto wait = std::max(*as_rocketmq.next_wait_ms(level), backoff_min_ms);
  return std::chrono::milliseconds{std::min(wait, backoff_max_ms)};
}

queue_window::queue_window(queue_key key, const failure_rules& rules, const queue_progress& from)
    : key_{key}, rules_{&rules}, progress_{from}, next_{from.base()}, fresh_{next_}, unread_{
                                                                                         next_} {}

queue_window::slot* queue_window::find(std::uint64_t offset) {
  return offset < first() || offset >= next_ ? nullptr : &slots_[offset - first()];
}

const queue_window::slot* queue_window::find(std::uint64_t offset) const {
  return const_cast<queue_window*>(this)->find(offset);
}

void queue_window::read_as(manner how) {
  how_ = how;
  drop_all();
}

/// What is not done is fetched again from the base on.
void queue_window::drop_all() {
  slots_.clear();
  next_ = fresh_ = unread_ = progress_.base();
  ready_ = raw_ = leased_ = dead_ = 0;
  again_.clear();
  lanes_.clear();
  failed_.clear();
  waiting_.clear();
  counted_.clear();
  dying_.clear();
  expiries_.clear();
}

// -- filling ------------------------------------------------------------------------

std::uint64_t queue_window::take(const std::vector<visible_entry>& entries, queue_offset first_kept,
                                 queue_offset end, const filter& wanted) {
  grew(end);
  std::uint64_t gone = 0;
  if (first_kept.value > progress_.base()) {
    if (progress_.base() > 0 || progress_.ranges() > 0 || next_ > 0) // else it begins there
      gone = progress_.not_done_below(first_kept.value);
    begin_at(first_kept);
  }
  for (const auto& entry : entries) {
    if (entry.offset.value < next_)
      continue;
    if (entry.offset.value > next_ && !pass_over_lost(entry.offset.value))
      break;
    add(entry, wanted);
  }
  drop_finished();
  HANDFAST_ASSERT(next_ <= end_);
  return gone;
}

/// What stood between was lost with its record: any number of offsets, which must not cost a slot
/// each. False if that has to wait until what stands before is done.
bool queue_window::pass_over_lost(std::uint64_t to) {
  drop_finished();
  if (slots_.empty()) {
    progress_.mark_done(next_, to);
    changed(urgency::lazy);
    next_ = to;
    return true;
  }
  const auto limit = std::max(next_, progress_.base() + outstanding_max);
  skip(std::min(to, limit));
  return to <= limit;
}

/// Everything from `next_` up to `to` is done.
void queue_window::skip(std::uint64_t to) {
  if (to == next_ + 1)
    progress_.mark_done(next_);
  else
    progress_.mark_done(next_, to);
  changed(urgency::lazy);
  slot none;
  none.at = stage::done;
  for (; next_ < to; ++next_)
    slots_.push_back(none);
}

void queue_window::add(const visible_entry& entry, const filter& wanted) {
  const auto offset = entry.offset.value;
  HANDFAST_ASSERT(offset == next_);
  if (!progress_.is_done(offset) && !wanted.may_match(entry.tag_hash)) {
    skip(offset + 1);
    drop_finished();
    return;
  }
  slot s;
  s.entry = entry;
  s.at = progress_.is_done(offset) ? stage::done : how_.heads ? stage::raw : stage::ready;
  raw_ += s.at == stage::raw ? 1 : 0;
  ready_ += s.at == stage::ready ? 1 : 0;
  slots_.push_back(s);
  ++next_;
  if (s.at == stage::ready && progress_.attempts(offset) >= rules_->delivery_max)
    kill(slots_[slots_.size() - 1]);
}

bool queue_window::wants_more(std::size_t below) const {
  const auto free_lanes = lanes_.lanes() - lanes_.blocked();
  return queue_has_more() && has_room() && (how_.ordered ? free_lanes + raw_ : ready()) < below;
}

void queue_window::grew(queue_offset end) {
  end_known_ = true;
  end_ = std::max(end_, end.value);
}

void queue_window::begin_at(queue_offset offset) {
  progress_.advance_to(offset.value);
  changed(urgency::lazy);
  for (auto n = first(); n < std::min(next_, offset.value); ++n)
    if (auto& s = *find(n); s.at != stage::done)
      finish(s);
  drop_finished();
  if (next_ < offset.value) {
    HANDFAST_ASSERT(slots_.empty());
    next_ = offset.value;
  }
  fresh_ = std::max(fresh_, offset.value);
  unread_ = std::max(unread_, offset.value);
  end_ = std::max(end_, offset.value);
}

void queue_window::reset(queue_offset offset, std::uint64_t newest_lease) {
  progress_ = {};
  progress_.advance_to(offset.value);
  void_leases_ = newest_lease;
  end_ = std::max(end_, offset.value);
  drop_all();
  changed(urgency::now);
}

// -- heads --------------------------------------------------------------------------

std::vector<visible_entry> queue_window::take_unread(std::size_t max) {
  std::vector<visible_entry> found;
  for (unread_ = std::max(unread_, first()); unread_ < next_ && found.size() < max; ++unread_) {
    auto& s = *find(unread_);
    if (s.at != stage::raw)
      continue;
    s.at = stage::asked;
    found.push_back(s.entry);
  }
  return found;
}

void queue_window::forget_questions() {
  for (auto n = first(); n < unread_; ++n)
    if (auto& s = *find(n); s.at == stage::asked)
      s.at = stage::raw;
  unread_ = first();
}

void queue_window::learnt(queue_offset offset, bool wanted, order_lanes::key key) {
  auto* s = find(offset.value);
  if (!s || s->at != stage::asked)
    return;
  if (!wanted) {
    finish(*s);
    progress_.mark_done(offset.value);
    changed(urgency::lazy);
    drop_finished();
    return;
  }
  leave_stage(*s);
  if (progress_.attempts(offset.value) >= rules_->delivery_max) {
    kill(*s);
    return;
  }
  s->at = stage::ready;
  ++ready_;
  if (how_.ordered) {
    s->lane = key;
    s->laned = true;
    lanes_.add(key, offset.value);
  }
}

// -- handing out --------------------------------------------------------------------

bool queue_window::is_full() const {
  const auto unsettled =
      progress_.ranges() + progress_.attempted() + leased_ + again_.size() + failed_.size() + dead_;
  return unsettled >= unsettled_max;
}

bool queue_window::may_begin(std::uint64_t offset) const {
  return offset < progress_.base() + outstanding_max && !is_full();
}

bool queue_window::paused() {
  return is_full() || (!has_room() && peek() == nullptr);
}

const visible_entry* queue_window::peek() {
  if (how_.ordered) {
    const auto next = lanes_.next();
    if (!next)
      return nullptr;
    const auto& s = *find(*next);
    return s.at == stage::ready && !may_begin(*next) ? nullptr : &s.entry;
  }
  if (!again_.empty())
    return &find(*again_.begin())->entry;
  for (fresh_ = std::max(fresh_, first()); fresh_ < next_; ++fresh_) {
    const auto& s = *find(fresh_);
    if (s.at == stage::raw || s.at == stage::asked)
      return nullptr;
    if (s.at == stage::ready)
      return may_begin(fresh_) ? &s.entry : nullptr;
  }
  return nullptr;
}

delivery queue_window::hand_out(std::uint64_t lease_id, member_no holder, time_point ends) {
  const auto* next = peek();
  HANDFAST_ASSERT(next != nullptr);
  auto& s = *find(next->offset.value);
  delivery out;
  out.queue = key_;
  out.entry = s.entry;
  out.lease = lease_id;
  out.attempts = progress_.attempts(s.entry.offset.value) + 1;
  leave_stage(s);
  if (s.laned)
    lanes_.block(s.lane);
  s.at = stage::leased;
  s.lease = lease_id;
  s.holder = holder;
  ++leased_;
  HANDFAST_ASSERT(expiries_.empty() || expiries_.back().at <= ends);
  expiries_.push_back({ends, s.entry.offset.value, lease_id});
  return out;
}

std::size_t queue_window::leased_by(member_no holder) const {
  std::size_t count = 0;
  for (std::size_t n = 0; leased_ > 0 && n < slots_.size(); ++n)
    count += slots_[n].at == stage::leased && slots_[n].holder == holder ? 1 : 0;
  return count;
}

position queue_window::held_at(queue_offset offset) const {
  const auto* s = find(offset.value);
  return s && s->at == stage::leased ? s->entry.at : position{};
}

// -- stages -------------------------------------------------------------------------

/// Undoes what its stage means elsewhere. Its place in a lane stays.
void queue_window::leave_stage(slot& s) {
  const auto offset = s.entry.offset.value;
  switch (s.at) {
  case stage::raw:
  case stage::asked:
    --raw_;
    break;
  case stage::ready:
    --ready_;
    break;
  case stage::leased:
    --leased_;
    break;
  case stage::waiting:
    waiting_.erase({failed_.at(offset), offset});
    [[fallthrough]];
  case stage::counted:
    failed_.erase(offset);
    break;
  case stage::again:
    again_.erase(offset);
    break;
  case stage::dead:
    --dead_;
    break;
  case stage::done:
    break;
  }
}

/// Nothing more is to be done with it. Does not touch the progress.
void queue_window::finish(slot& s) {
  leave_stage(s);
  if (s.laned)
    lanes_.remove(s.lane, s.entry.offset.value);
  s.laned = false;
  s.at = stage::done;
}

/// Its delivery failed, and is counted.
void queue_window::fail(slot& s, time_point due) {
  const auto offset = s.entry.offset.value;
  progress_.count_attempt(offset);
  changed(urgency::now);
  if (progress_.attempts(offset) >= rules_->delivery_max) {
    kill(s);
    return;
  }
  leave_stage(s);
  s.at = stage::counted;
  failed_[offset] = due;
  counted_.push_back(offset);
}

/// It waits like a failed one, and nothing is counted.
void queue_window::set_aside(slot& s, time_point due) {
  const auto offset = s.entry.offset.value;
  leave_stage(s);
  s.at = stage::waiting;
  failed_[offset] = due;
  waiting_.insert({due, offset});
}

void queue_window::hand_again(slot& s) {
  leave_stage(s);
  s.at = stage::again;
  if (s.laned)
    lanes_.unblock(s.lane);
  else
    again_.insert(s.entry.offset.value);
}

void queue_window::kill(slot& s) {
  // With a member it holds its lane back until it is buried; else the lane does without it.
  if (s.laned && s.at != stage::leased) {
    lanes_.remove(s.lane, s.entry.offset.value);
    s.laned = false;
  }
  leave_stage(s);
  s.at = stage::dead;
  ++dead_;
  dying_.push_back(s.entry.offset.value);
}

/// Forgets slots below the base.
void queue_window::drop_finished() {
  while (!slots_.empty() && first() < progress_.base()) {
    if (slots_.front().at != stage::done)
      finish(slots_.front());
    slots_.pop_front();
  }
}

// -- ending leases ------------------------------------------------------------------

queue_window::ack queue_window::acknowledge(const acknowledgement& what, time_point now) {
  HANDFAST_ASSERT(what.queue == key_);
  const auto offset = what.offset.value;
  if (what.lease <= void_leases_ && void_leases_ != 0)
    return ack::late;
  if (progress_.is_done(offset))
    return ack::accepted;
  auto* s = find(offset);
  const bool held = s && s->at == stage::leased;
  if (held && s->lease != what.lease)
    return ack::late;
  if (!held && offset >= end_)
    return ack::unknown;
  const auto answer = held ? ack::accepted : ack::late;
  if (what.what == handling::dead_letter) {
    if (s && s->at != stage::dead) {
      s->refused = true;
      kill(*s);
    }
  } else if (ends_delivery(what.what)) {
    if (s)
      finish(*s);
    progress_.mark_done(offset);
    changed(urgency::now);
    drop_finished();
  } else if (held && what.what == handling::failed) {
    const auto wait = what.retry_ms != 0 ? std::chrono::milliseconds{what.retry_ms}
                                         : rules_->wait(progress_.attempts(offset) + 1);
    fail(*s, now + wait);
  } else if (held && what.retry_ms != 0) {
    set_aside(*s, now + std::chrono::milliseconds{what.retry_ms});
  } else if (held) {
    hand_again(*s);
  }
  return answer;
}

std::vector<acknowledgement> queue_window::held_in(const acknowledgement& range,
                                                   member_no holder) const {
  std::vector<acknowledgement> found;
  const auto to = std::min(range.to.value, next_);
  for (auto n = std::max(range.offset.value, first()); n < to; ++n)
    if (const auto& s = *find(n); s.at == stage::leased && s.holder == holder)
      found.push_back({key_, queue_offset{n}, s.lease, range.what, {}, range.retry_ms});
  return found;
}

bool queue_window::is_open(const expiry& x) const {
  const auto* s = find(x.offset);
  return s && s->at == stage::leased && s->lease == x.lease;
}

std::size_t queue_window::expire(time_point now) {
  std::size_t ended = 0;
  for (; !expiries_.empty() && expiries_.front().at <= now; expiries_.pop_front())
    if (is_open(expiries_.front())) {
      fail(*find(expiries_.front().offset), now);
      ++ended;
    }
  while (!waiting_.empty() && waiting_.begin()->first <= now)
    hand_again(*find(waiting_.begin()->second));
  return ended;
}

std::optional<queue_window::time_point> queue_window::next_expiry() {
  while (!expiries_.empty() && !is_open(expiries_.front()))
    expiries_.pop_front();
  std::optional<time_point> next;
  if (!expiries_.empty())
    next = expiries_.front().at;
  if (!waiting_.empty() && (!next || waiting_.begin()->first < *next))
    next = waiting_.begin()->first;
  return next;
}

std::size_t queue_window::release(member_no holder, time_point now) {
  std::size_t ended = 0;
  for (std::size_t n = 0; leased_ > 0 && n < slots_.size(); ++n)
    if (slots_[n].at == stage::leased && slots_[n].holder == holder) {
      fail(slots_[n], now);
      ++ended;
    }
  return ended;
}

// -- durability ---------------------------------------------------------------------

void queue_window::counts_durable(const std::vector<std::uint64_t>& offsets, time_point now) {
  for (const auto offset : offsets) {
    auto* s = find(offset);
    if (!s || s->at != stage::counted)
      continue;
    const auto due = failed_.at(offset);
    s->at = stage::waiting;
    waiting_.insert({due, offset});
    if (due <= now)
      hand_again(*s);
  }
}

void queue_window::counts_refused(const std::vector<std::uint64_t>& offsets) {
  counted_.insert(counted_.end(), offsets.begin(), offsets.end());
  changed(urgency::now);
}

std::vector<queue_window::dead_message> queue_window::take_dead(std::size_t max) {
  std::vector<dead_message> taken;
  std::size_t seen = 0;
  for (; seen < dying_.size() && taken.size() < max; ++seen)
    if (const auto* s = find(dying_[seen]); s && s->at == stage::dead)
      taken.push_back({s->entry, progress_.attempts(dying_[seen]), s->refused});
  dying_.erase(dying_.begin(), dying_.begin() + static_cast<std::ptrdiff_t>(seen));
  return taken;
}

bool queue_window::is_dead(queue_offset offset) const {
  const auto* s = find(offset.value);
  return s && s->at == stage::dead;
}

void queue_window::buried(queue_offset offset) {
  if (progress_.is_done(offset.value))
    return;
  if (auto* s = find(offset.value))
    finish(*s);
  progress_.mark_done(offset.value);
  changed(urgency::lazy);
  drop_finished();
}

void queue_window::not_buried(queue_offset offset) {
  if (is_dead(offset))
    dying_.push_back(offset.value);
}

} // namespace handfast
