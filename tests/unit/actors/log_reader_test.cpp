#include "tests/support/checkpoint_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class LogReader : public test::checkpoint_fixture {
public:
  template <class Answer, class Question>
  Answer question(Question what) {
    send_as(asker, reader, std::move(what));
    run();
    return asker->take_last<Answer>();
  }

  std::vector<position> store_halves(std::size_t count) {
    enroll(half_store, half_life);
    half_store->forget_all();
    for (std::size_t i = 0; i < count; ++i)
      append(half_store, half_life,
             record_of(record_type::half, message_to(orders, "half " + std::to_string(i)), i + 1));
    run();
    std::vector<position> at;
    for (const auto& r : records(half_store))
      at.push_back(r.at);
    return at;
  }

  std::shared_ptr<test::probe> asker = make_probe();
};

TEST_F(LogReader, ReadsRecordsInTheOrderOfTheQuestion) {
  append(client, {message_to(orders, "one"), message_to(orders, "two")});
  run();
  const auto stored = results(client);
  const auto read = question<records_read>(read_records{
      correlation{4}, {{stored[1].at, 0}, {position{12345672}, 0}, {stored[0].at, 0}}});
  EXPECT_EQ(read.id, correlation{4});
  ASSERT_EQ(read.records.size(), 3u);
  EXPECT_EQ(std::get<message_record>(read.records[0].record.content).body(), "two");
  EXPECT_NE(read.records[1].code, ec::ok);
  EXPECT_EQ(std::get<message_record>(read.records[2].record.content).body(), "one");
}

TEST_F(LogReader, ReplaysTheLogInStretches) {
  for (int i = 0; i < 30; ++i)
    append(client, {message_to(orders, std::string(100 * limits::kib, 'x'))});
  run();
  const auto to = durable_end();
  position from = store->log->begin();
  std::size_t messages = 0;
  std::size_t stretches = 0;
  while (from < to) {
    const auto part = question<log_replayed>(replay_log{correlation{++stretches}, from, to});
    ASSERT_EQ(part.code, ec::ok);
    ASSERT_EQ(part.id, correlation{stretches});
    ASSERT_GT(part.next, from);
    for (const auto& r : part.batch->records)
      messages += r.type == record_type::message ? 1 : 0;
    from = part.next;
  }
  EXPECT_EQ(messages, 30u);
  EXPECT_GT(stretches, 2u);
}

TEST_F(LogReader, NamesRecordsWhoseBodyIsDamagedAndReplaysTheOthers) {
  append(client,
         {message_to(orders, std::string(500, 'a')), message_to(orders, std::string(500, 'b'))});
  run();
  const auto stored = results(client);
  const auto logs = *disk.list(std::string{root} + "/log");
  disk.flip_bit(std::string{root} + "/log/" + logs.at(0), byte_of(stored[1].at) - 64, 1);
  const auto part = question<log_replayed>(replay_log{{}, store->log->begin(), durable_end()});
  EXPECT_EQ(part.code, ec::ok);
  EXPECT_THAT(part.damaged, ElementsAre(stored[0].at));
  EXPECT_EQ(part.next, durable_end());
  ASSERT_GE(part.batch->records.size(), 3u);
  EXPECT_EQ(part.batch->records.back().at, stored[1].at);
}

TEST_F(LogReader, SaysCorruptWhereTheLogIsUnreadable) {
  append(client, {message_to(orders), message_to(orders)});
  run();
  const auto stored = results(client);
  const auto logs = *disk.list(std::string{root} + "/log");
  disk.flip_bit(std::string{root} + "/log/" + logs.at(0), byte_of(stored[1].at) + 8, 1);
  const auto end = durable_end();
  const auto first = question<log_replayed>(replay_log{{}, store->log->begin(), end});
  EXPECT_EQ(first.code, ec::ok) << "what stands before is given first";
  EXPECT_EQ(first.next, stored[1].at);
  EXPECT_EQ(question<log_replayed>(replay_log{{}, first.next, end}).code, ec::corrupt);
}

TEST_F(LogReader, AnswersAnEmptyReplayAtOnce) {
  const auto end = durable_end();
  const auto part = question<log_replayed>(replay_log{{}, end, end});
  EXPECT_EQ(part.code, ec::ok);
  EXPECT_EQ(part.next, end);
  EXPECT_FALSE(part.batch);
}

