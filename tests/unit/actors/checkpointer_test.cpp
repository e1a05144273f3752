#include "tests/support/checkpoint_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class Checkpointer : public test::checkpoint_fixture {
public:
  void append_some(std::size_t count) {
    std::vector<message_record> some;
    for (std::size_t i = 0; i < count; ++i)
      some.push_back(numbered(i % 3 ? orders : bills, 1 + i % 2, ++sequence));
    append(client, std::move(some));
    run();
    (void)results(client);
  }

  std::uint64_t sequence = 0;
};

TEST_F(Checkpointer, LetsAReplayBeginWhereItWasAskedFor) {
  append_some(10);
  const auto start = durable_end();
  const auto made = checkpoint();
  EXPECT_EQ(made.why.code, ec::ok);
  EXPECT_EQ(made.replay_from, start);
  EXPECT_GT(made.bytes, 0u);
  append_some(3);
  power_cut_and_start();
  EXPECT_EQ(store->report.scan_from, start);
  EXPECT_EQ(std::count_if(replayed.begin(), replayed.end(),
                          [](const log_record& r) { return r.type == record_type::message; }),
            3);
}

TEST_F(Checkpointer, PutsEntriesIntoARunBeforeQueuesForgetThem) {
  append_some(9);
  const auto before = indexes.at(orders).index.read(queue_offset{0}, 100);
  ASSERT_EQ(before.size(), 6u);
  (void)checkpoint();
  EXPECT_EQ(indexes.at(orders).index.in_memory(), 0u);
  EXPECT_EQ(saved_entries(orders), before);
}

TEST_F(Checkpointer, TellsTheReaderOfARunBeforeAnyoneFreesMemory) {
  append_some(3);
  std::vector<ec> seen;
  indexes.at(orders).actor->on<run_saved>([&](const run_saved&) {
    auto asker = make_probe();
    asker->on<entries_fetched>([&](const entries_fetched& x) {
      seen.push_back(x.entries.empty() ? ec::position_not_found : ec::ok);
    });
    send_as(asker, reader, read_index{{}, orders, {}, queue_offset{10}});
  });
  (void)checkpoint();
  EXPECT_THAT(seen, ElementsAre(ec::ok));
}

TEST_F(Checkpointer, KeepsEntriesOfAQueueThatNobodyHasBoundYet) {
  power_cut_and_start(1, false);
  append_some(9);
  send(log, stop{}); // the last checkpoint is COMMIT LOG's own, with what it keeps
  run();
  EXPECT_EQ(supervisor->take_last<stopped>().unfinished, "");
  EXPECT_EQ(saved_entries(orders).size(), 6u);
  EXPECT_EQ(saved_entries(bills).size(), 3u);
  power_cut_and_start(1, false);
  bind(orders);
  EXPECT_EQ(indexes.at(orders).index.end(), queue_offset{6});
}

TEST_F(Checkpointer, ReplaysNothingAfterAnOrderlyStop) {
  append_some(5);
  send(log, stop{});
  run();
  power_cut();
  fold_everything folder;
  storage::recovery_options options;
  options.segments = segments;
  const auto recovered = storage::recover(disk, root, options, folder);
  ASSERT_TRUE(recovered);
  EXPECT_EQ(recovered->report.records, 0u);
  EXPECT_TRUE(folder.records.empty());
  EXPECT_EQ(folder.tail.heads.next(orders), queue_offset{3});
}

TEST_F(Checkpointer, KeepsOutcomesFindable) {
  outcomes.push_back(
      {position{96}, outcome::committed, origin::check, group_id{7}, 2, position{6000}, 123, {}});
  outcomes.push_back(
      {position{80}, outcome::given_up, origin::policy, group_id{7}, 1, position{6000}, 123, {}});
  append_some(1);
  (void)checkpoint();
  outcomes = {{position{80}, outcome::given_up, origin::policy, group_id{7}, 1, position{6000}, 123,
               position{9000}}};
  append_some(1);
  (void)checkpoint();
  auto asker = make_probe();
  send_as(asker, reader, find_outcomes{correlation{3}, {position{80}, position{88}, position{96}}});
  run();
  const auto found = asker->take_last<outcomes_found>();
  ASSERT_EQ(found.outcomes.size(), 3u);
  EXPECT_EQ(found.id, correlation{3});
  EXPECT_EQ(found.outcomes[0].reopened_as, position{9000}) << "the newest run knows best";
  EXPECT_EQ(found.outcomes[1].result, outcome::pending);
  EXPECT_EQ(found.outcomes[2].result, outcome::committed);
  EXPECT_EQ(found.outcomes[2].by, origin::check);
  EXPECT_EQ(found.outcomes[2].messages, 2);
}

