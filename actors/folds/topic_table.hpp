#pragma once

/// Topics and groups as the META records say. Plain, no CAF; owned by TOPIC REGISTRY.

#include "messages/limits.hpp"
#include "messages/topics.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace handfast {

/// Fold of META. The system topics are there from the start and no record touches them; topics with
/// the name of a dead-letter topic are read-only too. Ids are
/// never used twice, also when a name is deleted and created again. Not thread-safe.
class topic_table {
public:
  static constexpr std::string_view slice_name = "topics";

  topic_table();

  /// Idempotent. A record that contradicts the table (another id for a taken name, a system id)
  /// throws: it is quarantined.
  void apply(const meta_record& record);

  /// Null when there is none. Valid until the next `apply`.
  [[nodiscard]] const topic_info* find(std::string_view name) const;
  [[nodiscard]] const topic_info* find(topic_id id) const;
  /// 0 when there is none.
  [[nodiscard]] group_id find_group(std::string_view name) const;
  /// Empty when there is none.
  [[nodiscard]] std::string_view group_name(group_id id) const;

  /// Defaults for a group that has none of its own.
  [[nodiscard]] attributes group_options(group_id id) const;

  /// Up to `max` topics by name, from the first behind `after` on.
  [[nodiscard]] topics_listed list(std::string_view after, std::uint32_t max) const;
  [[nodiscard]] groups_listed list_groups(std::string_view after, std::uint32_t max) const;
  template <class Visit>
  void for_each_topic(Visit&& visit) const {
    for (const auto& [id, info] : topics_)
      visit(info);
  }

  /// Ids that no record has used so far.
  [[nodiscard]] topic_id next_topic() const { return topic_id{last_topic_ + 1}; }
  [[nodiscard]] group_id next_group() const { return group_id{last_group_ + 1}; }
  /// Something in the log names these ids, though no record that could be applied made them: they
  /// are not given out again.
  void keep_free(topic_id topic, group_id group);
  /// Without the system topics and the dead-letter topics.
  [[nodiscard]] std::size_t user_topics() const {
    return topics_.size() - system_topics - dead_letter_topics_;
  }
  /// Queues of all of them together.
  [[nodiscard]] std::uint64_t user_queues() const { return user_queues_; }
  [[nodiscard]] std::size_t groups() const { return groups_.size(); }

  /// One part of a checkpoint: META records' content from `cursor` on.
  [[nodiscard]] std::string save(std::string& cursor) const;
  void load(const std::string& name, std::string_view bytes);
  [[nodiscard]] topic_table emptied() const { return topic_table{}; }

private:
  static constexpr std::size_t system_topics = 3;

  void add_system_topic(topic_id id, std::string_view name);
  void put_topic(const meta_record& record);
  void insert_topic(const meta_record& record);
  void delete_topic(const meta_record& record);
  void put_group(const meta_record& record);
  void insert_group(const meta_record& record);
  void delete_group(const meta_record& record);

  std::map<topic_id, topic_info> topics_;
  std::map<std::string, topic_id, std::less<>> topic_ids_;
  std::map<group_id, std::string> groups_;
  std::map<std::string, group_id, std::less<>> group_ids_;
  std::map<group_id, attributes> group_options_; ///< of those that have any
  std::size_t dead_letter_topics_ = 0;
  std::uint32_t last_topic_ = first_user_topic.value - 1;
  std::uint32_t last_group_ = 0;
  std::uint64_t user_queues_ = 0;
};

} // namespace handfast
