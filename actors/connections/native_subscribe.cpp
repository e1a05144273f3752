#include "actors/connections/core_send.hpp"
#include "actors/connections/native_consume_parts.hpp"

#include <algorithm>
#include <utility>

// Subscriptions, acknowledgements, and the groups behind them.

namespace handfast {

// -- subscriptions ------------------------------------------------------------------

void consume_part::on(native::subscribe& x) {
  if (!may_consume(x.id, x.topic, x.group_name))
    return;
  if (x.id == correlation{} || push_numbers_.count(x.id.value) != 0)
    return core_.refuse(x.id, ec::bad_request, "a subscription needs a correlation of its own");
  if (pushes_.size() >= pushes_max)
    return core_.refuse(x.id, ec::busy, "too many subscriptions on one connection");
  if (!wanted_by(x.id, x.terms))
    return;
  const auto number = core_.next_job();
  push_numbers_[x.id.value] = number;
  auto& work = pushes_[number];
  work.credit = std::min(x.credit, credit_max);
  work.what = std::move(x);
  core_.ask(core_.peers->topic_registry.actor, resolve_group{{}, work.what.group_name, true},
            {{}, request_kind::subscribe_group, peer_role::topic_registry, 0, number});
}

/// Keeps one fetch under way while there is credit and room for output.
void consume_part::pump(std::uint32_t number, push& work) {
  if (work.ended || work.job != 0 || work.credit == 0 || work.group == group_id{} ||
      core_.output_blocked() || core_.closing())
    return;
  auto wanted = wanted_by(work.what.id, work.what.terms);
  if (!wanted)
    return end_push(number);
  work.job = core_.next_job();
  auto& step = jobs_[work.job];
  step.push = number;
  step.group = work.group;
  step.wanted = *std::move(wanted);
  step.until = core_.env->time->now() + std::chrono::milliseconds{push_wait_ms};
  step.what.id = work.what.id;
  step.what.topic = work.what.topic;
  step.what.messages_max = std::min(work.credit, push_messages_max);
  step.what.bytes_max = push_bytes_max;
  step.what.start = work.what.start;
  step.what.terms = work.what.terms;
  send_fetch(work.job, step);
}

void consume_part::resume() {
  if (core_.output_blocked())
    return;
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, work] : pushes_)
    numbers.push_back(number);
  for (const auto number : numbers)
    if (const auto found = pushes_.find(number); found != pushes_.end())
      pump(number, found->second);
}

void consume_part::grant(correlation subscription, std::uint32_t messages) {
  const auto number = push_numbers_.find(subscription.value);
  if (messages == 0 || number == push_numbers_.end())
    return; // it may have ended while this was on its way
  auto& work = pushes_.at(number->second);
  work.held -= std::min<std::uint64_t>(work.held, messages);
  if (work.ended && work.held == 0)
    return leave(number->second);
  work.credit = messages > credit_max - work.credit ? credit_max : work.credit + messages;
  pump(number->second, work);
}

void consume_part::on(const native::credit& x) {
  grant(x.subscription, x.messages);
}

void consume_part::on(const native::unsubscribe& x) {
  if (const auto number = push_numbers_.find(x.subscription.value); number != push_numbers_.end()) {
    auto& work = pushes_.at(number->second);
    work.ended = true;
    if (const auto step = jobs_.find(work.job); step != jobs_.end())
      step->second.abandoned = true;
    if (work.held == 0)
      leave(number->second);
  }
  core_.put(native::done{x.id});
}

/// What the client held is settled. If nothing else here reads for the group, the connection is no
/// member of it any more.
void consume_part::leave(std::uint32_t number) {
  const auto ended = pushes_.at(number);
  end_push(number);
  const auto link = groups_.find(ended.group);
  if (link == groups_.end() || reads_for(ended.group))
    return;
  if (link->second.actor)
    core_.send(link->second.actor, member_left{});
  const auto work = jobs_.find(ended.job);
  if (work == jobs_.end() || !work->second.deliveries.empty())
    return;
  // Its fetch was parked, and nobody answers it any more.
  for (const auto id : core_.outstanding.select([&](const outstanding_request& r) {
         return r.kind == request_kind::fetch && r.extra == ended.job;
       }))
    core_.outstanding.take(id);
  jobs_.erase(work);
}

void consume_part::end_push(std::uint32_t number) {
  const auto found = pushes_.find(number);
  if (found == pushes_.end())
    return;
  if (const auto work = jobs_.find(found->second.job); work != jobs_.end()) {
    work->second.abandoned = true;
    work->second.push = 0;
  }
  push_numbers_.erase(found->second.what.id.value);
  pushes_.erase(found);
}

