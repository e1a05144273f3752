#include "actors/connections/core_send.hpp"
#include "actors/connections/native_parts.hpp"

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

bool is_undecided(transaction_state s) {
  return s == transaction_state::pending || s == transaction_state::deciding ||
         s == transaction_state::parked || s == transaction_state::quarantined;
}

bool concerns(const transaction_life& life, topic_id topic) {
  return std::ranges::any_of(life.messages, [&](const auto& m) { return m.topic == topic; });
}

template <class T>
void add_once(std::vector<T>& to, T what) {
  if (what != T{} && std::find(to.begin(), to.end(), what) == to.end())
    to.push_back(what);
}

template <class Id>
std::string name_in(const std::vector<std::pair<Id, std::string>>& names, Id id) {
  for (const auto& [known, name] : names)
    if (known == id)
      return name;
  return {};
}

} // namespace

// -- deciding -----------------------------------------------------------------------

void transaction_part::on(const native::decide& x) {
  auto& batch = decide_.requests;
  batch.reserve(batch.size() + x.items.size());
  for (const auto& item : x.items) {
    const bool operates = item.by == origin::admin;
    if (item.by == origin::policy || item.wanted == outcome::given_up) {
      core_.refuse(item.id, ec::bad_request, "only this node gives up, by its policy");
      continue;
    }
    if (!core_.allowed(item.id, operates ? action::operate : action::decide, {}))
      continue;
    if (!operates && !session_.is_member(item.group)) {
      core_.refuse(item.id, ec::unknown_group, "join the producer group on this connection first");
      continue;
    }
    if (item.by == origin::check)
      receipt(item.transaction, item.attempt); // an answer says that the question arrived
    decide_request request{{},         item.transaction, item.wanted,      item.by,
                           item.group, item.messages,    item.in_progress, item.attempt};
    if (item.id != correlation{}) {
      const outstanding_request what{item.id, request_kind::decide, peer_role::half_store, 0, 0};
      request.id = core_.outstanding.add(what);
      core_.began(what);
    }
    batch.push_back(request);
  }
}

void transaction_part::hand_over() {
  if (!decide_.requests.empty())
    core_.send(core_.peers->half_store.actor, std::exchange(decide_, {}));
}

void transaction_part::on_decided(const decided& x) {
  decided_.items.clear();
  for (const auto& r : x.results) {
    const auto request = core_.outstanding.take(r.id);
    if (!request)
      continue;
    core_.ended(*request);
    decided_.items.push_back({request->client, r.code, r.transaction, r.recorded, r.by, r.messages,
                              r.queue.topic, r.queue.queue, r.offset, r.due_ms});
  }
  if (!decided_.items.empty())
    core_.put(decided_);
}

void transaction_part::on(const native::running& x) {
  if (core_.producer == producer_id{})
    return;
  producer_running order{core_.producer, true, {}};
  for (const auto& item : x.items)
    if (session_.is_member(item.group))
      order.transactions.push_back(item.transaction);
  core_.send(core_.peers->half_store.actor, std::move(order));
}

// -- checks -------------------------------------------------------------------------

void transaction_part::on_ask(const ask_producers& x) {
  if (core_.closing() || core_.output_blocked() || !core_.peers) {
    refuse_checks(x.orders);
    return;
  }
  const auto job = core_.next_job();
  auto& batch = checks_[job];
  batch.orders = x.orders;
  batch.bodies.resize(x.orders.size());
  read_records bodies;
  name_ids names;
  for (std::uint32_t n = 0; n < batch.orders.size(); ++n) {
    const auto& order = batch.orders[n];
    if (auto record = core_.env->records->try_read(order.body_at, order.body_length)) {
      batch.bodies[n] = std::move(*record);
    } else {
      batch.missing.push_back(n);
      bodies.places.push_back({order.body_at, order.body_length});
    }
    if (core_.topic_name(order.topic).empty())
      add_once(names.topics, order.topic);
  }
  batch.waits_for_bodies = !batch.missing.empty();
  batch.waits_for_names = !names.topics.empty();
  if (batch.waits_for_bodies)
    core_.ask(core_.peers->log_reader.actor, std::move(bodies),
              {{}, request_kind::check_bodies, peer_role::log_reader, 0, job});
  if (batch.waits_for_names)
    core_.ask(core_.peers->topic_registry.actor, std::move(names),
              {{}, request_kind::check_names, peer_role::topic_registry, 0, job});
  finish_checks(job, batch);
}

