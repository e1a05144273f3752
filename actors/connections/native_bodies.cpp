#include "actors/connections/native_bodies.hpp"

#include <algorithm>

namespace handfast {

native::delivered_item item_of(const delivery& d) {
  native::delivered_item item;
  item.at = d.entry.at;
  item.topic = d.queue.topic;
  item.queue = d.queue.queue;
  item.offset = d.entry.offset;
  item.lease = d.lease;
  item.attempts = static_cast<std::uint16_t>(std::min<std::uint32_t>(d.attempts, 0xffff));
  item.visible_ms = d.entry.visible_ms;
  return item;
}

bool put_body(const log_record& record, const transaction_ids& ids, native::delivered_item& to) {
  const auto* m = message_of(record);
  if (record.type == record_type::pad || !m)
    return false;
  to.born_ms = m->born_ms;
  to.sys_flag = m->sys_flag;
  to.order_hash = m->order_hash;
  to.properties_size = m->properties_size;
  to.payload = m->payload;
  if (const auto opened_at = transaction_of(record); opened_at != position{})
    to.transaction = ids.at(opened_at);
  return true;
}

} // namespace handfast
