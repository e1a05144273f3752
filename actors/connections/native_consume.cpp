#include "actors/connections/core_send.hpp"
#include "actors/connections/native_bodies.hpp"
#include "actors/connections/native_consume_parts.hpp"
#include "config/settings.hpp"

#include <algorithm>
#include <utility>

// Fetching for members of groups; subscriptions and acknowledgements are in native_subscribe.cpp.

namespace handfast {

namespace {

/// A message that could not be read now, and may be later, comes again after this: a disk that is
/// gone must not keep group and connection busy with each other.
constexpr std::uint32_t unread_pause_ms = 250;

} // namespace

result<filter> filter_of(filter_kind kind, const std::string& expression) {
  auto made = kind == filter_kind::all    ? result<filter>{}
              : kind == filter_kind::tags ? parse_tag_filter(expression)
                                          : parse_sql_filter(expression);
  if (!made)
    return fail(ec::bad_filter, made.error().detail);
  return made;
}

bool consume_part::may_consume(correlation client, topic_id topic, const std::string& group) {
  if (topic == half_view_topic || topic == op_view_topic) {
    core_.refuse(client, ec::read_only_topic, "views are browsed, not consumed");
    return false;
  }
  if (!core_.topic(topic)) {
    core_.refuse(client, ec::unknown_topic, "the topic was not resolved on this connection");
    return false;
  }
  if (!core_.allowed(client, action::consume, group))
    return false;
  if (jobs_.size() < jobs_max && groups_.size() < groups_max)
    return true;
  core_.refuse(client, ec::busy, "too many fetches on one connection");
  return false;
}

/// Most fetches repeat what an earlier one wanted.
std::optional<filter> consume_part::wanted_by(correlation client, const subscription_terms& terms) {
  if (terms.filter == filter_kind::all)
    return filter{};
  const std::pair key{terms.filter, terms.expression};
  if (const auto known = filters_.find(key); known != filters_.end())
    return known->second;
  auto made = filter_of(terms.filter, terms.expression);
  if (!made) {
    core_.refuse(client, made.error().code, made.error().detail);
    return std::nullopt;
  }
  if (filters_.size() >= filters_max)
    filters_.clear();
  filters_.emplace(key, *made);
  return *std::move(made);
}

group_id consume_part::known_group(const std::string& name) const {
  const auto known = group_names_.find(name);
  return known == group_names_.end() ? group_id{} : known->second;
}

void consume_part::on(native::fetch& x) {
  if (!may_consume(x.id, x.topic, x.group_name))
    return;
  if (x.queue != native::any_queue)
    return core_.refuse(x.id, ec::not_supported, "members of a group share all queues");
  auto wanted = wanted_by(x.id, x.terms);
  if (!wanted)
    return;
  const auto number = core_.next_job();
  auto& work = jobs_[number];
  work.what = std::move(x);
  work.wanted = *std::move(wanted);
  work.until = core_.env->time->now() + std::chrono::milliseconds{work.what.wait_ms};
  work.group = work.what.group;
  if (work.group == group_id{})
    work.group = known_group(work.what.group_name);
  if (work.group == group_id{})
    core_.ask(core_.peers->topic_registry.actor, resolve_group{{}, work.what.group_name, true},
              {{}, request_kind::fetch_group, peer_role::topic_registry, 0, number});
  else
    send_fetch(number, work);
}

void consume_part::on_group(const outstanding_request& request, const group_resolved& x) {
  if (x.why.code == ec::ok && group_names_.size() < groups_max)
    group_names_[x.name] = x.group;
  if (request.kind == request_kind::subscribe_group) {
    const auto found = pushes_.find(request.extra);
    if (found == pushes_.end())
      return;
    if (x.why.code != ec::ok) {
      core_.refuse(found->second.what.id, x.why.code, x.why.detail);
      return end_push(request.extra);
    }
    found->second.group = x.group;
    native::delivered begun;
    begun.id = found->second.what.id;
    begun.group = x.group;
    core_.put(begun);
    return pump(found->first, found->second);
  }
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  if (x.why.code != ec::ok)
    return fail_job(found->first, x.why.code, x.why.detail);
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
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(work.until - core_.env->time->now());
  fetch_messages order;
  order.topic = work.what.topic;
  order.queues = topic->queues;
  order.max = work.what.messages_max;
  order.bytes_max = work.what.bytes_max == 0 ? delivered_bytes_max
                                             : std::min(work.what.bytes_max, delivered_bytes_max);
  order.wait_ms = static_cast<std::uint32_t>(std::max<std::int64_t>(left.count(), 0));
  order.start = work.what.start;
  order.terms = work.what.terms;
  order.member = core_.who.name;
  core_.ask(link.actor, std::move(order),
            {{}, request_kind::fetch, peer_role::consumer_group, 0, number});
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
  if (work.abandoned) {
    settle_all(work);
    jobs_.erase(found);
    return;
  }
  read_bodies(found->first, work);
}

/// From the page cache if possible; LOG READER reads the rest.
void consume_part::read_bodies(std::uint32_t number, job& work) {
  auto& items = work.answer.items;
  items.clear();
  work.missing.clear();
  items.reserve(work.deliveries.size());
  std::vector<record_source::place> places;
  places.reserve(work.deliveries.size());
  for (const auto& d : work.deliveries) {
    items.push_back(item_of(d));
    places.push_back({d.entry.at, d.entry.length});
  }
  std::vector<bool> there(places.size());
  core_.env->records->try_read_all(places, [&](std::size_t n, const log_record& record) {
    there[n] = put_body(record, core_.env->ids, items[n]);
  });
  read_records order;
  for (std::uint32_t n = 0; n < places.size(); ++n)
    if (!there[n]) {
      work.missing.push_back(n);
      order.places.push_back({places[n].at, places[n].length});
    }
  if (work.missing.empty())
    return judge(number, work, {});
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
  settle(work, damaged, handling::unreadable);
  settle(work, unread, handling::returned, unread_pause_ms);
  damaged.insert(damaged.end(), unread.begin(), unread.end());
  if (work.abandoned) {
    for (const auto place : damaged)
      work.deliveries[place].lease = 0;
    std::erase_if(work.deliveries, [](const delivery& d) { return d.lease == 0; });
    settle_all(work);
    jobs_.erase(found);
    return;
  }
  judge(found->first, work, std::move(damaged));
}

/// Leaves out what is settled already, and what the filter does not want: another tag of the same
/// hash, or one whose properties the group could not read. A fetch that is left with nothing goes
/// on waiting.
void consume_part::judge(std::uint32_t number, job& work, std::vector<std::uint32_t> gone) {
  auto& items = work.answer.items;
  if (!work.wanted.wants_all()) {
    std::sort(gone.begin(), gone.end());
    std::vector<std::uint32_t> unwanted;
    for (std::uint32_t n = 0; n < items.size(); ++n)
      if (!std::binary_search(gone.begin(), gone.end(), n) &&
          !work.wanted.matches(properties_of(items[n])))
        unwanted.push_back(n);
    settle(work, unwanted, handling::filtered);
    gone.insert(gone.end(), unwanted.begin(), unwanted.end());
  }
  std::sort(gone.begin(), gone.end(), std::greater{});
  for (const auto place : gone)
    items.erase(items.begin() + place);
  if (items.empty() && !gone.empty() && core_.env->time->now() < work.until) {
    work.deliveries.clear();
    return send_fetch(number, work);
  }
  finish(number, work);
}

void consume_part::settle(const job& work, const std::vector<std::uint32_t>& places, handling what,
                          std::uint32_t retry_ms) {
  const auto link = groups_.find(work.group);
  if (places.empty() || link == groups_.end() || !link->second.actor)
    return;
  acknowledge order;
  for (const auto place : places) {
    const auto& d = work.deliveries[place];
    order.items.push_back({d.queue, d.entry.offset, d.lease, what, {}, retry_ms});
  }
  core_.send(link->second.actor, std::move(order));
}

/// What was handed to this member goes to the others at once.
void consume_part::settle_all(const job& work) {
  std::vector<std::uint32_t> all(work.deliveries.size());
  for (std::uint32_t n = 0; n < all.size(); ++n)
    all[n] = n;
  settle(work, all, handling::returned);
}

void consume_part::finish(std::uint32_t number, job& work) {
  auto& answer = work.answer;
  answer.lease_ms = static_cast<std::uint32_t>(core_.env->settings->consumer.lease.count());
  const auto owner = pushes_.find(work.push);
  if (owner == pushes_.end()) {
    core_.put(answer);
    jobs_.erase(number);
    return;
  }
  auto& subscription = owner->second;
  const bool ended = answer.code != ec::ok;
  if (ended || !answer.items.empty())
    core_.put(answer);
  const auto sent = static_cast<std::uint32_t>(answer.items.size());
  subscription.credit -= std::min(sent, subscription.credit);
  subscription.held += sent;
  subscription.job = 0;
  jobs_.erase(number);
  if (ended)
    return end_push(owner->first);
  pump(owner->first, subscription);
}

void consume_part::fail_job(std::uint32_t number, ec code, std::string_view detail) {
  const auto found = jobs_.find(number);
  if (found == jobs_.end())
    return;
  if (!found->second.abandoned)
    core_.refuse(found->second.what.id, code, detail);
  const auto owner = found->second.push;
  jobs_.erase(found);
  if (const auto subscribed = pushes_.find(owner); subscribed != pushes_.end()) {
    subscribed->second.job = 0;
    end_push(owner);
  }
}

void consume_part::drop_job(std::uint32_t number) {
  if (pushes_.count(number) != 0) { // its group was being resolved
    core_.refuse(pushes_.at(number).what.id, ec::recovering,
                 "the actor that had the request was restarted");
    return end_push(number);
  }
  const auto found = jobs_.find(number);
  if (found == jobs_.end())
    return;
  settle_all(found->second);
  fail_job(number, ec::recovering, "the actor that had the request was restarted");
}

} // namespace handfast