void transaction_part::on_bodies(const outstanding_request& request, const records_read& x) {
  const auto found = checks_.find(request.extra);
  if (found == checks_.end())
    return;
  auto& batch = found->second;
  HANDFAST_ASSERT(x.records.size() == batch.missing.size());
  for (std::size_t n = 0; n < x.records.size(); ++n)
    if (x.records[n].code == ec::ok)
      batch.bodies[batch.missing[n]] = x.records[n].record;
  batch.waits_for_bodies = false;
  finish_checks(found->first, batch);
}

/// Sends the checks when nothing is missing any more. One whose body can't be read is not asked.
void transaction_part::finish_checks(std::uint32_t job, check_batch& batch) {
  if (batch.waits_for_bodies || batch.waits_for_names)
    return;
  native::check frame;
  std::vector<check_order> unreadable;
  for (std::size_t n = 0; n < batch.orders.size(); ++n) {
    const auto& order = batch.orders[n];
    auto& record = batch.bodies[n];
    auto* body = std::get_if<message_record>(&record.content);
    if (record.type == record_type::pad || !body) {
      unreadable.push_back(order);
      continue;
    }
    native::check_item item;
    item.transaction = order.transaction;
    item.group = order.group;
    item.topic = order.topic;
    item.queue = order.queue;
    item.attempt = order.attempt;
    item.attempts_max = order.attempts_max;
    item.messages = order.messages;
    item.stored_ms = order.stored_ms;
    item.born_ms = body->born_ms;
    item.sys_flag = body->sys_flag;
    item.properties_size = body->properties_size;
    item.payload = std::move(body->payload);
    frame.items.push_back(std::move(item));
    const native::topic_name name{order.topic, core_.topic_name(order.topic)};
    if (std::find(frame.topics.begin(), frame.topics.end(), name) == frame.topics.end())
      frame.topics.push_back(name);
    asked_[order.transaction.opened_at.value] = {order.group, order.transaction, order.attempt};
  }
  refuse_checks(unreadable);
  checks_.erase(job);
  if (!frame.items.empty())
    core_.put(frame);
}

void transaction_part::refuse_checks(const std::vector<check_order>& orders) {
  for (const auto& order : orders)
    if (const auto* group = session_.producer_group(order.group))
      core_.send(*group,
                 checks_handled{{{order.transaction, false, core_.producer, core_.who.name}}});
}

void transaction_part::receipt(const transaction_id& id, std::uint16_t attempt) {
  const auto found = asked_.find(id.opened_at.value);
  if (found == asked_.end() || found->second.id != id)
    return;
  if (attempt != 0 && attempt < found->second.attempt)
    return; // of an earlier question: nobody knows yet whether the newest arrived
  const auto group = found->second.group;
  asked_.erase(found);
  if (const auto* actor = session_.producer_group(group))
    core_.send(*actor, checks_handled{{{id, true, core_.producer, core_.who.name}}});
}

void transaction_part::on(const native::check_received& x) {
  for (const auto& item : x.items)
    receipt(item.transaction, 0);
}

void transaction_part::give_back_checks() {
  std::map<group_id, checks_handled> results;
  for (const auto& [at, asked] : std::exchange(asked_, {}))
    results[asked.group].results.push_back({asked.id, false, core_.producer, core_.who.name});
  for (const auto& [job, batch] : std::exchange(checks_, {}))
    for (const auto& order : batch.orders)
      results[order.group].results.push_back(
          {order.transaction, false, core_.producer, core_.who.name});
  for (auto& [group, result] : results)
    if (const auto* actor = session_.producer_group(group))
      core_.send(*actor, std::move(result));
}

// -- looking ------------------------------------------------------------------------

void transaction_part::on(const native::query_transaction& x) {
  if (!core_.allowed(x.id, action::look, {}))
    return;
  if (looks_.size() >= looks_max)
    return core_.refuse(x.id, ec::busy);
  const auto job = core_.next_job();
  looks_[job].client = x.id;
  core_.ask(core_.peers->half_store.actor, find_transaction{{}, x.transaction},
            {x.id, request_kind::query, peer_role::half_store, 0, job});
}

