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

TEST_F(LogReader, SaysThatARunIsDamagedInsteadOfLeavingItsEntriesOut) {
  append(client, {message_to(orders), message_to(orders)});
  run();
  (void)checkpoint();
  const auto runs = *disk.list(std::string{root} + "/runs");
  ASSERT_EQ(runs.size(), 1u);
  disk.flip_bit(std::string{root} + "/runs/" + runs[0], storage::run_block_bytes + 3, 2);
  EXPECT_EQ(question<entries_fetched>(read_index{{}, orders, {}, queue_offset{5}}).code,
            ec::corrupt);
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
