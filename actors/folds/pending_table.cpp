#include "actors/folds/pending_table.hpp"

#include "actors/folds/slice_io.hpp"
#include "messages/assert.hpp"
#include "messages/record_rule.hpp"

#include <algorithm>

namespace handfast {

namespace {

constexpr std::uint8_t slice_version = 2;

template <class Map, class Key>
std::uint64_t value_or_zero(const Map& map, Key key) {
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second;
}

template <class Map, class Key>
void subtract_one(Map& map, Key key) {
  const auto found = map.find(key);
  HANDFAST_ASSERT(found != map.end() && found->second > 0);
  --found.value(); // stays at zero: it is about to be counted again
}

void put_message(slice_writer& out, const index_entry& m) {
  put_all(out, m.at, m.topic, m.queue, m.length, m.tag_hash, m.due_ms);
}

index_entry take_message(slice_reader& in) {
  index_entry m;
  get_all(in, m.at, m.topic, m.queue, m.length, m.tag_hash, m.due_ms);
  return m;
}

} // namespace

void pending_table::count(topic_id topic, std::uint32_t length) {
  ++by_topic_[topic];
  bytes_ += length;
}

void pending_table::discount(topic_id topic, std::uint32_t length) {
  subtract_one(by_topic_, topic);
  HANDFAST_ASSERT(bytes_ >= length);
  bytes_ -= length;
}

pending_table::place pending_table::open(const pending_entry& entry, std::uint64_t delay_ms) {
  HANDFAST_ASSERT(entry.id != position{});
  const auto [found, fresh] = index_.insert(entry.id);
  if (!fresh)
    return found;
  const auto p = found = entries_.take();
  entries_[p] = entry;
  entries_[p].messages = 1;
  if (delay_ms != 0)
    first_delays_[entry.id] = delay_ms;
  count(entry.topic, entry.length);
  ++by_group_[entry.group];
  return p;
}

pending_table::place pending_table::reopen(pending_entry entry, position old,
                                           std::span<const index_entry> messages) {
  require_of_record(!messages.empty(), "it opens a transaction again that has no messages");
  const auto& first = messages.front();
  entry.topic = first.topic;
  entry.queue = first.queue;
  entry.length = first.length;
  entry.tag_hash = first.tag_hash;
  const auto p = open(entry, first.due_ms);
  reopened_[entry.id] = {old, first.at};
  for (const auto& m : messages.subspan(1))
    join(entry.id, m);
  return p;
}

bool pending_table::join(position transaction, const index_entry& message) {
  const auto p = find(transaction);
  if (p == none)
    return false;
  auto& entry = at(p);
  if (message.at == first_body(entry))
    return true;
  auto& more = more_[transaction];
  if (std::ranges::any_of(more, [&](const auto& m) { return m.at == message.at; }))
    return true;
  more.push_back(message);
  entry.messages = static_cast<std::uint16_t>(more.size() + 1);
  count(message.topic, message.length);
  return true;
}

bool pending_table::erase(position transaction) {
  const auto p = find(transaction);
  if (p == none)
    return false;
  erase_at(p);
  return true;
}

void pending_table::erase_at(place p) {
  const auto& entry = at(p);
  const auto transaction = entry.id;
  discount(entry.topic, entry.length);
  subtract_one(by_group_, entry.group);
  if (entry.messages > 1) {
    for (const auto& m : more_.at(transaction))
      discount(m.topic, m.length);
    more_.erase(transaction);
  }
  if (!reopened_.empty())
    reopened_.erase(transaction);
  if (!first_delays_.empty())
    first_delays_.erase(transaction);
  if (!quarantined_.empty())
    quarantined_.erase(transaction);
  index_.take(transaction);
  entries_.give_back(p);
}

void pending_table::quarantine(place p) {
  at(p).state = pending_state::quarantined;
  quarantined_.insert(at(p).id);
}

pending_entry* pending_table::at(place p, position transaction) {
  if (p >= entries_.end() || at(p).id != transaction)
    return nullptr;
  return &at(p);
}

position pending_table::first_body(const pending_entry& entry) const {
  if (reopened_.empty())
    return entry.id;
  const auto found = reopened_.find(entry.id);
  return found == reopened_.end() ? entry.id : found->second.first_body;
}

position pending_table::reopened_from(const pending_entry& entry) const {
  const auto found = reopened_.find(entry.id);
  return found == reopened_.end() ? position{} : found->second.old;
}

void pending_table::append_messages(const pending_entry& entry,
                                    std::vector<index_entry>& to) const {
  to.push_back({first_body(entry),
                entry.topic,
                entry.queue,
                {},
                entry.length,
                entry.tag_hash,
                value_or_zero(first_delays_, entry.id)});
  if (entry.messages > 1) {
    const auto& more = more_.at(entry.id);
    to.insert(to.end(), more.begin(), more.end());
  }
}

std::uint64_t pending_table::messages_of(topic_id topic) const {
  return value_or_zero(by_topic_, topic);
}

std::uint64_t pending_table::transactions_of(group_id group) const {
  return value_or_zero(by_group_, group);
}

void pending_table::settle_ages(wall_ms wall_now, mono_ms now) {
  for (place p = 0; p < end(); ++p) {
    auto& entry = at(p);
    if (entry.id == position{} || entry.stored_at != unknown_moment)
      continue;
    const auto age = wall_now > entry.stored_ms ? wall_now - entry.stored_ms : 0;
    entry.stored_at = now - static_cast<mono_ms>(age);
    entry.set(pending_flags::recovered);
  }
}

std::string pending_table::save(place from, std::size_t max, place& next) const {
  slice_writer out;
  out.put(slice_version);
  std::size_t taken = 0;
  std::vector<index_entry> messages;
  auto p = from;
  for (; p < end() && taken < max; ++p) {
    const auto& e = at(p);
    if (e.id == position{})
      continue;
    taken += e.messages;
    // A decision on its way is not in the log yet: whoever loads this sees a pending one.
    const auto state = e.state == pending_state::deciding ? pending_state::pending : e.state;
    const auto flags = static_cast<std::uint16_t>(e.flags & pending_flags::kept);
    put_all(out, e.id, e.producer, e.stored_ms, e.group, e.timeout_ms, e.attempts, flags, state,
            reopened_from(e), e.messages);
    messages.clear();
    append_messages(e, messages);
    for (const auto& m : messages)
      put_message(out, m);
  }
  next = p < end() ? p : none;
  return out.take();
}

void pending_table::load(std::string_view bytes) {
  slice_reader in{bytes};
  HANDFAST_ASSERT(in.get<std::uint8_t>() == slice_version);
  std::vector<index_entry> messages;
  while (!in.at_end()) {
    pending_entry e;
    position old;
    std::uint16_t count = 0;
    get_all(in, e.id, e.producer, e.stored_ms, e.group, e.timeout_ms, e.attempts, e.flags, e.state,
            old, count);
    HANDFAST_ASSERT(in.ok() && count > 0);
    messages.clear();
    for (std::uint16_t i = 0; i < count; ++i)
      messages.push_back(take_message(in));
    HANDFAST_ASSERT(in.ok());
    if (e.state == pending_state::quarantined)
      quarantined_.insert(e.id);
    if (old != position{}) {
      reopen(e, old, messages);
      continue;
    }
    const auto& first = messages.front();
    e.topic = first.topic;
    e.queue = first.queue;
    e.length = first.length;
    e.tag_hash = first.tag_hash;
    open(e, first.due_ms);
    for (std::size_t i = 1; i < messages.size(); ++i)
      join(e.id, messages[i]);
  }
}

} // namespace handfast
