// TOPIC REGISTRY, groups: their ids and attributes, their end, their dead-letter topics.
#include "actors/topic_registry.hpp"
#include "actors/type_ids.hpp"
#include "messages/names.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

consumer_group_actor group_actor_of(const caf::strong_actor_ptr& who) {
  return caf::actor_cast<consumer_group_actor>(who);
}

} // namespace

void topic_registry_state::on_resolve_group(const resolve_group& x) {
  auto asker = current_asker(x.id);
  if (!member->serving())
    return refuse_group(asker, x.name, ec::recovering);
  if (auto valid = valid_name(name_kind::group, x.name); !valid)
    return refuse_group(asker, x.name, valid.error().code, valid.error().detail);
  const auto group = member->fold.find_group(x.name);
  const auto waiting = group_changes.find(x.name);
  const bool leaves =
      waiting != group_changes.end() && waiting->second.record.change == meta_change::group_deleted;
  if (leaves || group_deletions.contains(group))
    return refuse_group(asker, x.name, ec::recovering, printable(x.name) + " is being deleted");
  if (group != group_id{}) {
    self->send(caf::actor_cast<connection_actor>(asker.asker),
               group_resolved{x.id, {}, group, x.name});
    return;
  }
  if (waiting != group_changes.end()) {
    waiting->second.waiters.push_back(std::move(asker));
    return;
  }
  if (!x.create)
    return refuse_group(asker, x.name, ec::unknown_group, printable(x.name));
  if (stopping)
    return refuse_group(asker, x.name, ec::stopping);
  last_group = std::max(group_id{last_group.value + 1}, member->fold.next_group());
  append(group_changes, {meta_change::group_put, last_group.value, x.name, 0, {}},
         std::move(asker));
}

void topic_registry_state::on_put_group(const put_group& x) {
  auto asker = current_asker(x.id);
  if (const auto why = not_now(); why != ec::ok)
    return refuse_group(asker, x.name, why);
  if (auto valid = valid_name(name_kind::group, x.name); !valid)
    return refuse_group(asker, x.name, valid.error().code, valid.error().detail);
  auto group = member->fold.find_group(x.name);
  if (group_changes.contains(x.name) || group_deletions.contains(group))
    return refuse_group(asker, x.name, ec::recovering, printable(x.name) + " is being changed");
  if (group != group_id{} && member->fold.group_options(group) == x.options) {
    self->send(caf::actor_cast<connection_actor>(asker.asker),
               group_resolved{x.id, {}, group, x.name});
    return;
  }
  if (group == group_id{})
    group = last_group = std::max(group_id{last_group.value + 1}, member->fold.next_group());
  append(group_changes, {meta_change::group_put, group.value, x.name, 0, x.options},
         std::move(asker));
}

void topic_registry_state::finish_group(const meta_record& record, std::uint64_t cookie) {
  const group_id group{record.id};
  if (record.change == meta_change::group_deleted) {
    rule_askers.erase(group);
    if (supervisor.actor)
      self->send(supervisor.actor, group_gone{group});
  } else {
    tell_rules(group);
  }
  const auto found = group_changes.find(record.name);
  if (found == group_changes.end() || found->second.cookie != cookie)
    return;
  const auto waiters = std::move(found->second.waiters);
  group_changes.erase(found);
  for (const auto& asker : waiters)
    self->send(caf::actor_cast<connection_actor>(asker.asker),
               group_resolved{asker.id, {}, group, record.name});
}

/// A record was refused; those who waited for it know.
void topic_registry_state::not_done(const meta_record& record, const error& why) {
  if (record.change == meta_change::topic_put)
    answer_boxes(record.name, why);
  else if (record.change == meta_change::group_deleted)
    tell_rules(group_id{record.id}); // it lives on
}

// -- what groups ask for --------------------------------------------------------------

void topic_registry_state::on_ask_rules(const ask_group_rules& x) {
  if (hold(x))
    return;
  rule_askers[x.group] = caf::actor_cast<caf::actor_addr>(self->current_sender());
  tell_rules(x.group);
}

void topic_registry_state::tell_rules(group_id group) {
  const auto asker = rule_askers.find(group);
  if (asker == rule_askers.end())
    return;
  if (const auto who = caf::actor_cast<caf::strong_actor_ptr>(asker->second))
    self->send(group_actor_of(who), group_rules{group, std::string{member->fold.group_name(group)},
                                                member->fold.group_options(group).delivery_max});
  else
    rule_askers.erase(asker);
}

