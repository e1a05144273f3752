#include "actors/client/admin.hpp"
#include "actors/client/consumer.hpp"
#include "actors/client/producer.hpp"
#include "tests/support/own_folder.hpp"
#include "tests/unit/client/client_fixture.hpp"

#include <fstream>
#include <future>
#include <map>
#include <set>
#include <thread>

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
  EXPECT_EQ(node.acknowledged.at(0).lease, got->at(0).delivery.lease);
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

TEST_F(ClientConsumer, SaysWhatBecameOfMessages) {
  produce(3);
  subscription s{connection, "readers", "orders"};
  auto got = s.fetch(3, 0ms);
  ASSERT_DONE(got);
  ASSERT_DONE(s.hand_back({got->at(0).delivery}));
  ASSERT_DONE(s.fail({got->at(1).delivery}, 7s));
  ASSERT_DONE(s.dead_letter({got->at(2).delivery}));
  EXPECT_EQ(node.acknowledged.at(0).what, handling::returned);
  EXPECT_EQ(node.acknowledged.at(1).what, handling::failed);
  EXPECT_EQ(node.acknowledged.at(1).retry_ms, 7'000u);
  EXPECT_EQ(node.acknowledged.at(2).what, handling::dead_letter);
}

TEST_F(ClientConsumer, NeighboursAreAcknowledgedAsOneRange) {
  produce(5);
  subscription s{connection, "readers", "orders"};
  auto got = s.fetch(5, 0ms);
  ASSERT_DONE(got);
  ASSERT_DONE(s.acknowledge(
      {got->at(2).delivery, got->at(0).delivery, got->at(1).delivery, got->at(4).delivery}));
  ASSERT_EQ(node.acknowledged.size(), 2u);
  EXPECT_EQ(node.acknowledged.at(0).offset, queue_offset{0});
  EXPECT_EQ(node.acknowledged.at(0).to, queue_offset{3});
  EXPECT_EQ(node.acknowledged.at(1).to, queue_offset{});
}

TEST_F(ClientConsumer, WhoseLeaseHasEndedIsAcknowledgedByItself) {
  node.lease_ms = 0;
  produce(2);
  subscription s{connection, "readers", "orders"};
  auto got = s.fetch(2, 0ms);
  ASSERT_DONE(got);
  ASSERT_DONE(s.acknowledge({got->at(0).delivery, got->at(1).delivery}));
  EXPECT_EQ(node.acknowledged.size(), 2u);
}

TEST_F(ClientConsumer, TellsTheNodeHowItReads) {
  produce(1);
  subscription s{connection,
                 "readers",
                 "orders",
                 {{start_from::time, 5}, delivery_mode::ordered, message_filter::tags("a || b")}};
  ASSERT_DONE(s.fetch(1, 0ms));
  const auto& asked = node.fetches.at(0);
  EXPECT_EQ(asked.start, (start_point{start_from::time, 5}));
  EXPECT_EQ(asked.terms, (subscription_terms{delivery_mode::ordered, filter_kind::tags, "a || b"}));
}

TEST_F(ClientConsumer, RefusesABadGroupName) {
  subscription s{connection, "a b", "orders"};
  EXPECT_EQ(s.fetch(1, 0ms).why().code, ec::bad_name);
}

class PushConsumer : public ClientConsumer {
protected:
  /// Ranges count for each of their messages.
  std::size_t settled(handling what) {
    std::size_t count = 0;
    for (const auto& a : node.acknowledged)
      if (a.what == what)
        count += a.to == queue_offset{} ? 1 : a.to.value - a.offset.value;
    return count;
  }
  static consumer_options readers() {
    consumer_options options;
    options.group = "readers";
    options.topics = {"orders"};
    return options;
  }
};

TEST_F(PushConsumer, RunsTheHandlerAndAcknowledgesWhatItDid) {
  produce(5);
  std::atomic<int> handled{0};
  consumer c{connection, readers(), [&](const received_message&) {
               ++handled;
               return consumed::done;
             }};
  EXPECT_TRUE(node.eventually([&] { return settled(handling::done) == 5; }));
  EXPECT_EQ(handled, 5);
}

TEST_F(PushConsumer, WaitsForATopicAndConsumesItFromItsBeginning) {
  auto options = readers();
  options.start = start_point{start_from::latest};
  std::atomic<int> handled{0};
  consumer c{connection, options, [&](const received_message&) {
               ++handled;
               return consumed::done;
             }};
  while (c.last_error().code != ec::unknown_topic)
    std::this_thread::yield();
  produce(2);
  EXPECT_TRUE(node.eventually([&] { return settled(handling::done) == 2; }));
  EXPECT_EQ(handled, 2);
}

TEST_F(PushConsumer, PassesOnWhatTheHandlerSays) {
  produce(5);
  consumer c{connection, readers(), [](const received_message& m) -> consumed {
               const auto body = m.content.body.text();
               if (body == "m0")
                 throw std::runtime_error{"not today"};
               return body == "m1"   ? consumed::returned
                      : body == "m2" ? consumed::dead_letter
                      : body == "m3" ? consumed::retry_in(3s)
                                     : consumed::done;
             }};
  ASSERT_TRUE(node.eventually([&] { return node.acknowledged.size() == 5; }));
  for (const auto& a : node.acknowledged) {
    constexpr handling wanted[] = {handling::failed, handling::returned, handling::dead_letter,
                                   handling::failed, handling::done};
    EXPECT_EQ(a.what, wanted[a.offset.value]);
    EXPECT_EQ(a.retry_ms, a.offset.value == 3 ? 3'000u : 0u);
  }
}

TEST_F(PushConsumer, HoldsNoMoreThanItsCredit) {
  produce(50);
  auto options = readers();
  options.credit = 4;
  consumer c{connection, options, [](const received_message&) { return consumed::done; }};
  EXPECT_TRUE(node.eventually([&] { return settled(handling::done) == 50; }));
  EXPECT_EQ(node.pushed_unsettled_max, 4u);
}

TEST_F(PushConsumer, SubscribesAgainAfterALostConnection) {
  produce(1);
  consumer c{connection, readers(), [](const received_message&) { return consumed::done; }};
  ASSERT_TRUE(node.eventually([&] { return settled(handling::done) == 1; }));
  node.disconnect_all();
  EXPECT_TRUE(node.eventually([&] { return node.subscriptions.size() == 2; }));
  produce(1);
  EXPECT_TRUE(node.eventually([&] { return settled(handling::done) == 2; }));
}

TEST_F(PushConsumer, TriesAgainWhatIsRefusedAndTellsWhy) {
  node.refuse(frame_kind::subscribe, ec::subscription_differs, "ordered");
  produce(1);
  consumer c{connection, readers(), [](const received_message&) { return consumed::done; }};
  EXPECT_TRUE(node.eventually([&] { return settled(handling::done) == 1; }));
  EXPECT_EQ(node.subscriptions.size(), 2u);
}

TEST_F(PushConsumer, DoesNotHandleWhatItHoldsNoLongerALeaseOn) {
  node.lease_ms = 0;
  produce(3);
  std::atomic<int> handled{0};
  consumer c{connection, readers(), [&](const received_message&) {
               ++handled;
               return consumed::done;
             }};
  EXPECT_TRUE(node.eventually([&] { return settled(handling::returned) == 3; }));
  EXPECT_EQ(handled, 0);
}

TEST_F(PushConsumer, AStopWaitsForTheHandlerAndGivesTheRestBack) {
  produce(10);
  auto options = readers();
  options.threads = 1;
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> handled{0};
  consumer c{connection, options, [&](const received_message&) {
               if (handled++ == 0) {
                 begun.set_value();
                 go_on.get_future().wait();
               }
               return consumed::done;
             }};
  begun.get_future().wait();
  std::thread stopper{[&] { c.stop(); }};
  go_on.set_value();
  stopper.join();
  ASSERT_TRUE(node.eventually([&] { return node.unsubscribed.size() == 1; }));
  EXPECT_EQ(settled(handling::done), static_cast<std::size_t>(handled.load()));
  EXPECT_EQ(settled(handling::done) + settled(handling::returned), 10u);
}

/// Notes what runs at the same time.
class overlap_watch {
public:
  void begin(const std::string& key) {
    std::lock_guard lock{mutex_};
    overlapped_ = overlapped_ || !running_.insert(key).second;
    most_ = std::max(most_, running_.size());
    order_[key].push_back(order_[key].size());
  }
  void end(const std::string& key) {
    std::lock_guard lock{mutex_};
    running_.erase(key);
  }
  bool overlapped() {
    std::lock_guard lock{mutex_};
    return overlapped_;
  }

private:
  std::mutex mutex_;
  std::set<std::string> running_;
  std::map<std::string, std::vector<std::size_t>> order_;
  bool overlapped_ = false;
  std::size_t most_ = 0;
};

TEST_F(PushConsumer, OrderedHandlesEachKeyInTurnAndKeysSideBySide) {
  producer p{connection};
  for (int i = 0; i < 60; ++i) {
    message m{"orders", std::to_string(i)};
    m.order_key = i % 2 == 0 ? "left" : "right";
    ASSERT_DONE(p.send(m));
  }
  auto options = readers();
  options.mode = consume_mode::ordered;
  options.threads = 4;
  overlap_watch watch;
  std::mutex mutex;
  std::map<std::string, std::vector<int>> seen;
  // The first of each key waits for the first of the other: only possible side by side.
  std::promise<void> came[2];
  std::shared_future<void> other[2] = {came[1].get_future().share(), came[0].get_future().share()};
  consumer c{connection, options, [&](const received_message& m) {
               const auto& key = m.content.order_key;
               const auto number = std::stoi(std::string{m.content.body.text()});
               watch.begin(key);
               if (number < 2) {
                 came[number].set_value();
                 other[number].wait();
               }
               {
                 std::lock_guard lock{mutex};
                 seen[key].push_back(number);
               }
               watch.end(key);
               return consumed::done;
             }};
  ASSERT_TRUE(node.eventually([&] { return settled(handling::done) == 60; }));
  EXPECT_EQ(node.subscriptions.at(0).terms.mode, delivery_mode::ordered);
  EXPECT_FALSE(watch.overlapped());
  for (const auto& [key, numbers] : seen)
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end())) << key;
}

