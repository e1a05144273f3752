#pragma once

/// Properties of a message in RocketMQ's encoding, `key 0x01 value 0x02` repeated, UTF-8. The
/// string is stored and delivered as it came; these functions read it in place.

#include "messages/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace handfast {

constexpr char property_name_end = '\x01';
constexpr char property_value_end = '\x02';

/// Keys that RocketMQ's clients and brokers know.
namespace property_keys {
constexpr std::string_view keys = "KEYS"; ///< several, with blanks between
constexpr std::string_view tags = "TAGS"; ///< a single tag
constexpr std::string_view unique_key = "UNIQ_KEY";
constexpr std::string_view transaction_prepared = "TRAN_MSG"; ///< `true` makes a send a half
constexpr std::string_view producer_group = "PGROUP";
constexpr std::string_view check_immunity = "CHECK_IMMUNITY_TIME_IN_SECONDS";
constexpr std::string_view check_times = "TRANSACTION_CHECK_TIMES";
constexpr std::string_view transaction_id = "__transactionId__";
constexpr std::string_view prepared_queue_offset = "TRAN_PREPARED_QUEUE_OFFSET";
constexpr std::string_view real_topic = "REAL_TOPIC";
constexpr std::string_view real_queue = "REAL_QID";
constexpr std::string_view delay_level = "DELAY";
constexpr std::string_view timer_delay_seconds = "TIMER_DELAY_SEC";
constexpr std::string_view timer_delay_ms = "TIMER_DELAY_MS";
constexpr std::string_view timer_deliver_ms = "TIMER_DELIVER_MS"; ///< a date, ms since 1970
constexpr std::string_view wait = "WAIT";
constexpr std::string_view retry_topic = "RETRY_TOPIC";
constexpr std::string_view origin_message_id = "ORIGIN_MESSAGE_ID";
constexpr std::string_view max_reconsume_times = "MAX_RECONSUME_TIMES";
constexpr std::string_view reconsume_time = "RECONSUME_TIME"; ///< failed deliveries, as a number
constexpr std::string_view dlq_origin_topic = "DLQ_ORIGIN_TOPIC";
constexpr std::string_view dlq_origin_message_id = "DLQ_ORIGIN_MESSAGE_ID";
constexpr std::string_view dlq_origin_queue = "DLQ_ORIGIN_QUEUE";   ///< Handfast's own, a number
constexpr std::string_view dlq_origin_offset = "DLQ_ORIGIN_OFFSET"; ///< Handfast's own, a number
constexpr std::string_view dlq_reason = "DLQ_REASON";               ///< Handfast's own, for people
constexpr std::string_view sharding_key = "__SHARDINGKEY";
constexpr std::string_view instance_id = "INSTANCE_ID";
constexpr std::string_view message_region = "MSG_REGION";
constexpr std::string_view trace_on = "TRACE_ON";
constexpr std::string_view cluster = "CLUSTER";
} // namespace property_keys

struct property {
  std::string_view key;
  std::string_view value;
};

/// Takes the first pair off `rest` without allocation; nothing at the end. A pair without a value
/// separator has an empty value; a missing terminator of the last pair is accepted, since some
/// clients leave it out.
std::optional<property> next_property(std::string_view& rest);

/// The value of the first pair with `key`, as a window into `encoded`; nothing if there is none.
/// Never allocates, and is safe on any bytes.
std::optional<std::string_view> find_property(std::string_view encoded, std::string_view key);

/// Accepts what fits `limits::properties_bytes_max` and is made of whole pairs with non-empty keys.
/// Otherwise `ec::properties_too_large` with the size and the limit, or `ec::bad_request` with the
/// place.
result<void> check_properties(std::string_view encoded);

/// The first-check delay that a message asks for itself, in milliseconds; 0 if it does not.
/// `ec::bad_request` for a value that is not a whole number of seconds from 0 to 30 days.
result<std::uint32_t> check_immunity_ms(std::string_view encoded);

/// Java's `String.hashCode` of UTF-8 text, over its UTF-16 units: what clients of RocketMQ send to
/// select tags. Bytes that are not UTF-8 count as U+FFFD each, so any input has a hash. 0 for an
/// empty tag.
std::uint32_t tag_hash(std::string_view tag);

/// Builds an encoded property string. A key given twice keeps its last value; empty values are left
/// out, since other decoders skip them.
class property_builder {
public:
  property_builder() = default;
  /// Starts with the pairs of `encoded`; those without a key or value are left out. A separator
  /// inside one of its values stays, and `check_properties` refuses it.
  explicit property_builder(std::string_view encoded);

  property_builder& set(std::string_view key, std::string_view value);
  property_builder& erase(std::string_view key);

  /// The encoded string; `ec::bad_request` if a key was empty or a separator stood in a key or
  /// value, `ec::properties_too_large` over the limit.
  [[nodiscard]] result<std::string> build() const;

private:
  void append(const property& pair);

  std::string encoded_;
  std::optional<error> problem_;
};

} // namespace handfast
