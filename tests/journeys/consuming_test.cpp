// Consumption as users meet it: the client library against a real node in this process.
#include "tests/journeys/cut_wire.hpp"
#include "tests/journeys/node_fixture.hpp"

#include <map>
#include <mutex>
#include <set>

namespace handfast::test {
namespace {

using client::consumed;
using client::consumer;
using client::consumer_options;
using client::message;
using client::message_filter;
using client::received_message;

class Consuming : public node_fixture {
protected:
  Consuming() {
    settings.consumer.retry_backoff_min = 5ms;
    settings.consumer.retry_backoff_max = 20ms;
  }

  void produce(const std::string& body, const std::string& tag = {},
               const std::string& order_key = {}) {
    message m{"orders", body};
    m.tag = tag;
    m.order_key = order_key;
    m.properties["size"] = std::to_string(body.size());
    ASSERT_TRUE(client::producer{*sender()}.send(m));
  }
  void produce(int count) {
    for (int n = 0; n < count; ++n)
      produce("m" + std::to_string(n));
  }

  static consumer_options mail() {
    consumer_options options;
    options.group = "mail";
    options.topics = {"orders"};
    return options;
  }

  client::client* sender() {
    if (!sender_)
      sender_ = connect();
    return sender_.get();
  }
  client::admin operate() { return client::admin{*sender()}; }

private:
  std::unique_ptr<client::client> sender_;
};

/// What handlers saw.
class seen_messages {
public:
  void add(const received_message& m) {
    std::lock_guard lock{mutex_};
    bodies_.emplace_back(m.content.body.text());
    attempts_.push_back(m.attempt);
  }
  std::size_t count() {
    std::lock_guard lock{mutex_};
    return bodies_.size();
  }
  std::vector<std::string> bodies() {
    std::lock_guard lock{mutex_};
    return bodies_;
  }
  std::vector<int> attempts() {
    std::lock_guard lock{mutex_};
    return attempts_;
  }

private:
  std::mutex mutex_;
  std::vector<std::string> bodies_;
  std::vector<int> attempts_;
};

TEST_F(Consuming, APoisonMessageGoesToTheDeadLetterTopicAtTheGroupsLimit) {
  start();
  ASSERT_TRUE(operate().set_group("mail", 3));
  produce("poison", "bad");
  produce("good");
  seen_messages poison;
  std::atomic<int> good{0};
  auto here = connect();
  consumer c{*here, mail(), [&](const received_message& m) {
               if (m.content.body.text() == "good") {
                 ++good;
                 return consumed::done;
               }
               poison.add(m);
               return consumed::failed;
             }};
  eventually([&] { return operate().topic("%DLQ%mail").is_done(); });
  client::subscription dead{*sender(), "operators", "%DLQ%mail"};
  std::vector<received_message> letters;
  eventually([&] {
    letters = dead.fetch(1, 100ms).value();
    return !letters.empty();
  });
  EXPECT_EQ(poison.attempts(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(good, 1);
  const auto& letter = letters.at(0).content;
  EXPECT_EQ(letter.body.text(), "poison");
  EXPECT_EQ(letter.tag, "bad");
  EXPECT_EQ(letter.properties.at("DLQ_ORIGIN_TOPIC"), "orders");
  EXPECT_EQ(letter.properties.at("RECONSUME_TIME"), "3");
  EXPECT_EQ(operate().group("mail")->dead_letters, 1U);
}

TEST_F(Consuming, WhatIsNotWorthAnotherAttemptIsADeadLetterAtOnce) {
  start();
  produce("hopeless");
  auto here = connect();
  consumer c{*here, mail(), [](const received_message&) { return consumed::dead_letter; }};
  eventually([&] { return operate().topic("%DLQ%mail").is_done(); });
  EXPECT_EQ(bodies("%DLQ%mail", "operators"), std::vector<std::string>{"hopeless"});
}

TEST_F(Consuming, AFailedMessageComesAgainAfterTheTimeThatTheHandlerGave) {
  start();
  produce("once more");
  std::mutex mutex;
  std::vector<std::chrono::steady_clock::time_point> times;
  auto here = connect();
  consumer c{*here, mail(), [&](const received_message&) {
               std::lock_guard lock{mutex};
               times.push_back(std::chrono::steady_clock::now());
               return times.size() == 1 ? consumed::retry_in(300ms) : consumed::done;
             }};
  eventually([&] {
    std::lock_guard lock{mutex};
    return times.size() == 2;
  });
  EXPECT_GE(times[1] - times[0], 300ms);
}

TEST_F(Consuming, AResetWhileMembersReadLetsThemReadAgain) {
  start();
  produce(20);
  seen_messages seen;
  auto here = connect();
  consumer c{*here, mail(), [&](const received_message& m) {
               seen.add(m);
               return consumed::done;
             }};
  eventually([&] { return seen.count() == 20; });
  const auto places = operate().reset_group("mail", "orders", {start_from::earliest, 0});
  ASSERT_TRUE(places) << to_string(places.why());
  for (const auto& place : places.value())
    EXPECT_EQ(place.offset, queue_offset{0});
  eventually([&] { return seen.count() >= 40; });
  auto all = seen.bodies();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 20U);
}

TEST_F(Consuming, AGroupGetsOnlyWhatItsFilterWants) {
  start();
  for (int n = 0; n < 12; ++n)
    produce(std::string(static_cast<std::size_t>(n + 1), 'x'), n % 3 == 0 ? "paid" : "open");
  seen_messages paid;
  seen_messages large;
  auto here = connect();
  auto by_tag = mail();
  by_tag.filter = message_filter::tags("paid || refunded");
  auto by_size = mail();
  by_size.group = "big";
  by_size.filter = message_filter::sql("size > 9 AND TAGS = 'open'");
  consumer a{*here, by_tag, [&](const received_message& m) {
               EXPECT_EQ(m.content.tag, "paid");
               paid.add(m);
               return consumed::done;
             }};
  consumer b{*here, by_size, [&](const received_message& m) {
               EXPECT_GT(m.content.body.size(), 9U);
               large.add(m);
               return consumed::done;
             }};
  eventually([&] { return paid.count() == 4 && large.count() == 2; });
  // All is done for both, also what they never saw.
  for (const auto* group : {"mail", "big"})
    eventually([&] {
      const auto told = operate().group(group).value();
      return !told.places.empty() && std::all_of(told.places.begin(), told.places.end(),
                                                 [](const auto& p) { return p.base == p.end; });
    });
  EXPECT_EQ(paid.count(), 4U);
  EXPECT_EQ(large.count(), 2U);
}

TEST_F(Consuming, MembersThatWantSomethingElseAreRefusedAndTold) {
  start();
  produce("x");
  auto here = connect();
  auto there = connect();
  std::atomic<int> handled{0};
  consumer first{*here, mail(), [&](const received_message&) {
                   ++handled;
                   return consumed::done;
                 }};
  eventually([&] { return handled == 1; });
  auto other = mail();
  other.filter = message_filter::tags("paid");
  consumer second{*there, other, [](const received_message&) { return consumed::done; }};
  eventually([&] { return second.last_error().code == ec::subscription_differs; });
}

/// Of each key one message at a time, in order, also when one of two members dies in the middle.
TEST_F(Consuming, KeysStayInOrderWhenOneOfTwoMembersDies) {
  settings.consumer.lease = 60s;
  start();
  cut_wire wire{port()};
  auto options = mail();
  options.mode = client::consume_mode::ordered;
  constexpr int keys = 8;
  constexpr int each = 25;
  std::mutex mutex;
  std::map<std::string, std::vector<int>> handled;
  std::set<std::string> running;
  bool overlapped = false;
  std::atomic<bool> first_is_dead{false};
  auto handle = [&](const received_message& m, bool dying) {
    const auto& key = m.content.order_key;
    {
      std::lock_guard lock{mutex};
      if (dying && first_is_dead)
        return consumed::returned;
      overlapped = overlapped || !running.insert(key).second;
    }
    std::this_thread::yield();
    std::lock_guard lock{mutex};
    running.erase(key);
    handled[key].push_back(std::stoi(std::string{m.content.body.text()}));
    return consumed::done;
  };
  auto total = [&] {
    std::lock_guard lock{mutex};
    std::size_t sum = 0;
    for (const auto& [key, numbers] : handled)
      sum += std::set<int>(numbers.begin(), numbers.end()).size();
    return sum;
  };
  auto dying_client = std::make_unique<client::client>(to(wire.address()));
  auto dying = std::make_unique<consumer>(
      *dying_client, options, [&](const received_message& m) { return handle(m, true); });
  auto here = connect();
  consumer living{*here, options, [&](const received_message& m) { return handle(m, false); }};
  for (int n = 0; n < each; ++n)
    for (int k = 0; k < keys; ++k) {
      produce(std::to_string(n), {}, "key " + std::to_string(k));
      if (n == each / 2 && k == 0) {
        first_is_dead = true;
        wire.cut();
        dying_client.reset();
      }
    }
  eventually([&] { return total() == keys * each; });
  dying.reset();
  EXPECT_FALSE(overlapped);
  std::lock_guard lock{mutex};
  for (const auto& [key, numbers] : handled) {
    // A message whose acknowledgement was lost comes twice; none comes before its predecessor.
    int next = 0;
    for (const auto n : numbers) {
      EXPECT_LE(n, next) << key;
      next = std::max(next, n + 1);
    }
    EXPECT_EQ(next, each) << key;
  }
}

TEST_F(Consuming, BroadcastingReachesEachMemberWithAllMessages) {
  start();
  produce(5);
  auto options = mail();
  options.mode = client::consume_mode::broadcasting;
  options.start = start_point{};
  seen_messages seen[2];
  auto one = connect();
  auto two = connect();
  consumer a{*one, options, [&](const received_message& m) {
               seen[0].add(m);
               return consumed::done;
             }};
  consumer b{*two, options, [&](const received_message& m) {
               seen[1].add(m);
               return consumed::done;
             }};
  eventually([&] { return seen[0].count() == 5 && seen[1].count() == 5; });
  produce("later");
  eventually([&] { return seen[0].count() == 6 && seen[1].count() == 6; });
  for (auto& each : seen)
    EXPECT_EQ(each.bodies().back(), "later");
}

TEST_F(Consuming, ThePushHoldsToItsCredit) {
  start();
  produce(30);
  auto options = mail();
  options.credit = 4;
  options.threads = 1;
  std::promise<void> go_on;
  auto gate = go_on.get_future().share();
  std::atomic<int> handled{0};
  auto here = connect();
  consumer c{*here, options, [&](const received_message&) {
               gate.wait();
               ++handled;
               return consumed::done;
             }};
  auto held = [&] {
    const auto told = operate().group("mail");
    return told && !told->members.empty() ? told->members.at(0).held : 0;
  };
  eventually([&] { return held() == 4; });
  produce("one more");
  EXPECT_EQ(held(), 4U);
  go_on.set_value();
  eventually([&] { return handled == 31; });
}

TEST_F(Consuming, AGroupBeginsWhereItsMemberSays) {
  start();
  produce("old");
  const auto between = std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::system_clock::now().time_since_epoch())
                           .count() +
                       1;
  eventually([&] {
    return std::chrono::system_clock::now().time_since_epoch() > std::chrono::milliseconds{between};
  });
  produce("new");
  client::subscription by_time{*sender(),
                               "late",
                               "orders",
                               {{start_from::time, static_cast<std::uint64_t>(between)}, {}, {}}};
  auto got = by_time.fetch(10, 5s);
  ASSERT_TRUE(got);
  ASSERT_EQ(got->size(), 1U);
  EXPECT_EQ(got->at(0).content.body.text(), "new");
}

TEST_F(Consuming, AGroupIsDeletedOnceNobodyIsOnlineAndBeginsAnew) {
  start();
  produce("x");
  {
    auto here = connect();
    client::subscription from{*here, "mail", "orders"};
    const auto got = from.fetch(1, 5s);
    ASSERT_TRUE(got);
    ASSERT_TRUE(from.acknowledge({got->at(0).delivery}));
    EXPECT_EQ(operate().delete_group("mail").why().code, ec::group_in_use);
  }
  eventually([&] { return operate().delete_group("mail").is_done(); });
  EXPECT_EQ(operate().group("mail").why().code, ec::unknown_group);
  EXPECT_EQ(bodies("orders"), std::vector<std::string>{"x"});
}

} // namespace
} // namespace handfast::test
