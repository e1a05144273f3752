#include "actors/client/message.hpp"

#include "messages/properties.hpp"

namespace handfast::client {

result<std::string> encode_properties(const message& from) {
  if (from.tag.empty() && from.keys.empty() && from.unique_key.empty() && from.order_key.empty() &&
      from.properties.empty())
    return std::string{};
  property_builder properties;
  for (const auto& [key, value] : from.properties)
    properties.set(key, value);
  auto set = [&](std::string_view key, const std::string& value) {
    if (!value.empty())
      properties.set(key, value);
  };
  set(property_keys::tags, from.tag);
  set(property_keys::keys, from.keys);
  set(property_keys::unique_key, from.unique_key);
  set(property_keys::sharding_key, from.order_key);
  return properties.build();
}

message decode_message(std::string topic, const shared_bytes& payload,
                       std::uint32_t properties_size) {
  message into;
  into.topic = std::move(topic);
  into.body = payload.window(properties_size, payload.size() - properties_size);
  auto rest = payload.text().substr(0, properties_size);
  while (auto property = next_property(rest)) {
    if (property->key == property_keys::tags)
      into.tag = property->value;
    else if (property->key == property_keys::keys)
      into.keys = property->value;
    else if (property->key == property_keys::unique_key)
      into.unique_key = property->value;
    else if (property->key == property_keys::sharding_key)
      into.order_key = property->value;
    else
      into.properties.insert_or_assign(std::string{property->key}, std::string{property->value});
  }
  return into;
}

} // namespace handfast::client
