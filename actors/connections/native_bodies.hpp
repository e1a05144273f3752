#pragma once

/// From records of the log to messages in `delivered` frames.

#include "messages/delivery.hpp"
#include "messages/log_record.hpp"
#include "messages/native/consume.hpp"

#include <string_view>

namespace handfast {

/// Payload of one `delivered` frame, unless a single message is larger.
constexpr std::uint32_t delivered_bytes_max = 4 * limits::mib;

/// Everything but what its record tells.
native::delivered_item item_of(const delivery& d);

/// Adds what the record tells; place and lease come from the delivery. False if it holds no
/// message.
bool put_body(const log_record& record, const transaction_ids& ids, native::delivered_item& to);

inline std::string_view properties_of(const native::delivered_item& item) {
  return item.payload.text().substr(0, item.properties_size);
}

/// The bytes are damaged, in contrast to a disk that can't be read at the moment.
constexpr bool is_damage(ec code) {
  return code == ec::corrupt || code == ec::position_not_found;
}

} // namespace handfast
