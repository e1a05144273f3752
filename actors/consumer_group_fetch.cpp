// CONSUMER GROUP, handing out: what members agree on, parked fetches, who reads what in order.
#include "actors/consumer_group.hpp"
#include "actors/type_ids.hpp"
#include "config/settings.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

connection_actor connection_of(const caf::strong_actor_ptr& who) {
  return caf::actor_cast<connection_actor>(who);
}

result<filter> filter_of(const subscription_terms& terms) {
  switch (terms.filter) {
  case filter_kind::all:
    return filter{};
  case filter_kind::tags:
    return parse_tag_filter(terms.expression);
  case filter_kind::sql:
    return parse_sql_filter(terms.expression);
  }
  return fail(ec::bad_filter, "a filter of an unknown kind");
}

} // namespace

void consumer_group_state::on_fetch(const fetch_messages& x) {
  const auto who = self->current_sender();
  if (!who)
    return;
  auto refusal = not_now();
  if (refusal == ec::ok && (x.queues == 0 || x.queues > limits::queues_max || x.max == 0))
    refusal = ec::bad_request;
  member_no holder = 0;
  if (refusal == ec::ok) {
    holder = member_of(who, x.member);
    refusal = agree(x, holder);
  }
  if (refusal != ec::ok) {
    self->send(connection_of(who), deliver{x.id, refusal, {}});
    return;
  }
  auto& topic = topics.at(x.topic);
  const auto now = env->time->now();
  auto& subscribed = topic.subscribers[holder];
  subscribed.last_fetch = now;
  ++subscribed.parked;
  if (topic.ordered() && topic.owners.join(holder))
    settle_owners(topic);
  const auto wait = std::chrono::milliseconds{std::min(x.wait_ms, wait_ms_max)};
  const auto until = now + wait;
  parked.push_back({who, holder, x.id, x.topic, std::min(x.max, deliver_max), x.bytes_max, until});
  pump(x.topic);
  if (!parked.empty())
    arm(until);
  if (topic.ordered())
    arm(now + env->settings->consumer.lease);
}

/// The first one says how the topic is read; alone it may say something else later.
ec consumer_group_state::agree(const fetch_messages& x, member_no holder) {
  auto found = topics.find(x.topic);
  const bool is_new = found == topics.end();
  if (is_new || found->second.terms != x.terms) {
    auto wanted = filter_of(x.terms);
    if (!wanted)
      return ec::bad_filter;
    if (!is_new && (found->second.terms.mode != x.terms.mode || found->second.wanted != *wanted)) {
      auto& topic = found->second;
      for (const auto& [other, subscribed] : topic.subscribers)
        if (other != holder)
          return ec::subscription_differs;
      topic.terms = x.terms;
      topic.wanted = std::move(*wanted);
      topic.owners = {};
      for (auto* s : topic.queues)
        read_as_agreed(topic, *s);
    } else if (is_new) {
      found = topics.try_emplace(x.topic).first;
      found->second.terms = x.terms;
      found->second.wanted = std::move(*wanted);
    }
  }
  auto& topic = found->second;
  open_topic(topic, x, is_new && !member->fold.knows(x.topic));
  return ec::ok;
}

/// Serves the fetches that wait for `topic`, in the order in which they came.
void consumer_group_state::pump(topic_id id) {
  const auto found = topics.find(id);
  if (found == topics.end() || stopping)
    return;
  auto& topic = found->second;
  const auto now = env->time->now();
  if (topic.ordered() || topic.wanted.needs_properties())
    for (auto* s : topic.queues)
      read_heads_of(*s);
  bool dry = false; // for all: they share the queues
  for (auto at = parked.begin(); at != parked.end();) {
    if (at->topic != id) {
      ++at;
      continue;
    }
    const bool served = !dry && fill(*at, topic);
    dry = !served && !topic.ordered();
    const bool over = at->until <= now && (settled(topic) || at->until + grace <= now);
    if (!served && over)
      end_fetch(*at, verdict_on(topic));
    if (!served && !over) {
      ++at;
      continue;
    }
    forget_parked(*at);
    at = parked.erase(at);
  }
  for (auto* s : topic.queues)
    refill(*s);
}

void consumer_group_state::pump_all() {
  for (const auto& [id, topic] : topics)
    pump(id);
}

