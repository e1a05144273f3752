#include "tests/sim/sim_node.hpp"

#include "actors/connections/native_connection.hpp"
#include "actors/node_supervisor.hpp"
#include "actors/register_types.hpp"
#include "runtime/shard_assembly.hpp"
#include "storage/record_reader.hpp"
#include "tests/sim/sim_writer.hpp"
#include "tests/support/turns.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace handfast::sim {

namespace {

/// As a node's loop gives.
constexpr std::size_t messages_per_turn = 64;

class system_settings final : public caf::actor_system_config {
public:
  system_settings() {
    register_message_types(*this);
    set("scheduler.policy", caf::atom("testing"));
  }
};

class timeline_clock final : public clock {
public:
  explicit timeline_clock(const sim_timeline& time) : time_{time} {}
  [[nodiscard]] time_point now() const override { return time_point{time_.now()}; }
  [[nodiscard]] wall_ms wall() const override { return sim_timeline::first_wall + time_.now_ms(); }

private:
  const sim_timeline& time_;
};

class sim_idle final : public idle_hook {
public:
  void at_next_idle(std::function<void()> what) override { waiting_.push_back(std::move(what)); }
  [[nodiscard]] bool waiting() const { return !waiting_.empty(); }
  void call() {
    for (auto& what : std::exchange(waiting_, {}))
      what();
  }
  void forget() { waiting_.clear(); }

private:
  std::vector<std::function<void()>> waiting_;
};

class sim_record_source final : public record_source {
public:
  sim_record_source(const storage::segment_set& log, const storage::record_codec& codec,
                    sim_random random)
      : reader_{log, codec}, random_{random} {}

  std::optional<log_record> try_read(position at, std::uint32_t length) override {
    if (random_.chance(200)) // not in the page cache
      return std::nullopt;
    auto found = reader_.try_read(at, length);
    return found ? std::move(*found) : std::nullopt;
  }

private:
  storage::record_reader reader_;
  sim_random random_;
};

} // namespace

/// Members are in the order in which they may be destroyed from the last to the first.
struct sim_node::life {
  struct member {
    std::string role;
    caf::actor_addr actor;
  };

  life(sim_timeline& t, const sim_plan& plan) : time{t}, clock{t} {
    follow_time();
    environment.settings = &plan.settings;
    environment.time = &clock;
    environment.idle = &idle;
  }

  void follow_time() {
    auto& timers = coordinator.clock();
    const auto now = caf::actor_clock::time_point{time.now()};
    // Also without a difference: timers may have been set for now.
    timers.advance_time(std::max(now - timers.current_time, caf::actor_clock::duration_type{0}));
  }

  template <class Handle>
  Handle keep(std::string role, Handle made) {
    members.push_back({std::move(role), made.address()});
    return made;
  }

  sim_timeline& time;
  timeline_clock clock;
  sim_idle idle;
  shard_environment environment;
  std::unique_ptr<runtime::recovered_shard> shard;
  std::unique_ptr<sim_writer> writer;
  std::unique_ptr<sim_record_source> records;
  std::shared_ptr<const native_door> door;
  std::vector<std::weak_ptr<sim_link>> links;
  std::optional<error> failure;
  system_settings settings;
  caf::actor_system system{settings};
  caf::scheduler::test_coordinator& coordinator =
      dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  std::vector<member> members;
  node_supervisor_actor supervisor;
};

namespace {

/// Calls `keep(role, handle)` for every actor that a roster spawns.
template <class Keep>
shard_roster watched(shard_roster from, Keep keep) {
  const auto watch = [&keep](auto& factory, std::string role) {
    factory = [make = std::move(factory), keep, role](auto&&... args) {
      return keep(role, make(std::forward<decltype(args)>(args)...));
    };
  };
  watch(from.log_reader, "log_reader");
  watch(from.segment_keeper, "segment_keeper");
  watch(from.checkpointer, "checkpointer");
  watch(from.commit_log, "commit_log");
  watch(from.op_store, "op_store");
  watch(from.half_store, "half_store");
  watch(from.check_scheduler, "check_scheduler");
  watch(from.delay_scheduler, "delay_scheduler");
  watch(from.topic_registry, "topic_registry");
  watch(from.check_listener, "check_listener");
  watch(from.default_check_listener, "check_listener");
  watch(from.queue, "queue");
  watch(from.consumer_group, "consumer_group");
  watch(from.producer_group, "producer_group");
  return from;
}

} // namespace