void transaction_part::on(const native::list_transactions& x) {
  if (!core_.allowed(x.id, action::look, {}))
    return;
  if (looks_.size() >= looks_max)
    return core_.refuse(x.id, ec::busy);
  const auto job = core_.next_job();
  auto& work = looks_[job];
  work.client = x.id;
  work.listing = true;
  work.what = x;
  work.what.items_max = std::clamp<std::uint32_t>(x.items_max, 1, limits::page_items_max);
  const auto& registry = core_.peers->topic_registry.actor;
  work.waiting = (x.group.empty() ? 0U : 1U) + (x.topic.empty() ? 0U : 1U);
  if (!x.group.empty())
    core_.ask(registry, resolve_group{{}, x.group, false},
              {{}, request_kind::list_group, peer_role::topic_registry, 0, job});
  if (!x.topic.empty())
    core_.ask(registry, resolve_topic{{}, x.topic, false},
              {{}, request_kind::list_topic, peer_role::topic_registry, 0, job});
  if (work.waiting == 0)
    list_now(job, work);
}

void transaction_part::on_group(const outstanding_request& request, const group_resolved& x) {
  const auto found = looks_.find(request.extra);
  if (found == looks_.end())
    return;
  if (x.why.code != ec::ok)
    return fail_look(found->first, x.why.code, x.why.detail);
  found->second.group = x.group;
  if (--found->second.waiting == 0)
    list_now(found->first, found->second);
}

void transaction_part::on_topic(const outstanding_request& request, const topic_resolved& x) {
  const auto found = looks_.find(request.extra);
  if (found == looks_.end())
    return;
  if (x.why.code != ec::ok)
    return fail_look(found->first, x.why.code, x.why.detail);
  found->second.topic = x.topic.id;
  if (--found->second.waiting == 0)
    list_now(found->first, found->second);
}

/// The filters are known. Without a state: first what is undecided, then what is decided; a page
/// that begins behind a transaction first asks which of the two that one belongs to.
void transaction_part::list_now(std::uint32_t job, look& work) {
  work.both = !work.what.state;
  if (work.both && work.what.after != position{} && work.at == look::stage::filters) {
    core_.ask(core_.peers->half_store.actor,
              find_transaction{{}, core_.env->ids.at(work.what.after)},
              {{}, request_kind::query, peer_role::half_store, 0, job});
    return;
  }
  if (work.at == look::stage::filters)
    work.at =
        work.both || is_undecided(*work.what.state) ? look::stage::pending : look::stage::decided;
  list_transactions order;
  order.any_state = work.both;
  order.state = work.what.state.value_or(transaction_state::pending);
  order.group = work.group;
  order.topic = work.topic;
  order.after = work.what.after;
  order.max = work.what.items_max - static_cast<std::uint32_t>(work.answer.items.size());
  if (work.at == look::stage::pending)
    core_.ask(core_.peers->half_store.actor, order,
              {{}, request_kind::list, peer_role::half_store, 0, job});
  else
    core_.ask(core_.peers->op_store.actor, order,
              {{}, request_kind::list, peer_role::op_store, 0, job});
}

void transaction_part::on_found(const outstanding_request& request, const transaction_found& x) {
  const auto found = looks_.find(request.extra);
  if (found == looks_.end())
    return;
  auto& work = found->second;
  if (work.listing && work.at == look::stage::lives) {
    const auto summary = std::ranges::find(work.decided, x.life.id, &transaction_life::id);
    if (x.code == ec::ok && summary != work.decided.end())
      *summary = x.life;
    --work.lives_asked;
    return ask_lives(found->first, work);
  }
  if (work.listing) {
    const bool decided = x.code == ec::ok && !is_undecided(x.life.state);
    work.at = decided ? look::stage::decided : look::stage::pending;
    return list_now(found->first, work);
  }
  if (x.code != ec::ok)
    return fail_look(found->first, x.code);
  work.answer.items.push_back({x.life, {}, {}});
  ask_names(found->first, work);
}

void transaction_part::on_listed(const outstanding_request& request, const transactions_listed& x) {
  const auto found = looks_.find(request.extra);
  if (found == looks_.end())
    return;
  auto& work = found->second;
  if (x.code != ec::ok)
    return fail_look(found->first, x.code);
  if (work.at == look::stage::decided) {
    work.at = look::stage::lives;
    work.decided = x.page;
    work.more_decided = x.more;
    work.next_life = 0;
    return ask_lives(found->first, work);
  }
  for (const auto& life : x.page)
    work.answer.items.push_back({life, {}, {}});
  work.answer.more = x.more;
  const bool goes_on = work.both && work.at == look::stage::pending && !x.more;
  if (!goes_on)
    return ask_names(found->first, work);
  work.at = look::stage::decided;
  work.what.after = {};
  if (work.answer.items.size() < work.what.items_max)
    return list_now(found->first, work);
  work.answer.more = true; // there may be decided ones; an empty page tells
  ask_names(found->first, work);
}

