#include "actors/folds/queue_heads.hpp"

#include "actors/folds/queue_index.hpp"
#include "actors/folds/slice_io.hpp"
#include "messages/assert.hpp"

#include <algorithm>

namespace handfast {

queue_offset queue_heads::next(queue_key queue) const {
  return queue_offset{known(queue).next};
}

queue_heads::ends queue_heads::known(queue_key queue) const {
  if (queue == half_view)
    return half_view_;
  if (queue == op_view)
    return op_view_;
  const auto it = heads_.find(queue);
  return it == heads_.end() ? ends{} : it->second;
}

void queue_heads::put_back(queue_key queue) {
  auto& head = of(queue);
  HANDFAST_ASSERT(head.next > head.durable);
  --head.next;
}

void queue_heads::set_durable(queue_key queue, queue_offset end) {
  auto& head = of(queue);
  head.durable = std::max(head.durable, end.value);
  head.next = std::max(head.next, head.durable);
}

queue_offset queue_heads::durable(queue_key queue) const {
  return queue_offset{known(queue).durable};
}

void queue_heads::apply(const log_record& record) {
  if (record.type == record_type::half)
    set_durable(half_view, {std::get<message_record>(record.content).offset.value + 1});
  if (record.type == record_type::decide)
    set_durable(op_view, {std::get<decide_record>(record.content).op_offset.value + 1});
  for_each_visible(record, [&](queue_key queue, const visible_entry& entry) {
    set_durable(queue, {entry.offset.value + 1});
  });
}

std::string queue_heads::save() const {
  slice_writer out;
  const auto put = [&](queue_key queue, const ends& head) {
    if (head.durable > 0)
      out.put(queue.topic).put(queue.queue).put(head.durable);
  };
  put(half_view, half_view_);
  put(op_view, op_view_);
  for (const auto& [queue, head] : heads_)
    put(queue, head);
  return out.take();
}

bool queue_heads::load(std::string_view bytes) {
  slice_reader in{bytes};
  while (in.more()) {
    queue_key queue;
    queue.topic = in.get<topic_id>();
    queue.queue = in.get<queue_no>();
    const auto durable = in.get<queue_offset>();
    if (in.ok())
      set_durable(queue, durable);
  }
  return in.ok();
}

} // namespace handfast