sim_node::sim_node(sim_timeline& time, testing::sim_disk& disk, const sim_plan& plan,
                   mutant planted)
    : time_{time}, disk_{disk}, plan_{plan}, planted_{planted} {}

sim_node::~sim_node() {
  die();
}

/// Recovers what is on the disk and makes the seams over it.
result<shard_roster> sim_node::open_shard(life& l) {
  l.environment.writer = nullptr;
  l.environment.records = nullptr;
  l.writer.reset();
  l.records.reset();
  l.shard.reset();
  auto recovered = runtime::recover_shard(
      disk_, plan_.settings,
      {.now_ms = l.clock.wall(), .new_store_id = time_.random.next(), .clock = {}});
  if (!recovered)
    return tl::unexpected{recovered.error()};
  l.shard = std::move(*recovered);
  auto& log = *l.shard->store.log;
  l.writer = std::make_unique<sim_writer>(time_, log, plan_.disk_step_max, planted_);
  l.records = std::make_unique<sim_record_source>(log, l.shard->codec, time_.random.split());
  l.environment.writer = l.writer.get();
  l.environment.records = l.records.get();
  const auto store_id = l.shard->store.directory.identity().store_id;
  l.environment.ids = transaction_ids{store_id};
  l.door = std::make_shared<const native_door>(
      native_door{.node = "sim", .node_version = "0", .store_id = store_id, .rights = {}});
  return watched(runtime::make_roster({.system = &l.system,
                                       .loop = nullptr,
                                       .detached = false,
                                       .disk = &slow_disk_,
                                       .environment = &l.environment,
                                       .recovered = l.shard.get(),
                                       .users = {}}),
                 [&l](std::string role, auto made) { return l.keep(std::move(role), made); });
}

result<void> sim_node::start() {
  auto l = std::make_unique<life>(time_, plan_);
  auto roster = open_shard(*l);
  if (!roster)
    return tl::unexpected{roster.error()};
  auto from = std::make_shared<supervisor_start>();
  from->roster = std::move(*roster);
  from->hooks.close_intake = [] {};
  from->hooks.rebuild = [this, raw = l.get()] { return open_shard(*raw); };
  from->hooks.finished = [raw = l.get()](const stop_report& how) {
    raw->failure = how.failure.code == ec::ok
                       ? error{ec::internal, "an ordered stop that nobody asked for"}
                       : how.failure;
  };
  l->supervisor = spawn_on(l->system, nullptr, node_supervisor, &l->environment, std::move(from));
  life_ = std::move(l);
  return {};
}

void sim_node::die() {
  if (!life_)
    return;
  const auto wait = std::exchange(wait_, [] {}); // whoever is at the disk now is not waited for
  auto& l = *life_;
  for (const auto& link : l.links)
    if (const auto alive = link.lock())
      alive->node_died();
  const auto run_all = [&l] {
    l.idle.forget();
    while (l.coordinator.try_run_once()) {
    }
  };
  // The supervisor first, so that it starts nobody again; if it has not run yet, it starts all of
  // them now.
  caf::anon_send_exit(std::exchange(l.supervisor, nullptr), caf::exit_reason::kill);
  run_all();
  for (const auto& one : l.members)
    if (const auto alive = caf::actor_cast<caf::strong_actor_ptr>(one.actor))
      caf::anon_send_exit(alive, caf::exit_reason::kill);
  run_all();
  if (l.system.registry().running() != 0) { // one is detached, or unknown here
    std::string who;
    for (const auto& one : l.members)
      if (const auto alive = caf::actor_cast<caf::strong_actor_ptr>(one.actor);
          alive && !alive->get()->getf(caf::abstract_actor::is_terminated_flag))
        who += " " + one.role;
    throw invariant_broken{"actors outlive their node:" + (who.empty() ? " an unknown one" : who)};
  }
  life_.reset();
  wait_ = wait;
}

std::optional<error> sim_node::failure() const {
  return life_ ? life_->failure : std::nullopt;
}

// -- steps -----------------------------------------------------------------------

bool sim_node::has_job() const {
  return life_ && life_->coordinator.has_job();
}

void sim_node::run_job() {
  auto& jobs = life_->coordinator.jobs;
  std::swap(jobs.front(), jobs[time_.random.below(jobs.size())]);
  if (order_)
    obey_order();
  // One message by one mixes what actors do; a loop's longer turns are where they gather.
  const auto messages = time_.random.below(2) == 0 ? 1 : 1 + time_.random.below(messages_per_turn);
  test::run_turn(life_->coordinator, messages);
}