/// Of decided ones only a summary is listed: the rest is in their records, and HALF STORE knows who
/// was asked. One that can't be read stays a summary.
void transaction_part::ask_lives(std::uint32_t job, look& work) {
  while (work.lives_asked < lives_at_once && work.next_life < work.decided.size()) {
    ++work.lives_asked;
    core_.ask(core_.peers->half_store.actor,
              find_transaction{{}, work.decided[work.next_life++].id},
              {{}, request_kind::query, peer_role::half_store, 0, job});
  }
  if (work.lives_asked == 0)
    take_lives(job, work);
}

/// Which topics they concern is only known by now: further pages make up for those left out.
void transaction_part::take_lives(std::uint32_t job, look& work) {
  work.looked_at += work.decided.size();
  if (!work.decided.empty())
    work.what.after = work.decided.back().id.opened_at;
  for (auto& life : work.decided)
    if (work.topic == topic_id{} || concerns(life, work.topic))
      work.answer.items.push_back({std::move(life), {}, {}});
  work.decided.clear();
  work.answer.more = work.more_decided;
  const bool full = work.answer.items.size() >= work.what.items_max;
  if (!work.more_decided || full || work.looked_at >= looked_at_max)
    return ask_names(job, work);
  work.at = look::stage::decided;
  list_now(job, work);
}

void transaction_part::ask_names(std::uint32_t job, look& work) {
  work.at = look::stage::names;
  name_ids names;
  for (const auto& item : work.answer.items) {
    add_once(names.groups, item.life.group);
    for (const auto& message : item.life.messages)
      add_once(names.topics, message.topic);
  }
  core_.ask(core_.peers->topic_registry.actor, std::move(names),
            {{}, request_kind::names, peer_role::topic_registry, 0, job});
}

void transaction_part::on_names(const outstanding_request& request, const ids_named& x) {
  if (request.kind == request_kind::check_names) {
    const auto found = checks_.find(request.extra);
    if (found == checks_.end())
      return;
    for (const auto& [id, name] : x.topics)
      if (!name.empty())
        core_.learn_name(id, name);
    found->second.waits_for_names = false;
    return finish_checks(found->first, found->second);
  }
  const auto found = looks_.find(request.extra);
  if (found == looks_.end())
    return;
  auto& work = found->second;
  for (auto& item : work.answer.items) {
    item.group = name_in(x.groups, item.life.group);
    for (const auto& message : item.life.messages)
      item.topics.push_back(name_in(x.topics, message.topic));
  }
  work.answer.id = work.client;
  core_.put(work.answer);
  looks_.erase(found);
}

void transaction_part::fail_look(std::uint32_t job, ec code, std::string_view detail) {
  core_.refuse(looks_.at(job).client, code, detail);
  looks_.erase(job);
}

void transaction_part::drop_job(std::uint32_t job) {
  reopened_.erase(job);
  if (looks_.count(job) != 0)
    fail_look(job, ec::recovering, "the actor that had the request was restarted");
  if (const auto found = checks_.find(job); found != checks_.end()) {
    refuse_checks(found->second.orders);
    checks_.erase(found);
  }
}

// -- reopening ----------------------------------------------------------------------

void transaction_part::on(const native::reopen& x) {
  if (!core_.allowed(x.id, action::operate, {}))
    return;
  const auto job = core_.next_job();
  reopened_[job] = x.transaction;
  core_.ask(core_.peers->half_store.actor, reopen_transaction{{}, x.transaction},
            {x.id, request_kind::reopen, peer_role::half_store, 0, job});
}

void transaction_part::on_reopened(const outstanding_request& request,
                                   const transaction_reopened& x) {
  const auto old_id = reopened_[request.extra];
  reopened_.erase(request.extra);
  if (x.code == ec::ok)
    core_.put(native::reopened{request.client, old_id, x.reopened_as});
  else
    core_.refuse(request.client, x.code);
}

} // namespace handfast
