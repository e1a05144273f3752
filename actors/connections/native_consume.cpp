#include "actors/connections/core_send.hpp"
#include "actors/connections/native_parts.hpp"
#include "config/settings.hpp"

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

/// Payload of one `delivered` frame, unless a single message is larger.
constexpr std::uint32_t delivered_bytes_max = 4 * limits::mib;

/// Of the record that holds it; place and lease come from the delivery. False if it holds no
/// message.
bool put_body(const log_record& record, const transaction_ids& ids, native::delivered_item& to) {
  const auto* m = message_of(record);
  if (record.type == record_type::pad || !m)
    return false;
  to.born_ms = m->born_ms;
  to.sys_flag = m->sys_flag;
  to.order_hash = m->order_hash;
  to.properties_size = m->properties_size;
  to.payload = m->payload;
  if (const auto opened_at = transaction_of(record); opened_at != position{})
    to.transaction = ids.at(opened_at);
  return true;
}

native::delivered_item item_of(const delivery& d) {
  native::delivered_item item;
  item.at = d.entry.at;
  item.topic = d.queue.topic;
  item.queue = d.queue.queue;
  item.offset = d.entry.offset;
  item.lease = d.lease;
  item.attempts = static_cast<std::uint16_t>(std::min<std::uint32_t>(d.attempts, 0xffff));
  item.visible_ms = d.entry.visible_ms;
  return item;
}

/// The bytes are damaged, in contrast to a disk that can't be read at the moment.
bool is_damage(ec code) {
  return code == ec::corrupt || code == ec::position_not_found;
}

} // namespace

// -- fetching -----------------------------------------------------------------------

void consume_part::on(native::fetch& x) {
  const auto* topic = core_.topic(x.topic);
  if (!topic)
    return core_.refuse(x.id, ec::unknown_topic, "the topic was not resolved on this connection");
  if (x.topic == half_view_topic || x.topic == op_view_topic)
    return core_.refuse(x.id, ec::read_only_topic, "views are browsed, not consumed");
  if (x.queue != native::any_queue)
    return core_.refuse(x.id, ec::not_supported, "members of a group share all queues");
  if (!core_.allowed(x.id, action::consume, x.group_name))
    return;
  if (jobs_.size() >= jobs_max || groups_.size() >= groups_max)
    return core_.refuse(x.id, ec::busy, "too many fetches on one connection");
  const auto number = core_.next_job();
  auto& work = jobs_[number];
  work.what = std::move(x);
  work.group = work.what.group;
  if (work.group == group_id{})
    if (const auto known = group_names_.find(work.what.group_name); known != group_names_.end())
      work.group = known->second;
  if (work.group == group_id{})
    core_.ask(core_.peers->topic_registry.actor, resolve_group{{}, work.what.group_name, true},
              {{}, request_kind::fetch_group, peer_role::topic_registry, 0, number});
  else
    send_fetch(number, work);
}

void consume_part::on_group(const outstanding_request& request, const group_resolved& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  if (x.why.code != ec::ok)
    return fail_job(found->first, x.why.code, x.why.detail);
  if (group_names_.size() < groups_max)
    group_names_[x.name] = x.group;
  found->second.group = x.group;
  send_fetch(found->first, found->second);
}

void consume_part::find(group_id group) {
  core_.send(core_.peers->supervisor.actor, find_consumer_group{group});
}

void consume_part::send_fetch(std::uint32_t number, job& work) {
  const auto [found, added] = groups_.try_emplace(work.group);
  auto& link = found->second;
  if (added)
    find(work.group);
  if (!link.actor) {
    link.waiting_jobs.push_back(number);
    return;
  }
  const auto* topic = core_.topic(work.what.topic);
  if (!topic)
    return fail_job(number, ec::unknown_topic);
  fetch_messages order;
  order.topic = work.what.topic;
  order.queues = topic->queues;
  order.max = work.what.messages_max;
  order.bytes_max = work.what.bytes_max == 0 ? delivered_bytes_max
                                             : std::min(work.what.bytes_max, delivered_bytes_max);
  order.wait_ms = work.what.wait_ms;
  order.start.from = work.what.start;
  core_.ask(link.actor, order, {{}, request_kind::fetch, peer_role::consumer_group, 0, number});
}

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
      return work != jobs_.end() && work->second.group == x.group;
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
  if (!x.actor)
    return;
  for (const auto number : jobs)
    if (const auto work = jobs_.find(number); work != jobs_.end())
      send_fetch(number, work->second);
  for (const auto& ack : acks)
    send_acks(link, ack);
}

