#pragma once

/// Every 64th entry of the half and op views, until a derived run holds it. Plain, no CAF.

#include "messages/log_record.hpp"

#include <cstdint>
#include <deque>

namespace handfast {

/// Where an entry of a view stands in the log.
struct sampled_view_entry {
  queue_key view;
  queue_offset offset;
  position at;
  friend bool operator==(const sampled_view_entry&, const sampled_view_entry&) = default;
};

class view_samples {
public:
  /// Distance between samples; readers scan the log from there. Runs are read with the same number.
  static constexpr std::uint64_t stride = 64;

  /// Takes HALF and DECIDE records that are durable, in log order.
  void apply(const log_record& record) {
    if (record.type == record_type::half)
      add({half_view_topic, {}}, std::get<message_record>(record.content).offset, record.at);
    if (record.type == record_type::decide)
      add({op_view_topic, {}}, std::get<decide_record>(record.content).op_offset, record.at);
  }

  /// What no run has yet, in log order.
  [[nodiscard]] const std::deque<sampled_view_entry>& unsaved() const { return unsaved_; }
  /// A run holds everything of records below `to`.
  void saved(position to) {
    while (!unsaved_.empty() && unsaved_.front().at < to)
      unsaved_.pop_front();
  }

private:
  void add(queue_key view, queue_offset offset, position at) {
    if (offset.value % stride == 0 && (unsaved_.empty() || unsaved_.back().at < at))
      unsaved_.push_back({view, offset, at});
  }

  std::deque<sampled_view_entry> unsaved_;
};

} // namespace handfast