TEST_F(Checkpointer, KeepsOutcomesFindableThatWereDecidedWhileItWasMade) {
  append_some(1);
  const auto opened_behind = durable_end();
  outcomes = {{opened_behind,
               outcome::rolled_back,
               origin::producer,
               group_id{7},
               1,
               opened_behind + 200,
               123,
               {}}};
  (void)checkpoint();
  outcomes.clear();
  for (int i = 0; i < 2; ++i) {
    append_some(5);
    (void)checkpoint();
  }
  auto asker = make_probe();
  send_as(asker, reader, find_outcomes{correlation{3}, {opened_behind}});
  run();
  EXPECT_EQ(asker->take_last<outcomes_found>().outcomes.at(0).result, outcome::rolled_back);
}

TEST_F(Checkpointer, FreesNothingIfTheReaderCannotSayThatItKnowsTheRun) {
  append_some(9);
  caf::anon_send_exit(reader, caf::exit_reason::kill);
  run();
  const auto made = checkpoint();
  EXPECT_EQ(made.why.code, ec::ok);
  EXPECT_EQ(indexes.at(orders).index.in_memory(), 6u);
}

TEST_F(Checkpointer, TakesSlicesCursorByCursor) {
  half_store->on<take_slices>([](const take_slices& x) {
    slices_taken answer;
    const auto n = x.cursor.empty() ? 0 : std::stoi(x.cursor);
    answer.slices.push_back({"half_store/part", "part " + std::to_string(n)});
    answer.cursor = n < 4 ? std::to_string(n + 1) : "";
    return answer;
  });
  append_some(1);
  (void)checkpoint();
  auto asker = make_probe();
  send_as(asker, reader, load_slices{correlation{1}, "half_store/"});
  run();
  const auto loaded = asker->take_last<slices_loaded>();
  ASSERT_EQ(loaded.slices.size(), 5u);
  EXPECT_EQ(loaded.slices[4].bytes, "part 4");
  EXPECT_EQ(loaded.code, ec::ok);
}

TEST_F(Checkpointer, GivesUpWhenAFoldIsBeingRebuiltAndSucceedsLater) {
  append_some(2);
  half_store->on<take_slices>([](const take_slices&) {
    slices_taken answer;
    answer.code = ec::recovering;
    return answer;
  });
  EXPECT_EQ(checkpoint().why.code, ec::recovering);
  half_store->on<take_slices>([](const take_slices&) { return slices_taken{}; });
  EXPECT_EQ(checkpoint().why.code, ec::ok);
}

TEST_F(Checkpointer, GivesUpWhenAFoldDoesNotAnswer) {
  append_some(2);
  half_store->on<take_slices>([](const take_slices&) {});
  supervisor->forget_all();
  send_as(supervisor, real_checkpointer, make_checkpoint{durable_end(), false, nullptr});
  advance(6s, 500ms);
  EXPECT_EQ(supervisor->take_last<checkpoint_made>().why.code, ec::recovering);
}

TEST_F(Checkpointer, GivesUpWhenAFoldDiesMeanwhile) {
  append_some(2);
  auto dead = peers->topic_registry.actor;
  kill(dead);
  EXPECT_EQ(checkpoint().why.code, ec::recovering);
  power_cut();
  boot();
  EXPECT_EQ(store->report.checkpoint_generation, 0u);
  run();
}

TEST_F(Checkpointer, FoldsTheEntriesOfADeadQueueFromTheLog) {
  append_some(6);
  (void)checkpoint();
  append_some(6);
  const auto expected = [&] {
    auto all = saved_entries(orders);
    const auto rest = indexes.at(orders).index.read(queue_offset{all.size()}, 100);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }();
  ASSERT_EQ(expected.size(), 8u);
  kill(indexes.at(orders).actor->handle());
  EXPECT_EQ(checkpoint().why.code, ec::ok);
  EXPECT_EQ(saved_entries(orders), expected);
  auto asker = make_probe();
  send_as(asker, reader, load_slices{{}, queue_index::slice_name(orders)});
  run();
  const auto loaded = asker->take_last<slices_loaded>();
  ASSERT_EQ(loaded.slices.size(), 1u);
  queue_index folded{orders};
  folded.load(loaded.slices[0].name, loaded.slices[0].bytes);
  EXPECT_EQ(folded.end(), queue_offset{8});
}