bool consume_part::reads_for(group_id group) const {
  return std::any_of(pushes_.begin(), pushes_.end(),
                     [&](const auto& p) { return p.second.group == group && !p.second.ended; }) ||
         std::any_of(jobs_.begin(), jobs_.end(),
                     [&](const auto& j) { return j.second.group == group && !j.second.abandoned; });
}

// -- groups -------------------------------------------------------------------------

void consume_part::on_consumer_group(const consumer_group_found& x) {
  const auto found = groups_.find(x.group);
  if (found == groups_.end())
    return;
  auto& link = found->second;
  const bool restarted = link.actor && link.life != x.life;
  link.actor = x.actor;
  link.life = x.life;
  auto jobs = std::exchange(link.waiting_jobs, {});
  auto acks = std::exchange(link.waiting_acks, {});
  if (!x.actor) {
    groups_.erase(found);
    for (const auto number : jobs)
      fail_job(number, ec::recovering, "the consumer group can't be served now");
    for (const auto& ack : acks)
      core_.refuse(ack.id, ec::recovering, "the consumer group can't be served now");
  }
  if (restarted) {
    // The new one knows neither: fetches are asked again, of acknowledgements nobody knows.
    const auto lost = core_.outstanding.select([&](const outstanding_request& r) {
      if (r.role != peer_role::consumer_group)
        return false;
      if (r.kind == request_kind::acknowledge)
        return r.extra == x.group.value;
      const auto work = jobs_.find(r.extra);
      return r.kind == request_kind::fetch && work != jobs_.end() && work->second.group == x.group;
    });
    for (const auto id : lost) {
      const auto request = *core_.outstanding.take(id);
      core_.ended(request);
      if (request.kind == request_kind::acknowledge)
        core_.refuse(request.client, ec::outcome_unknown, "the consumer group was restarted");
      else
        jobs.push_back(request.extra);
    }
  }
  for (const auto number : jobs)
    if (const auto work = jobs_.find(number); work != jobs_.end()) {
      if (!x.actor)
        fail_job(number, ec::recovering, "the consumer group can't be served now");
      else if (work->second.abandoned)
        jobs_.erase(work);
      else
        send_fetch(number, work->second);
    }
  if (const auto again = groups_.find(x.group); again != groups_.end() && x.actor)
    for (const auto& ack : acks)
      send_acks(again->second, ack);
}

void consume_part::leave_all() {
  for (const auto& [group, link] : std::exchange(groups_, {}))
    if (link.actor)
      core_.send(link.actor, member_left{});
  jobs_.clear();
  pushes_.clear();
  push_numbers_.clear();
}

// -- acknowledging ------------------------------------------------------------------

void consume_part::on(const native::acknowledge& x) {
  if (!core_.allowed(x.id, action::consume, {}))
    return;
  pass_on(x);
  grant(x.subscription, x.credit); // behind, so that what follows in order may come with it
}

void consume_part::pass_on(const native::acknowledge& x) {
  if (x.group == group_id{} || groups_.size() >= groups_max)
    return core_.refuse(x.id, ec::unknown_group, "fetch as a member of the group first");
  const auto [found, added] = groups_.try_emplace(x.group);
  if (added)
    find(x.group);
  if (found->second.actor)
    send_acks(found->second, x);
  else if (found->second.waiting_acks.size() < jobs_max)
    found->second.waiting_acks.push_back(x);
  else
    core_.refuse(x.id, ec::busy, "too many acknowledgements on one connection");
}

void consume_part::send_acks(group_link& link, const native::acknowledge& x) {
  acknowledge order;
  order.items.reserve(x.items.size());
  for (const auto& item : x.items) {
    const auto* topic = core_.topic(item.topic);
    if (!topic || item.queue.value >= topic->queues)
      return core_.refuse(x.id, topic ? ec::unknown_queue : ec::unknown_topic,
                          "of an acknowledgement");
    if (item.to != queue_offset{} && item.to <= item.offset)
      return core_.refuse(x.id, ec::bad_request,
                          "an acknowledged range that ends at its beginning");
    order.items.push_back(
        {{item.topic, item.queue}, item.offset, item.lease, item.what, item.to, item.retry_ms});
  }
  const outstanding_request what{x.id, request_kind::acknowledge, peer_role::consumer_group, 0,
                                 x.group.value};
  core_.began(what);
  core_.ask(link.actor, std::move(order), what);
}

void consume_part::on_acknowledged(const outstanding_request& request, const acknowledged& x) {
  core_.put(native::acknowledged{request.client, x.code, {}, x.accepted, x.late});
}

} // namespace handfast
