#include "actors/queue.hpp"
#include "tests/support/actor_fixture.hpp"

namespace handfast {
namespace {

using test::actor_fixture;
using test::probe;

constexpr queue_key orders{topic_id{16}, queue_no{2}};

visible_entry entry(std::uint64_t offset) {
  return {position{4096 + offset * 100}, 100, 0, queue_offset{offset}, 7};
}

std::vector<visible_entry> entries(std::uint64_t from, std::uint64_t to) {
  std::vector<visible_entry> made;
  for (auto n = from; n < to; ++n)
    made.push_back(entry(n));
  return made;
}

log_record message_at(std::uint64_t at, std::uint64_t offset) {
  message_record m;
  m.topic = orders.topic;
  m.queue = orders.queue;
  m.offset = queue_offset{offset};
  log_record record;
  record.type = record_type::message;
  record.at = position{at};
  record.length = 100;
  record.content = m;
  return record;
}

class Queue : public actor_fixture {
protected:
  queue_actor start(bool whole, queue_index index = queue_index{orders}) {
    auto made = spawn(queue, &environment, queue_start{std::move(index), whole});
    send_peers(made);
    run();
    return made;
  }

  void send_peers(const queue_actor& to) {
    auto peers = std::make_shared<shard_peers>();
    peers->commit_log = {log->as<commit_log_actor>(), incarnation{1}};
    peers->log_reader = {reader->as<log_reader_actor>(), reader_life};
    send(to, peers_changed{peers});
  }

  queue_actor serving() {
    auto made = start(true);
    send(made, appender_registered{});
    run();
    return made;
  }