bool sim_node::has_disk_step() const {
  return life_ && life_->writer && !writes_held_ && life_->writer->has_step();
}

void sim_node::disk_step() {
  life_->writer->step();
}

bool sim_node::has_idle() const {
  return life_ && life_->idle.waiting();
}

void sim_node::idle() {
  life_->idle.call();
}

sim_timeline::duration sim_node::next_timer() const {
  if (!life_)
    return sim_timeline::duration::max();
  const auto& timers = life_->coordinator.clock().schedule();
  const auto disk =
      life_->writer && !writes_held_ ? life_->writer->next_step() : sim_timeline::duration::max();
  return timers.empty() ? disk : std::min(disk, timers.begin()->first.time_since_epoch());
}

std::size_t sim_node::log_writes_open() const {
  return life_ && life_->writer ? life_->writer->open() : 0;
}

void sim_node::follow_time() {
  if (life_)
    life_->follow_time();
}

// -- clients and faults ------------------------------------------------------------

std::shared_ptr<sim_link> sim_node::connect(link_client& client, const std::string& name) {
  if (!life_)
    return nullptr;
  auto& l = *life_;
  auto link = std::make_shared<sim_link>(time_, client, name);
  const auto actor =
      spawn_on(l.system, nullptr, native_connection, &l.environment, link->wire(), l.door);
  l.keep("connection", actor);
  link->attach_node(
      {[actor](shared_bytes bytes) { caf::anon_send(actor, bytes_arrived{std::move(bytes)}); },
       [actor](std::uint64_t total) { caf::anon_send(actor, bytes_written{total}); },
       [actor](error why) { caf::anon_send(actor, transport_closed{std::move(why)}); }});
  caf::anon_send(l.supervisor, adopt_connection{actor});
  std::erase_if(l.links, [](const auto& old) { return old.expired() || old.lock()->over(); });
  l.links.push_back(link);
  return link;
}

std::string sim_node::kill_some_actor() {
  auto& members = life_->members;
  std::erase_if(members, [](const auto& one) {
    return caf::actor_cast<caf::strong_actor_ptr>(one.actor) == nullptr;
  });
  if (members.empty())
    return {};
  // Each role has the same chance, however many queues and connections there are.
  std::set<std::string> roles;
  for (const auto& one : members)
    roles.insert(one.role);
  const auto role =
      *std::next(roles.begin(), static_cast<std::ptrdiff_t>(time_.random.below(roles.size())));
  std::vector<const life::member*> of_role;
  for (const auto& one : members)
    if (one.role == role)
      of_role.push_back(&one);
  const auto& chosen = *time_.random.pick(of_role);
  const auto actor = caf::actor_cast<caf::strong_actor_ptr>(chosen.actor);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
  return chosen.role;
}

std::size_t sim_node::kill_role(const std::string& role) {
  std::size_t killed = 0;
  for (const auto& one : life_->members)
    if (const auto actor = caf::actor_cast<caf::strong_actor_ptr>(one.actor);
        one.role == role && actor) {
      caf::anon_send_exit(actor, caf::exit_reason::kill);
      ++killed;
    }
  return killed;
}

void sim_node::obey(kill_order order, std::function<bool()> counts) {
  order_ = std::move(order);
  counts_ = std::move(counts);
  handled_.clear();
}

/// The actor at the head of the queue is about to handle one message.
void sim_node::obey_order() {
  const auto* actor = dynamic_cast<caf::scheduled_actor*>(life_->coordinator.jobs.front());
  if (actor == nullptr)
    return;
  const auto member =
      std::find_if(life_->members.begin(), life_->members.end(), [&](const auto& one) {
        return one.role == order_->role && one.actor.id() == actor->id();
      });
  if (member == life_->members.end() || !counts_() || ++handled_[actor->id()] < order_->message)
    return;
  time_.note("killed " + order_->role + " at its message " + std::to_string(order_->message));
  // Goes before the message that waits.
  caf::anon_send_exit(caf::actor_cast<caf::strong_actor_ptr>(member->actor),
                      caf::exit_reason::kill);
  order_.reset();
  order_obeyed_ = true;
}

void sim_node::cut_some_connection() {
  if (!life_ || life_->links.empty())
    return;
  if (const auto link = time_.random.pick(life_->links).lock())
    link->cut();
}

} // namespace handfast::sim
