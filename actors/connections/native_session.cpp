#include "actors/connections/core_send.hpp"
#include "actors/connections/native_parts.hpp"

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

outstanding_request of_job(request_kind kind, std::uint32_t job) {
  return {{}, kind, peer_role::topic_registry, 0, job};
}

} // namespace

// -- topics by name -------------------------------------------------------------------

void session_part::on(const native::resolve_topic& x) {
  if (!core_.allowed(x.id, action::produce, x.name))
    return;
  core_.ask(core_.peers->topic_registry.actor, resolve_topic{{}, x.name, x.create},
            {x.id, request_kind::resolve_topic, peer_role::topic_registry, 0, 0});
}

void session_part::on_topic(const outstanding_request& request, const topic_resolved& x) {
  if (request.kind == request_kind::resolve_topic) {
    core_.put(native::topic_resolved{request.client, x.why.code, x.topic.id, x.topic.queues,
                                     x.why.detail});
    return;
  }
  const auto found = joins_.find(request.extra);
  if (found == joins_.end())
    return;
  // A topic that can't be had is left out: the member is then asked like any other.
  if (x.why.code == ec::ok)
    found->second.topics.push_back(x.topic.id);
  step(found->first, found->second);
}

// -- membership -----------------------------------------------------------------------

void session_part::on(native::join_producer_group& x) {
  if (!core_.allowed(x.id, action::decide, x.group))
    return;
  if (joins_.size() >= joins_max || joined_.size() >= groups_max) {
    core_.refuse(x.id, ec::busy, "too many producer groups on one connection");
    return;
  }
  const auto job = core_.next_job();
  auto& work = joins_[job];
  work.client = x.id;
  work.group_name = std::move(x.group);
  work.waiting = 1 + x.topics.size();
  const auto& registry = core_.peers->topic_registry.actor;
  core_.ask(registry, resolve_group{{}, work.group_name, true},
            of_job(request_kind::join_group, job));
  for (auto& topic : x.topics)
    core_.ask(registry, resolve_topic{{}, std::move(topic), true},
              of_job(request_kind::join_topic, job));
}

void session_part::on_group(const outstanding_request& request, const group_resolved& x) {
  const auto found = joins_.find(request.extra);
  if (found == joins_.end())
    return;
  if (x.why.code != ec::ok) {
    core_.put(native::group_joined{found->second.client, x.why.code, group_id{}, x.why.detail});
    joins_.erase(found);
    return;
  }
  found->second.group = x.group;
  step(found->first, found->second);
}

/// One of the names is known; with the last of them the group's actor is looked for.
void session_part::step(std::uint32_t job, join& work) {
  HANDFAST_ASSERT(work.waiting > 0);
  if (--work.waiting > 0)
    return;
  auto& m = joined_[work.group];
  m.topics = std::move(work.topics);
  m.waiting.push_back(work.client);
  const auto group = work.group;
  joins_.erase(job);
  if (m.actor)
    enter(group, m);
  else
    core_.send(core_.peers->supervisor.actor, find_producer_group{group});
}

void session_part::on_producer_group(const producer_group_found& x) {
  const auto found = joined_.find(x.group);
  if (found == joined_.end())
    return;
  auto& m = found->second;
  if (!x.actor) {
    for (const auto client : std::exchange(m.waiting, {}))
      core_.refuse(client, ec::recovering, "the producer group can't be served now");
    return;
  }
  const bool same = m.actor && m.life == x.life;
  m.actor = x.actor;
  m.life = x.life;
  if (!same || !m.waiting.empty())
    enter(x.group, m);
}

void session_part::enter(group_id group, membership& m) {
  core_.send(m.actor, producer_joined{core_.producer, core_.who.name, m.topics});
  for (const auto client : std::exchange(m.waiting, {}))
    core_.put(native::group_joined{client, ec::ok, group, {}});
}

void session_part::drop_job(std::uint32_t job) {
  const auto found = joins_.find(job);
  if (found == joins_.end())
    return;
  core_.refuse(found->second.client, ec::recovering, "topics and groups are being recovered");
  joins_.erase(found);
}

void session_part::on(const native::leave_producer_group& x) {
  const auto found = joined_.find(x.group);
  if (found != joined_.end()) {
    if (found->second.actor)
      core_.send(found->second.actor, producer_left{});
    for (const auto client : found->second.waiting)
      core_.refuse(client, ec::outcome_unknown, "left before the join was done");
    joined_.erase(found);
  }
  core_.put(native::done{x.id});
}

void session_part::leave_all() {
  for (const auto& [group, m] : std::exchange(joined_, {}))
    if (m.actor)
      core_.send(m.actor, producer_left{});
}

const producer_group_actor* session_part::producer_group(group_id group) const {
  const auto found = joined_.find(group);
  return found == joined_.end() || !found->second.actor ? nullptr : &found->second.actor;
}

} // namespace handfast