void consume_part::on_deliver(const outstanding_request& request, deliver& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  auto& work = found->second;
  work.answer.id = work.what.id;
  work.answer.code = x.code;
  work.answer.group = work.group;
  work.deliveries = std::move(x.deliveries);
  read_bodies(found->first, work);
}

/// From the page cache if possible; LOG READER reads the rest.
void consume_part::read_bodies(std::uint32_t number, job& work) {
  auto& items = work.answer.items;
  items.reserve(work.deliveries.size());
  read_records order;
  std::vector<std::uint32_t> empty;
  for (std::uint32_t n = 0; n < work.deliveries.size(); ++n) {
    const auto& d = work.deliveries[n];
    items.push_back(item_of(d));
    const auto record = core_.env->records->try_read(d.entry.at, d.entry.length);
    if (record && put_body(*record, core_.env->ids, items.back()))
      continue;
    work.missing.push_back(n);
    order.places.push_back({d.entry.at, d.entry.length});
  }
  if (work.missing.empty())
    return finish(number, work);
  core_.ask(core_.peers->log_reader.actor, std::move(order),
            {{}, request_kind::bodies, peer_role::log_reader, 0, number});
}

void consume_part::on_bodies(const outstanding_request& request, records_read& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  auto& work = found->second;
  HANDFAST_ASSERT(x.records.size() == work.missing.size());
  std::vector<std::uint32_t> damaged;
  std::vector<std::uint32_t> unread;
  for (std::size_t n = 0; n < x.records.size(); ++n) {
    const auto place = work.missing[n];
    auto& read = x.records[n];
    if (read.code == ec::ok && put_body(read.record, core_.env->ids, work.answer.items[place]))
      continue;
    (read.code == ec::ok || is_damage(read.code) ? damaged : unread).push_back(place);
  }
  settle_unreadable(work, damaged, true);
  settle_unreadable(work, unread, false);
  damaged.insert(damaged.end(), unread.begin(), unread.end());
  std::sort(damaged.begin(), damaged.end(), std::greater{});
  for (const auto place : damaged)
    work.answer.items.erase(work.answer.items.begin() + place);
  finish(found->first, work);
}

/// Damaged messages are done with and listed; those that can't be read now are handed back.
void consume_part::settle_unreadable(const job& work, const std::vector<std::uint32_t>& places,
                                     bool quarantined) {
  const auto link = groups_.find(work.group);
  if (places.empty() || link == groups_.end() || !link->second.actor)
    return; // browsing just leaves them out
  acknowledge order;
  for (const auto place : places) {
    const auto& d = work.deliveries[place];
    order.items.push_back({d.queue, d.entry.offset, d.lease,
                           quarantined ? handling::unreadable : handling::returned});
  }
  core_.send(link->second.actor, std::move(order));
}

void consume_part::finish(std::uint32_t number, job& work) {
  core_.put(work.answer);
  jobs_.erase(number);
}

void consume_part::fail_job(std::uint32_t number, ec code, std::string_view detail) {
  const auto found = jobs_.find(number);
  if (found == jobs_.end())
    return;
  core_.refuse(found->second.what.id, code, detail);
  jobs_.erase(found);
}

/// What was already handed to this member goes to the others at once.
void consume_part::drop_job(std::uint32_t number) {
  const auto found = jobs_.find(number);
  if (found == jobs_.end())
    return;
  std::vector<std::uint32_t> all(found->second.deliveries.size());
  for (std::uint32_t n = 0; n < all.size(); ++n)
    all[n] = n;
  settle_unreadable(found->second, all, false);
  fail_job(number, ec::recovering, "the actor that had the request was restarted");
}

// -- acknowledging ------------------------------------------------------------------

