#pragma once

/// The JSON that commands print: snake_case keys, times as milliseconds since 1970 (`..._ms`), ids
/// as text.

#include "actors/client/admin.hpp"
#include "actors/client/producer.hpp"
#include "actors/client/transaction_producer.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace handfast::cli {

using json = nlohmann::ordered_json;

json json_of(const native::topic_item& topic);
json json_of(const native::transaction_info& transaction);
json json_of(const native::group_item& group);
json json_of(const native::group_description& group);
json json_of(const quarantined_item& item);
json json_of(const native::delayed_item& item);
json json_of(const client::decision& decision);
/// `body` if it is UTF-8, else `body_base64`.
json json_of(const client::received_message& message);
json json_of(const std::string& topic, const client::stored_message& stored);

/// Sets `key` to the text, or `key_base64` if it is not UTF-8, which JSON can't hold.
void set_text(json& object, const std::string& key, std::string_view text);
/// One line; text that is not UTF-8 in names and properties becomes U+FFFD.
std::string line_of(const json& value);
/// Indented.
std::string page_of(const json& value);

} // namespace handfast::cli
