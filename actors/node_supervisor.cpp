#include "actors/node_supervisor.hpp"

#include "config/settings.hpp"
#include "messages/assert.hpp"

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>
#include <spdlog/spdlog.h>

#include <array>

namespace handfast {

namespace {

/// Timers of the supervisor; those of the stop count up from `timer_stage`.
constexpr std::uint32_t timer_spawn = 0;
constexpr std::uint32_t timer_stage = 1;

/// Queues started in one go: about a tenth of a millisecond.
constexpr std::size_t queues_per_step = 64;

/// Time for all actors of a shard to end before it is rebuilt.
constexpr std::chrono::seconds rebuild_patience{2};

std::uint64_t id_of(queue_key key) {
  return (std::uint64_t{key.topic.value} << 16) | key.queue.value;
}

queue_key queue_of(std::uint64_t id) {
  queue_key key;
  key.topic.value = static_cast<decltype(key.topic.value)>(id >> 16);
  key.queue.value = static_cast<decltype(key.queue.value)>(id & 0xffff);
  return key;
}

bool is_critical(member_role role) {
  switch (role) {
  case member_role::log_reader:
  case member_role::commit_log:
  case member_role::op_store:
  case member_role::half_store:
  case member_role::check_scheduler:
  case member_role::delay_scheduler:
  case member_role::topic_registry:
    return true;
  default:
    return false;
  }
}

} // namespace

std::string_view name_of(member_role role) {
  constexpr std::array names{
      "log_reader", "segment_keeper",  "checkpointer",    "commit_log",     "op_store",
      "half_store", "check_scheduler", "delay_scheduler", "topic_registry", "check_listener",
      "observer",   "consumer_group",  "producer_group",  "queue"};
  return names.at(static_cast<std::size_t>(role));
}

bool node_supervisor_state::is_tree_member(member_role role) {
  return role != member_role::check_listener && role != member_role::observer;
}

std::string node_supervisor_state::text_of(const member_key& key) {
  std::string text{name_of(key.role)};
  if (key.role == member_role::queue)
    text += " " + std::to_string(key.id >> 16) + "/" + std::to_string(key.id & 0xffff);
  else if (key.role >= member_role::observer)
    text += " " + std::to_string(key.id);
  return text;
}

// -- the tree ------------------------------------------------------------------

void node_supervisor_state::start(const shard_environment* env, supervisor_start from) {
  HANDFAST_ASSERT(env && env->settings && env->time);
  env_ = env;
  roster_ = std::move(from.roster);
  hooks_ = std::move(from.hooks);
  next_life_ = from.first_life.value;
  start_shard();
}

void node_supervisor_state::start_shard() {
  peers_ = {};
  peers_.supervisor = {static_cast<node_supervisor_actor>(self_), incarnation{next_life_++}};
  peers_.observers.resize(roster_.observers.size());
  for (auto role = member_role::log_reader; role <= member_role::check_listener;
       role = static_cast<member_role>(static_cast<int>(role) + 1))
    spawn({role}, true);
  for (std::size_t i = 0; i < roster_.observers.size(); ++i)
    spawn({member_role::observer, i}, true);
  announce();
  for (const auto group : roster_.recovered_groups)
    introduce(spawn({member_role::consumer_group, group.value}, true).actor);
}

node_supervisor_state::member& node_supervisor_state::spawn(const member_key& key, bool first) {
  auto& one = members_[key];
  one.life = incarnation{next_life_++};
  one.actor = make(key, one.life, first);
  if (one.actor) {
    by_address_[caf::actor_cast<caf::actor_addr>(one.actor)] = key;
    self_->monitor(one.actor);
  }
  return one;
}

template <class Handle>
caf::strong_actor_ptr node_supervisor_state::make_peer(const shard_roster::factory<Handle>& factory,
                                                       peer<Handle>& place, incarnation life,
                                                       bool first) {
  if (!factory)
    return nullptr;
  place = {factory(life, first), life};
  return caf::actor_cast<caf::strong_actor_ptr>(place.actor);
}

caf::strong_actor_ptr node_supervisor_state::make(const member_key& key, incarnation life,
                                                  bool first) {
  const auto plain = [](const auto& handle) {
    return caf::actor_cast<caf::strong_actor_ptr>(handle);
  };
  switch (key.role) {
  case member_role::log_reader:
    return make_peer(roster_.log_reader, peers_.log_reader, life, first);
  case member_role::segment_keeper:
    return make_peer(roster_.segment_keeper, peers_.segment_keeper, life, first);
  case member_role::checkpointer:
    return make_peer(roster_.checkpointer, peers_.checkpointer, life, first);
  case member_role::commit_log:
    return make_peer(roster_.commit_log, peers_.commit_log, life, first);
  case member_role::op_store:
    return make_peer(roster_.op_store, peers_.op_store, life, first);
  case member_role::half_store:
    return make_peer(roster_.half_store, peers_.half_store, life, first);
  case member_role::check_scheduler:
    return make_peer(roster_.check_scheduler, peers_.check_scheduler, life, first);
  case member_role::delay_scheduler:
    return make_peer(roster_.delay_scheduler, peers_.delay_scheduler, life, first);
  case member_role::topic_registry:
    return make_peer(roster_.topic_registry, peers_.topic_registry, life, first);
  case member_role::check_listener:
    if (!roster_.check_listener)
      return nullptr;
    peers_.check_listener = {roster_.check_listener(), life};
    return plain(peers_.check_listener.actor);
  case member_role::observer:
    peers_.observers[key.id] = roster_.observers[key.id]();
    return plain(peers_.observers[key.id]);
  case member_role::consumer_group:
    return plain(roster_.consumer_group(group_id{static_cast<group_id::rep>(key.id)}, life, first));
  case member_role::producer_group:
    return plain(roster_.producer_group(group_id{static_cast<group_id::rep>(key.id)}, life, first));
  case member_role::queue:
    return plain(roster_.queue(queue_of(key.id), life, first));
  }
  return nullptr;
}

void node_supervisor_state::introduce(const caf::strong_actor_ptr& newcomer) {
  if (newcomer)
    self_->send(caf::actor_cast<tree_member_actor>(newcomer), peers_changed{announced_});
}

void node_supervisor_state::announce() {
  announced_ = std::make_shared<const shard_peers>(peers_);
  for (const auto& [key, one] : members_)
    if (is_tree_member(key.role))
      introduce(one.actor);
  for (const auto& [address, connection] : connections_)
    self_->send(connection, peers_changed{announced_});
}

void node_supervisor_state::on_adopt(const adopt_connection& x) {
  if (stage_ != stage::running) { // came in while the door was being closed, or the shard rebuilt
    caf::anon_send_exit(x.connection, caf::exit_reason::user_shutdown);
    return;
  }
  self_->monitor(x.connection);
  connections_.emplace(x.connection.address(), x.connection);
  self_->send(x.connection, peers_changed{announced_});
}

// -- queues and groups ----------------------------------------------------------

void node_supervisor_state::on_topic_present(const topic_present& x) {
  if (x.queues == 0) {
    end_queues(x.topic);
    return;
  }
  auto& known = topics_[x.topic];
  if (known >= x.queues)
    return;
  to_spawn_.emplace_back(x.topic, known);
  known = x.queues;
  if (to_spawn_.size() == 1)
    self_->send(self_, tick{timer_spawn});
}

void node_supervisor_state::spawn_some_queues() {
  for (std::size_t step = 0; step < queues_per_step && !to_spawn_.empty(); ++step) {
    auto& [topic, next] = to_spawn_.front();
    const auto known = topics_.find(topic);
    if (known == topics_.end() || next >= known->second || stage_ != stage::running) {
      to_spawn_.pop_front();
      continue;
    }
    queue_key key;
    key.topic = topic;
    key.queue.value = static_cast<decltype(key.queue.value)>(next++);
    find_or_spawn({member_role::queue, id_of(key)});
  }
  if (!to_spawn_.empty())
    self_->send(self_, tick{timer_spawn});
}

void node_supervisor_state::end_queues(topic_id topic) {
  topics_.erase(topic);
  const auto first = id_of({topic, {}});
  auto at = members_.lower_bound({member_role::queue, first});
  while (at != members_.end() && at->first.id >> 16 == topic.value) {
    auto& one = at->second;
    end_quietly(one);
    tell_all_askers(at->first, one);
    at = members_.erase(at);
  }
}

/// Nobody is told of its end: whoever still wants it is told by its successor that there is no such
/// group.
void node_supervisor_state::on_group_gone(const group_gone& x) {
  const auto found = members_.find({member_role::consumer_group, x.group.value});
  if (found == members_.end())
    return;
  end_quietly(found->second);
  members_.erase(found);
}

void node_supervisor_state::end_quietly(member& one) {
  if (!one.actor)
    return;
  const auto address = caf::actor_cast<caf::actor_addr>(one.actor);
  self_->demonitor(address);
  by_address_.erase(address);
  caf::anon_send_exit(one.actor, caf::exit_reason::user_shutdown);
  one.actor = nullptr;
}

node_supervisor_state::member* node_supervisor_state::find_or_spawn(const member_key& key) {
  if (stage_ != stage::running)
    return nullptr;
  const auto found = members_.find(key);
  if (found != members_.end() && (found->second.actor || !found->second.quarantined.empty()))
    return &found->second;
  auto& one = spawn(key, found == members_.end());
  introduce(one.actor);
  return &one;
}

void node_supervisor_state::on_find_producer_group(const find_producer_group& x) {
  const member_key key{member_role::producer_group, x.group.value};
  if (auto* found = find_or_spawn(key)) {
    tell_found(key, *found, self_->current_sender());
    remember_asker(*found);
  }
}

void node_supervisor_state::on_find_consumer_group(const find_consumer_group& x) {
  const member_key key{member_role::consumer_group, x.group.value};
  if (auto* found = find_or_spawn(key)) {
    tell_found(key, *found, self_->current_sender());
    remember_asker(*found);
  }
}

void node_supervisor_state::on_find_queue(const find_queue& x) {
  const member_key key{member_role::queue, id_of(x.queue)};
  const auto topic = topics_.find(x.queue.topic);
  if (topic == topics_.end() || x.queue.queue.value >= topic->second) {
    tell_found(key, {}, self_->current_sender());
  } else if (auto* found = find_or_spawn(key)) {
    tell_found(key, *found, self_->current_sender());
    remember_asker(*found);
  }
}

void node_supervisor_state::remember_asker(member& of) {
  const auto& asker = self_->current_sender();
  if (!asker)
    return;
  if (!of.askers)
    of.askers = std::make_unique<asker_set>();
  // Whoever is gone leaves only here, when the set would have to grow: it never holds more than
  // twice those that live.
  if (of.askers->size() >= 8 && (of.askers->size() & (of.askers->size() - 1)) == 0)
    std::erase_if(*of.askers, [this](const caf::actor_addr& one) {
      return !connections_.contains(one) && !by_address_.contains(one);
    });
  of.askers->insert(caf::actor_cast<caf::actor_addr>(asker));
}

void node_supervisor_state::tell_found(const member_key& key, const member& found,
                                       const caf::strong_actor_ptr& asker) {
  if (!asker)
    return;
  const auto to = caf::actor_cast<connection_actor>(asker);
  const group_id group{static_cast<group_id::rep>(key.id)};
  switch (key.role) {
  case member_role::queue:
    self_->send(
        to, queue_found{queue_of(key.id), caf::actor_cast<queue_actor>(found.actor), found.life});
    break;
  case member_role::consumer_group:
    self_->send(to, consumer_group_found{group, caf::actor_cast<consumer_group_actor>(found.actor),
                                         found.life});
    break;
  case member_role::producer_group:
    self_->send(to, producer_group_found{group, caf::actor_cast<producer_group_actor>(found.actor),
                                         found.life});
    break;
  default:
    HANDFAST_ASSERT(false);
  }
}

void node_supervisor_state::tell_all_askers(const member_key& key, member& of) {
  if (!of.askers)
    return;
  for (const auto& one : *of.askers)
    tell_found(key, of, caf::actor_cast<caf::strong_actor_ptr>(one));
}

// -- when somebody ends ----------------------------------------------------------

void node_supervisor_state::on_down(const caf::down_msg& x) {
  const auto why = self_->system().render(x.reason);
  if (connections_.erase(x.source) != 0) {
    if (x.reason && x.reason != caf::exit_reason::user_shutdown && stage_ == stage::running)
      spdlog::error("a connection failed and was closed: {}", why);
  } else if (const auto found = by_address_.find(x.source); found != by_address_.end()) {
    const auto key = found->second;
    by_address_.erase(found);
    auto& one = members_.at(key);
    one.actor = nullptr;
    if (stage_ == stage::running)
      member_failed(key, one, x.reason ? why : std::string{});
  }
  if (stage_ == stage::rebuilding)
    rebuild_if_all_ended();
  else if (stage_ >= stage::connections)
    no_longer_waiting(x.source, x.reason && x.reason != caf::exit_reason::user_shutdown &&
                                        stage_ < stage::ending
                                    ? "ended: " + why
                                    : std::string{});
}

void node_supervisor_state::member_failed(const member_key& key, member& failed,
                                          const std::string& why) {
  if (why.empty() && key.role >= member_role::consumer_group)
    return; // it had nothing more to do; the next who looks for it starts it again
  const auto& limits = env_->settings->supervision;
  if (!failed.budget)
    failed.budget = std::make_unique<restart_budget>(limits.restarts, limits.window);
  const auto text = text_of(key) + " ended: " + (why.empty() ? "without a reason" : why);
  ++failed.restarts;
  ++restarts_[key.role];
  if (!failed.budget->take(env_->time->now())) {
    const auto too_often = text + "; more than " + std::to_string(limits.restarts) + " times in " +
                           std::to_string(limits.window.count() / 1'000) + " s";
    if (key.role == member_role::check_listener && roster_.default_check_listener) {
      spdlog::error("{}; the default listener takes its place", too_often);
      roster_.check_listener = std::exchange(roster_.default_check_listener, nullptr);
      failed.budget = nullptr;
    } else if (is_critical(key.role)) {
      fail_shard({ec::internal, too_often});
      return;
    } else {
      quarantine(key, failed, too_often);
      return;
    }
  } else {
    spdlog::error("{}; {}", text,
                  key.role == member_role::commit_log ? "the shard is recovered from disk"
                                                      : "restarted");
  }
  if (key.role == member_role::commit_log) {
    rebuild_begin();
    return;
  }
  auto& again = spawn(key, false);
  if (key.role < member_role::consumer_group) {
    announce();
  } else {
    introduce(again.actor);
    tell_all_askers(key, again);
  }
}

void node_supervisor_state::quarantine(const member_key& key, member& failed, std::string why) {
  spdlog::error("{}; it is set aside and not restarted, the rest goes on", why);
  failed.quarantined = std::move(why);
  switch (key.role) {
  case member_role::segment_keeper:
    peers_.segment_keeper = {};
    break;
  case member_role::checkpointer:
    peers_.checkpointer = {};
    break;
  case member_role::check_listener:
    peers_.check_listener = {};
    break;
  case member_role::observer:
    peers_.observers[key.id] = nullptr;
    break;
  default:
    tell_all_askers(key, failed);
    return;
  }
  announce();
}

void node_supervisor_state::on_shard_failed(const shard_failed& x) {
  fail_shard(x.why);
}

void node_supervisor_state::fail_shard(error why) {
  if (report_.failure.code != ec::ok)
    return;
  spdlog::critical("the shard cannot go on: {}", to_string(why));
  report_.failure = std::move(why);
  if (stage_ >=
      stage::connections) // an ordered stop is under way: what is left of it makes no sense
    enter(stage::ending);
  else
    on_stop();
}

void node_supervisor_state::rebuild_begin() {
  stage_ = stage::rebuilding;
  end_everyone(caf::exit_reason::kill);
  self_->delayed_send(self_, rebuild_patience, tick{timer_stage + ++stage_turn_});
  rebuild_if_all_ended();
}

void node_supervisor_state::rebuild_if_all_ended() {
  if (anyone_alive())
    return;
  ++stage_turn_;
  // Restart counts and budgets of the critical roles stay: a shard that fails again and again is
  // given up.
  std::erase_if(members_, [](const auto& x) { return x.first.role >= member_role::observer; });
  topics_.clear();
  to_spawn_.clear();
  stage_ = stage::running;
  auto next = hooks_.rebuild ? hooks_.rebuild()
                             : fail(ec::internal, "there is nobody to rebuild the shard");
  if (!next) {
    fail_shard(next.error());
    return;
  }
  roster_ = std::move(*next);
  start_shard();
}

void node_supervisor_state::end_everyone(caf::exit_reason reason) {
  for (const auto& [key, one] : members_)
    if (one.actor)
      caf::anon_send_exit(one.actor, reason);
  for (const auto& [address, connection] : connections_)
    caf::anon_send_exit(connection, reason);
}

bool node_supervisor_state::anyone_alive() const {
  return !by_address_.empty() || !connections_.empty();
}

void node_supervisor_state::on_tick(const tick& x) {
  if (x.timer == timer_spawn) {
    spawn_some_queues();
  } else if (x.timer == timer_stage + stage_turn_) {
    if (stage_ == stage::rebuilding) {
      stage_ = stage::running;
      fail_shard({ec::internal, "the shard could not be rebuilt: an actor of it does not end"});
    } else if (stage_ >= stage::connections) {
      report_waiting();
      stage_done();
    }
  }
}

// -- the behaviour -----------------------------------------------------------------

node_supervisor_actor::behavior_type node_supervisor(node_supervisor_state::pointer self,
                                                     const shard_environment* env,
                                                     std::shared_ptr<supervisor_start> from) {
  auto& state = self->state;
  self->set_down_handler([&state](const caf::down_msg& x) { state.on_down(x); });
  state.start(env, std::move(*from));
  return {
      [&state](const find_producer_group& x) { state.on_find_producer_group(x); },
      [&state](const find_consumer_group& x) { state.on_find_consumer_group(x); },
      [&state](const find_queue& x) { state.on_find_queue(x); },
      [&state](const topic_present& x) { state.on_topic_present(x); },
      [&state](const group_gone& x) { state.on_group_gone(x); },
      [&state](const adopt_connection& x) { state.on_adopt(x); },
      [&state](const ask_node_status& x) { state.on_ask_status(x); },
      [&state](const checkpoint_made& x) { state.on_checkpoint_made(x); },
      [&state](const shard_failed& x) { state.on_shard_failed(x); },
      [&state](const stopped& x) { state.on_stopped(x); },
      [&state](const stop&) { state.on_stop(); },
      [&state](const tick& x) { state.on_tick(x); },
      [&state](const status_request&) { return state.on_status_request(); },
  };
}

} // namespace handfast