class Broadcasting : public PushConsumer {};

TEST_F(Broadcasting, HandlesAllAndKeepsItsPlaceInTheStore) {
  produce(3);
  auto store = std::make_shared<memory_offsets>();
  auto options = readers();
  options.mode = consume_mode::broadcasting;
  options.start = start_point{};
  options.offsets = store;
  std::atomic<int> handled{0};
  {
    consumer c{connection, options, [&](const received_message&) {
                 ++handled;
                 return consumed::done;
               }};
    ASSERT_TRUE(node.eventually([&] {
      return !node.queue_reads.empty() &&
             node.queue_reads.back().places.at(0).offset == queue_offset{3};
    }));
  }
  EXPECT_EQ(store->load("orders", queue_no{0}), queue_offset{3});
  produce(2);
  consumer again{connection, options, [&](const received_message&) {
                   ++handled;
                   return consumed::done;
                 }};
  EXPECT_TRUE(node.eventually([&] { return handled == 5; }));
  EXPECT_TRUE(node.acknowledged.empty());
}

TEST_F(Broadcasting, BeginsAtTheLatestByDefault) {
  produce(3);
  broadcast_reader reader{connection, "orders"};
  auto nothing_yet = reader.fetch(10, 0ms);
  ASSERT_DONE(nothing_yet);
  EXPECT_TRUE(nothing_yet->empty());
  produce(1);
  EXPECT_EQ(reader.fetch(10, 0ms)->size(), 1u);
}

