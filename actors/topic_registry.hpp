#pragma once

/// TOPIC REGISTRY: which topics and groups there are. The first step of everything that names one.
///
/// Receives       resolve_topic, put_topic, delete_topic, list_topics, resolve_group, put_group,
///                delete_group, list_groups, name_ids (connections), ask_group_rules,
///                open_dead_letters, group_ended (consumer groups), topic_usage (half_store),
///                consumer_group_found (node_supervisor), records_durable (commit_log).
/// Sends          append_records (commit_log), topic_present, group_gone, find_consumer_group
///                (node_supervisor), ask_topic_usage (half_store), end_group, group_rules,
///                dead_letters_open (consumer groups), answers.
/// Owns           topics, groups, their ids and attributes; the policy of automatic creation.
/// Supervised by  node_supervisor; without it the shard stops.
/// Blocks?        No.
///
/// Guarantees: what it answers is durable; a name has one id as long as it exists, an id is never
/// used twice; askers who want the same new name at once wait for one record. Not guaranteed:
/// requests survive its restart; askers learn of that by `peers_changed`.

#include "actors/fold_member.hpp"
#include "actors/folds/topic_table.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <caf/actor_addr.hpp>
#include <caf/message.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace handfast {

struct topic_registry_state {
  static inline const char* name = "topic-registry";

  using pointer = loop_pointer<topic_registry_actor, topic_registry_state>;

  explicit topic_registry_state(pointer self_pointer) : self{self_pointer} {}

  void begin(const shard_environment* env, fold_start<topic_table> from);

  void on_peers(const shard_peers& peers);
  void on_resolve_topic(const resolve_topic& x);
  void on_put_topic(const put_topic& x);
  void on_delete_topic(const delete_topic& x);
  void on_usage(const topic_usage& x);
  void on_list_topics(const list_topics& x);
  void on_resolve_group(const resolve_group& x);
  void on_put_group(const put_group& x);
  void on_delete_group(const delete_group& x);
  void on_group_usage(const topic_usage& x);
  void on_group_found(const consumer_group_found& x);
  void on_group_ended(const group_ended& x);
  void on_ask_rules(const ask_group_rules& x);
  void on_open_dead_letters(const open_dead_letters& x);
  void on_list_groups(const list_groups& x);
  void on_name_ids(const name_ids& x);
  void on_refused(const append_refused& x);
  void on_stop();
  void apply(const log_record& record, bool replayed);
  /// Each time the fold may have come to serve: the supervisor learns of all topics, held reads go
  /// on.
  void on_progress();
  /// Keeps a listing that came during a restart. True if it was kept.
  template <class T>
  bool hold(const T& x) {
    if (member->serving() || held_reads.size() >= held_reads_max)
      return false;
    held_reads.emplace_back(self->current_sender(), caf::make_message(x));
    return true;
  }
  [[nodiscard]] slices_taken slices(const std::string& cursor) const;
  [[nodiscard]] status_report status() const;

  /// Who waits for a record, and what they asked.
  struct waiter {
    caf::strong_actor_ptr asker;
    correlation id;
  };
  /// A record that is appended and not durable yet.
  struct change {
    meta_record record;
    std::uint64_t cookie = 0;
    std::vector<waiter> waiters;
  };
  /// Deletions that wait for HALF STORE, then those of topics for DELAY SCHEDULER and those of
  /// groups for the group.
  struct deletion {
    std::string topic; ///< or group
    appender_role asked = appender_role::half_store;
    std::vector<waiter> waiters;
  };
  /// A group that waits for its dead-letter topic.
  struct box_asker {
    caf::strong_actor_ptr who;
    open_dead_letters what;
  };

  static constexpr std::size_t held_reads_max = 1'024;

  pointer self;
  const shard_environment* env = nullptr;
  std::optional<fold_member<pointer, topic_table>> member; ///< always there after `begin`
  cookie_source cookies{incarnation{}};
  topic_id last_topic; ///< highest id given out, durable or not
  group_id last_group;
  std::map<std::string, change, std::less<>> topic_changes; ///< by name, at most one each
  std::map<std::string, change, std::less<>> group_changes;
  std::map<topic_id, deletion> deletions;
  std::map<group_id, deletion> group_deletions;
  std::map<std::string, std::vector<box_asker>, std::less<>> box_askers; ///< by topic
  std::map<group_id, caf::actor_addr> rule_askers;
  peer<node_supervisor_actor> supervisor;
  peer<half_store_actor> half_store;
  peer<delay_scheduler_actor> delay_scheduler;
  commit_log_actor commit_log;
  std::vector<std::pair<caf::strong_actor_ptr, caf::message>> held_reads;
  bool stopping = false;
  bool announced = false; ///< the supervisor knows every topic
  caf::strong_actor_ptr stop_asker;

private:
  void append(std::map<std::string, change, std::less<>>& changes, meta_record record,
              waiter first);
  /// Why `queues` more are too many; ok if they are not.
  [[nodiscard]] error refusal_of_queues(const std::string& topic, std::uint32_t queues) const;
  void create_topic(const std::string& topic, std::uint32_t queues, const attributes& options,
                    waiter first);
  void announce_all();
  void ask_usage(topic_id topic, const deletion& waiting);
  void finish_topic(const meta_record& record, std::uint64_t cookie);
  void finish_group(const meta_record& record, std::uint64_t cookie);
  void not_done(const meta_record& record, const error& why);
  void tell_rules(group_id group);
  void answer_box(const box_asker& to, const error& why);
  void answer_boxes(std::string_view topic, const error& why);
  void refuse_deletion(group_id group, ec code, const std::string& detail);
  void answer_topic(const waiter& to, const topic_info& topic);
  void refuse_topic(const waiter& to, ec code, std::string detail = {});
  void refuse_group(const waiter& to, const std::string& group, ec code, std::string detail = {});
  [[nodiscard]] waiter current_asker(correlation id) const;
  [[nodiscard]] ec not_now() const;
  void finish_stop();
};

/// @param from the table that recovery folded, or an empty one for a restart
topic_registry_actor::behavior_type topic_registry(topic_registry_state::pointer self,
                                                   const shard_environment* env,
                                                   fold_start<topic_table> from);

} // namespace handfast
