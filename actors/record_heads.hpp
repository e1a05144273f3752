#pragma once

/// What filters and order keys need to know of a message.

#include "actors/roles.hpp"

namespace handfast {

/// `ec::corrupt` if the record holds no message.
inline record_head head_of(const log_record& record) {
  record_head head;
  const auto* message = message_of(record);
  if (!message) {
    head.code = ec::corrupt;
    return head;
  }
  head.flags = message->flags;
  head.order_hash = message->order_hash;
  head.delay_ms = message->delay_ms;
  head.transaction = transaction_of(record);
  head.properties = message->properties();
  return head;
}

} // namespace handfast
