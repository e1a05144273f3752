#include "actors/client/producer.hpp"
#include "tests/unit/client/client_fixture.hpp"

namespace handfast::client::test {

class ClientProducer : public ClientTest {
protected:
  producer sender{connection};
};

TEST_F(ClientProducer, StoresAMessageAndSaysWhere) {
  auto stored = sender.send({"orders", "hello"});
  ASSERT_DONE(stored);
  EXPECT_EQ(stored->queue.topic, topic_id{16});
  EXPECT_EQ(node.visible.at(0).payload.text(), "hello");
}

TEST_F(ClientProducer, SaysWhoItIsWhenItConnects) {
  ASSERT_DONE(sender.send({"orders", "hello"}));
  EXPECT_EQ(node.hellos.at(0).client, "test");
  EXPECT_NE(node.hellos.at(0).producer, producer_id{});
}

TEST_F(ClientProducer, SendsTagKeysAndPropertiesAlong) {
  message m{"orders", "hello"};
  m.tag = "new";
  m.keys = "o-1 o-2";
  m.order_key = "customer";
  m.properties["colour"] = "red";
  ASSERT_DONE(sender.send(m));
  const auto& item = node.visible.at(0);
  EXPECT_EQ(decode_message("orders", item.payload, item.properties_size), m);
  EXPECT_TRUE(item.flags & message_flags::has_order_key);
}

TEST_F(ClientProducer, NumbersItsSends) {
  ASSERT_DONE(sender.send({"orders", "one"}));
  ASSERT_DONE(sender.send({"orders", "two"}));
  EXPECT_LT(node.visible.at(0).sequence, node.visible.at(1).sequence);
}

TEST_F(ClientProducer, KeepsTheOrderOfOneThread) {
  std::vector<std::future<answer<stored_message>>> futures;
  for (int i = 0; i < 200; ++i)
    futures.push_back(sender.send_async({"orders", std::to_string(i)}));
  for (auto& f : futures)
    ASSERT_DONE(f.get());
  for (std::size_t i = 0; i < 200; ++i)
    EXPECT_EQ(node.visible.at(i).payload.text(), std::to_string(i));
}

TEST_F(ClientProducer, PutsWhatWaitsIntoOneFrame) {
  ASSERT_DONE(sender.send({"orders", "first"}));
  std::vector<std::future<answer<stored_message>>> futures;
  {
    // The node asks for the topic's name once; all that waits for it leaves together.
    for (int i = 0; i < 2'000; ++i)
      futures.push_back(sender.send_async({"other", std::to_string(i)}));
  }
  for (auto& f : futures)
    ASSERT_DONE(f.get());
  EXPECT_GT(node.most_in_one_frame, 1u);
  EXPECT_LT(node.send_frames, 2'001);
}

TEST_F(ClientProducer, StaysWithinTheCreditOfTheNode) {
  fake_node strict{{.credit = 2, .store_id = 1, .body_max = 1'000}};
  client other{quick(strict.server())};
  producer p{other};
  std::vector<std::future<answer<stored_message>>> futures;
  for (int i = 0; i < 20; ++i)
    futures.push_back(p.send_async({"orders", std::to_string(i)}));
  for (auto& f : futures)
    ASSERT_DONE(f.get());
  EXPECT_LE(strict.most_in_one_frame, 2u);
}

TEST_F(ClientProducer, RepeatsASendWhoseAnswerIsMissingAndItIsStoredOnce) {
  node.misbehave(frame_kind::send, misbehaviour::drop_answer);
  EXPECT_DONE(sender.send({"orders", "once"}));
  EXPECT_EQ(node.sends.size(), 2u);
  EXPECT_EQ(node.visible.size(), 1u);
}

TEST_F(ClientProducer, ReconnectsAndRepeatsWhenTheConnectionEndsBeforeTheAnswer) {
  node.misbehave(frame_kind::send, misbehaviour::close_after);
  EXPECT_DONE(sender.send({"orders", "once"}));
  EXPECT_EQ(node.hellos.size(), 2u);
  EXPECT_EQ(node.hellos[0].producer, node.hellos[1].producer);
  EXPECT_EQ(node.visible.size(), 1u);
}

TEST_F(ClientProducer, ReconnectsWhenTheNodeGoesSilent) {
  node.misbehave(frame_kind::send, misbehaviour::drop_request, 3);
  EXPECT_DONE(sender.send({"orders", "late"}));
  EXPECT_GT(node.hellos.size(), 1u);
}

TEST_F(ClientProducer, KeepsTheOrderAcrossAReconnect) {
  ASSERT_DONE(sender.send({"orders", "warm"}));
  node.misbehave(frame_kind::send, misbehaviour::close_before, 2);
  std::vector<std::future<answer<stored_message>>> futures;
  for (int i = 0; i < 50; ++i)
    futures.push_back(sender.send_async({"orders", std::to_string(i)}));
  for (auto& f : futures)
    ASSERT_DONE(f.get());
  for (std::size_t i = 0; i < 50; ++i)
    EXPECT_EQ(node.visible.at(i + 1).payload.text(), std::to_string(i));
}

TEST_F(ClientProducer, GivesTheNodesRefusalWithItsWords) {
  node.refuse(frame_kind::send, ec::disk_full, "97 % of /data");
  auto got = sender.send({"orders", "x"});
  ASSERT_TRUE(got.is_refused()) << told(got);
  EXPECT_EQ(got.why(), (error{ec::disk_full, "97 % of /data"}));
}

TEST_F(ClientProducer, WaitsOutARefusalThatPasses) {
  node.refuse(frame_kind::send, ec::recovering, "", 2);
  EXPECT_DONE(sender.send({"orders", "x"}));
  EXPECT_EQ(node.sends.size(), 3u);
}

TEST_F(ClientProducer, LearnsANewIdWhenATopicWasMadeAgain) {
  ASSERT_DONE(sender.send({"orders", "x"}));
  node.refuse(frame_kind::send, ec::unknown_topic, "");
  EXPECT_DONE(sender.send({"orders", "y"}));
}

TEST_F(ClientProducer, RefusesAnUnknownTopicWithTheNodesWords) {
  node.refuse(frame_kind::resolve_topic, ec::unknown_topic, "'orders'", 9);
  auto got = sender.send({"orders", "x"});
  ASSERT_TRUE(got.is_refused());
  EXPECT_EQ(got.why().code, ec::unknown_topic);
}

TEST_F(ClientProducer, RefusesBadNamesAndBodiesWithoutAskingTheNode) {
  EXPECT_EQ(sender.send({"no/path", "x"}).why().code, ec::bad_name);
  EXPECT_EQ(sender.send({"orders", std::string(2'000'000, 'x')}).why().code, ec::body_too_large);
  EXPECT_TRUE(node.sends.empty());
}

TEST_F(ClientProducer, SaysUnknownWhenTheTotalTimeIsUsedUp) {
  auto options = quick(node.server());
  options.total_timeout = 400ms;
  client impatient{options};
  producer p{impatient};
  node.misbehave(frame_kind::send, misbehaviour::drop_request, 1'000);
  auto got = p.send({"orders", "x"});
  EXPECT_TRUE(got.is_unknown()) << told(got);
}

TEST_F(ClientProducer, RefusesMoreThanMayWait) {
  auto options = quick(node.server());
  options.requests_max = 3;
  client bounded{options};
  producer p{bounded};
  node.misbehave(frame_kind::resolve_topic, misbehaviour::drop_request, 1'000);
  std::vector<std::future<answer<stored_message>>> kept;
  for (int i = 0; i < 3; ++i)
    kept.push_back(p.send_async({"orders", "x"}));
  auto refused_one = p.send({"orders", "x"});
  EXPECT_TRUE(refused_one.is_refused());
  EXPECT_EQ(refused_one.why().code, ec::busy);
}

TEST(ClientConnection, IsUnreachableAfterOneRoundWithoutPatience) {
  std::string nowhere;
  {
    fake_node gone;
    nowhere = gone.server();
  }
  auto options = quick(nowhere);
  options.connect_patience = 0ms;
  client c{options};
  auto got = producer{c}.send({"orders", "x"});
  ASSERT_TRUE(got.is_unknown());
  EXPECT_EQ(got.why().code, ec::unreachable);
  EXPECT_NE(got.why().detail.find(nowhere), std::string::npos) << got.why().detail;
}

TEST(ClientConnection, TriesTheNextServer) {
  fake_node node;
  std::string nowhere;
  {
    fake_node gone;
    nowhere = gone.server();
  }
  auto options = quick(nowhere);
  options.servers.push_back(node.server());
  client c{options};
  EXPECT_DONE(producer{c}.send({"orders", "x"}));
}

TEST(ClientConnection, SaysGoodbye) {
  fake_node node;
  {
    client c{quick(node.server())};
    EXPECT_DONE(producer{c}.send({"orders", "x"}));
  }
  EXPECT_TRUE(node.eventually([&] { return node.goodbyes == 1; }));
}

TEST(ClientConnection, RefusesEverythingAfterItsEnd) {
  fake_node node;
  auto c = std::make_unique<client>(quick(node.server()));
  producer p{*c};
  c.reset();
  auto got = p.send({"orders", "x"});
  ASSERT_TRUE(got.is_refused());
  EXPECT_EQ(got.why().code, ec::stopping);
}

TEST(ClientConnection, EndsWhatIsUnderWayWhenItIsClosed) {
  fake_node node;
  node.misbehave(frame_kind::send, misbehaviour::drop_request, 1'000);
  auto c = std::make_unique<client>(quick(node.server()));
  producer p{*c};
  auto pending = p.send_async({"orders", "x"});
  ASSERT_TRUE(node.eventually([&] { return !node.hellos.empty(); }));
  c.reset();
  EXPECT_FALSE(pending.get().is_done());
}

} // namespace handfast::client::test
