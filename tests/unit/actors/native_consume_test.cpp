#include "tests/unit/actors/native_client.hpp"

namespace handfast {
namespace {

class NativeConsume : public test::native_client {
protected:
  void open_orders() {
    open();
    resolve_orders();
  }

  fetch_messages fetch(std::uint64_t id = 3) {
    native::fetch f;
    f.id = correlation{id};
    f.group_name = "readers";
    f.topic = orders;
    f.wait_ms = 500;
    give(f);
    return consumers->take_last<fetch_messages>();
  }

  delivery handed(std::uint64_t at, std::uint64_t lease = 1) {
    delivery d;
    d.queue = {orders, queue_no{1}};
    d.entry = {position{at}, 100, 0, queue_offset{at / 100}, 9};
    d.lease = lease;
    return d;
  }

  void answer(correlation id, std::vector<delivery> deliveries, ec code = ec::ok) {
    send(connection, deliver{id, code, std::move(deliveries)});
    run();
  }
};

TEST_F(NativeConsume, DeliversBodies) {
  open_orders();
  const auto asked = fetch();
  EXPECT_EQ(asked.queues, 4U);
  EXPECT_EQ(asked.wait_ms, 500U);
  records.cached[4000] = test::message_record_at(4000, "plain");
  records.cached[8000] = test::message_record_at(8000, "committed", record_type::half);
  answer(asked.id, {handed(4000, 5), handed(8000, 6)});
  const auto got = only<native::delivered>();
  EXPECT_EQ(got.id, correlation{3});
  EXPECT_EQ(got.group, billing);
  ASSERT_EQ(got.items.size(), 2U);
  EXPECT_EQ(got.items[0].payload.text(), "plain");
  EXPECT_EQ(got.items[0].transaction, transaction_id{});
  EXPECT_EQ(got.items[0].lease, 5U);
  EXPECT_EQ(got.items[1].transaction, environment.ids.at(position{8000}));
}

TEST_F(NativeConsume, AFetchThatWaitsIsNothingUnfinishedAtAStop) {
  open_orders();
  fetch();
  send_as(supervisor, connection, stop{});
  run();
  EXPECT_EQ(supervisor->take_last<stopped>().unfinished, "");
}

TEST_F(NativeConsume, AnswersAnEmptyFetch) {
  open_orders();
  answer(fetch().id, {});
  EXPECT_TRUE(only<native::delivered>().items.empty());
}

TEST_F(NativeConsume, PassesTheGroupsCodeOn) {
  open_orders();
  answer(fetch().id, {}, ec::recovering);
  EXPECT_EQ(only<native::delivered>().code, ec::recovering);
}

TEST_F(NativeConsume, ReadsColdBodiesThroughTheReader) {
  open_orders();
  records.cached[4000] = test::message_record_at(4000, "warm");
  answer(fetch().id, {handed(4000), handed(8000)});
  EXPECT_TRUE(taken<native::delivered>().empty());
  const auto read = reader->take_last<read_records>();
  ASSERT_EQ(read.places.size(), 1U);
  send(connection, records_read{read.id, {{ec::ok, test::message_record_at(8000, "cold")}}});
  run();
  const auto got = only<native::delivered>();
  ASSERT_EQ(got.items.size(), 2U);
  EXPECT_EQ(got.items[1].payload.text(), "cold");
}

TEST_F(NativeConsume, LeavesDamagedMessagesOutAndHasThemListed) {
  open_orders();
  records.cached[4000] = test::message_record_at(4000, "warm");
  answer(fetch().id, {handed(8000, 7), handed(4000)});
  send(connection, records_read{reader->take_last<read_records>().id, {{ec::corrupt, {}}}});
  run();
  EXPECT_EQ(only<native::delivered>().items.size(), 1U);
  const auto settled = consumers->take_last<acknowledge>();
  ASSERT_EQ(settled.items.size(), 1U);
  EXPECT_EQ(settled.items[0].what, handling::unreadable);
  EXPECT_EQ(settled.items[0].lease, 7U);
}

TEST_F(NativeConsume, HandsBackWhatTheDiskCannotReadNow) {
  open_orders();
  answer(fetch().id, {handed(8000)});
  send(connection, records_read{reader->take_last<read_records>().id, {{ec::io_error, {}}}});
  run();
  const auto settled = consumers->take_last<acknowledge>();
  EXPECT_EQ(settled.items.at(0).what, handling::returned);
}

TEST_F(NativeConsume, HandsBackWhatARestartedReaderWasAsked) {
  open_orders();
  answer(fetch().id, {handed(8000)});
  reader_life = incarnation{2};
  tell_peers();
  EXPECT_EQ(only<native::refused>().code, ec::recovering);
  EXPECT_EQ(consumers->take_last<acknowledge>().items.at(0).what, handling::returned);
}

TEST_F(NativeConsume, Acknowledges) {
  open_orders();
  answer(fetch().id, {});
  native::acknowledge ack;
  ack.id = correlation{8};
  ack.group = billing;
  ack.items = {{orders, queue_no{1}, queue_offset{4}, 77, true}};
  give(ack);
  const auto passed = consumers->take_last<acknowledge>();
  ASSERT_EQ(passed.items.size(), 1U);
  EXPECT_EQ(passed.items[0].lease, 77U);
  send(connection, acknowledged{passed.id, ec::ok, 1, 0});
  run();
  const auto done = only<native::acknowledged>();
  EXPECT_EQ(done.id, correlation{8});
  EXPECT_EQ(done.accepted, 1U);
}

TEST_F(NativeConsume, RefusesAcknowledgementsOfQueuesThatAreNotThere) {
  open_orders();
  answer(fetch().id, {});
  native::acknowledge ack;
  ack.id = correlation{8};
  ack.group = billing;
  ack.items = {{orders, queue_no{9}, queue_offset{4}, 77, true}};
  give(ack);
  EXPECT_EQ(only<native::refused>().code, ec::unknown_queue);
}

TEST_F(NativeConsume, AsksARestartedGroupAgainAndCallsAcknowledgementsUnknown) {
  open_orders();
  fetch();
  native::acknowledge ack;
  ack.id = correlation{8};
  ack.group = billing;
  ack.items = {{orders, queue_no{1}, queue_offset{4}, 77, true}};
  give(ack);
  auto next = make_probe();
  send(connection, consumer_group_found{billing, next->as<consumer_group_actor>(), incarnation{2}});
  run();
  EXPECT_EQ(only<native::refused>().code, ec::outcome_unknown);
  const auto again = next->take_last<fetch_messages>();
  answer(again.id, {});
  EXPECT_EQ(only<native::delivered>().id, correlation{3});
}

TEST_F(NativeConsume, RefusesTopicsThatWereNotResolved) {
  open();
  fetch();
  EXPECT_EQ(only<native::refused>().code, ec::unknown_topic);
}

TEST_F(NativeConsume, BoundsFetchesOfOneConnection) {
  open_orders();
  for (std::uint64_t n = 0; n < 300; ++n)
    fetch(n + 1);
  const auto refused = taken<native::refused>();
  ASSERT_FALSE(refused.empty());
  EXPECT_EQ(refused[0].code, ec::busy);
}

TEST_F(NativeConsume, BrowsesAQueueWithoutAGroup) {
  open_orders();
  native::read_view view;
  view.id = correlation{9};
  view.topic = orders;
  view.queue = queue_no{1};
  view.offset = queue_offset{3};
  give(view);
  const auto asked = queue_probe->take_last<fetch_entries>();
  EXPECT_EQ(asked.from, queue_offset{3});
  records.cached[4000] = test::message_record_at(4000, "seen");
  send(connection, entries_fetched{asked.id,
                                   {orders, queue_no{1}},
                                   ec::ok,
                                   {},
                                   queue_offset{4},
                                   {{position{4000}, 100, 0, queue_offset{3}, 9}}});
  run();
  const auto got = only<native::delivered>();
  ASSERT_EQ(got.items.size(), 1U);
  EXPECT_EQ(got.items[0].lease, 0U);
  EXPECT_EQ(got.items[0].payload.text(), "seen");
  EXPECT_EQ(consumers->received().size(), 0U);
}

TEST_F(NativeConsume, ReadsTheOpViewInItsForm) {
  open();
  native::read_view view;
  view.id = correlation{9};
  view.topic = op_view_topic;
  give(view);
  view_read answer;
  answer.id = reader->take_last<read_view>().id;
  log_record record;
  record.type = record_type::decide;
  decide_record content;
  content.op_offset = queue_offset{6};
  record.content = content;
  answer.records = {record};
  answer.op_bodies = {"3,4,"};
  send(connection, answer);
  run();
  const auto got = only<native::delivered>();
  ASSERT_EQ(got.items.size(), 1U);
  EXPECT_EQ(got.items[0].payload.text(), "3,4,");
  EXPECT_EQ(got.items[0].offset, queue_offset{6});
}

} // namespace
} // namespace handfast
