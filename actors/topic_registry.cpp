#include "actors/topic_registry.hpp"

#include "actors/type_ids.hpp"
#include "config/settings.hpp"
#include "messages/limits.hpp"
#include "messages/names.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

constexpr appender me{appender_role::topic_registry, 0, {}};

std::string messages_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " message" : " messages");
}

/// Why a topic that exists is not the one that is asked for.
std::string difference(const topic_info& topic, std::uint32_t queues) {
  if (topic.read_only)
    return " is kept by the node";
  if (topic.queues != queues)
    return " exists with another number of queues: " + std::to_string(topic.queues);
  return " exists with other options";
}

} // namespace

void topic_registry_state::begin(const shard_environment* environment,
                                 fold_start<topic_table> from) {
  env = environment;
  cookies = cookie_source{from.life};
  member.emplace(self, me, std::string{topic_table::slice_name}, std::move(from));
}

void topic_registry_state::on_peers(const shard_peers& peers) {
  const bool half_store_changed = half_store.life != peers.half_store.life;
  const bool delays_changed = delay_scheduler.life != peers.delay_scheduler.life;
  supervisor = peers.supervisor;
  commit_log = peers.commit_log.actor;
  half_store = peers.half_store;
  delay_scheduler = peers.delay_scheduler;
  member->connect(peers);
  announce_all();
  for (const auto& [topic, waiting] : deletions)
    if (waiting.asked == appender_role::half_store ? half_store_changed : delays_changed)
      ask_usage(topic, waiting);
  if (half_store_changed)
    for (const auto& [group, waiting] : group_deletions)
      self->send(half_store.actor, ask_topic_usage{{}, group});
}

void topic_registry_state::ask_usage(topic_id topic, const deletion& waiting) {
  if (waiting.asked == appender_role::half_store)
    self->send(half_store.actor, ask_topic_usage{topic});
  else
    self->send(delay_scheduler.actor, ask_topic_usage{topic});
}

void topic_registry_state::announce_all() {
  if (announced || !member->serving() || !supervisor.actor)
    return;
  announced = true;
  member->fold.for_each_topic([&](const topic_info& topic) {
    self->send(supervisor.actor, topic_present{topic.id, topic.queues});
  });
}

void topic_registry_state::on_progress() {
  announce_all();
  if (!member->serving())
    return;
  for (auto& [asker, request] : std::exchange(held_reads, {}))
    caf::actor_cast<caf::actor>(self)->eq_impl(caf::make_message_id(), asker, self->context(),
                                               std::move(request));
}

topic_registry_state::waiter topic_registry_state::current_asker(correlation id) const {
  return {self->current_sender(), id};
}

ec topic_registry_state::not_now() const {
  if (stopping)
    return ec::stopping;
  return member->serving() ? ec::ok : ec::recovering;
}

// -- answers ----------------------------------------------------------------------

void topic_registry_state::answer_topic(const waiter& to, const topic_info& topic) {
  if (!to.asker)
    return; // a consumer group waits, in `box_askers`
  self->send(caf::actor_cast<connection_actor>(to.asker), topic_resolved{to.id, {}, topic});
}

void topic_registry_state::refuse_topic(const waiter& to, ec code, std::string detail) {
  if (!to.asker)
    return;
  self->send(caf::actor_cast<connection_actor>(to.asker),
             topic_resolved{to.id, {code, std::move(detail)}, {}});
}

void topic_registry_state::refuse_group(const waiter& to, const std::string& group, ec code,
                                        std::string detail) {
  self->send(caf::actor_cast<connection_actor>(to.asker),
             group_resolved{to.id, {code, std::move(detail)}, {}, group});
}

// -- topics -----------------------------------------------------------------------

