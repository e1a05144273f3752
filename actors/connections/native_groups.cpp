#include "actors/connections/core_send.hpp"
#include "actors/connections/native_consume_parts.hpp"

#include <algorithm>
#include <utility>

namespace handfast {

void group_part::on(const native::group_set& x) {
  if (!core_.allowed(x.id, action::administer, x.name))
    return;
  attributes options;
  options.delivery_max = x.delivery_max;
  core_.ask(core_.peers->topic_registry.actor, put_group{{}, x.name, options},
            {x.id, request_kind::group_change, peer_role::topic_registry, 0, 0});
}

void group_part::on(const native::group_delete& x) {
  if (core_.allowed(x.id, action::administer, x.name))
    core_.ask(core_.peers->topic_registry.actor, delete_group{{}, x.name},
              {x.id, request_kind::group_change, peer_role::topic_registry, 0, 0});
}

void group_part::on(const native::group_show& x) {
  if (core_.allowed(x.id, action::look, x.name))
    begin({x.id, x.name, {}, {}, false, {}, {}, {}});
}

void group_part::on(const native::reset_progress& x) {
  if (!core_.allowed(x.id, action::administer, x.group))
    return;
  const auto* topic = core_.topic(x.topic);
  if (!topic)
    return core_.refuse(x.id, ec::unknown_topic, "resolve the topic on this connection first");
  if (x.one_queue && x.queue.value >= topic->queues)
    return core_.refuse(x.id, ec::unknown_queue,
                        topic->name + " has " + std::to_string(topic->queues) + " queues");
  begin({x.id, x.group, x, {}, false, {}, {}, {}});
}

void group_part::begin(job work) {
  if (jobs_.size() >= jobs_max)
    return core_.refuse(work.client, ec::busy);
  const auto number = core_.next_job();
  core_.ask(core_.peers->topic_registry.actor, resolve_group{{}, work.name, false},
            {{}, request_kind::group_look, peer_role::topic_registry, 0, number});
  jobs_.emplace(number, std::move(work));
}

void group_part::on_group(const outstanding_request& request, const group_resolved& x) {
  if (request.kind == request_kind::group_change) {
    if (x.why.code != ec::ok)
      core_.refuse(request.client, x.why.code, x.why.detail);
    else
      core_.put(native::done{request.client});
    return;
  }
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  if (x.why.code != ec::ok)
    return fail_job(found->first, x.why.code, x.why.detail);
  found->second.group = x.group;
  core_.send(core_.peers->supervisor.actor, find_consumer_group{x.group});
}

/// Comes again when the group was restarted. Looking and setting back do no harm when repeated.
void group_part::on_consumer_group(const consumer_group_found& x) {
  std::vector<std::uint32_t> concerned;
  for (const auto& [number, work] : jobs_)
    if (work.group == x.group && (!work.asked || work.life != x.life))
      concerned.push_back(number);
  for (const auto number : concerned) {
    auto& work = jobs_.at(number);
    for (const auto id : core_.outstanding.select([&](const outstanding_request& r) {
           return r.role == peer_role::consumer_group && r.extra == number &&
                  (r.kind == request_kind::group_describe || r.kind == request_kind::group_reset);
         }))
      core_.outstanding.take(id);
    if (!x.actor) {
      fail_job(number, ec::recovering, "the consumer group can't be served now");
      continue;
    }
    work.asked = true;
    work.life = x.life;
    if (!work.reset) {
      core_.ask(x.actor, describe_group{},
                {{}, request_kind::group_describe, peer_role::consumer_group, 0, number});
      continue;
    }
    const auto* topic = core_.topic(work.reset->topic);
    if (!topic) {
      fail_job(number, ec::unknown_topic);
      continue;
    }
    core_.ask(x.actor,
              reset_progress{{},
                             work.reset->topic,
                             topic->queues,
                             work.reset->one_queue,
                             work.reset->queue,
                             work.reset->point},
              {{}, request_kind::group_reset, peer_role::consumer_group, 0, number});
  }
}

void group_part::on_reset(const outstanding_request& request, const progress_reset& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  if (x.code != ec::ok)
    return fail_job(found->first, x.code);
  native::offsets answer{found->second.client, {}};
  for (const auto& place : x.places)
    answer.items.push_back({place.queue.queue, place.offset, {}, {}});
  core_.put(answer);
  jobs_.erase(found);
}

void group_part::on_described(const outstanding_request& request, const group_described& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  if (x.code != ec::ok)
    return fail_job(found->first, x.code);
  auto& work = found->second;
  auto& answer = work.answer;
  answer.id = work.client;
  answer.group = x.group;
  answer.name = work.name;
  answer.dead_letters = x.dead_letters;
  for (const auto& member : x.members)
    answer.members.push_back({member.name, member.held, member.queues_held});
  for (const auto& q : x.queues) {
    work.topics.push_back(q.queue.topic);
    answer.places.push_back(
        {{}, q.queue.queue, q.base, q.end, q.in_flight, q.waiting_again, q.paused});
  }
  for (const auto& [topic, terms] : x.terms) {
    work.topics.push_back(topic);
    answer.terms.push_back({{}, terms});
  }
  name_ids names;
  names.topics = work.topics;
  std::sort(names.topics.begin(), names.topics.end());
  names.topics.erase(std::unique(names.topics.begin(), names.topics.end()), names.topics.end());
  core_.ask(core_.peers->topic_registry.actor, std::move(names),
            {{}, request_kind::group_topics, peer_role::topic_registry, 0, found->first});
}

void group_part::on_names(const outstanding_request& request, const ids_named& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  auto& work = found->second;
  const std::map<topic_id, std::string> names{x.topics.begin(), x.topics.end()};
  auto name_of = [&](topic_id topic) {
    const auto known = names.find(topic);
    return known == names.end() ? std::string{} : known->second;
  };
  std::size_t n = 0;
  for (auto& place : work.answer.places)
    place.topic = name_of(work.topics[n++]);
  for (auto& terms : work.answer.terms)
    terms.topic = name_of(work.topics[n++]);
  core_.put(work.answer);
  jobs_.erase(found);
}

void group_part::fail_job(std::uint32_t number, ec code, std::string_view detail) {
  const auto found = jobs_.find(number);
  if (found == jobs_.end())
    return;
  core_.refuse(found->second.client, code, detail);
  jobs_.erase(found);
}

void group_part::drop_job(std::uint32_t number) {
  fail_job(number, ec::recovering, "the actor that had the request was restarted");
}

} // namespace handfast
