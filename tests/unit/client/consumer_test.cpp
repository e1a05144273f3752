#include "actors/client/admin.hpp"
#include "actors/client/consumer.hpp"
#include "actors/client/producer.hpp"
#include "tests/unit/client/client_fixture.hpp"

namespace handfast::client::test {

class ClientConsumer : public ClientTest {
protected:
  void produce(int count) {
    producer p{connection};
    for (int i = 0; i < count; ++i)
      ASSERT_DONE(p.send({"orders", "m" + std::to_string(i)}));
  }
};

TEST_F(ClientConsumer, FetchesAndAcknowledgesByHand) {
  produce(3);
  subscription s{connection, "readers", "orders"};
  auto got = s.fetch(2, 0ms);
  ASSERT_DONE(got);
  ASSERT_EQ(got->size(), 2u);
  EXPECT_EQ(got->at(0).content.body.text(), "m0");
  EXPECT_EQ(got->at(0).content.topic, "orders");
  auto done = s.acknowledge({got->at(0).delivery, got->at(1).delivery});
  ASSERT_DONE(done);
  EXPECT_EQ(done->accepted, 2u);
  EXPECT_EQ(node.acknowledged.at(1).lease, got->at(1).delivery.lease);
}

TEST_F(ClientConsumer, AFetchWithoutMessagesIsDoneAndEmpty) {
  produce(1);
  node.visible.clear();
  subscription s{connection, "readers", "orders"};
  auto got = s.fetch(2, 0ms);
  ASSERT_DONE(got);
  EXPECT_TRUE(got->empty());
}

TEST_F(ClientConsumer, MakesNoTopicByConsuming) {
  subscription s{connection, "readers", "orders"};
  EXPECT_EQ(s.fetch(2, 0ms).why().code, ec::unknown_topic);
  EXPECT_EQ(s.fetch(2, 0ms).why().code, ec::unknown_topic);
  produce(1);
  EXPECT_EQ(s.fetch(2, 0ms)->size(), 1u);
}

TEST_F(ClientConsumer, DoesNotKeepASenderFromMakingTheTopic) {
  node.misbehave(frame_kind::resolve_topic, misbehaviour::close_before);
  subscription s{connection, "readers", "orders"};
  std::thread reader{[&] { static_cast<void>(s.fetch(2, 0ms)); }};
  produce(1); // perhaps while the fetch asks for the same name
  reader.join();
  EXPECT_EQ(s.fetch(2, 0ms)->size(), 1u);
}

TEST_F(ClientConsumer, WaitsForATopicAndConsumesItFromItsBeginning) {
  std::atomic<int> handled{0};
  consumer c{connection,
             {.group = "readers", .topics = {"orders"}, .start = start_from::latest, .wait = 10ms},
             [&](const received_message&) {
               ++handled;
               return consumed::done;
             }};
  while (c.last_error().code != ec::unknown_topic)
    std::this_thread::yield();
  produce(2);
  EXPECT_TRUE(node.eventually([&] { return node.acknowledged.size() == 2; }));
  EXPECT_EQ(handled, 2);
}

TEST_F(ClientConsumer, HandsMessagesBack) {
  produce(1);
  subscription s{connection, "readers", "orders"};
  auto got = s.fetch(1, 0ms);
  ASSERT_DONE(s.hand_back({got->at(0).delivery}));
  EXPECT_FALSE(node.acknowledged.at(0).done);
}

TEST_F(ClientConsumer, RunsTheHandlerAndAcknowledgesWhatItDid) {
  produce(5);
  std::atomic<int> handled{0};
  consumer c{connection,
             {.group = "readers", .topics = {"orders"}, .wait = 10ms},
             [&](const received_message&) {
               ++handled;
               return consumed::done;
             }};
  EXPECT_TRUE(node.eventually([&] { return node.acknowledged.size() == 5; }));
  EXPECT_EQ(handled, 5);
}

TEST_F(ClientConsumer, DoesNotAcknowledgeWhatTheHandlerDidNotDo) {
  produce(3);
  consumer c{connection,
             {.group = "readers", .topics = {"orders"}, .wait = 10ms},
             [&](const received_message& m) {
               if (m.content.body.text() == "m0")
                 throw std::runtime_error{"not today"};
               return m.content.body.text() == "m1" ? consumed::again : consumed::done;
             }};
  ASSERT_TRUE(node.eventually([&] { return node.acknowledged.size() == 2; }));
  for (const auto& a : node.acknowledged)
    EXPECT_EQ(a.done, a.offset == queue_offset{2}) << a.offset.value;
}

TEST_F(ClientConsumer, GoesOnAfterALostConnection) {
  node.misbehave(frame_kind::fetch, misbehaviour::close_before);
  produce(1);
  consumer c{connection,
             {.group = "readers", .topics = {"orders"}, .wait = 10ms},
             [](const received_message&) { return consumed::done; }};
  EXPECT_TRUE(node.eventually([&] { return node.acknowledged.size() == 1; }));
}

TEST_F(ClientConsumer, RefusesABadGroupName) {
  subscription s{connection, "a b", "orders"};
  EXPECT_EQ(s.fetch(1, 0ms).why().code, ec::bad_name);
}

class ClientAdmin : public ClientTest {
protected:
  admin operate{connection};
};

TEST_F(ClientAdmin, ReadsAllPagesOfAListing) {
  producer p{connection};
  for (auto name : {"a", "b", "c", "d", "e"})
    ASSERT_DONE(p.send({name, "x"}));
  auto all = operate.topics();
  ASSERT_DONE(all);
  EXPECT_EQ(all->size(), 5u);
}

TEST_F(ClientAdmin, GivesTheNodesRefusal) {
  auto got = operate.delete_topic("nothing");
  ASSERT_TRUE(got.is_refused());
  EXPECT_EQ(got.why(), (error{ec::unknown_topic, "'nothing'"}));
}

TEST_F(ClientAdmin, DoesNotRepeatWhatARepeatWouldChange) {
  ASSERT_DONE(producer{connection}.send({"orders", "x"}));
  node.misbehave(frame_kind::topic_delete, misbehaviour::close_after);
  auto got = operate.delete_topic("orders");
  EXPECT_TRUE(got.is_unknown()) << told(got);
}

TEST_F(ClientAdmin, GivesTheNewIdOfAReopenedTransaction) {
  auto got = operate.reopen({position{4096}, 1});
  ASSERT_DONE(got);
  EXPECT_NE(got.value(), transaction_id{});
}

TEST_F(ClientAdmin, ShowsTheStatus) {
  EXPECT_EQ(operate.status().value(), R"({"state":"serving"})");
}

} // namespace handfast::client::test
