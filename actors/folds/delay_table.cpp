#include "actors/folds/delay_table.hpp"

#include "actors/folds/slice_io.hpp"
#include "messages/assert.hpp"

namespace handfast {

namespace {

constexpr std::uint8_t slice_version = 1;

} // namespace

delay_table::delay_table()
    : entries_{std::make_unique<slab<delayed_entry>>()}, by_due_{in_order_of_due{entries_.get()}},
      by_position_{in_order_of_position{entries_.get()}} {}

bool delay_table::insert(const delayed_entry& entry) {
  HANDFAST_ASSERT(entry.at != position{});
  if (by_position_.contains(entry.at))
    return false;
  const auto p = entries_->take();
  (*entries_)[p] = entry;
  (*entries_)[p].releasing = false;
  by_position_.insert(by_position_.end(), p); // mostly the newest so far
  by_due_.insert(p);
  ++by_topic_[entry.topic];
  bytes_ += entry.length;
  return true;
}

bool delay_table::erase(position at) {
  const auto found = by_position_.find(at);
  if (found == by_position_.end())
    return false;
  const auto p = *found;
  const auto& entry = (*entries_)[p];
  if (!entry.releasing)
    HANDFAST_ASSERT(by_due_.erase(p) == 1);
  by_position_.erase(found);
  HANDFAST_ASSERT(bytes_ >= entry.length);
  bytes_ -= entry.length;
  const auto counted = by_topic_.find(entry.topic);
  HANDFAST_ASSERT(counted != by_topic_.end());
  if (--counted.value() == 0)
    by_topic_.erase(counted);
  entries_->give_back(p);
  return true;
}

const delayed_entry* delay_table::find(position at) const {
  const auto found = by_position_.find(at);
  return found == by_position_.end() ? nullptr : &(*entries_)[*found];
}

bool delay_table::take_due(wall_ms now, std::size_t max, std::vector<delayed_entry>& to) {
  while (!by_due_.empty()) {
    auto& entry = (*entries_)[*by_due_.begin()];
    if (entry.due > now)
      return false;
    if (max == 0)
      return true;
    --max;
    by_due_.erase(by_due_.begin());
    entry.releasing = true;
    to.push_back(entry);
  }
  return false;
}

bool delay_table::take(position at) {
  const auto found = by_position_.find(at);
  if (found == by_position_.end() || (*entries_)[*found].releasing)
    return false;
  HANDFAST_ASSERT(by_due_.erase(*found) == 1);
  (*entries_)[*found].releasing = true;
  return true;
}

bool delay_table::put_back(position at) {
  const auto found = by_position_.find(at);
  if (found == by_position_.end() || !(*entries_)[*found].releasing)
    return false;
  (*entries_)[*found].releasing = false;
  by_due_.insert(*found);
  return true;
}

std::optional<wall_ms> delay_table::next_due() const {
  if (by_due_.empty())
    return std::nullopt;
  return (*entries_)[*by_due_.begin()].due;
}

bool delay_table::page(due_place& after, std::size_t max, std::vector<delayed_entry>& to) const {
  auto next = by_due_.upper_bound(after);
  for (; next != by_due_.end() && max > 0; ++next, --max) {
    to.push_back((*entries_)[*next]);
    after = {to.back().due, to.back().at};
  }
  return next != by_due_.end();
}

std::uint64_t delay_table::messages_of(topic_id topic) const {
  const auto found = by_topic_.find(topic);
  return found == by_topic_.end() ? 0 : found->second;
}

std::optional<position> delay_table::oldest() const {
  if (by_position_.empty())
    return std::nullopt;
  return (*entries_)[*by_position_.begin()].at;
}

std::string delay_table::save(position from, std::size_t max, position& next) const {
  slice_writer out;
  out.put(slice_version);
  auto at = by_position_.lower_bound(from);
  for (; at != by_position_.end() && max > 0; ++at, --max) {
    const auto& e = (*entries_)[*at];
    put_all(out, e.due, e.at, e.transaction, e.topic, e.queue, e.length, e.tag_hash);
  }
  next = at == by_position_.end() ? position{} : (*entries_)[*at].at;
  return out.take();
}

void delay_table::load(std::string_view bytes) {
  slice_reader in{bytes};
  HANDFAST_ASSERT(in.get<std::uint8_t>() == slice_version);
  while (in.more()) {
    delayed_entry e;
    get_all(in, e.due, e.at, e.transaction, e.topic, e.queue, e.length, e.tag_hash);
    HANDFAST_ASSERT(in.ok());
    insert(e);
  }
}

} // namespace handfast
