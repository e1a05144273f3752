#include "actors/producer_group.hpp"

#include "actors/type_ids.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

/// A member that gives no receipt within this time is passed over.
constexpr std::chrono::milliseconds receipt_timeout{1'000};

} // namespace

void producer_group_state::begin(const shard_environment* env, group_id group) {
  env_ = env;
  group_ = group;
  self_->set_down_handler([this](const caf::down_msg& x) { on_left(x.source); });
}

void producer_group_state::on_peers(const peers_changed& x) {
  const bool changed = half_store_.life != x.peers->half_store.life;
  half_store_ = x.peers->half_store;
  if (!changed)
    return;
  // A new half_store makes its asks itself.
  asks_.clear();
  ages_.clear();
  tell_presence();
}

void producer_group_state::tell_presence() {
  if (half_store_.actor)
    self_->send(half_store_.actor,
                group_presence{group_, static_cast<std::uint32_t>(members_.size())});
}

// -- members ------------------------------------------------------------------------------

void producer_group_state::on_joined(const producer_joined& x) {
  const auto address = caf::actor_cast<caf::actor_addr>(self_->current_sender());
  auto* m = find_member(address);
  if (!m) {
    m = &members_.emplace_back();
    m->connection = caf::actor_cast<connection_actor>(self_->current_sender());
    m->address = address;
    self_->monitor(m->connection);
  }
  m->producer = x.producer;
  m->name = x.name;
  m->topics = x.topics;
  std::ranges::sort(m->topics);
  if (members_.size() == 1)
    tell_presence();
}

void producer_group_state::on_left(const caf::actor_addr& who) {
  const auto found = std::ranges::find(members_, who, &member::address);
  if (found == members_.end())
    return;
  self_->demonitor(who);
  members_.erase(found);
  std::vector<position> orphaned;
  for (const auto& [transaction, a] : asks_)
    if (a.asked.back() == who)
      orphaned.push_back(transaction);
  for (const auto transaction : orphaned)
    hand_on(transaction, asks_[transaction]);
  send_all();
  if (members_.empty())
    tell_presence();
}

producer_group_state::member* producer_group_state::find_member(const caf::actor_addr& who) {
  const auto found = std::ranges::find(members_, who, &member::address);
  return found == members_.end() ? nullptr : &*found;
}

// -- asking -------------------------------------------------------------------------------

void producer_group_state::on_ask(const ask_producers& x) {
  for (const auto& order : x.orders) {
    const auto transaction = order.transaction.opened_at;
    auto& a = asks_[transaction]; // made again: the older one is as good as lost
    a = {order, {}, {}};
    hand_on(transaction, a);
  }
  send_all();
}

producer_group_state::member* producer_group_state::choose(const ask& what) {
  const auto& order = what.order;
  const auto untried = [&](const member& m) {
    return std::ranges::find(what.asked, m.address) == what.asked.end();
  };
  if (order.original != producer_id{})
    for (auto& m : members_)
      if (m.producer == order.original && untried(m))
        return &m;
  if (order.only_original)
    return nullptr;
  member* any = nullptr;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    auto& m = members_[(turn_ + i) % members_.size()];
    if (!untried(m))
      continue;
    if (std::ranges::binary_search(m.topics, order.topic)) {
      any = &m;
      break;
    }
    if (!any)
      any = &m;
  }
  if (any)
    turn_ = static_cast<std::size_t>(any - members_.data()) + 1;
  return any;
}

void producer_group_state::hand_on(position transaction, ask& what) {
  auto* m = choose(what);
  if (!m) {
    check_result result;
    result.transaction = what.order.transaction;
    result.original_connected =
        what.order.original != producer_id{} &&
        std::ranges::find(members_, what.order.original, &member::producer) != members_.end();
    report(std::move(result));
    asks_.erase(transaction);
    return;
  }
  what.since = env_->time->now();
  what.asked.push_back(m->address);
  ages_.emplace_back(what.since, transaction);
  m->orders.push_back(what.order);
}

void producer_group_state::on_handled(const checks_handled& x) {
  const auto from = caf::actor_cast<caf::actor_addr>(self_->current_sender());
  for (const auto& result : x.results) {
    const auto transaction = result.transaction.opened_at;
    const auto found = asks_.find(transaction);
    if (found == asks_.end())
      continue;
    auto& a = found.value();
    if (std::ranges::find(a.asked, from) == a.asked.end())
      continue;
    if (!result.handed_over) {
      if (a.asked.back() == from)
        hand_on(transaction, a);
      continue;
    }
    // A late receipt is a receipt: that member was asked.
    auto told = result;
    told.attempt = a.order.attempt;
    if (const auto* m = find_member(from)) {
      told.member = m->producer;
      told.member_name = m->name;
    }
    report(std::move(told));
    asks_.erase(found);
  }
  send_all();
}

void producer_group_state::report(check_result result) {
  results_.results.push_back(std::move(result));
}

void producer_group_state::send_all() {
  for (auto& m : members_)
    if (!m.orders.empty())
      self_->send(m.connection, ask_producers{std::exchange(m.orders, {})});
  if (!results_.results.empty() && half_store_.actor)
    self_->send(half_store_.actor, std::exchange(results_, {}));
  results_.results.clear();
  if (!ages_.empty() && !ticking_) {
    ticking_ = true;
    const auto left = ages_.front().first + receipt_timeout - env_->time->now();
    self_->delayed_send(self_, std::max(left, clock::time_point::duration::zero()), tick{});
  }
}

void producer_group_state::on_tick() {
  ticking_ = false;
  const auto now = env_->time->now();
  while (!ages_.empty()) {
    const auto [since, transaction] = ages_.front();
    const auto found = asks_.find(transaction);
    const bool current = found != asks_.end() && found->second.since == since;
    if (current && now - since < receipt_timeout)
      break;
    ages_.pop_front();
    if (current)
      hand_on(transaction, found.value());
  }
  send_all();
}

void producer_group_state::on_stop() {
  asks_.clear();
  ages_.clear();
  self_->send(caf::actor_cast<node_supervisor_actor>(self_->current_sender()), stopped{name, {}});
}

status_report producer_group_state::status() const {
  const auto labels = "group=\"" + std::to_string(group_.value) + "\"";
  return {"producer-group/" + std::to_string(group_.value),
          {{"rocketmq_producer_connections", labels, static_cast<double>(members_.size())},
           {"handfast_checks_without_receipt", labels, static_cast<double>(asks_.size())}},
          {}};
}

producer_group_actor::behavior_type producer_group(producer_group_state::self_pointer self,
                                                   const shard_environment* env, group_id group) {
  auto& s = self->state;
  s.begin(env, group);
  return {
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const producer_joined& x) { s.on_joined(x); },
      [&s, self](const producer_left&) {
        s.on_left(caf::actor_cast<caf::actor_addr>(self->current_sender()));
      },
      [&s](const ask_producers& x) { s.on_ask(x); },
      [&s](const checks_handled& x) { s.on_handled(x); },
      [&s](const tick&) { s.on_tick(); },
  };
}

} // namespace handfast
