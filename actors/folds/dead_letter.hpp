#pragma once

/// What goes to a dead-letter topic: a copy of the message that says where it came from and why.
/// Plain, no CAF.

#include "messages/log_record.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace handfast {

/// Where a dead message stood, and what it died of.
struct dead_letter_origin {
  std::string_view topic; ///< by name
  queue_key queue;
  queue_offset offset;
  position at; ///< of the record that held it: the message's id
  std::uint32_t attempts = 0;
  std::string_view reason; ///< for people
};

/// The properties of `original` with those that tell of its death, in place of older ones from an
/// earlier death. They may be some hundred bytes longer than a client may send.
std::string dead_letter_properties(std::string_view original, const dead_letter_origin& from);

/// A copy of the message in `original` for queue 0 of `to`. Its place there is not stamped and the
/// CRC of its payload is not set. `original` must hold a message.
message_record dead_letter_copy(const log_record& original, topic_id to,
                                const dead_letter_origin& from);

} // namespace handfast