TEST_F(LogReader, LetsAReplayBeginAtTheLogsBeginWithoutACheckpoint) {
  const auto loaded = question<slices_loaded>(load_slices{correlation{1}, "commit_log/"});
  EXPECT_EQ(loaded.replay_from, store->log->begin());
  EXPECT_TRUE(loaded.slices.empty());
}

TEST_F(LogReader, GivesOnlySlicesWithThePrefix) {
  append(client, {message_to(orders), message_to(bills)});
  run();
  const auto made = checkpoint();
  const auto loaded = question<slices_loaded>(load_slices{{}, "queue/"});
  EXPECT_EQ(loaded.replay_from, made.replay_from);
  ASSERT_EQ(loaded.slices.size(), 2u);
  EXPECT_EQ(loaded.slices[0].name.substr(0, 6), "queue/");
}

TEST_F(LogReader, ReadsTheIndexAcrossRuns) {
  for (int i = 0; i < 3; ++i) {
    append(client, {message_to(orders), message_to(orders)});
    run();
    (void)checkpoint();
  }
  const auto got = question<entries_fetched>(
      read_index{correlation{2}, orders, queue_offset{1}, queue_offset{5}});
  EXPECT_EQ(got.id, correlation{2});
  ASSERT_EQ(got.entries.size(), 4u);
  EXPECT_EQ(got.first, queue_offset{1});
  EXPECT_EQ(got.end, queue_offset{5});
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(got.entries[i].offset.value, i + 1);
}

// -- damaged runs -----------------------------------------------------------------

class DamagedRuns : public LogReader {
public:
  static std::string folder() { return std::string{root} + "/runs"; }

  std::vector<std::string> runs() {
    auto names = *disk.list(folder());
    std::erase_if(names, [](const auto& name) { return !name.ends_with(".run"); });
    return names;
  }
  /// Spoils one byte of a block, or of the head.
  void spoil(std::size_t run, std::size_t block) {
    disk.flip_bit(folder() + "/" + runs().at(run), block * storage::run_block_bytes + 3, 2);
  }
  /// Two messages to each queue, then a checkpoint; `times` over.
  void make_runs(int times) {
    for (int i = 0; i < times; ++i) {
      append(client, {message_to(orders), message_to(orders), message_to(bills)});
      run();
      (void)checkpoint();
    }
  }
  entries_fetched ask_index(std::uint64_t from = 0, std::uint64_t to = 100) {
    return question<entries_fetched>(
        read_index{correlation{9}, orders, queue_offset{from}, queue_offset{to}});
  }
  std::vector<std::string> listed() {
    std::vector<std::string> all;
    for (const auto& item : ask<status_report>(reader, status_request{}).quarantined)
      all.push_back(item.what + ": " + item.why);
    return all;
  }
};

TEST_F(DamagedRuns, AreMadeAgainAndAnswerWithEverything) {
  make_runs(3);
  const auto before = saved_entries(orders);
  ASSERT_EQ(before.size(), 6u);
  for (std::size_t number = 0; number < 3; ++number)
    for (const std::size_t block : {1, 2}) { // entries, extents
      spoil(number, block);
      const auto got = ask_index();
      EXPECT_EQ(got.code, ec::ok);
      EXPECT_EQ(got.id, correlation{9});
      EXPECT_EQ(got.entries, before) << number << " " << block;
    }
  EXPECT_EQ(saved_entries(bills).size(), 3u);
}

TEST_F(DamagedRuns, AreListedAndTheirBytesKept) {
  make_runs(1);
  spoil(0, 1);
  (void)ask_index();
  const auto name = runs().at(0);
  EXPECT_THAT(*disk.list(folder()), ElementsAre(name, name + ".damaged"));
  ASSERT_EQ(listed().size(), 1u);
  EXPECT_THAT(listed()[0], ::testing::HasSubstr("is damaged at byte 4096. It was set aside as "));
  EXPECT_THAT(listed()[0], ::testing::HasSubstr("made again from the log"));
  power_cut_and_start();
  ASSERT_EQ(listed().size(), 1u) << "also in the next life";
  EXPECT_THAT(listed()[0], ::testing::HasSubstr("Remove the file"));
}

