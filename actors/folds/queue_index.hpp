#pragma once

/// The index of one queue, as far as no derived run holds it. Plain, no CAF; owned by QUEUE.

#include "messages/delivery.hpp"
#include "messages/log_record.hpp"
#include "messages/requests.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handfast {

/// Calls `visit(queue_key, visible_entry)` for each entry that `record` makes visible, in the order
/// of the record: a plain message without delay, the messages of committed and the copies of
/// given-up decisions unless they are delayed, what is released, and dead letters.
template <class Visit>
void for_each_visible(const log_record& record, Visit&& visit) {
  const auto give = [&](const index_entry& e) {
    visit(queue_key{e.topic, e.queue},
          visible_entry{e.at, e.length, e.tag_hash, e.offset, record.time_ms});
  };
  if (record.type == record_type::message) {
    const auto& m = std::get<message_record>(record.content);
    if (m.delay_ms == 0)
      give({record.at, m.topic, m.queue, m.offset, record.length, m.tag_hash});
  } else if (record.type == record_type::decide) {
    for (const auto& e : std::get<decide_record>(record.content).entries)
      if (!e.is_delayed())
        give(e);
  } else if (record.type == record_type::release) {
    for (const auto& e : std::get<release_record>(record.content).entries)
      give(e);
  } else if (record.type == record_type::dead_letter) {
    const auto& m = std::get<dead_letter_record>(record.content).message;
    give({record.at, m.topic, m.queue, m.offset, record.length, m.tag_hash});
  }
}

/// Visible entries by offset, 24 bytes each. Entries leave when a derived run holds them; offsets
/// below `memory_first` are there. Offsets are dense, unless a record was lost that held some:
/// these are passed over. Not thread-safe.
class queue_index {
public:
  explicit queue_index(queue_key key) : key_{key} {}

  [[nodiscard]] queue_key key() const { return key_; }
  /// One behind the newest entry.
  [[nodiscard]] queue_offset end() const { return queue_offset{end_}; }
  /// Oldest entry that is in memory; `end` when none is.
  [[nodiscard]] queue_offset memory_first() const { return queue_offset{memory_first_}; }
  /// Oldest entry that the queue has at all.
  [[nodiscard]] queue_offset first() const { return queue_offset{0}; }
  [[nodiscard]] std::size_t in_memory() const { return entries_ ? entries_->size() : 0; }

  /// Takes the own entries of one record.
  void apply(const log_record& record);
  /// What is there already is ignored. Offsets between the end and this entry were lost.
  void add(const visible_entry& entry);

  /// Up to `max` entries at or behind `from`, which must lie in memory or behind it.
  [[nodiscard]] std::vector<visible_entry> read(queue_offset from, std::uint32_t max) const;

  /// Of the entries in memory the first that became visible at or after `since`; the end if none.
  [[nodiscard]] queue_offset visible_since(wall_ms since) const;

  /// Everything that no run has; remembers how far it gave.
  [[nodiscard]] std::vector<visible_entry> take_unsaved();
  /// A derived run holds what was given last.
  void saved();

  /// The slice's name is `queue/<topic>/<queue>`.
  [[nodiscard]] static std::string slice_name(queue_key key);
  /// The key that a slice belongs to; topic 0 for a name of another form.
  [[nodiscard]] static queue_key key_of_slice(std::string_view name);
  /// Empty for a queue that never had an entry.
  [[nodiscard]] std::string save() const;
  /// Ignores slices of other queues.
  void load(const std::string& name, std::string_view bytes);
  [[nodiscard]] queue_index emptied() const { return queue_index{key_}; }

private:
  struct stored {
    position at;
    wall_ms visible_ms;
    std::uint32_t length;
    std::uint32_t tag_hash;
  };
  /// Offsets that nothing stands at.
  struct hole {
    std::uint64_t from;
    std::uint64_t to;
  };

  queue_key key_;
  std::uint64_t memory_first_ = 0;
  std::uint64_t end_ = 0;
  /// Just loaded: the end may lie ahead of what the replay begins with, since slices are taken
  /// after the position where replay begins. The first replayed entry says where memory really
  /// begins.
  bool loaded_ = false;
  std::optional<std::deque<stored>> entries_; ///< none while idle: an empty deque holds 600 bytes
  std::vector<hole> holes_;                   ///< in memory, ascending; almost always none
  std::uint64_t missing_ = 0;                 ///< offsets in them
  std::uint64_t given_ = 0; ///< end of what was given to a run that is not saved yet
};

} // namespace handfast
