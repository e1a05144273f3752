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
  EXPECT_GT(settled.items.at(0).retry_ms, 0U) << "a disk that is gone keeps nobody busy";
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
  ack.items = {{orders, queue_no{1}, queue_offset{4}, 77}};
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
  ack.items = {{orders, queue_no{9}, queue_offset{4}, 77}};
  give(ack);
  EXPECT_EQ(only<native::refused>().code, ec::unknown_queue);
}

TEST_F(NativeConsume, AsksARestartedGroupAgainAndCallsAcknowledgementsUnknown) {
  open_orders();
  fetch();
  native::acknowledge ack;
  ack.id = correlation{8};
  ack.group = billing;
  ack.items = {{orders, queue_no{1}, queue_offset{4}, 77}};
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

TEST_F(NativeConsume, PassesOnHowAMemberReads) {
  open_orders();
  native::fetch f;
  f.id = correlation{3};
  f.group_name = "readers";
  f.topic = orders;
  f.start = {start_from::offset, 7};
  f.terms = {delivery_mode::ordered, filter_kind::tags, "a || b"};
  give(f);
  const auto asked = consumers->take_last<fetch_messages>();
  EXPECT_EQ(asked.start, f.start);
  EXPECT_EQ(asked.terms, f.terms);
  EXPECT_EQ(asked.member, "tester");
}

TEST_F(NativeConsume, RefusesAFilterThatCannotBeRead) {
  open_orders();
  native::fetch f;
  f.id = correlation{3};
  f.group_name = "readers";
  f.topic = orders;
  f.terms = {delivery_mode::concurrent, filter_kind::sql, "a == 1"};
  give(f);
  const auto refused = only<native::refused>();
  EXPECT_EQ(refused.code, ec::bad_filter);
  EXPECT_NE(refused.detail.find("character"), std::string::npos) << refused.detail;
}

TEST_F(NativeConsume, PassesOnWhatBecameOfMessages) {
  open_orders();
  answer(fetch().id, {});
  native::acknowledge ack;
  ack.id = correlation{8};
  ack.group = billing;
  ack.items = {{orders, queue_no{1}, queue_offset{4}, 77, handling::failed, {}, 500},
               {orders, queue_no{2}, queue_offset{5}, 0, handling::done, queue_offset{9}}};
  give(ack);
  const auto passed = consumers->take_last<acknowledge>();
  ASSERT_EQ(passed.items.size(), 2U);
  EXPECT_EQ(passed.items[0].what, handling::failed);
  EXPECT_EQ(passed.items[0].retry_ms, 500U);
  EXPECT_EQ(passed.items[1].to, queue_offset{9});
}

TEST_F(NativeConsume, RefusesARangeThatEndsAtItsBeginning) {
  open_orders();
  answer(fetch().id, {});
  native::acknowledge ack;
  ack.id = correlation{8};
  ack.group = billing;
  ack.items = {{orders, queue_no{1}, queue_offset{4}, 0, handling::done, queue_offset{4}}};
  give(ack);
  EXPECT_EQ(only<native::refused>().code, ec::bad_request);
}

/// Two tags of one hash: the group can't tell them apart by the index alone.
class NativeFilter : public NativeConsume {
protected:
  fetch_messages fetch_tag(const std::string& tag, std::uint32_t wait_ms = 500) {
    native::fetch f;
    f.id = correlation{3};
    f.group_name = "readers";
    f.topic = orders;
    f.wait_ms = wait_ms;
    f.terms = {delivery_mode::concurrent, filter_kind::tags, tag};
    give(f);
    return consumers->take_last<fetch_messages>();
  }
  void store(std::uint64_t at, std::string_view properties) {
    auto record = test::message_record_at(at, std::string{properties} + "body");
    std::get<message_record>(record.content).properties_size =
        static_cast<std::uint32_t>(properties.size());
    records.cached[at] = record;
  }
};

TEST_F(NativeFilter, LeavesOutAnotherTagOfTheSameHash) {
  ASSERT_EQ(tag_hash("Aa"), tag_hash("BB"));
  open_orders();
  store(4000, "TAGS\x01"
              "Aa\x02");
  store(8000, "TAGS\x01"
              "BB\x02");
  answer(fetch_tag("Aa").id, {handed(4000, 5), handed(8000, 6)});
  const auto got = only<native::delivered>();
  ASSERT_EQ(got.items.size(), 1U);
  EXPECT_EQ(got.items[0].lease, 5U);
  const auto settled = consumers->take_last<acknowledge>();
  ASSERT_EQ(settled.items.size(), 1U);
  EXPECT_EQ(settled.items[0].what, handling::filtered);
  EXPECT_EQ(settled.items[0].lease, 6U);
}

TEST_F(NativeFilter, AsksOnWithinItsWaitWhenNothingIsLeft) {
  open_orders();
  store(8000, "TAGS\x01"
              "BB\x02");
  const auto asked = fetch_tag("Aa");
  EXPECT_EQ(asked.wait_ms, 500U);
  advance(std::chrono::milliseconds{200});
  answer(asked.id, {handed(8000, 6)});
  EXPECT_TRUE(taken<native::delivered>().empty());
  const auto again = consumers->take_last<fetch_messages>();
  EXPECT_EQ(again.wait_ms, 300U);
  answer(again.id, {});
  EXPECT_TRUE(only<native::delivered>().items.empty());
}

} // namespace
} // namespace handfast