void topic_registry_state::on_resolve_topic(const resolve_topic& x) {
  const auto asker = current_asker(x.id);
  if (!member->serving())
    return refuse_topic(asker, ec::recovering);
  if (auto valid = valid_name(name_kind::topic, x.name); !valid)
    return refuse_topic(asker, valid.error().code, valid.error().detail);
  if (const auto* topic = member->fold.find(x.name)) {
    answer_topic(asker, *topic);
    return;
  }
  if (const auto waiting = topic_changes.find(x.name); waiting != topic_changes.end()) {
    waiting->second.waiters.push_back(asker);
    return;
  }
  const auto& rules = env->settings->topic;
  if (!x.create || !rules.auto_create || is_dead_letter_topic(x.name))
    return refuse_topic(asker, ec::unknown_topic, printable(x.name));
  if (stopping)
    return refuse_topic(asker, ec::stopping);
  if (member->fold.user_topics() + topic_changes.size() >= rules.max)
    return refuse_topic(asker, ec::too_many_topics,
                        "topic.max is " + std::to_string(rules.max) + ", refused " +
                            printable(x.name));
  create_topic(x.name, rules.default_queues, {}, asker);
}

error topic_registry_state::refusal_of_queues(const std::string& topic,
                                              std::uint32_t queues) const {
  if (is_dead_letter_topic(topic))
    return {}; // beside all bounds: without it its group could not go on
  auto taken = member->fold.user_queues();
  for (const auto& [waiting, made] : topic_changes)
    if (made.record.change == meta_change::topic_put)
      taken += made.record.queues;
  const auto max = env->settings->topic.queues_max;
  if (taken + queues <= max)
    return {};
  return {ec::too_many_queues, printable(topic) + " would add " + std::to_string(queues) +
                                   " queues to " + std::to_string(taken) +
                                   ", and topic.queues_max is " + std::to_string(max)};
}

void topic_registry_state::create_topic(const std::string& topic, std::uint32_t queues,
                                        const attributes& options, waiter first) {
  if (auto why = refusal_of_queues(topic, queues); why.code != ec::ok)
    return refuse_topic(first, why.code, std::move(why.detail));
  last_topic = std::max(topic_id{last_topic.value + 1}, member->fold.next_topic());
  append(topic_changes, {meta_change::topic_put, last_topic.value, topic, queues, options},
         std::move(first));
}

void topic_registry_state::append(std::map<std::string, change, std::less<>>& changes,
                                  meta_record record, waiter first) {
  change waiting;
  waiting.record = record;
  waiting.cookie = cookies.next();
  waiting.waiters.push_back(std::move(first));
  log_record stored;
  stored.type = record_type::meta;
  stored.time_ms = env->time->wall();
  stored.cookie = waiting.cookie;
  stored.content = record;
  changes.emplace(record.name, std::move(waiting));
  append_records order{member->who(), {}};
  order.records.push_back(std::move(stored));
  self->send(commit_log, std::move(order));
}

void topic_registry_state::on_put_topic(const put_topic& x) {
  const auto asker = current_asker(x.id);
  if (const auto why = not_now(); why != ec::ok)
    return refuse_topic(asker, why);
  if (auto valid = valid_name(name_kind::topic, x.name); !valid)
    return refuse_topic(asker, valid.error().code, valid.error().detail);
  if (is_dead_letter_topic(x.name))
    return refuse_topic(asker, ec::read_only_topic,
                        printable(x.name) + " is for the dead letters of a consumer group");
  const auto queues = x.queues == 0 ? env->settings->topic.default_queues : x.queues;
  if (queues > limits::queues_max)
    return refuse_topic(asker, ec::bad_request,
                        std::to_string(queues) + " queues, at most " +
                            std::to_string(limits::queues_max));
  if (const auto* topic = member->fold.find(x.name)) {
    const bool same = (x.queues == 0 || topic->queues == queues) && topic->options == x.options;
    if (topic->read_only || !same)
      refuse_topic(asker, ec::topic_exists, printable(x.name) + difference(*topic, queues));
    else
      answer_topic(asker, *topic);
    return;
  }
  if (const auto waiting = topic_changes.find(x.name); waiting != topic_changes.end()) {
    const auto& record = waiting->second.record;
    if (record.queues == queues && record.options == x.options)
      waiting->second.waiters.push_back(asker);
    else
      refuse_topic(asker, ec::topic_exists, printable(x.name) + " is being made");
    return;
  }
  create_topic(x.name, queues, x.options, asker);
}

