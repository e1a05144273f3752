#pragma once

/// Next offsets of every queue and of both views. Plain, no CAF.

#include "messages/log_record.hpp"

#include <tsl/robin_map.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace handfast {

/// Where COMMIT LOG takes offsets from. `take` runs ahead of durability; what is saved is the
/// durable part, so that offsets of records that a crash lost are given again and queues stay
/// dense. Not thread-safe.
class queue_heads {
public:
  static constexpr queue_key half_view{half_view_topic, {}};
  static constexpr queue_key op_view{op_view_topic, {}};

  /// The offset that the next `take` of this queue gives.
  [[nodiscard]] queue_offset next(queue_key queue) const;
  /// One offset of this queue; it is used up.
  queue_offset take(queue_key queue) { return queue_offset{of(queue).next++}; }
  /// Gives the last offset that was taken back.
  void put_back(queue_key queue);

  /// Everything below `end` of this queue is durable.
  void set_durable(queue_key queue, queue_offset end);
  /// Offset of the first entry that is not durable yet.
  [[nodiscard]] queue_offset durable(queue_key queue) const;
  /// The offsets that a durable record uses up.
  void apply(const log_record& record);

  [[nodiscard]] std::size_t queues() const { return heads_.size(); }

  /// The durable part.
  [[nodiscard]] std::string save() const;
  /// Raises heads to what `save` gave. False if the bytes make no sense.
  bool load(std::string_view bytes);

private:
  struct ends {
    std::uint64_t next = 0;
    std::uint64_t durable = 0;
  };
  /// Those of the views stand apart: each record of a transaction takes from one of them.
  ends& of(queue_key queue) {
    return queue == half_view ? half_view_ : queue == op_view ? op_view_ : heads_[queue];
  }
  [[nodiscard]] ends known(queue_key queue) const;

  ends half_view_;
  ends op_view_;
  tsl::robin_map<queue_key, ends, std::hash<queue_key>> heads_;
};

} // namespace handfast