void topic_registry_state::on_open_dead_letters(const open_dead_letters& x) {
  if (hold(x))
    return;
  const box_asker asker{self->current_sender(), x};
  const auto group = member->fold.group_name(x.group);
  if (stopping || group.empty())
    return answer_box(asker, {stopping ? ec::stopping : ec::unknown_group, {}});
  const auto topic = dead_letter_topic_of(group);
  if (member->fold.find(topic))
    return answer_box(asker, {});
  box_askers[topic].push_back(asker);
  if (!topic_changes.contains(topic))
    create_topic(topic, 1, {}, {});
}

void topic_registry_state::answer_boxes(std::string_view topic, const error& why) {
  const auto found = box_askers.find(topic);
  if (found == box_askers.end())
    return;
  const auto askers = std::move(found->second);
  box_askers.erase(found);
  for (const auto& asker : askers)
    answer_box(asker, why);
}

void topic_registry_state::answer_box(const box_asker& to, const error& why) {
  dead_letters_open answer{to.what.group, why, {}, {}};
  const auto* topic =
      member->fold.find(dead_letter_topic_of(member->fold.group_name(to.what.group)));
  if (topic)
    answer.topic = topic->id;
  else if (why.code == ec::ok)
    answer.why = {ec::unknown_group, {}};
  for (const auto origin : to.what.origins) {
    const auto* known = member->fold.find(origin);
    answer.origins.emplace_back(origin, known ? known->name : std::to_string(origin.value));
  }
  self->send(group_actor_of(to.who), std::move(answer));
}

// -- deleting -------------------------------------------------------------------------

/// First HALF STORE says whether transactions are pending, then the group whether it has members;
/// only then the record is written.
void topic_registry_state::on_delete_group(const delete_group& x) {
  auto asker = current_asker(x.id);
  if (const auto why = not_now(); why != ec::ok)
    return refuse_group(asker, x.name, why);
  const auto group = member->fold.find_group(x.name);
  if (group == group_id{})
    return refuse_group(asker, x.name, ec::unknown_group, printable(x.name));
  if (const auto waiting = group_changes.find(x.name); waiting != group_changes.end()) {
    if (waiting->second.record.change == meta_change::group_deleted)
      waiting->second.waiters.push_back(std::move(asker));
    else
      refuse_group(asker, x.name, ec::recovering, printable(x.name) + " is being changed");
    return;
  }
  auto& waiting = group_deletions[group];
  waiting.topic = x.name;
  waiting.waiters.push_back(std::move(asker));
  if (waiting.waiters.size() == 1)
    self->send(half_store.actor, ask_topic_usage{{}, group});
}

void topic_registry_state::on_group_usage(const topic_usage& x) {
  if (x.pending > 0)
    refuse_deletion(x.group, ec::group_in_use,
                    "it has " + std::to_string(x.pending) + " pending transactions");
  else if (group_deletions.contains(x.group) && supervisor.actor)
    self->send(supervisor.actor, find_consumer_group{x.group});
}

/// Comes again when the group was restarted.
void topic_registry_state::on_group_found(const consumer_group_found& x) {
  if (!group_deletions.contains(x.group))
    return;
  if (x.actor)
    self->send(x.actor, end_group{});
  else
    refuse_deletion(x.group, ec::recovering, "the group can't be asked now");
}

void topic_registry_state::on_group_ended(const group_ended& x) {
  const auto found = group_deletions.find(x.group);
  if (found == group_deletions.end())
    return;
  if (x.code != ec::ok || stopping)
    return refuse_deletion(x.group, stopping ? ec::stopping : x.code,
                           x.code == ec::group_in_use ? "it has members" : "");
  auto waiting = std::move(found->second);
  group_deletions.erase(found);
  append(group_changes, {meta_change::group_deleted, x.group.value, waiting.topic, 0, {}},
         std::move(waiting.waiters.front()));
  auto& waiters = group_changes.find(waiting.topic)->second.waiters;
  waiters.insert(waiters.end(), waiting.waiters.begin() + 1, waiting.waiters.end());
}

void topic_registry_state::refuse_deletion(group_id group, ec code, const std::string& detail) {
  const auto found = group_deletions.find(group);
  if (found == group_deletions.end())
    return;
  const auto waiting = std::move(found->second);
  group_deletions.erase(found);
  for (const auto& asker : waiting.waiters)
    refuse_group(asker, waiting.topic, code, detail);
}

} // namespace handfast
