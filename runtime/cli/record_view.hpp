#pragma once

/// How `log dump` shows a record.

#include "messages/log_record.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace handfast::cli {

/// `half`: the type as `--type` and JSON name it.
std::string type_text(record_type type);
/// What the record says, on one line, without its position, type and time.
std::string summary_of(const log_record& record);
/// The record as an object: `position`, `type`, `bytes`, `epoch`, `time_ms`, and its content.
nlohmann::ordered_json json_of(const log_record& record, bool with_bodies);

} // namespace handfast::cli