void topic_registry_state::on_delete_topic(const delete_topic& x) {
  const auto asker = current_asker(x.id);
  if (const auto why = not_now(); why != ec::ok)
    return refuse_topic(asker, why);
  const auto* topic = member->fold.find(x.name);
  if (!topic)
    return refuse_topic(asker, ec::unknown_topic, printable(x.name));
  if (topic->read_only)
    return refuse_topic(asker, ec::read_only_topic, printable(x.name));
  if (const auto waiting = topic_changes.find(x.name); waiting != topic_changes.end()) {
    waiting->second.waiters.push_back(asker);
    return;
  }
  auto& waiting = deletions[topic->id];
  waiting.topic = x.name;
  waiting.waiters.push_back(asker);
  if (waiting.waiters.size() == 1)
    ask_usage(topic->id, waiting);
}

void topic_registry_state::on_usage(const topic_usage& x) {
  if (x.group != group_id{})
    return on_group_usage(x);
  const auto found = deletions.find(x.topic);
  if (found == deletions.end() || found->second.asked != x.of)
    return;
  const bool in_use = x.pending > 0 || x.delayed > 0;
  if (!in_use && !stopping && x.of == appender_role::half_store) {
    found->second.asked = appender_role::delay_scheduler;
    ask_usage(x.topic, found->second);
    return;
  }
  auto waiting = std::move(found->second);
  deletions.erase(found);
  if (in_use || stopping) {
    for (const auto& asker : waiting.waiters)
      refuse_topic(asker, stopping ? ec::stopping : ec::topic_in_use,
                   printable(waiting.topic) + " has " +
                       (x.delayed > 0 ? messages_text(x.delayed) + " to become visible later"
                                      : messages_text(x.pending) + " of pending transactions"));
    return;
  }
  HANDFAST_ASSERT(topic_changes.count(waiting.topic) == 0);
  append(topic_changes, {meta_change::topic_deleted, x.topic.value, waiting.topic, 0, {}},
         std::move(waiting.waiters.front()));
  auto& waiters = topic_changes.find(waiting.topic)->second.waiters;
  waiters.insert(waiters.end(), waiting.waiters.begin() + 1, waiting.waiters.end());
}

void topic_registry_state::on_list_topics(const list_topics& x) {
  if (hold(x))
    return;
  auto answer = member->fold.list(x.after, x.max);
  answer.id = x.id;
  self->send(caf::actor_cast<connection_actor>(self->current_sender()), std::move(answer));
}

void topic_registry_state::on_list_groups(const list_groups& x) {
  if (hold(x))
    return;
  auto answer = member->fold.list_groups(x.after, x.max);
  answer.id = x.id;
  self->send(caf::actor_cast<connection_actor>(self->current_sender()), std::move(answer));
}

void topic_registry_state::on_name_ids(const name_ids& x) {
  if (hold(x))
    return;
  ids_named answer;
  answer.id = x.id;
  for (const auto id : x.topics) {
    const auto* topic = member->fold.find(id);
    answer.topics.emplace_back(id, topic ? topic->name : std::string{});
  }
  for (const auto id : x.groups)
    answer.groups.emplace_back(id, member->fold.group_name(id));
  self->send(caf::actor_cast<connection_actor>(self->current_sender()), std::move(answer));
}

// -- the log ----------------------------------------------------------------------

void topic_registry_state::apply(const log_record& record, bool replayed) {
  if (record.type != record_type::meta)
    return;
  const auto& meta = std::get<meta_record>(record.content);
  member->fold.apply(meta);
  if (replayed)
    return;
  const bool topic =
      meta.change == meta_change::topic_put || meta.change == meta_change::topic_deleted;
  if (topic)
    finish_topic(meta, record.cookie);
  else
    finish_group(meta, record.cookie);
  finish_stop();
}

void topic_registry_state::finish_topic(const meta_record& record, std::uint64_t cookie) {
  const topic_id id{record.id};
  const auto* topic = member->fold.find(id);
  if (supervisor.actor)
    self->send(supervisor.actor, topic_present{id, topic ? topic->queues : 0});
  const auto found = topic_changes.find(record.name);
  if (found == topic_changes.end() || found->second.cookie != cookie)
    return;
  const auto waiters = std::move(found->second.waiters);
  topic_changes.erase(found);
  answer_boxes(record.name, {});
  topic_info deleted;
  deleted.id = id;
  deleted.name = record.name;
  for (const auto& asker : waiters)
    answer_topic(asker, topic ? *topic : deleted);
}

