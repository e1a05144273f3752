#include "tests/unit/actors/native_client.hpp"

namespace handfast {
namespace {

class NativeProduce : public test::native_client {
protected:
  /// The requests that reached the log in one message.
  std::vector<store_request> stored() { return log->take_last<append_messages>().requests; }
  std::vector<half_request> halves() { return half_store->take_last<append_halves>().requests; }

  native::sent_item refusal(const native::send_item& item) {
    give(native::send{{item}});
    const auto answer = only<native::sent>();
    EXPECT_EQ(answer.items.size(), 1U);
    return answer.items.empty() ? native::sent_item{} : answer.items[0];
  }
};

TEST_F(NativeProduce, PassesMessagesToTheLogAndAnswers) {
  open();
  resolve_orders();
  give(native::send{{message(11, "body", "TAGS\x01red\x02")}});
  const auto requests = stored();
  ASSERT_EQ(requests.size(), 1U);
  const auto& m = requests[0].message;
  EXPECT_EQ(m.topic, orders);
  EXPECT_EQ(m.body(), "body");
  EXPECT_EQ(m.tag_hash, tag_hash("red"));
  EXPECT_EQ(m.payload_crc, storage::crc32c(m.payload.span()));
  EXPECT_EQ(m.producer, producer_id{99});
  send(connection,
       messages_stored{
           {{requests[0].id, ec::ok, position{4096}, {orders, queue_no{2}}, queue_offset{5}}}});
  run();
  const auto answer = only<native::sent>();
  ASSERT_EQ(answer.items.size(), 1U);
  EXPECT_EQ(answer.items[0].id, correlation{11});
  EXPECT_EQ(answer.items[0].offset, queue_offset{5});
}

TEST_F(NativeProduce, GathersAllFramesOfOneReadIntoOneMessage) {
  open_and_join();
  const auto writes = wire->writes;
  give(native::send_half{{message(1)}}, native::send_half{{message(2), message(3)}},
       native::send{{message(4)}}, native::send_half{{message(5)}});
  EXPECT_EQ(half_store->count<append_halves>(), 1U);
  EXPECT_EQ(log->count<append_messages>(), 1U);
  const auto requests = halves();
  EXPECT_EQ(requests.size(), 4U);
  halves_stored all;
  for (const auto& r : requests)
    all.results.push_back({r.id, ec::ok, {position{4096}, 1}, {}, {}});
  send(connection, all);
  run();
  EXPECT_EQ(wire->writes, writes + 1);
  EXPECT_EQ(only<native::half_stored>().items.size(), 4U);
}

TEST_F(NativeProduce, SpreadsMessagesOverTheQueues) {
  open();
  resolve_orders();
  give(native::send{{message(1), message(2), message(3), message(4)}});
  std::set<std::uint16_t> queues;
  for (const auto& r : stored())
    queues.insert(r.message.queue.value);
  EXPECT_EQ(queues.size(), 4U);
}

TEST_F(NativeProduce, KeepsMessagesOfOneOrderKeyInOneQueue) {
  open();
  resolve_orders();
  auto item = message(1);
  item.flags = message_flags::has_order_key;
  item.order_hash = 7;
  give(native::send{{item, item, item}});
  for (const auto& r : stored())
    EXPECT_EQ(r.message.queue, queue_no{3});
}

TEST_F(NativeProduce, TakesTheQueueThatTheClientChose) {
  open();
  resolve_orders();
  auto item = message(1);
  item.queue = queue_no{2};
  give(native::send{{item}});
  EXPECT_EQ(stored()[0].message.queue, queue_no{2});
}

TEST_F(NativeProduce, RefusesWhatItCannotStoreAndTakesTheRest) {
  open();
  resolve_orders();
  auto stranger = message(1);
  stranger.topic = topic_id{55};
  give(native::send{{stranger, message(2)}});
  const auto answer = only<native::sent>();
  ASSERT_EQ(answer.items.size(), 1U);
  EXPECT_EQ(answer.items[0].id, correlation{1});
  EXPECT_EQ(answer.items[0].code, ec::unknown_topic);
  EXPECT_FALSE(answer.details[0].text.empty());
  EXPECT_EQ(stored().size(), 1U);
}

TEST_F(NativeProduce, RefusesQueuesThatTheTopicDoesNotHave) {
  open();
  resolve_orders();
  auto item = message(1);
  item.queue = queue_no{4};
  EXPECT_EQ(refusal(item).code, ec::unknown_queue);
}

TEST_F(NativeProduce, RefusesWritesToViews) {
  open();
  give(native::resolve_topic{correlation{1}, std::string{half_view_topic_name}, false});
  auto item = message(1);
  item.topic = half_view_topic;
  EXPECT_EQ(refusal(item).code, ec::read_only_topic);
}

TEST_F(NativeProduce, RefusesBodiesOverTheLimit) {
  settings.limits.body = 100;
  open();
  resolve_orders();
  EXPECT_EQ(refusal(message(1, std::string(101, 'x'))).code, ec::body_too_large);
  EXPECT_EQ(log->count<append_messages>(), 0U);
}

TEST_F(NativeProduce, RefusesPropertiesThatAreNotWhole) {
  open();
  resolve_orders();
  EXPECT_EQ(refusal(message(1, "x", "\x01no key\x02")).code, ec::bad_request);
}

TEST_F(NativeProduce, RefusesDelaysBeyondThreeYearsAndNamesTheLimit) {
  open();
  resolve_orders();
  auto item = message(1);
  item.delay_ms = 94'694'400'001; // a millisecond more than three years
  give(native::send{{item}});
  const auto answer = only<native::sent>();
  EXPECT_EQ(answer.items.at(0).code, ec::bad_delay);
  EXPECT_EQ(answer.details.at(0).text, "94694400001 ms, at most 1096d (three years)");
}

TEST_F(NativeProduce, HandsDelaysOnAndSaysWhenTheMessageBecomesVisible) {
  open_and_join();
  auto item = message(1);
  item.delay_ms = 5'000;
  give(native::send{{item}});
  const auto sent = log->take_last<append_messages>();
  ASSERT_EQ(sent.requests.size(), 1U);
  EXPECT_EQ(sent.requests[0].message.delay_ms, 5'000U);
  send(connection, messages_stored{{{sent.requests[0].id, ec::ok, position{8}, {}, {}, 77'000}}});
  run();
  EXPECT_EQ(only<native::sent>().items.at(0).due_ms, 77'000U);
  give(native::send_half{{item}});
  EXPECT_EQ(halves().at(0).message.delay_ms, 5'000U);
}

TEST_F(NativeProduce, TakesTheFirstCheckFromTheMessage) {
  open_and_join();
  give(native::send_half{{message(1, "x",
                                  "CHECK_IMMUNITY_TIME_IN_SECONDS\x01"
                                  "60\x02")}});
  EXPECT_EQ(halves()[0].message.timeout_ms, 60'000U);
  give(native::send_half{{message(2, "x", "CHECK_IMMUNITY_TIME_IN_SECONDS\x01soon\x02")}});
  EXPECT_EQ(only<native::half_stored>().items[0].code, ec::bad_request);
}

TEST_F(NativeProduce, TakesHalvesOfJoinedGroupsOnly) {
  open();
  resolve_orders();
  give(native::send_half{{message(1)}});
  EXPECT_EQ(only<native::half_stored>().items[0].code, ec::unknown_group);
}

TEST_F(NativeProduce, JoinsATransactionByItsId) {
  open_and_join();
  auto item = message(1);
  item.transaction = environment.ids.at(position{8192});
  give(native::send_half{{item}});
  const auto request = halves()[0];
  EXPECT_EQ(request.joined, item.transaction);
  EXPECT_EQ(request.message.transaction, position{8192});
}

TEST_F(NativeProduce, SaysUnknownWhenTheLogWasRestarted) {
  open();
  resolve_orders();
  give(native::send{{message(1), message(2)}});
  const auto requests = stored();
  log_life = incarnation{2};
  tell_peers();
  const auto refused = taken<native::refused>();
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_EQ(refused[0].code, ec::outcome_unknown);
  send(connection, messages_stored{{{requests[0].id, ec::ok, {}, {}, {}}}});
  run();
  EXPECT_TRUE(taken<native::sent>().empty()) << "each request is answered once";
}

TEST_F(NativeProduce, TellsHowMuchRoomAFullDiskLacks) {
  open_and_join();
  give(native::send{{message(1)}}, native::send_half{{message(2)}});
  const std::string shortage = "2 MiB free, 48 MiB needed";
  send(connection, messages_stored{{{stored()[0].id, ec::disk_full, {}, {}, {}}}, shortage});
  run();
  const auto sent = only<native::sent>();
  ASSERT_EQ(sent.details.size(), 1U);
  EXPECT_EQ(sent.details[0].id, correlation{1});
  EXPECT_EQ(sent.details[0].text, shortage);
  halves_stored halves;
  halves.detail = shortage;
  halves.results.push_back(
      {half_store->take_last<append_halves>().requests[0].id, ec::disk_full, {}, {}, {}});
  send(connection, halves);
  run();
  EXPECT_EQ(only<native::half_stored>().details.at(0).text, shortage);
}

TEST_F(NativeProduce, SaysUnknownWhenTheHalfStoreWasRestarted) {
  open_and_join();
  give(native::send_half{{message(1)}});
  half_life = incarnation{2};
  tell_peers();
  EXPECT_EQ(only<native::refused>().code, ec::outcome_unknown);
}

TEST_F(NativeProduce, StopsReadingAClientFarOverItsCredit) {
  open(2);
  resolve_orders();
  const auto before = wire->reads_asked;
  give(native::send{{message(1), message(2), message(3)}});
  EXPECT_EQ(wire->reads_asked, before + 1);
  give(native::send{{message(4)}});
  EXPECT_EQ(wire->reads_asked, before + 1) << "nothing is read before an answer went out";
  const auto requests = log->take<append_messages>();
  send(connection, messages_stored{{{requests[0].requests[0].id, ec::ok, {}, {}, {}}}});
  run();
  EXPECT_EQ(wire->reads_asked, before + 2);
}

TEST_F(NativeProduce, ReadsDecisionsThoughAllCreditIsUsed) {
  open(2);
  resolve_orders();
  join_billing();
  give(native::send_half{{message(1), message(2)}});
  native::decide_item item;
  item.id = correlation{9};
  item.group = billing;
  item.wanted = outcome::committed;
  const auto before = wire->reads_asked;
  give(native::decide{{item}});
  EXPECT_EQ(half_store->count<decide>(), 1U);
  EXPECT_EQ(wire->reads_asked, before + 1);
}

TEST_F(NativeProduce, StopsReadingAClientThatDoesNotRead) {
  open();
  wire->unsent_bytes = connection_core::unsent_bytes_max + 1;
  const auto before = wire->reads_asked;
  give(native::resolve_topic{correlation{1}, "orders", true});
  EXPECT_EQ(wire->reads_asked, before);
  wire->unsent_bytes = 0;
  send(connection, bytes_written{100});
  run();
  EXPECT_EQ(wire->reads_asked, before + 1);
}

TEST_F(NativeProduce, ForgetsATopicThatTheLogDoesNotKnow) {
  open();
  resolve_orders();
  give(native::send{{message(1)}});
  send(connection,
       messages_stored{{{stored()[0].id, ec::unknown_topic, {}, {orders, queue_no{0}}, {}}}});
  run();
  (void)taken<native::sent>();
  EXPECT_EQ(refusal(message(2)).code, ec::unknown_topic);
}

TEST_F(NativeProduce, ClosesOnAFrameThatCannotBeDecoded) {
  open();
  std::array<std::byte, native::frame_header_bytes> header{};
  native::put_frame_header({native::frame_kind::send, 0, 8, 0}, header);
  give_bytes(std::string{reinterpret_cast<const char*>(header.data()), header.size()} +
             std::string(8, '\xff'));
  EXPECT_EQ(only<native::closing>().code, ec::bad_frame);
}

} // namespace
} // namespace handfast