void consumer_group_state::forget_parked(const parked_fetch& fetch) {
  auto& subscribers = topics.at(fetch.topic).subscribers;
  if (const auto found = subscribers.find(fetch.holder); found != subscribers.end()) {
    found->second.last_fetch = env->time->now();
    --found->second.parked;
  }
}

/// Hands out what there is, one queue after another. False if there was nothing.
bool consumer_group_state::fill(const parked_fetch& fetch, topic_slot& topic) {
  deliver out;
  out.id = fetch.id;
  const auto ends = env->time->now() + env->settings->consumer.lease;
  const auto count = static_cast<std::uint32_t>(topic.queues.size());
  std::uint64_t bytes = 0;
  bool full = false;
  std::uint32_t idle = 0; // queues in a row that had nothing
  while (!full && idle < count) {
    const auto n = topic.turn % count;
    auto& window = topic.queues[n]->window;
    const bool may_take = !topic.ordered() || topic.owners.may_take(n, fetch.holder);
    const auto* next = may_take ? window.peek() : nullptr;
    if (!next) {
      ++idle;
      ++topic.turn;
      continue;
    }
    bytes += next->length;
    if (fetch.bytes_max != 0 && bytes > fetch.bytes_max && !out.deliveries.empty())
      break;
    idle = 0;
    if (out.deliveries.empty())
      out.deliveries.reserve(std::min<std::size_t>(fetch.max, window.ready() * count));
    out.deliveries.push_back(window.hand_out(++last_lease, fetch.holder, ends));
    full = out.deliveries.size() >= fetch.max;
    ++topic.turn;
  }
  if (out.deliveries.empty())
    return false;
  self->send(connection_of(fetch.who), std::move(out));
  arm(ends);
  return true;
}

/// Whether each queue has said all that it has to say at the moment.
bool consumer_group_state::settled(const topic_slot& topic) {
  return std::none_of(topic.queues.begin(), topic.queues.end(), [](const slot* s) {
    return s->at == slot::stage::finding || s->at == slot::stage::fetching ||
           s->at == slot::stage::locating || s->heads ||
           (s->at == slot::stage::idle && s->window.wants_more(s->prefetch / 2));
  });
}

ec consumer_group_state::verdict_on(const topic_slot& topic) {
  const bool none = std::all_of(topic.queues.begin(), topic.queues.end(),
                                [](const slot* s) { return s->at == slot::stage::missing; });
  return none ? ec::unknown_topic : ec::ok;
}

void consumer_group_state::end_fetch(const parked_fetch& fetch, ec code) {
  self->send(connection_of(fetch.who), deliver{fetch.id, code, {}});
}

// -- ordered consumption --------------------------------------------------------------------

void consumer_group_state::settle_owners(topic_slot& topic) {
  if (topic.ordered())
    topic.owners.settle(
        [&](std::uint32_t queue) { return topic.queues[queue]->window.leased() > 0; });
}

/// Queues that wait to move may have become idle.
void consumer_group_state::settle_moving() {
  for (auto& [id, topic] : topics)
    if (topic.ordered() && topic.owners.is_moving())
      settle_owners(topic);
}

/// A member that has not fetched for the time of a lease and holds nothing gives its queues up
/// until it fetches again. Returns when to look again.
std::optional<consumer_group_state::time_point> consumer_group_state::drop_idle(topic_slot& topic,
                                                                                time_point now) {
  std::optional<time_point> next;
  if (!topic.ordered())
    return next;
  bool dropped = false;
  for (const auto& [number, subscribed] : topic.subscribers) {
    if (subscribed.parked > 0 || !topic.owners.has(number))
      continue;
    bool holds = false;
    for (std::uint32_t n = 0; n < topic.queues.size() && !holds; ++n)
      holds = topic.owners.owner(n) == number && topic.queues[n]->window.leased() > 0;
    const auto until = subscribed.last_fetch + env->settings->consumer.lease;
    if (until <= now && !holds) {
      topic.owners.leave(number);
      dropped = true;
    } else if (until > now) {
      next = std::min(next.value_or(until), until);
    } // else its lease ends first, and then this is looked at again
  }
  if (dropped)
    settle_owners(topic);
  return next;
}

} // namespace handfast
