#pragma once

/// How `log dump` shows a record.

#include "messages/log_record.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace handfast::cli {

/// `half`: the type as `--type` and JSON name it.
std::string type_text(record_type type);
/// Names of topics and groups, as far as the records that made them were read.
class known_names {
public:
  /// Remembers what a META record says; passes over others.
  void learn(const log_record& record);
  /// `orders`, or `topic 16` when its name is not known.
  [[nodiscard]] std::string topic(topic_id id) const;
  /// `shop`, or `group 1`.
  [[nodiscard]] std::string group(group_id id) const;
  /// Null when it is not known.
  [[nodiscard]] const std::string* name_of(topic_id id) const;

private:
  std::map<topic_id, std::string> topics_;
  std::map<group_id, std::string> groups_;
};

/// What the record says, on one line, without its position, type and time.
std::string summary_of(const log_record& record, const known_names& names = {});
/// The record as an object: `position`, `type`, `bytes`, `epoch`, `time_ms`, and its content.
nlohmann::ordered_json json_of(const log_record& record, bool with_bodies,
                               const known_names& names = {});

} // namespace handfast::cli
