#pragma once

/// How far one consumer group has come, as the log says. Plain, no CAF; owned by CONSUMER
/// GROUP.

#include "messages/log_record.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace handfast {

/// Progress on one queue: everything below `base` is done, ranges above it too, and failed
/// deliveries of what is not done. Ranges are disjoint, not adjacent, and above the base.
class queue_progress {
public:
  [[nodiscard]] std::uint64_t base() const { return base_; }
  [[nodiscard]] bool is_done(std::uint64_t offset) const;
  /// How many of those below `offset` are not done.
  [[nodiscard]] std::uint64_t not_done_below(std::uint64_t offset) const;
  /// False if it was done already.
  bool mark_done(std::uint64_t offset);
  /// Everything from `from` up to `to`.
  void mark_done(std::uint64_t from, std::uint64_t to);
  /// Everything below `offset` counts as done.
  void advance_to(std::uint64_t offset);

  /// Failed deliveries so far.
  [[nodiscard]] std::uint32_t attempts(std::uint64_t offset) const;
  /// Messages with failed deliveries.
  [[nodiscard]] std::size_t attempted() const { return attempts_.size(); }
  void count_attempt(std::uint64_t offset);

  [[nodiscard]] std::size_t ranges() const { return done_.size(); }
  [[nodiscard]] group_progress record(group_id group, queue_key queue) const;
  void assign(const group_progress& from);

private:
  void absorb_base();

  std::uint64_t base_ = 0;
  std::map<std::uint64_t, std::uint64_t> done_; ///< from -> to
  std::map<std::uint64_t, std::uint32_t> attempts_;
};

/// Fold of what the log says of one group: PROGRESS, whose entries are the whole progress on their
/// queue, so that they replace what was; and DEAD_LETTER, which ends one message. Not thread-safe.
class progress_table {
public:
  explicit progress_table(group_id group) : group_{group} {}

  [[nodiscard]] group_id group() const { return group_; }
  /// Entries of other groups are ignored.
  void apply(const progress_record& record);
  void apply(const group_progress& entry);
  void apply(const dead_letter_record& record);

  /// Null if the group has no progress there.
  [[nodiscard]] const queue_progress* find(queue_key queue) const;
  /// Whether the group has progress on any queue of `topic`.
  [[nodiscard]] bool knows(topic_id topic) const;
  [[nodiscard]] const std::map<queue_key, queue_progress>& queues() const { return queues_; }

  /// Prefix of the group's slices: `group/<id>/`.
  [[nodiscard]] static std::string slice_prefix(group_id group);
  /// The group that a slice belongs to; 0 for a name of another form.
  [[nodiscard]] static group_id group_of_slice(std::string_view name);
  /// One part of a checkpoint from `cursor` on; empties the cursor with the last one.
  [[nodiscard]] std::string save(std::string& cursor) const;
  void load(const std::string& name, std::string_view bytes);
  [[nodiscard]] progress_table emptied() const { return progress_table{group_}; }

private:
  group_id group_;
  std::map<queue_key, queue_progress> queues_;
};

} // namespace handfast
