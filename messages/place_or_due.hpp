#pragma once

/// The offset that a message has in its queue or, while it has none, the moment when it becomes
/// visible: both in 64 bits, for the disk and for tables with millions of entries.

#include "messages/ids.hpp"
#include "messages/log_record.hpp"

#include <cstdint>

namespace handfast {

/// Set in an offset that is a moment instead. No queue ever gets that far.
constexpr std::uint64_t due_flag = std::uint64_t{1} << 63;

constexpr queue_offset place_or_due(queue_offset offset, wall_ms due_ms) {
  return due_ms == 0 ? offset : queue_offset{due_ms | due_flag};
}
/// 0 while there is none.
constexpr queue_offset offset_in(queue_offset packed) {
  return (packed.value & due_flag) == 0 ? packed : queue_offset{};
}
/// 0 when there is an offset.
constexpr wall_ms due_in(queue_offset packed) {
  return (packed.value & due_flag) == 0 ? 0 : packed.value & ~due_flag;
}

} // namespace handfast
