#include "actors/client/answer.hpp"
#include "actors/client/backoff.hpp"
#include "actors/client/message.hpp"
#include "actors/client/worker_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace handfast::client::test {

using namespace std::chrono_literals;

TEST(ClientBackoff, DoublesUpToTheCap) {
  backoff b{10ms, 50ms};
  EXPECT_EQ(b.next(0), 10ms);
  EXPECT_EQ(b.next(0), 20ms);
  EXPECT_EQ(b.next(0), 40ms);
  EXPECT_EQ(b.next(0), 50ms);
  EXPECT_EQ(b.next(0), 50ms);
}

TEST(ClientBackoff, IsShortenedByAtMostAHalf) {
  for (std::uint64_t random = 0; random < 1'000; ++random) {
    backoff b{100ms, 100ms};
    auto pause = b.next(random);
    EXPECT_GE(pause, 50ms);
    EXPECT_LE(pause, 100ms);
  }
}

TEST(ClientBackoff, StartsAgainAfterASuccess) {
  backoff b{10ms, 50ms};
  b.next(0);
  b.next(0);
  b.reset();
  EXPECT_EQ(b.next(0), 10ms);
}

TEST(ClientAnswer, TellsRefusedFromUnknownByTheCode) {
  EXPECT_TRUE(answer<int>{(error{ec::bad_name, ""})}.is_refused());
  EXPECT_TRUE(answer<int>{(error{ec::timed_out, ""})}.is_unknown());
  EXPECT_TRUE(answer<int>{3}.is_done());
}

TEST(ClientAnswer, CallsTheFunctionThatFits) {
  auto say = [](const answer<int>& a) {
    return a.match([](int n) { return std::to_string(n); },
                   [](const error&) { return std::string{"no"}; },
                   [](const error&) { return std::string{"perhaps"}; });
  };
  EXPECT_EQ(say(answer<int>{7}), "7");
  EXPECT_EQ(say(answer<int>{refused{{ec::bad_name, ""}}}), "no");
  EXPECT_EQ(say(answer<int>{unknown{{ec::timed_out, ""}}}), "perhaps");
}

TEST(ClientMessage, ComesBackFromItsWireForm) {
  message m{"orders", "body"};
  m.tag = "t";
  m.keys = "a b";
  m.unique_key = "u-1";
  m.order_key = "o";
  m.properties = {{"x", "1"}, {"y", "2"}};
  auto properties = encode_properties(m);
  ASSERT_TRUE(properties);
  auto payload = shared_bytes::copy_of(*properties + "body");
  EXPECT_EQ(decode_message("orders", payload, static_cast<std::uint32_t>(properties->size())), m);
}

TEST(ClientMessage, WithoutPropertiesCostsNothing) {
  EXPECT_EQ(encode_properties({"orders", "body"}).value(), "");
}

TEST(ClientMessage, RefusesSeparatorsInProperties) {
  message m{"orders", "body"};
  m.properties["x"] = "a\x01z";
  EXPECT_EQ(encode_properties(m).error().code, ec::bad_request);
}

TEST(ClientWorkerPool, RunsTasksOnSeveralThreads) {
  worker_pool pool{2};
  std::latch both{2};
  for (int i = 0; i < 2; ++i)
    pool.run([&] {
      both.count_down();
      both.wait(); // only returns if both run at once
    });
  both.wait();
}

TEST(ClientWorkerPool, TakesNothingAfterItsStop) {
  worker_pool pool{1};
  pool.stop();
  EXPECT_FALSE(pool.run([] {}));
}

} // namespace handfast::client::test
