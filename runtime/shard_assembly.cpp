#include "runtime/shard_assembly.hpp"

#include "actors/check_listener.hpp"
#include "actors/check_scheduler.hpp"
#include "actors/checkpointer.hpp"
#include "actors/commit_log.hpp"
#include "actors/consumer_group.hpp"
#include "actors/delay_scheduler.hpp"
#include "actors/half_store.hpp"
#include "actors/log_reader.hpp"
#include "actors/op_store.hpp"
#include "actors/producer_group.hpp"
#include "actors/queue.hpp"
#include "actors/segment_keeper.hpp"
#include "actors/topic_registry.hpp"
#include "actors/type_ids.hpp"
#include "messages/assert.hpp"

#include <caf/actor_system.hpp>

namespace handfast::runtime {

namespace {

/// Spawns what waits for the disk: on a thread of its own, or like any other actor.
template <class Behaviour, class... Args>
auto spawn_blocking(const assembly& from, Behaviour behaviour, Args&&... args) {
  caf::actor_config cfg{nullptr};
  return from.detached ? from.system->spawn_functor<caf::detached>(std::true_type{}, cfg, behaviour,
                                                                   std::forward<Args>(args)...)
                       : from.system->spawn_functor(std::true_type{}, cfg, behaviour,
                                                    std::forward<Args>(args)...);
}

/// What a fold starts from: what recovery folded, the first time; nothing later.
template <class Fold>
fold_start<Fold> start_of(const assembly& from, Fold& recovered, incarnation life, bool first) {
  fold_start<Fold> start{recovered.emptied(), first, {}, life};
  if (first) {
    start.fold = std::move(recovered);
    start.applied = from.recovered->store.report.end;
  }
  return start;
}

void add_disk_roles(shard_roster& roster, const assembly& from) {
  auto& shard = *from.recovered;
  roster.log_reader = [from, &shard](incarnation, bool) {
    return spawn_blocking(from, log_reader,
                          std::make_shared<log_reader_start>(
                              log_reader_start{from.disk, shard.store.log.get(), &shard.codec,
                                               shard.store.directory.paths(),
                                               shard.store.directory.identity().store_id}));
  };
  roster.segment_keeper = [from, &shard](incarnation, bool) {
    return spawn_blocking(
        from, segment_keeper,
        segment_keeper_start{shard.store.log.get(), from.disk, shard.store.directory.paths().root});
  };
  roster.checkpointer = [from, &shard](incarnation, bool) {
    return spawn_blocking(from, checkpointer,
                          checkpointer_start{{from.disk, shard.store.log.get(), &shard.codec,
                                              shard.store.directory.paths(),
                                              shard.store.directory.identity().store_id},
                                             from.environment->time});
  };
}

void add_log(shard_roster& roster, const assembly& from) {
  auto& shard = *from.recovered;
  roster.commit_log = [from, &shard](incarnation life, bool) {
    auto start = std::make_shared<commit_log_start>();
    start->life = life;
    start->log = shard.store.log.get();
    start->codec = &shard.codec;
    start->tail = std::move(shard.tail);
    start->end = shard.store.report.end;
    start->epoch = shard.epoch;
    start->checkpoint_from = shard.store.report.checkpoint_start;
    return spawn_on(*from.system, from.loop, commit_log, from.environment, std::move(start));
  };
}

void add_transactions(shard_roster& roster, const assembly& from) {
  auto& shard = *from.recovered;
  const auto* env = from.environment;
  roster.op_store = [from, env, &shard](incarnation life, bool first) {
    return spawn_on(*from.system, from.loop, op_store, env,
                    start_of(from, shard.outcomes, life, first));
  };
  roster.half_store = [from, env, &shard](incarnation life, bool first) {
    return spawn_on(*from.system, from.loop, half_store, env,
                    start_of(from, shard.half, life, first));
  };
  roster.check_scheduler = [from, env](incarnation, bool first) {
    return spawn_on(*from.system, from.loop, check_scheduler, env, !first);
  };
  roster.producer_group = [from, env](group_id group, incarnation, bool) {
    return spawn_on(*from.system, from.loop, producer_group, env, group);
  };
  // May block in what a user wrote: on CAF's own scheduler, never on the loop.
  roster.default_check_listener = [from, env] {
    return from.system->spawn(check_listener, env->settings->transaction.give_up, give_up_choice{});
  };
  roster.check_listener = roster.default_check_listener;
  if (from.users.check_listener)
    roster.check_listener = [from] { return from.users.check_listener(*from.system); };
  for (const auto& make : from.users.observers)
    roster.observers.push_back([from, make] { return make(*from.system); });
}

void add_delivery(shard_roster& roster, const assembly& from) {
  auto& shard = *from.recovered;
  const auto* env = from.environment;
  roster.topic_registry = [from, env, &shard](incarnation life, bool first) {
    return spawn_on(*from.system, from.loop, topic_registry, env,
                    start_of(from, shard.topics, life, first));
  };
  roster.delay_scheduler = [from, env, &shard](incarnation life, bool first) {
    return spawn_on(*from.system, from.loop, delay_scheduler, env,
                    start_of(from, shard.delays, life, first));
  };
  roster.queue = [from, env, &shard](queue_key key, incarnation, bool first) {
    queue_start start{queue_index{key}, first};
    if (auto found = shard.queues.extract(key); first && !found.empty())
      start.index = std::move(found.mapped());
    return spawn_on(*from.system, from.loop, queue, env, std::move(start));
  };
  roster.consumer_group = [from, env, &shard](group_id group, incarnation life, bool first) {
    auto& progress = shard.groups.try_emplace(group, group).first->second;
    return spawn_on(*from.system, from.loop, consumer_group, env,
                    start_of(from, progress, life, first));
  };
  for (const auto& [group, progress] : shard.groups)
    roster.recovered_groups.push_back(group);
}

} // namespace

shard_roster make_roster(const assembly& from) {
  HANDFAST_ASSERT(from.system && from.disk && from.environment && from.recovered);
  shard_roster roster;
  add_disk_roles(roster, from);
  add_log(roster, from);
  add_transactions(roster, from);
  add_delivery(roster, from);
  return roster;
}

} // namespace handfast::runtime