/// Nothing came in the first life, much between the two.
TEST_F(Broadcasting, KeepsTheBeginningOfQueuesInWhichNothingCame) {
  produce(3);
  auto store = std::make_shared<memory_offsets>();
  {
    broadcast_reader reader{connection, "orders", {}, {start_from::latest, 0}, store};
    ASSERT_DONE(reader.fetch(10, 0ms));
  }
  EXPECT_EQ(store->load("orders", queue_no{0}), queue_offset{3});
  produce(2);
  broadcast_reader again{connection, "orders", {}, {start_from::latest, 0}, store};
  EXPECT_EQ(again.fetch(10, 0ms)->size(), 2u);
}

/// Where places cannot be kept is said before a message is handled.
TEST_F(Broadcasting, ReadsNothingIfItsPlaceCannotBeKept) {
  class broken : public offset_store {
    std::optional<queue_offset> load(const std::string&, queue_no) override { return {}; }
    result<void> save(const std::string&, const std::vector<place>&) override {
      return fail(ec::not_writable, "no");
    }
  };
  produce(1);
  broadcast_reader reader{connection, "orders", {}, {}, std::make_shared<broken>()};
  const auto refused = reader.fetch(10, 0ms);
  ASSERT_FALSE(refused.is_done());
  EXPECT_EQ(refused.why().code, ec::not_writable);
  EXPECT_TRUE(node.queue_reads.empty());
}

