#include "actors/folds/progress_table.hpp"

#include "actors/folds/slice_io.hpp"
#include "messages/assert.hpp"
#include "messages/record_rule.hpp"

#include <algorithm>
#include <charconv>

namespace handfast {

namespace {

constexpr std::string_view prefix = "group/";
/// Bytes after which a part of a checkpoint ends.
constexpr std::size_t slice_bytes_max = 256 * 1024;

void put_progress(slice_writer& to, const group_progress& p) {
  to.put(p.topic.value);
  to.put(p.queue.value);
  to.put(p.base.value);
  to.put(static_cast<std::uint32_t>(p.done.size()));
  for (const auto& range : p.done) {
    to.put(range.from);
    to.put(range.to);
  }
  to.put(static_cast<std::uint32_t>(p.attempts.size()));
  for (const auto& a : p.attempts) {
    to.put(a.offset);
    to.put(a.attempts);
  }
}

group_progress read_progress(slice_reader& from, group_id group) {
  group_progress p;
  p.group = group;
  p.topic = topic_id{from.get<std::uint32_t>()};
  p.queue = queue_no{from.get<std::uint16_t>()};
  p.base = queue_offset{from.get<std::uint64_t>()};
  for (auto n = from.get<std::uint32_t>(); n > 0 && from.ok(); --n) {
    const auto begin = from.get<std::uint64_t>();
    p.done.push_back({begin, from.get<std::uint64_t>()});
  }
  for (auto n = from.get<std::uint32_t>(); n > 0 && from.ok(); --n) {
    const auto offset = from.get<std::uint64_t>();
    p.attempts.push_back({offset, from.get<std::uint32_t>()});
  }
  return p;
}

} // namespace

bool queue_progress::is_done(std::uint64_t offset) const {
  if (offset < base_ || done_.empty())
    return offset < base_;
  const auto after = done_.upper_bound(offset);
  return after != done_.begin() && std::prev(after)->second > offset;
}

std::uint64_t queue_progress::not_done_below(std::uint64_t offset) const {
  auto count = offset > base_ ? offset - base_ : 0;
  for (auto at = done_.begin(); at != done_.end() && at->first < offset; ++at)
    count -= std::min(at->second, offset) - at->first;
  return count;
}

bool queue_progress::mark_done(std::uint64_t offset) {
  if (is_done(offset))
    return false;
  if (!attempts_.empty())
    attempts_.erase(offset);
  if (offset == base_) { // in order, as it mostly is
    ++base_;
    if (!done_.empty())
      absorb_base();
    return true;
  }
  auto after = done_.upper_bound(offset);
  auto to = offset + 1;
  if (after != done_.end() && after->first == to) {
    to = after->second;
    after = done_.erase(after);
  }
  if (after != done_.begin() && std::prev(after)->second == offset)
    std::prev(after)->second = to;
  else
    done_.emplace_hint(after, offset, to);
  absorb_base();
  return true;
}

void queue_progress::mark_done(std::uint64_t from, std::uint64_t to) {
  HANDFAST_ASSERT(from < to);
  attempts_.erase(attempts_.lower_bound(from), attempts_.lower_bound(to));
  auto at = done_.upper_bound(from);
  if (at != done_.begin() && std::prev(at)->second >= from)
    --at;
  while (at != done_.end() && at->first <= to) {
    from = std::min(from, at->first);
    to = std::max(to, at->second);
    at = done_.erase(at);
  }
  done_.emplace_hint(at, from, to);
  absorb_base();
}

void queue_progress::absorb_base() {
  while (!done_.empty() && done_.begin()->first <= base_) {
    base_ = std::max(base_, done_.begin()->second);
    done_.erase(done_.begin());
  }
}

void queue_progress::advance_to(std::uint64_t offset) {
  base_ = std::max(base_, offset);
  absorb_base();
  attempts_.erase(attempts_.begin(), attempts_.lower_bound(base_));
}

std::uint32_t queue_progress::attempts(std::uint64_t offset) const {
  const auto found = attempts_.find(offset);
  return found == attempts_.end() ? 0 : found->second;
}

void queue_progress::count_attempt(std::uint64_t offset) {
  HANDFAST_ASSERT(!is_done(offset));
  ++attempts_[offset];
}

group_progress queue_progress::record(group_id group, queue_key queue) const {
  group_progress p;
  p.group = group;
  p.topic = queue.topic;
  p.queue = queue.queue;
  p.base = queue_offset{base_};
  p.done.reserve(done_.size());
  for (const auto& [from, to] : done_)
    p.done.push_back({from, to});
  p.attempts.reserve(attempts_.size());
  for (const auto& [offset, count] : attempts_)
    p.attempts.push_back({offset, count});
  return p;
}

void queue_progress::assign(const group_progress& from) {
  base_ = from.base.value;
  done_.clear();
  attempts_.clear();
  for (const auto& range : from.done) {
    require_of_record(range.from < range.to, "it calls a stretch of offsets done that is none");
    done_.emplace(range.from, range.to);
  }
  for (const auto& a : from.attempts)
    attempts_.emplace(a.offset, a.attempts);
  absorb_base();
}

void progress_table::apply(const progress_record& record) {
  for (const auto& entry : record.groups)
    apply(entry);
}

void progress_table::apply(const group_progress& entry) {
  if (entry.group == group_)
    queues_[{entry.topic, entry.queue}].assign(entry);
}

void progress_table::apply(const dead_letter_record& record) {
  if (record.group == group_)
    queues_[{record.topic, record.queue}].mark_done(record.offset.value);
}

const queue_progress* progress_table::find(queue_key queue) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : &found->second;
}

bool progress_table::knows(topic_id topic) const {
  const auto found = queues_.lower_bound({topic, queue_no{0}});
  return found != queues_.end() && found->first.topic == topic;
}

std::string progress_table::slice_prefix(group_id group) {
  return std::string{prefix} + std::to_string(group.value) + "/";
}

group_id progress_table::group_of_slice(std::string_view name) {
  group_id group;
  if (name.substr(0, prefix.size()) != prefix)
    return {};
  name.remove_prefix(prefix.size());
  const auto [end, why] = std::from_chars(name.data(), name.data() + name.size(), group.value);
  const auto digits = static_cast<std::size_t>(end - name.data());
  return why == std::errc{} && digits < name.size() && name[digits] == '/' ? group : group_id{};
}

/// The cursor is the packed key of the next queue.
std::string progress_table::save(std::string& cursor) const {
  std::uint64_t packed = 0;
  std::from_chars(cursor.data(), cursor.data() + cursor.size(), packed);
  const queue_key from{topic_id{static_cast<std::uint32_t>(packed >> 16)},
                       queue_no{static_cast<std::uint16_t>(packed)}};
  slice_writer to;
  for (auto at = queues_.lower_bound(from); at != queues_.end(); ++at) {
    if (to.size() >= slice_bytes_max) {
      cursor = std::to_string((std::uint64_t{at->first.topic.value} << 16) | at->first.queue.value);
      return to.take();
    }
    put_progress(to, at->second.record(group_, at->first));
  }
  cursor.clear();
  return to.take();
}

void progress_table::load(const std::string& name, std::string_view bytes) {
  if (group_of_slice(name) != group_)
    return;
  slice_reader from{bytes};
  while (!from.at_end()) {
    const auto entry = read_progress(from, group_);
    HANDFAST_ASSERT(from.ok());
    apply(entry);
  }
}

} // namespace handfast