TEST_F(DamagedRuns, GiveOutcomesAgain) {
  enroll(op_store, op_life);
  const auto opened = store_halves(1).at(0);
  decide_record d;
  d.decisions.push_back({opened, outcome::rolled_back, origin::producer, 0, group_id{5}});
  append(op_store, op_life, record_of(record_type::decide, std::move(d), 1));
  run();
  outcomes.push_back(
      {opened, outcome::rolled_back, origin::producer, group_id{5}, 0, opened + 200, 123, {}});
  (void)checkpoint();
  spoil(0, 1); // there are no entries: the first block holds outcomes
  const auto found = question<outcomes_found>(find_outcomes{correlation{3}, {opened}});
  EXPECT_EQ(found.id, correlation{3});
  EXPECT_EQ(found.code, ec::ok);
  ASSERT_EQ(found.outcomes.size(), 1u);
  EXPECT_EQ(found.outcomes[0].result, outcome::rolled_back);
  EXPECT_EQ(found.outcomes[0].group, group_id{5});
  EXPECT_EQ(listed().size(), 1u);
}

TEST_F(DamagedRuns, MakeViewsSlowerButNotWrong) {
  const auto at = store_halves(200);
  (void)checkpoint();
  power_cut_and_start();
  spoil(0, 1);
  const auto got = question<view_read>(read_view{{}, half_view_topic, queue_offset{150}, 10});
  EXPECT_EQ(got.code, ec::ok);
  ASSERT_EQ(got.records.size(), 10u);
  EXPECT_EQ(got.records[0].at, at[150]);
  EXPECT_EQ(listed().size(), 1u) << "and it is made again";
}

TEST_F(DamagedRuns, KeepWhatBecameVisibleWhileTheirCheckpointWasMade) {
  make_runs(1);
  append(client, {message_to(bills)});
  run();
  // The queue's part is taken behind the place where the replay would begin.
  const auto start = durable_end();
  append(client, {message_to(orders)});
  run();
  auto members = std::make_shared<checkpoint_members>();
  for (auto& [key, q] : indexes)
    members->queues.emplace_back(key, q.actor->as<queue_actor>());
  send_as(supervisor, real_checkpointer, make_checkpoint{start, false, members});
  run();
  append(client, {message_to(orders)});
  run();
  const auto before = saved_entries(orders);
  ASSERT_EQ(before.size(), 3u);
  const auto last = runs().size() - 1;
  spoil(last, 1);
  const auto got = ask_index(0, 3);
  EXPECT_EQ(got.code, ec::ok);
  EXPECT_EQ(got.entries, before);
}

TEST_F(DamagedRuns, DoNotMakeTheNextCheckpointClaimWhatOnlyTheyHeld) {
  make_runs(2);
  const auto before = saved_entries(orders);
  caf::anon_send_exit(reader, caf::exit_reason::kill); // nobody makes it again
  run();
  spoil(1, 0);
  append(client, {message_to(orders)});
  run();
  (void)checkpoint();
  ASSERT_EQ(runs().size(), 3u);
  EXPECT_EQ(runs()[2].substr(0, 16), runs()[1].substr(17, 16));
  power_cut_and_start();
  EXPECT_GE(saved_entries(orders).size() + replayed.size(), before.size());
}

TEST_F(DamagedRuns, WithADamagedHeadAreMadeAgainAfterTheNextCheckpoint) {
  make_runs(2);
  const auto before = saved_entries(orders);
  spoil(0, 0);
  make_runs(1);
  EXPECT_EQ(ask_index(0, 4).entries, before);
  EXPECT_EQ(listed().size(), 1u);
}

TEST_F(DamagedRuns, SayWhichPartOfTheLogIsGone) {
  append(client, {message_to(orders), message_to(orders)});
  run();
  const auto stored = results(client);
  (void)checkpoint();
  const auto logs = *disk.list(std::string{root} + "/log");
  disk.flip_bit(std::string{root} + "/log/" + logs.at(0), byte_of(stored[0].at) + 20, 1);
  spoil(0, 1);
  const auto got = ask_index();
  EXPECT_EQ(got.code, ec::ok);
  ASSERT_EQ(got.entries.size(), 1u);
  EXPECT_EQ(got.entries[0].offset, queue_offset{1});
  ASSERT_EQ(listed().size(), 1u);
  EXPECT_THAT(listed()[0],
              ::testing::HasSubstr("NOT what positions " + std::to_string(stored[0].at.value) +
                                   " to " + std::to_string(stored[1].at.value) + " said"));
}