TEST(FileOffsets, ComeBackFromTheFile) {
  const handfast::test::own_folder folder;
  const auto path = (folder.path() / "offsets").string();
  {
    auto store = file_offsets::open(path);
    ASSERT_TRUE(store);
    ASSERT_TRUE((*store)->save("orders", {{queue_no{2}, queue_offset{7}}}));
    ASSERT_TRUE((*store)->save("bills", {{queue_no{0}, queue_offset{1}}}));
  }
  auto store = file_offsets::open(path);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->load("orders", queue_no{2}), queue_offset{7});
  EXPECT_EQ((*store)->load("orders", queue_no{1}), std::nullopt);
  EXPECT_EQ((*store)->load("bills", queue_no{0}), queue_offset{1});
}

TEST(FileOffsets, NameTheLineThatIsWrong) {
  const handfast::test::own_folder folder;
  const auto path = (folder.path() / "offsets").string();
  std::ofstream{path} << "orders 0 1\norders zero 1\n";
  auto store = file_offsets::open(path);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ec::bad_request);
  EXPECT_NE(store.error().detail.find("line 2"), std::string::npos);
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

TEST_F(ClientAdmin, SetsAGroupBack) {
  ASSERT_DONE(producer{connection}.send({"orders", "x"}));
  auto places = operate.reset_group("readers", "orders", {start_from::offset, 5}, queue_no{0});
  ASSERT_DONE(places);
  EXPECT_EQ(places->at(0).offset, queue_offset{5});
  const auto& asked = node.resets.at(0);
  EXPECT_EQ(asked.group, "readers");
  EXPECT_TRUE(asked.one_queue);
  EXPECT_EQ(asked.point, (start_point{start_from::offset, 5}));
}

TEST_F(ClientAdmin, ShowsAGroup) {
  auto got = operate.group("readers");
  ASSERT_DONE(got);
  EXPECT_EQ(got->members.at(0).name, "alice");
  EXPECT_EQ(operate.group("nobody").why().code, ec::unknown_group);
}

TEST_F(ClientAdmin, ShowsTheStatus) {
  EXPECT_EQ(operate.status().value(), R"({"state":"serving"})");
}

} // namespace handfast::client::test
