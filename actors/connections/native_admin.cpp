#include "actors/connections/core_send.hpp"
#include "actors/connections/native_parts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace handfast {

namespace {

/// Figures of a status report, each alone; beyond, they are added up.
constexpr std::size_t status_samples_max = 4'000;
constexpr std::size_t status_names_max = 100;

std::uint32_t page_size(std::uint32_t wanted) {
  return std::clamp<std::uint32_t>(wanted, 1, limits::page_items_max);
}

/// The value of one label in Prometheus form; 0 without it.
std::uint32_t label_of(const std::string& labels, std::string_view name) {
  const auto key = std::string{name} + "=\"";
  const auto at = labels.find(key);
  if (at == std::string::npos)
    return 0;
  return static_cast<std::uint32_t>(std::strtoul(labels.c_str() + at + key.size(), nullptr, 10));
}

/// One report for all actors of a kind, the same figures of all labels added up.
std::vector<status_report> summed_by_kind(const std::vector<status_report>& reports) {
  std::map<std::string, status_report> kinds;
  for (const auto& report : reports) {
    const auto kind = report.actor.substr(0, report.actor.find('/'));
    auto& sum = kinds[kind];
    sum.actor = kind;
    sum.quarantined.insert(sum.quarantined.end(), report.quarantined.begin(),
                           report.quarantined.end());
    for (const auto& s : report.samples) {
      const auto same = std::ranges::find(sum.samples, s.name, &sample::name);
      if (same == sum.samples.end())
        sum.samples.push_back({s.name, {}, s.value});
      else
        same->value += s.value;
    }
  }
  std::vector<status_report> all;
  for (auto& [kind, sum] : kinds)
    all.push_back(std::move(sum));
  return all;
}

/// Thousands of queues or groups would not fit a frame, and nobody reads them: /metrics has them.
std::vector<status_report> fitting(const std::vector<status_report>& reports) {
  std::size_t samples = 0;
  for (const auto& report : reports)
    samples += report.samples.size();
  return samples > status_samples_max ? summed_by_kind(reports) : reports;
}

/// The first ones, and how many more there are.
std::vector<std::string> first_names(std::vector<std::string> names) {
  if (names.size() <= status_names_max)
    return names;
  const auto more = names.size() - status_names_max;
  names.resize(status_names_max);
  names.push_back("and " + std::to_string(more) + " more");
  return names;
}

std::string json_of(const node_status& x) {
  using nlohmann::json;
  json all = {{"actors", json::array()}, {"not_answering", first_names(x.not_answering)}};
  for (const auto& report : fitting(x.actors)) {
    json samples = json::array();
    for (const auto& s : report.samples)
      samples.push_back({{"name", s.name}, {"labels", s.labels}, {"value", s.value}});
    all["actors"].push_back({{"actor", report.actor},
                             {"samples", std::move(samples)},
                             {"quarantined", report.quarantined.size()}});
  }
  json restarts = json::object();
  for (const auto& [role, count] : x.restarts)
    restarts[role] = count;
  all["restarts"] = std::move(restarts);
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

// -- topics -------------------------------------------------------------------------

void admin_part::on(const native::topic_create& x) {
  if (core_.allowed(x.id, action::administer, x.name))
    core_.ask(core_.peers->topic_registry.actor, put_topic{{}, x.name, x.queues, x.options},
              {x.id, request_kind::topic_create, peer_role::topic_registry, 0, 0});
}

void admin_part::on(const native::topic_show& x) {
  if (core_.allowed(x.id, action::look, x.name))
    core_.ask(core_.peers->topic_registry.actor, resolve_topic{{}, x.name, false},
              {x.id, request_kind::topic_show, peer_role::topic_registry, 0, 0});
}

void admin_part::on(const native::topic_delete& x) {
  if (!core_.allowed(x.id, action::administer, x.name))
    return;
  if (!x.force) {
    core_.ask(core_.peers->topic_registry.actor, delete_topic{{}, x.name},
              {x.id, request_kind::topic_delete, peer_role::topic_registry, 0, 0});
    return;
  }
  if (deletions_.size() >= jobs_max)
    return core_.refuse(x.id, ec::busy);
  const auto job = core_.next_job();
  deletions_[job] = {x.id, x.name, {}, 0};
  core_.ask(core_.peers->topic_registry.actor, resolve_topic{{}, x.name, false},
            {{}, request_kind::topic_show, peer_role::topic_registry, 0, job});
}

void admin_part::on(const native::topic_list& x) {
  if (core_.allowed(x.id, action::look, {}))
    core_.ask(core_.peers->topic_registry.actor, list_topics{{}, x.after, page_size(x.items_max)},
              {x.id, request_kind::topic_list, peer_role::topic_registry, 0, 0});
}

void admin_part::on_topic(const outstanding_request& request, const topic_resolved& x) {
  if (const auto forced = deletions_.find(request.extra);
      request.kind == request_kind::topic_show && forced != deletions_.end()) {
    if (x.why.code != ec::ok || x.topic.read_only) {
      core_.refuse(forced->second.client, x.why.code != ec::ok ? x.why.code : ec::read_only_topic,
                   x.why.detail);
      deletions_.erase(forced);
      return;
    }
    forced->second.topic = x.topic.id;
    return list_pending(forced->first, forced->second);
  }
  if (x.why.code != ec::ok)
    return core_.refuse(request.client, x.why.code, x.why.detail);
  if (request.kind == request_kind::topic_delete)
    return core_.put(native::done{request.client});
  native::topics answer{request.client, false, {{x.topic, {}}}};
  const bool is_view = x.topic.id == half_view_topic || x.topic.id == op_view_topic;
  if (request.kind != request_kind::topic_show || is_view || shows_.size() >= jobs_max)
    return core_.put(answer);
  auto& work = shows_[core_.next_job()];
  work.client = request.client;
  work.answer = std::move(answer);
  for (std::uint32_t n = 0; n < x.topic.queues; ++n) {
    const queue_key key{x.topic.id, queue_no{static_cast<std::uint16_t>(n)}};
    work.waiting.insert(key);
    core_.send(core_.peers->supervisor.actor, find_queue{key});
  }
}

/// Comes again when the queue was restarted: it is asked again, and one answer counts.
void admin_part::on_queue(const queue_found& x) {
  std::vector<std::uint32_t> waiting;
  for (const auto& [job, work] : shows_)
    if (work.waiting.count(x.queue) != 0)
      waiting.push_back(job);
  for (const auto job : waiting) {
    const outstanding_request what{{}, request_kind::extent, peer_role::queue, 0, job};
    if (x.actor)
      core_.ask(x.actor, fetch_entries{{}, x.queue, {}, 0}, what);
    else
      on_entries(what, entries_fetched{{}, x.queue, ec::unknown_queue, {}, {}, {}});
  }
}

void admin_part::on_entries(const outstanding_request& request, const entries_fetched& x) {
  const auto found = shows_.find(request.extra);
  if (found == shows_.end() || found->second.waiting.erase(x.queue) == 0)
    return;
  auto& work = found->second;
  auto& extents = work.answer.items.front().queues;
  if (x.code == ec::ok)
    extents.push_back({x.queue.queue, x.first, x.end});
  if (!work.waiting.empty())
    return;
  std::sort(extents.begin(), extents.end(),
            [](const auto& a, const auto& b) { return a.queue < b.queue; });
  core_.put(work.answer);
  shows_.erase(found);
}

void admin_part::on_topics(const outstanding_request& request, const topics_listed& x) {
  native::topics answer{request.client, x.more, {}};
  answer.items.reserve(x.page.size());
  for (const auto& topic : x.page)
    answer.items.push_back({topic, {}});
  core_.put(answer);
}

// -- deleting with force --------------------------------------------------------------

/// Rolls back page after page of what is pending, until nothing is; then cancels what is delayed,
/// and deletes.
void admin_part::list_pending(std::uint32_t job, const forced_deletion& work) {
  list_transactions order;
  order.topic = work.topic;
  core_.ask(core_.peers->half_store.actor, order,
            {{}, request_kind::forced_list, peer_role::half_store, 0, job});
}

void admin_part::on_listed(const outstanding_request& request, const transactions_listed& x) {
  const auto found = deletions_.find(request.extra);
  if (found == deletions_.end())
    return;
  auto& work = found->second;
  if (x.code != ec::ok) {
    core_.refuse(work.client, x.code);
    deletions_.erase(found);
    return;
  }
  decide order;
  for (const auto& life : x.page) {
    const outstanding_request what{
        {}, request_kind::forced_decide, peer_role::half_store, 0, request.extra};
    order.requests.push_back({core_.outstanding.add(what), life.id, outcome::rolled_back,
                              origin::admin, life.group, 0, false});
  }
  if (order.requests.empty()) {
    core_.ask(core_.peers->delay_scheduler.actor, drop_delayed{{}, work.topic},
              {{}, request_kind::forced_drop, peer_role::delay_scheduler, 0, request.extra});
    return;
  }
  work.waiting = order.requests.size();
  core_.send(core_.peers->half_store.actor, std::move(order));
}

void admin_part::on_decided(const outstanding_request& request, const decision_result& x) {
  const auto found = deletions_.find(request.extra);
  if (found == deletions_.end())
    return;
  auto& work = found->second;
  const bool ended = x.code == ec::ok || x.code == ec::conflict_committed ||
                     x.code == ec::conflict_given_up || x.code == ec::conflict_rolled_back;
  if (!ended) {
    core_.refuse(work.client, x.code, "a pending transaction could not be rolled back");
    deletions_.erase(found);
    return;
  }
  HANDFAST_ASSERT(work.waiting > 0);
  if (--work.waiting == 0)
    list_pending(found->first, work);
}

void admin_part::on_dropped(const outstanding_request& request, const delayed_cancelled& x) {
  const auto found = deletions_.find(request.extra);
  if (found == deletions_.end())
    return;
  const auto work = std::move(found->second);
  deletions_.erase(found);
  if (x.code != ec::ok)
    return core_.refuse(work.client, x.code, "the delayed messages could not be cancelled");
  core_.ask(core_.peers->topic_registry.actor, delete_topic{{}, work.name},
            {work.client, request_kind::topic_delete, peer_role::topic_registry, 0, 0});
}

// -- groups -------------------------------------------------------------------------

void admin_part::on(const native::group_list& x) {
  if (!core_.allowed(x.id, action::look, {}))
    return;
  if (listings_.size() >= jobs_max)
    return core_.refuse(x.id, ec::busy);
  const auto job = core_.next_job();
  listings_[job].client = x.id;
  core_.ask(core_.peers->topic_registry.actor, list_groups{{}, x.after, page_size(x.items_max)},
            {{}, request_kind::group_list, peer_role::topic_registry, 0, job});
}

void admin_part::on_groups(const outstanding_request& request, const groups_listed& x) {
  const auto found = listings_.find(request.extra);
  if (found == listings_.end())
    return;
  auto& answer = found->second.answer;
  answer.id = found->second.client;
  answer.more = x.more;
  for (const auto& [id, name] : x.page)
    answer.items.push_back({id, name, 0, 0, {}});
  core_.ask(core_.peers->supervisor.actor, ask_node_status{},
            {{}, request_kind::group_status, peer_role::supervisor, 0, request.extra});
}

/// Members and progress stand in the gauges of the groups' own actors.
void admin_part::add_numbers(group_listing& work, const node_status& x) const {
  for (std::size_t n = 0; n < work.answer.items.size(); ++n) {
    auto& item = work.answer.items[n];
    std::map<queue_key, native::group_queue> queues;
    for (const auto& report : x.actors)
      for (const auto& s : report.samples) {
        if (label_of(s.labels, "group") != item.group.value)
          continue;
        const auto value = static_cast<std::uint64_t>(std::max(s.value, 0.0));
        const queue_key key{topic_id{label_of(s.labels, "topic")},
                            queue_no{static_cast<std::uint16_t>(label_of(s.labels, "queue"))}};
        if (s.name == "rocketmq_consumer_connections")
          item.consumers = static_cast<std::uint32_t>(value);
        else if (s.name == "rocketmq_producer_connections")
          item.producers = static_cast<std::uint32_t>(value);
        else if (s.name == "handfast_consumer_done_offset")
          queues[key].done = queue_offset{value};
        else if (s.name == "handfast_consumer_end_offset")
          queues[key].end = queue_offset{value};
        else if (s.name == "rocketmq_consumer_inflight_messages")
          queues[key].leased = static_cast<std::uint32_t>(value);
      }
    for (auto& [key, queue] : queues) {
      queue.queue = key.queue;
      item.progress.push_back(std::move(queue));
      work.topics.emplace_back(n, key.topic);
    }
  }
}

void admin_part::on_names(const outstanding_request& request, const ids_named& x) {
  const auto found = listings_.find(request.extra);
  if (found == listings_.end())
    return;
  auto& work = found->second;
  std::vector<std::size_t> next(work.answer.items.size());
  for (const auto& [item, topic] : work.topics) {
    auto& queue = work.answer.items[item].progress[next[item]++];
    for (const auto& [id, name] : x.topics)
      if (id == topic)
        queue.topic = name;
  }
  core_.put(work.answer);
  listings_.erase(found);
}

// -- status -------------------------------------------------------------------------

void admin_part::on(const native::status& x) {
  if (core_.allowed(x.id, action::look, {}))
    core_.ask(core_.peers->supervisor.actor, ask_node_status{},
              {x.id, request_kind::status, peer_role::supervisor, 0, 0});
}

void admin_part::on(const native::quarantine_list& x) {
  if (core_.allowed(x.id, action::look, {}))
    core_.ask(core_.peers->supervisor.actor, ask_node_status{},
              {x.id, request_kind::quarantine, peer_role::supervisor, 0, page_size(x.items_max)});
}

void admin_part::on_status(const outstanding_request& request, const node_status& x) {
  if (request.kind == request_kind::status)
    return core_.put(native::status_report{request.client, json_of(x)});
  if (request.kind == request_kind::quarantine) {
    native::quarantine_page page{request.client, {}};
    for (const auto& report : x.actors)
      for (const auto& item : report.quarantined)
        if (page.items.size() < request.extra)
          page.items.push_back(item);
    return core_.put(page);
  }
  const auto found = listings_.find(request.extra);
  if (found == listings_.end())
    return;
  add_numbers(found->second, x);
  name_ids names;
  for (const auto& [item, topic] : found->second.topics)
    if (std::find(names.topics.begin(), names.topics.end(), topic) == names.topics.end())
      names.topics.push_back(topic);
  core_.ask(core_.peers->topic_registry.actor, std::move(names),
            {{}, request_kind::group_names, peer_role::topic_registry, 0, request.extra});
}

void admin_part::drop_job(std::uint32_t job) {
  constexpr std::string_view why = "the actor that had the request was restarted";
  if (const auto found = deletions_.find(job); found != deletions_.end()) {
    core_.refuse(found->second.client, ec::outcome_unknown, why);
    deletions_.erase(found);
  }
  if (const auto found = listings_.find(job); found != listings_.end()) {
    core_.refuse(found->second.client, ec::recovering, why);
    listings_.erase(found);
  }
}

} // namespace handfast
