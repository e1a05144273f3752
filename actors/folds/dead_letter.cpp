#include "actors/folds/dead_letter.hpp"

#include "messages/assert.hpp"
#include "messages/properties.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace handfast {

std::string dead_letter_properties(std::string_view original, const dead_letter_origin& from) {
  using namespace property_keys;
  const std::array<std::pair<std::string_view, std::string>, 6> own{{
      {dlq_origin_topic, std::string{from.topic}},
      {dlq_origin_message_id, std::to_string(from.at.value)},
      {dlq_origin_queue, std::to_string(from.queue.queue.value)},
      {dlq_origin_offset, std::to_string(from.offset.value)},
      {reconsume_time, std::to_string(from.attempts)},
      {dlq_reason, std::string{from.reason}},
  }};
  std::string made;
  made.reserve(original.size() + 256);
  const auto put = [&](std::string_view key, std::string_view value) {
    made.append(key).push_back(property_name_end);
    made.append(value).push_back(property_value_end);
  };
  while (const auto pair = next_property(original)) {
    const bool ours =
        std::any_of(own.begin(), own.end(), [&](const auto& p) { return p.first == pair->key; });
    if (!ours && !pair->key.empty())
      put(pair->key, pair->value);
  }
  for (const auto& [key, value] : own)
    put(key, value);
  return made;
}

message_record dead_letter_copy(const log_record& original, topic_id to,
                                const dead_letter_origin& from) {
  const auto* message = message_of(original);
  HANDFAST_ASSERT(message != nullptr);
  auto copy = *message;
  copy.topic = to;
  copy.queue = {};
  copy.offset = {};
  copy.flags &= message_flags::has_order_key;
  copy.timeout_ms = 0;
  copy.delay_ms = 0;
  copy.producer = {}; // a copy is no send that could be repeated
  copy.sequence = {};
  copy.transaction = transaction_of(original);
  const auto properties = dead_letter_properties(message->properties(), from);
  const auto body = message->body();
  auto bytes = std::make_shared<std::byte[]>(properties.size() + body.size());
  std::memcpy(bytes.get(), properties.data(), properties.size());
  if (!body.empty())
    std::memcpy(bytes.get() + properties.size(), body.data(), body.size());
  auto* raw = bytes.get();
  copy.payload = {std::shared_ptr<const std::byte>{std::move(bytes), raw},
                  properties.size() + body.size()};
  copy.properties_size = static_cast<std::uint32_t>(properties.size());
  return copy;
}

} // namespace handfast