TEST_F(DamagedRuns, ThatCannotBeMadeAgainAreAnsweredAsDamagedAndTriedAgainLater) {
  make_runs(1);
  const auto before = saved_entries(orders);
  spoil(0, 1);
  const auto space = *disk.space("/");
  disk.set_capacity(space.capacity - space.available);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(ask_index().code, ec::corrupt);
  ASSERT_EQ(listed().size(), 1u);
  EXPECT_THAT(listed()[0], ::testing::HasSubstr("could NOT be made again"));
  disk.set_capacity(~std::uint64_t{0});
  make_runs(1);
  const auto got = ask_index(0, 2);
  EXPECT_EQ(got.code, ec::ok);
  EXPECT_EQ(got.entries, before);
}

TEST_F(DamagedRuns, LetNobodyWaitForACommitLogThatDoesNotAnswer) {
  make_runs(1);
  spoil(0, 1);
  kill(log);
  EXPECT_EQ(ask_index().code, ec::recovering);
}

TEST_F(LogReader, ShowsTheHalfViewWithItsEnd) {
  const auto at = store_halves(200);
  append(client, {message_to(orders)});
  run();
  const auto got =
      question<view_read>(read_view{correlation{6}, half_view_topic, queue_offset{70}, 10});
  EXPECT_EQ(got.id, correlation{6});
  EXPECT_EQ(got.code, ec::ok);
  EXPECT_EQ(got.end, queue_offset{200});
  ASSERT_EQ(got.records.size(), 10u);
  EXPECT_EQ(got.records[0].at, at[70]);
  EXPECT_EQ(std::get<message_record>(got.records[9].content).body(), "half 79");
}

TEST_F(LogReader, ShowsViewsFromRunsAfterACheckpoint) {
  const auto at = store_halves(300);
  (void)checkpoint();
  power_cut_and_start();
  const auto got = question<view_read>(read_view{{}, half_view_topic, queue_offset{290}, 100});
  EXPECT_EQ(got.end, queue_offset{300});
  ASSERT_EQ(got.records.size(), 10u);
  EXPECT_EQ(got.records[0].at, at[290]);
}

TEST_F(LogReader, NeverShowsARecordThatIsNotDurable) {
  store_halves(2);
  writer->hold(true);
  append(half_store, half_life, record_of(record_type::half, message_to(orders), 77));
  run();
  EXPECT_EQ(question<view_read>(read_view{{}, half_view_topic, {}, 10}).records.size(), 2u);
}

TEST_F(LogReader, ListsHalfOffsetsInOpBodies) {
  const auto at = store_halves(4);
  enroll(op_store, op_life);
  decide_record d;
  d.decisions.push_back({at[1], outcome::rolled_back, origin::producer, 1, group_id{5}});
  d.decisions.push_back({at[3], outcome::rolled_back, origin::producer, 1, group_id{5}});
  append(op_store, op_life, record_of(record_type::decide, std::move(d), 1));
  run();
  const auto got = question<view_read>(read_view{{}, op_view_topic, {}, 10});
  EXPECT_EQ(got.end, queue_offset{1});
  EXPECT_THAT(got.op_bodies, ElementsAre("1,3,"));
}

TEST_F(LogReader, ListsTheOffsetsOfAllMessagesInOpBodies) {
  const auto at = store_halves(6);
  enroll(op_store, op_life);
  decide_record d;
  d.decisions.push_back({at[0], outcome::committed, origin::producer, 2, group_id{5}});
  d.decisions.push_back({at[2], outcome::rolled_back, origin::producer, 0, group_id{5}});
  d.decisions.push_back({at[3], outcome::given_up, origin::policy, 2, group_id{5}});
  for (const auto i : {0, 4})
    d.entries.push_back({at[static_cast<std::size_t>(i)], orders.topic, {}, {}, 0, 0});
  for (const auto i : {3, 5})
    d.entries.push_back({at[static_cast<std::size_t>(i)], give_up_topic, {}, {}, 0, 0});
  append(op_store, op_life, record_of(record_type::decide, std::move(d), 1));
  run();
  EXPECT_THAT(question<view_read>(read_view{{}, op_view_topic, {}, 10}).op_bodies,
              ElementsAre("0,4,2,3,5,"));
}

TEST_F(LogReader, RefusesAViewThatIsNone) {
  EXPECT_EQ(question<view_read>(read_view{{}, topic_id{20}, {}, 10}).code, ec::unknown_topic);
}

TEST_F(LogReader, SaysRecoveringWhileTheCommitLogDoesNotAnswer) {
  kill(log);
  EXPECT_EQ(question<view_read>(read_view{{}, half_view_topic, {}, 10}).code, ec::recovering);
}

} // namespace
} // namespace handfast
