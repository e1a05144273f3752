#pragma once

/// A COMMIT LOG with its LOG READER and CHECKPOINTER, and stand-ins for the folds that a checkpoint
/// asks.

#include "actors/checkpointer.hpp"
#include "actors/folds/queue_index.hpp"
#include "actors/log_reader.hpp"
#include "tests/support/log_fixture.hpp"

#include <map>

namespace handfast::test {

/// A queue as far as the log and checkpoints see it.
struct index_double {
  std::shared_ptr<probe> actor;
  queue_index index;
};

class checkpoint_fixture : public log_fixture {
public:
  static constexpr queue_key queues_of_test[] = {orders, bills};

  checkpoint_fixture() {
    for (auto* fold : {&op_store, &half_store, &delays, &topics})
      (*fold)->on<take_slices>([](const take_slices&) { return slices_taken{}; });
    op_store->on<take_unsaved>([this](const take_unsaved&) {
      unsaved_taken answer;
      answer.outcomes = outcomes;
      return answer;
    });
  }

  void SetUp() override { start(); }

  /// Boots and wires everything together; queues are bound if `bound`.
  void start(bool bound = true) {
    boot();
    reader = spawn(log_reader, std::make_shared<log_reader_start>(
                                   log_reader_start{&disk, store->log.get(), codec.get(),
                                                    store->directory.paths(), store_id()}));
    auto checkpoints = spawn(handfast::checkpointer, checkpointer_start{places(), &time});
    peers = std::make_shared<shard_peers>(*peers);
    peers->log_reader = {reader, incarnation{++lives}};
    peers->checkpointer = {checkpoints, incarnation{++lives}};
    peers->op_store = {op_store->as<op_store_actor>(), {}};
    peers->half_store = {half_store->as<half_store_actor>(), {}};
    peers->delay_scheduler = {delays->as<delay_scheduler_actor>(), {}};
    peers->topic_registry = {topics->as<topic_registry_actor>(), {}};
    real_checkpointer = checkpoints;
    send(reader, peers_changed{peers});
    send(checkpoints, peers_changed{peers});
    send(log, peers_changed{peers});
    run();
    indexes.clear();
    if (bound)
      for (const auto key : queues_of_test)
        bind(key);
  }

  void bind(queue_key key) {
    auto actor = make_probe();
    auto& q = indexes.insert_or_assign(key, index_double{actor, queue_index{key}}).first->second;
    actor->on<appender_registered>([&q](const appender_registered& x) { first_of(q, x.next); });
    actor->on<entries_visible>([&q](const entries_visible& x) {
      for (const auto& e : x.entries)
        q.index.add(e);
    });
    actor->on<take_slices>([&q](const take_slices&) {
      slices_taken answer;
      if (auto bytes = q.index.save(); !bytes.empty())
        answer.slices.push_back({queue_index::slice_name(q.index.key()), std::move(bytes)});
      return answer;
    });
    actor->on<take_unsaved>([&q](const take_unsaved&) {
      unsaved_taken answer;
      for (const auto& e : q.index.take_unsaved())
        answer.entries.emplace_back(q.index.key(), e);
      return answer;
    });
    actor->on<run_saved>([&q](const run_saved&) { q.index.saved(); });
    send_as(actor, log, bind_queue{key});
    run();
  }

  /// A checkpoint of what is durable now. Its result, as the supervisor hears it.
  checkpoint_made checkpoint() {
    supervisor->forget_all();
    auto members = std::make_shared<checkpoint_members>();
    for (auto& [key, q] : indexes)
      members->queues.emplace_back(key, q.actor->as<queue_actor>());
    send_as(supervisor, real_checkpointer, make_checkpoint{durable_end(), false, members});
    run();
    return supervisor->take_last<checkpoint_made>();
  }

  position durable_end() { return ask<unsaved_taken>(log, take_unsaved{}).durable; }
  std::uint64_t store_id() const { return store->directory.identity().store_id; }
  checkpoint_places places() {
    return {&disk, store->log.get(), codec.get(), store->directory.paths(), store_id()};
  }

  /// The end of the whole world, then a new start.
  void power_cut_and_start(unsigned seed = 1, bool bound = true) {
    power_cut(seed);
    start(bound);
  }

  /// All entries of a queue that derived runs hold, as the reader gives them.
  std::vector<visible_entry> saved_entries(queue_key key) {
    auto asker = make_probe();
    std::vector<visible_entry> all;
    queue_offset from;
    for (;;) {
      send_as(asker, reader, read_index{{}, key, from, queue_offset{1'000'000}});
      run();
      const auto got = asker->take_last<entries_fetched>();
      EXPECT_EQ(got.code, ec::ok);
      if (got.entries.empty())
        return all;
      all.insert(all.end(), got.entries.begin(), got.entries.end());
      from = got.end;
    }
  }

  std::shared_ptr<probe> op_store = make_probe();
  std::shared_ptr<probe> half_store = make_probe();
  std::shared_ptr<probe> delays = make_probe();
  std::shared_ptr<probe> topics = make_probe();
  std::vector<stored_outcome> outcomes;
  log_reader_actor reader;
  checkpointer_actor real_checkpointer;
  std::map<queue_key, index_double> indexes;

private:
  /// A queue that begins behind what runs hold.
  static void first_of(index_double& q, queue_offset next) {
    q.index.load(queue_index::slice_name(q.index.key()), slice_writer{}.put(next).take());
  }
};

} // namespace handfast::test
