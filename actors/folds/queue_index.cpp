#include "actors/folds/queue_index.hpp"

#include "actors/folds/slice_io.hpp"
#include "messages/assert.hpp"

#include <algorithm>
#include <charconv>

namespace handfast {

namespace {

constexpr std::string_view slice_prefix = "queue/";

template <class T>
bool take_number(std::string_view& text, T& into) {
  const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (why != std::errc{})
    return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

} // namespace

void queue_index::apply(const log_record& record) {
  for_each_visible(record, [&](queue_key key, const visible_entry& entry) {
    if (key == key_)
      add(entry);
  });
}

void queue_index::add(const visible_entry& entry) {
  const auto offset = entry.offset.value;
  if (loaded_) {
    memory_first_ = end_ = std::min(offset, end_);
    loaded_ = false;
  }
  if (offset < end_)
    return;
  if (offset > end_) {
    holes_.push_back({end_, offset});
    missing_ += offset - end_;
    end_ = offset;
  }
  if (!entries_)
    entries_.emplace();
  entries_->push_back({entry.at, entry.visible_ms, entry.length, entry.tag_hash});
  ++end_;
  HANDFAST_ASSERT(memory_first_ + missing_ + in_memory() == end_);
}

std::vector<visible_entry> queue_index::read(queue_offset from, std::uint32_t max) const {
  HANDFAST_ASSERT(from.value >= memory_first_);
  std::vector<visible_entry> found;
  if (from.value >= end_)
    return found;
  found.reserve(std::min<std::size_t>(max, in_memory()));
  auto offset = from.value;
  auto base = memory_first_; // offset of entries_[0], if nothing were missing before `offset`
  for (auto lost = holes_.begin(); offset < end_ && found.size() < max;) {
    if (lost != holes_.end() && offset >= lost->from) {
      base += lost->to - lost->from;
      offset = std::max(offset, lost->to);
      ++lost;
      continue;
    }
    const auto& e = (*entries_)[static_cast<std::size_t>(offset - base)];
    found.push_back({e.at, e.length, e.tag_hash, queue_offset{offset}, e.visible_ms});
    ++offset;
  }
  return found;
}

/// Offsets are given in the order of time.
queue_offset queue_index::visible_since(wall_ms since) const {
  if (!entries_)
    return queue_offset{end_};
  const auto found =
      std::lower_bound(entries_->begin(), entries_->end(), since,
                       [](const stored& e, wall_ms time) { return e.visible_ms < time; });
  auto offset = memory_first_ + static_cast<std::uint64_t>(found - entries_->begin());
  for (const auto& lost : holes_)
    if (lost.from <= offset)
      offset += lost.to - lost.from;
  return queue_offset{offset};
}

std::vector<visible_entry> queue_index::take_unsaved() {
  given_ = end_;
  return read(queue_offset{memory_first_}, static_cast<std::uint32_t>(in_memory()));
}

void queue_index::saved() {
  if (given_ <= memory_first_)
    return;
  auto count = given_ - memory_first_;
  while (!holes_.empty() && holes_.front().to <= given_) {
    const auto lost = holes_.front().to - holes_.front().from;
    count -= lost;
    missing_ -= lost;
    holes_.erase(holes_.begin());
  }
  if (count == in_memory())
    entries_.reset();
  else
    entries_->erase(entries_->begin(), entries_->begin() + static_cast<std::ptrdiff_t>(count));
  memory_first_ = given_;
}

std::string queue_index::slice_name(queue_key key) {
  return std::string{slice_prefix} + std::to_string(key.topic.value) + "/" +
         std::to_string(key.queue.value);
}

queue_key queue_index::key_of_slice(std::string_view name) {
  queue_key key;
  if (name.substr(0, slice_prefix.size()) != slice_prefix)
    return {};
  name.remove_prefix(slice_prefix.size());
  if (!take_number(name, key.topic.value) || name.empty() || name.front() != '/')
    return {};
  name.remove_prefix(1);
  return take_number(name, key.queue.value) && name.empty() ? key : queue_key{};
}

std::string queue_index::save() const {
  if (end_ == 0)
    return {};
  slice_writer to;
  to.put(end_);
  return to.take();
}

void queue_index::load(const std::string& name, std::string_view bytes) {
  if (key_of_slice(name) != key_)
    return;
  slice_reader from{bytes};
  const auto end = from.get<std::uint64_t>();
  HANDFAST_ASSERT(from.ok());
  HANDFAST_ASSERT(in_memory() == 0);
  memory_first_ = end_ = end;
  loaded_ = true;
}

} // namespace handfast