void topic_registry_state::on_refused(const append_refused& x) {
  const auto drop = [&](auto& changes, auto refuse) {
    for (auto at = changes.begin(); at != changes.end();) {
      if (std::find(x.cookies.begin(), x.cookies.end(), at->second.cookie) == x.cookies.end()) {
        ++at;
        continue;
      }
      for (const auto& asker : at->second.waiters)
        refuse(asker, at->first);
      const auto dropped = std::move(at->second.record);
      at = changes.erase(at);
      not_done(dropped, x.why);
    }
  };
  drop(topic_changes, [&](const waiter& asker, const std::string&) {
    refuse_topic(asker, x.why.code, x.why.detail);
  });
  drop(group_changes, [&](const waiter& asker, const std::string& group) {
    refuse_group(asker, group, x.why.code, x.why.detail);
  });
  finish_stop();
}

void topic_registry_state::on_stop() {
  stopping = true;
  stop_asker = self->current_sender();
  finish_stop();
}

void topic_registry_state::finish_stop() {
  if (!stop_asker || !topic_changes.empty() || !group_changes.empty())
    return;
  self->send(caf::actor_cast<node_supervisor_actor>(std::exchange(stop_asker, nullptr)),
             stopped{"topic_registry", {}});
}

slices_taken topic_registry_state::slices(const std::string& cursor) const {
  slices_taken taken;
  if (!member->serving()) {
    taken.code = ec::recovering;
    return taken;
  }
  taken.cursor = cursor;
  auto bytes = member->fold.save(taken.cursor);
  taken.slices.push_back({std::string{topic_table::slice_name}, std::move(bytes)});
  return taken;
}

status_report topic_registry_state::status() const {
  status_report report;
  report.actor = "topic_registry";
  report.samples = {
      {"rocketmq_topic_number", {}, static_cast<double>(member->fold.user_topics())},
      {"handfast_queues", {}, static_cast<double>(member->fold.user_queues())},
      {"rocketmq_consumer_group_number", {}, static_cast<double>(member->fold.groups())},
      {"handfast_topic_changes_waiting",
       {},
       static_cast<double>(topic_changes.size() + group_changes.size())},
  };
  report.quarantined = member->quarantined();
  return report;
}

topic_registry_actor::behavior_type topic_registry(topic_registry_state::pointer self,
                                                   const shard_environment* env,
                                                   fold_start<topic_table> from) {
  auto& state = self->state;
  state.begin(env, std::move(from));
  const auto apply = [&state](const log_record& record, bool replayed) {
    state.apply(record, replayed);
  };
  return {
      [&state](const peers_changed& x) { state.on_peers(*x.peers); },
      [&state](const stop&) { state.on_stop(); },
      [&state](const status_request&) { return state.status(); },
      [&state](const appender_registered& x) { state.member->on_registered(x); },
      [&state](const slices_loaded& x) { state.member->on_slices(x); },
      [&state, apply](const log_replayed& x) {
        state.member->on_replayed(x, apply);
        state.on_progress();
      },
      [&state, apply](const records_durable& x) {
        state.member->on_durable(x, apply);
        state.on_progress();
      },
      [&state](const append_refused& x) { state.on_refused(x); },
      [&state](const take_slices& x) { return state.slices(x.cursor); },
      [&state](const resolve_topic& x) { state.on_resolve_topic(x); },
      [&state](const put_topic& x) { state.on_put_topic(x); },
      [&state](const delete_topic& x) { state.on_delete_topic(x); },
      [&state](const list_topics& x) { state.on_list_topics(x); },
      [&state](const resolve_group& x) { state.on_resolve_group(x); },
      [&state](const list_groups& x) { state.on_list_groups(x); },
      [&state](const name_ids& x) { state.on_name_ids(x); },
      [&state](const topic_usage& x) { state.on_usage(x); },
      [&state](const put_group& x) { state.on_put_group(x); },
      [&state](const delete_group& x) { state.on_delete_group(x); },
      [&state](const ask_group_rules& x) { state.on_ask_rules(x); },
      [&state](const open_dead_letters& x) { state.on_open_dead_letters(x); },
      [&state](const consumer_group_found& x) { state.on_group_found(x); },
      [&state](const group_ended& x) { state.on_group_ended(x); },
  };
}

} // namespace handfast