void consume_part::on(const native::acknowledge& x) {
  if (!core_.allowed(x.id, action::consume, {}))
    return;
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
    order.items.push_back({{item.topic, item.queue},
                           item.offset,
                           item.lease,
                           item.done ? handling::done : handling::failed});
  }
  const outstanding_request what{x.id, request_kind::acknowledge, peer_role::consumer_group, 0,
                                 x.group.value};
  core_.began(what);
  core_.ask(link.actor, std::move(order), what);
}

void consume_part::on_acknowledged(const outstanding_request& request, const acknowledged& x) {
  core_.put(native::acknowledged{request.client, x.code, {}, x.accepted, x.late});
}

void consume_part::leave_all() {
  for (const auto& [group, link] : std::exchange(groups_, {}))
    if (link.actor)
      core_.send(link.actor, member_left{});
  jobs_.clear();
}

// -- browsing -----------------------------------------------------------------------

void consume_part::on(const native::read_view& x) {
  if (!core_.allowed(x.id, action::browse, {}))
    return;
  if (jobs_.size() >= jobs_max)
    return core_.refuse(x.id, ec::busy, "too many fetches on one connection");
  const auto number = core_.next_job();
  auto& work = jobs_[number];
  work.what.id = x.id;
  work.what.messages_max = std::clamp<std::uint32_t>(x.messages_max, 1, 256);
  work.queue = {x.topic, x.queue};
  work.from = x.offset;
  work.answer.id = x.id;
  if (x.topic == half_view_topic || x.topic == op_view_topic)
    core_.ask(core_.peers->log_reader.actor,
              read_view{{}, x.topic, x.offset, work.what.messages_max},
              {{}, request_kind::browse_view, peer_role::log_reader, 0, number});
  else
    core_.send(core_.peers->supervisor.actor, find_queue{work.queue});
}

/// Comes again when the queue was restarted: whoever waits for entries asks the new one.
void consume_part::on_queue(const queue_found& x) {
  std::vector<std::uint32_t> waiting;
  for (const auto& [number, work] : jobs_)
    if (work.group == group_id{} && work.queue == x.queue && work.queue.topic != topic_id{} &&
        work.deliveries.empty())
      waiting.push_back(number);
  for (const auto number : waiting) {
    if (!x.actor) {
      fail_job(number, ec::unknown_queue);
      continue;
    }
    const auto& work = jobs_.at(number);
    core_.ask(x.actor, fetch_entries{{}, work.queue, work.from, work.what.messages_max},
              {{}, request_kind::browse_entries, peer_role::queue, 0, number});
  }
}

void consume_part::on_entries(const outstanding_request& request, const entries_fetched& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end() || !found->second.deliveries.empty())
    return;
  auto& work = found->second;
  if (x.code != ec::ok)
    return fail_job(found->first, x.code);
  std::uint64_t bytes = 0;
  for (const auto& entry : x.entries) {
    bytes += entry.length;
    if (bytes > delivered_bytes_max && !work.deliveries.empty())
      break;
    work.deliveries.push_back({x.queue, entry, 0, 1});
  }
  read_bodies(found->first, work);
}

void consume_part::on_view(const outstanding_request& request, const view_read& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  auto& work = found->second;
  if (x.code != ec::ok)
    return fail_job(found->first, x.code);
  std::size_t ops = 0;
  std::uint64_t bytes = 0;
  for (const auto& record : x.records) {
    bytes += record.length;
    if (bytes > delivered_bytes_max && !work.answer.items.empty())
      break;
    native::delivered_item item;
    item.at = record.at;
    item.topic = work.queue.topic;
    item.visible_ms = record.time_ms;
    if (const auto* decided = std::get_if<decide_record>(&record.content)) {
      item.offset = decided->op_offset;
      if (ops < x.op_bodies.size())
        item.payload = shared_bytes::copy_of(x.op_bodies[ops++]);
    } else if (const auto* half = std::get_if<message_record>(&record.content)) {
      item.offset = half->offset;
      put_body(record, core_.env->ids, item);
    } else {
      continue;
    }
    work.answer.items.push_back(std::move(item));
  }
  finish(found->first, work);
}

} // namespace handfast