TEST_F(Checkpointer, SaysWhyItFailedAndLeavesTheLastOneAsItIs) {
  append_some(2);
  const auto first = checkpoint();
  append_some(2);
  disk.fail_at(disk.operations() + 1, handfast::testing::disk_fault::disk_full);
  EXPECT_EQ(checkpoint().why.code, ec::disk_full);
  power_cut_and_start();
  EXPECT_EQ(store->report.checkpoint_start, first.replay_from);
}

/// What a recovery makes of the disk: offsets, windows, and all entries of all queues.
struct picture {
  std::map<queue_key, std::uint64_t> heads;
  std::string windows;
  std::map<queue_key, std::vector<visible_entry>> entries;
  friend bool operator==(const picture&, const picture&) = default;
};

class CheckpointProperty : public Checkpointer {
public:
  picture recover_with(bool ignore_checkpoints) {
    fold_everything folder;
    storage::recovery_options options;
    options.segments = segments;
    options.ignore_checkpoints = ignore_checkpoints;
    const auto recovered = storage::recover(disk, root, options, folder);
    EXPECT_TRUE(recovered);
    picture seen;
    for (const auto key : {orders, bills, queue_heads::half_view, queue_heads::op_view})
      seen.heads[key] = folder.tail.heads.next(key).value;
    for (const auto id : folder.tail.windows.ids())
      seen.windows += folder.tail.windows.save(id, position{~std::uint64_t{0}});
    for (const auto key : queues_of_test) {
      auto& entries = seen.entries[key];
      if (!ignore_checkpoints)
        for (const auto& run : recovered->runs.runs) {
          const auto found = run->find_entries(key, queue_offset{entries.size()},
                                               queue_offset{1'000'000}, 1'000'000);
          EXPECT_TRUE(found);
          for (const auto& e : found->found)
            entries.push_back(
                {e.at, e.length, e.tag_hash, queue_offset{entries.size()}, e.visible_ms});
        }
      for (const auto& e : folder.tail.untaken.take(key))
        if (e.offset.value >= entries.size())
          entries.push_back(e);
    }
    return seen;
  }

  void append_random(std::mt19937_64& random) {
    if (!enrolled) {
      send_as(op_store, log, register_appender{op_life});
      send_as(half_store, log, register_appender{half_life});
      enrolled = true;
    }
    for (auto n = random() % 8; n > 0; --n) {
      const auto queue = random() % 2 ? orders : bills;
      auto m = numbered(queue, 1 + random() % 3, ++sequence);
      switch (random() % 3) {
      case 0:
        append(client, {std::move(m)});
        break;
      case 1:
        append(half_store, half_life, record_of(record_type::half, std::move(m), sequence));
        break;
      default:
        append(op_store, op_life,
               decide_of({{position{100}, queue.topic, queue.queue, {}, 100, 0}}, sequence));
      }
    }
    run();
  }

  bool enrolled = false;
};

TEST_F(CheckpointProperty, CheckpointAndReplayGiveTheSameAsFullReplay) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937_64 random{seed};
    for (int round = 0; round < 25; ++round) {
      append_random(random);
      if (random() % 4 == 0) {
        ASSERT_EQ(checkpoint().why.code, ec::ok);
      }
    }
    power_cut(seed);
    const auto quick = recover_with(false);
    const auto whole = recover_with(true);
    ASSERT_EQ(quick.heads, whole.heads) << seed;
    ASSERT_EQ(quick.windows, whole.windows) << seed;
    ASSERT_EQ(quick.entries, whole.entries) << seed;
    ASSERT_EQ(whole.entries.at(orders).size(), whole.heads.at(orders));
    enrolled = false;
    start();
  }
}

TEST_F(CheckpointProperty, APowerCutAtAnyStepOfACheckpointLosesNothing) {
  std::mt19937_64 random{7};
  for (std::uint64_t step = 1; step <= 25; ++step) {
    for (int round = 0; round < 4; ++round)
      append_random(random);
    disk.fail_at(disk.operations() + step, handfast::testing::disk_fault::power_off);
    (void)checkpoint();
    power_cut(static_cast<unsigned>(step));
    const auto quick = recover_with(false);
    const auto whole = recover_with(true);
    ASSERT_EQ(quick.heads, whole.heads) << step;
    ASSERT_EQ(quick.windows, whole.windows) << step;
    ASSERT_EQ(quick.entries, whole.entries) << step;
    enrolled = false;
    start();
  }
}

} // namespace
} // namespace handfast