  void show(const queue_actor& to, std::uint64_t from, std::uint64_t end) {
    send(to, entries_visible{orders, position{9'000}, entries(from, end)});
    run();
  }

  entries_fetched fetch(const queue_actor& from, std::uint64_t offset, std::uint32_t max = 32) {
    send_as(asker, from, fetch_entries{correlation{5}, orders, queue_offset{offset}, max});
    run();
    return asker->take_last<entries_fetched>();
  }

  std::shared_ptr<probe> log = make_probe();
  std::shared_ptr<probe> reader = make_probe();
  std::shared_ptr<probe> asker = make_probe();
  incarnation reader_life{1};
};

TEST_F(Queue, BindsToTheLog) {
  start(true);
  EXPECT_EQ(log->take_last<bind_queue>().queue, orders);
}

TEST_F(Queue, AnswersFromMemory) {
  const auto queue = serving();
  show(queue, 0, 5);
  const auto found = fetch(queue, 3);
  EXPECT_EQ(found.id, correlation{5});
  EXPECT_EQ(found.entries, entries(3, 5));
  EXPECT_EQ(found.end, queue_offset{5});
}

TEST_F(Queue, AnswersTheEndWithoutEntries) {
  const auto queue = serving();
  show(queue, 0, 5);
  const auto found = fetch(queue, 0, 0);
  EXPECT_TRUE(found.entries.empty());
  EXPECT_EQ(found.end, queue_offset{5});
}

TEST_F(Queue, TakesEntriesThatComeTwiceOnce) {
  const auto queue = serving();
  show(queue, 0, 3);
  show(queue, 1, 4);
  EXPECT_EQ(fetch(queue, 0).entries, entries(0, 4));
}

TEST_F(Queue, GoesOnBehindOffsetsThatWereLost) {
  const auto queue = serving();
  show(queue, 1, 2);
  EXPECT_TRUE(alive(queue));
  const auto found = fetch(queue, 0);
  EXPECT_EQ(found.entries, entries(1, 2));
  EXPECT_EQ(found.end, queue_offset{2});
}

TEST_F(Queue, FindsWhatStandsBehindLostOffsetsWhereverItStands) {
  const auto queue = serving();
  show(queue, 0, 2);
  show(queue, 500, 510);
  ask<unsaved_taken>(queue, take_unsaved{});
  send(queue, run_saved{});
  show(queue, 900, 901);
  fetch(queue, 2, 10);
  auto asked = reader->take_last<read_index>();
  EXPECT_EQ(asked.to, queue_offset{12});
  send(queue, entries_fetched{asked.id, orders, ec::ok, {}, {}, {}});
  run();
  asked = reader->take_last<read_index>();
  EXPECT_EQ(asked.from, queue_offset{2});
  EXPECT_EQ(asked.to, queue_offset{510});
  send(queue, entries_fetched{asked.id, orders, ec::ok, {}, {}, entries(500, 510)});
  run();
  EXPECT_EQ(asker->take_last<entries_fetched>().entries, entries(500, 510));
}

TEST_F(Queue, FallsBackToItsMemoryWhenRunsHaveNothingMore) {
  const auto queue = serving();
  show(queue, 0, 2);
  ask<unsaved_taken>(queue, take_unsaved{});
  send(queue, run_saved{});
  show(queue, 2, 4);
  fetch(queue, 1, 10);
  const auto asked = reader->take_last<read_index>();
  EXPECT_EQ(asked.to, queue_offset{2});
  send(queue, entries_fetched{asked.id, orders, ec::ok, {}, {}, {}});
  run();
  EXPECT_EQ(asker->take_last<entries_fetched>().entries, entries(2, 4));
}

TEST_F(Queue, ServesAWholeStartOnlyBehindWhatTheLogKept) {
  const auto queue = start(true);
  send_as(asker, queue, fetch_entries{correlation{5}, orders, queue_offset{0}, 32});
  run();
  EXPECT_EQ(asker->count<entries_fetched>(), 0U);
  send(queue, appender_registered{});
  send(queue, entries_visible{orders, position{9'000}, entries(0, 2)});
  run();
  EXPECT_EQ(asker->take_last<entries_fetched>().entries, entries(0, 2));
}

TEST_F(Queue, WakesAWatcherOnce) {
  const auto queue = serving();
  send_as(asker, queue, watch_queue{orders, queue_offset{1}});
  show(queue, 0, 1);
  EXPECT_EQ(asker->count<queue_grew>(), 0U);
  show(queue, 1, 2);
  show(queue, 2, 3);
  const auto woken = asker->take<queue_grew>();
  ASSERT_EQ(woken.size(), 1U);
  EXPECT_EQ(woken[0].end, queue_offset{2});
}

TEST_F(Queue, WakesAWatcherAtOnceIfThereIsSomething) {
  const auto queue = serving();
  show(queue, 0, 2);
  send_as(asker, queue, watch_queue{orders, queue_offset{1}});
  run();
  EXPECT_EQ(asker->count<queue_grew>(), 1U);
}

TEST_F(Queue, LetsTheReaderAnswerWhatLeftTheMemory) {
  const auto queue = serving();
  show(queue, 0, 10);
  EXPECT_EQ(ask<unsaved_taken>(queue, take_unsaved{}).entries.size(), 10U);
  send(queue, run_saved{});
  run();
  EXPECT_EQ(fetch(queue, 4, 3).id, correlation{});
  const auto asked = reader->take_last<read_index>();
  EXPECT_EQ(asked.from, queue_offset{4});
  EXPECT_EQ(asked.to, queue_offset{7});
  send(queue, entries_fetched{asked.id, orders, ec::ok, {}, {}, entries(4, 7)});
  run();
  const auto answer = asker->take_last<entries_fetched>();
  EXPECT_EQ(answer.id, correlation{5});
  EXPECT_EQ(answer.entries, entries(4, 7));
  EXPECT_EQ(answer.end, queue_offset{10});
}

TEST_F(Queue, AsksARestartedReaderAgain) {
  const auto queue = serving();
  show(queue, 0, 10);
  ask<unsaved_taken>(queue, take_unsaved{});
  send(queue, run_saved{});
  fetch(queue, 4, 3);
  reader->forget_all();
  reader_life = incarnation{2};
  send_peers(queue);
  run();
  EXPECT_EQ(reader->take_last<read_index>().from, queue_offset{4});
}

TEST_F(Queue, ComesBackFromCheckpointAndLog) {
  const auto before = serving();
  show(before, 0, 10);
  const auto taken = ask<slices_taken>(before, take_slices{});
  ASSERT_EQ(taken.slices.size(), 1U);
  kill(before);

  const auto queue = start(false);
  send(queue, appender_registered{position{9'000}, position{9'000}, {}});
  run();
  const auto load = reader->take_last<load_slices>();
  EXPECT_EQ(load.prefix, "queue/16/2");
  EXPECT_EQ(ask<slices_taken>(queue, take_slices{}).code, ec::recovering);
  send_as(asker, queue, fetch_entries{correlation{6}, orders, queue_offset{8}, 32});
  send(queue, slices_loaded{load.id, ec::ok, position{8'000}, taken.slices});
  run();
  const auto replay = reader->take_last<replay_log>();
  EXPECT_EQ(replay.from, position{8'000});
  send(queue, entries_visible{orders, position{9'900}, entries(10, 11)}); // dispatched meanwhile
  auto batch = std::make_shared<record_batch>();
  for (std::uint64_t n = 8; n < 10; ++n)
    batch->records.push_back(message_at(4096 + n * 100, n));
  send(queue, log_replayed{replay.id, ec::ok, position{9'000}, batch, {}});
  run();
  const auto held = asker->take_last<entries_fetched>();
  EXPECT_EQ(held.id, correlation{6});
  EXPECT_EQ(held.entries.size(), 3U);
  EXPECT_EQ(fetch(queue, 10).end, queue_offset{11});
  fetch(queue, 2);
  EXPECT_EQ(reader->take_last<read_index>().to, queue_offset{8});
}

TEST_F(Queue, SaysHowItIsGoing) {
  const auto queue = serving();
  show(queue, 0, 3);
  const auto report = ask<status_report>(queue, status_request{});
  EXPECT_EQ(report.actor, "queue/16/2");
  EXPECT_EQ(report.samples[1].value, 3.0);
}

// -- offsets of moments ---------------------------------------------------------------

class QueueMoments : public Queue {
protected:
  /// `count` entries, each visible 10 ms after the one before.
  queue_actor filled(std::uint64_t count) {
    auto made = serving();
    entries_visible shown{orders, position{9'000}, {}};
    for (std::uint64_t n = 0; n < count; ++n)
      shown.entries.push_back(at_time(n));
    send(made, shown);
    run();
    return made;
  }

  static visible_entry at_time(std::uint64_t n) {
    auto e = entry(n);
    e.visible_ms = 1'000 + n * 10;
    return e;
  }

  offset_found find(const queue_actor& in, start_point what) {
    send_as(asker, in, find_offset{correlation{8}, orders, what});
    run();
    return asker->take_last<offset_found>();
  }
};

TEST_F(QueueMoments, KnowsItsEnds) {
  const auto queue = filled(5);
  EXPECT_EQ(find(queue, {start_from::earliest, 0}).offset, queue_offset{0});
  EXPECT_EQ(find(queue, {start_from::latest, 0}).offset, queue_offset{5});
  EXPECT_EQ(find(queue, {start_from::offset, 3}).offset, queue_offset{3});
  const auto behind = find(queue, {start_from::offset, 900});
  EXPECT_EQ(behind.offset, queue_offset{5}) << "behind the end means the end";
  EXPECT_EQ(behind.end, queue_offset{5});
}

TEST_F(QueueMoments, FindsAMomentInMemory) {
  const auto queue = filled(5);
  EXPECT_EQ(find(queue, {start_from::time, 0}).offset, queue_offset{0});
  EXPECT_EQ(find(queue, {start_from::time, 1'010}).offset, queue_offset{1});
  EXPECT_EQ(find(queue, {start_from::time, 1'011}).offset, queue_offset{2});
  EXPECT_EQ(find(queue, {start_from::time, 9'999}).offset, queue_offset{5});
}

TEST_F(QueueMoments, FindsAMomentInDerivedRuns) {
  constexpr std::uint64_t stored = 5'000;
  const auto queue = filled(stored);
  ask<unsaved_taken>(queue, take_unsaved{});
  send(queue, run_saved{});
  run();
  int questions = 0;
  reader->on<read_index>([&](const read_index& x) {
    ++questions;
    entries_fetched answer;
    answer.id = x.id;
    answer.queue = orders;
    for (auto n = x.from.value; n < std::min(x.to.value, x.from.value + 100); ++n)
      answer.entries.push_back(at_time(n));
    send(queue, answer);
  });
  for (const std::uint64_t wanted : {0U, 1U, 99U, 2'500U, 4'999U}) {
    questions = 0;
    EXPECT_EQ(find(queue, {start_from::time, 1'000 + wanted * 10}).offset, queue_offset{wanted});
    EXPECT_LE(questions, 14);
  }
  EXPECT_EQ(find(queue, {start_from::time, 999'999}).offset, queue_offset{stored});
}

TEST_F(QueueMoments, AsksARestartedReaderAgain) {
  const auto queue = filled(100);
  ask<unsaved_taken>(queue, take_unsaved{});
  send(queue, run_saved{});
  run();
  find(queue, {start_from::time, 1'005});
  reader->forget_all();
  reader_life = incarnation{2};
  send_peers(queue);
  run();
  EXPECT_EQ(reader->count<read_index>(), 1U);
}

TEST_F(QueueMoments, AnswersWhenItServes) {
  const auto queue = start(true);
  EXPECT_EQ(find(queue, {start_from::latest, 0}).id, correlation{});
  send(queue, appender_registered{});
  run();
  EXPECT_EQ(asker->take_last<offset_found>().id, correlation{8});
}

} // namespace
} // namespace handfast
