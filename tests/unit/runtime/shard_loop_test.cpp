#include "actors/type_ids.hpp"

#include <asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>

#include "loop_fixture.hpp"

namespace handfast::runtime {
namespace {

/// Much longer than anything here takes.
constexpr std::chrono::seconds patience{30};

class ShardLoop : public loop_fixture {
protected:
  ShardLoop() { loop_.start(); }
};

TEST_F(ShardLoop, RunsActorsOnItsOwnThread) {
  std::promise<bool> on_loop_thread;
  auto one = spawn([&](probe*) -> caf::behavior {
    return {[&](tick) { on_loop_thread.set_value(loop_.on_loop()); }};
  });
  caf::anon_send(one, tick{});
  EXPECT_TRUE(on_loop_thread.get_future().get());
  EXPECT_FALSE(loop_.on_loop());
}

TEST_F(ShardLoop, LosesNoMessageOfABurstFromManyThreads) {
  constexpr int threads = 4;
  constexpr int each = 20'000;
  std::promise<void> all;
  int seen = 0; // only touched by the actor
  auto one = spawn([&](probe*) -> caf::behavior {
    return {[&](tick) {
      if (++seen == threads * each)
        all.set_value();
    }};
  });
  std::vector<std::thread> senders;
  for (int i = 0; i < threads; ++i)
    senders.emplace_back([one] {
      for (int n = 0; n < each; ++n)
        caf::anon_send(one, tick{});
    });
  for (auto& sender : senders)
    sender.join();
  all.get_future().get();
  EXPECT_EQ(seen, threads * each);
}

TEST_F(ShardLoop, KeepsTheOrderOfWhatOneSenderSays) {
  std::promise<std::vector<std::uint32_t>> all;
  std::vector<std::uint32_t> seen;
  auto receiver = spawn([&](probe*) -> caf::behavior {
    return {[&](const tick& x) {
      seen.push_back(x.timer);
      if (seen.size() == 1'000)
        all.set_value(seen);
    }};
  });
  auto sender = spawn([receiver](probe* self) -> caf::behavior {
    return {[=](flush) {
      for (std::uint32_t i = 0; i < 1'000; ++i)
        self->send(receiver, tick{i});
    }};
  });
  caf::anon_send(sender, flush{});
  const auto order = all.get_future().get();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(ShardLoop, SaysSoToWhoeverAsksAnActorThatHasEnded) {
  std::promise<caf::error> said;
  auto ended = spawn([](probe* self) -> caf::behavior {
    return {[self](flush) { self->quit(); }, [](tick) { return 1; }};
  });
  auto asker = spawn([&, ended](probe* self) -> caf::behavior {
    return {[&, ended, self](flush) {
      self->send(ended, flush{});
      self->request(ended, patience, tick{})
          .then([&](int) { said.set_value({}); },
                [&](const caf::error& why) { said.set_value(why); });
    }};
  });
  caf::anon_send(asker, flush{});
  EXPECT_EQ(said.get_future().get(), caf::sec::request_receiver_down);
}

TEST_F(ShardLoop, CallsTheEndOfATurnAfterAllThatItHandled) {
  std::promise<std::pair<int, int>> counted;
  int handled = 0;
  int turns = 0;
  auto busy = spawn([&](probe* self) -> caf::behavior {
    self->at_turn_end([&] {
      if (handled > 0 && turns++ == 0)
        counted.set_value({handled, turns});
    });
    return {[&](tick) { ++handled; }};
  });
  on_loop([&] {
    for (int i = 0; i < 10; ++i)
      caf::anon_send(busy, tick{});
    return 0;
  });
  EXPECT_EQ(counted.get_future().get(), (std::pair{10, 1}));
}

TEST_F(ShardLoop, LetsTimersInWhileAnActorSendsToItselfForEver) {
  auto busy = spawn([](probe* self) -> caf::behavior {
    self->send(self, tick{});
    return {[self](tick) { self->send(self, tick{}); }};
  });
  EXPECT_EQ(on_loop([] { return 7; }), 7) << "posted work runs between the rounds";
}

TEST_F(ShardLoop, LetsOtherActorsInWhileAnActorSendsToItselfForEver) {
  auto busy = spawn([](probe* self) -> caf::behavior {
    self->send(self, tick{});
    return {[self](tick) { self->send(self, tick{}); }};
  });
  std::promise<void> heard;
  auto other = spawn([&](probe*) -> caf::behavior { return {[&](tick) { heard.set_value(); }}; });
  caf::anon_send(other, tick{});
  heard.get_future().get();
}

TEST_F(ShardLoop, CallsTheIdleHookOnlyWhenNoActorHasMailLeft) {
  constexpr std::uint32_t chain = 1'000;
  std::promise<std::uint32_t> handled_before_idle;
  auto one = spawn([&](probe* self) -> caf::behavior {
    auto handled = std::make_shared<std::uint32_t>(0);
    return {[&, self, handled](tick x) {
      if (x.timer == 0)
        loop_.at_next_idle([&, handled] { handled_before_idle.set_value(*handled); });
      ++*handled;
      if (x.timer < chain)
        self->send(self, tick{x.timer + 1});
    }};
  });
  caf::anon_send(one, tick{0});
  EXPECT_EQ(handled_before_idle.get_future().get(), chain + 1);
}

TEST_F(ShardLoop, CallsAnIdleHookOnce) {
  std::atomic<int> calls{0};
  on_loop([&] { loop_.at_next_idle([&] { ++calls; }); });
  for (int i = 0; i < 100; ++i)
    on_loop([] {});
  EXPECT_EQ(calls, 1);
}

TEST_F(ShardLoop, EndsOnlyTheActorThatThrows) {
  auto broken = spawn([](probe*) -> caf::behavior {
    return {[](tick) { throw std::runtime_error{"on purpose"}; }};
  });
  auto healthy = spawn([](probe*) -> caf::behavior { return {[](tick x) { return x; }}; });
  caf::scoped_actor self{system_};
  self->monitor(broken);
  caf::anon_send(broken, tick{});
  self->receive(
      [](const caf::down_msg& down) { EXPECT_TRUE(down.reason) << "an error, not a normal end"; });
  self->request(healthy, patience, tick{5})
      .receive([](tick x) { EXPECT_EQ(x.timer, 5u); },
               [](const caf::error&) { ADD_FAILURE() << "the loop no longer runs actors"; });
}

TEST_F(ShardLoop, SleepsWhenNothingHappens) {
  on_loop([] {});
  const auto before = loop_.wake_ups();
  std::promise<void> later; // 20 ms during which nothing is sent
  asio::steady_timer timer{loop_.io(), std::chrono::milliseconds{20}};
  timer.async_wait([&](const asio::error_code&) { later.set_value(); });
  later.get_future().get();
  EXPECT_LE(loop_.wake_ups() - before, 4u) << "the timer's own wake-ups";
}

TEST_F(ShardLoop, StopsWithMailLeft) {
  auto busy = spawn([](probe* self) -> caf::behavior {
    self->send(self, tick{});
    return {[self](tick) { self->send(self, tick{}); }};
  });
  caf::anon_send_exit(busy, caf::exit_reason::kill);
  system_.await_all_actors_done();
  loop_.stop();
  EXPECT_FALSE(loop_.on_loop());
}

} // namespace
} // namespace handfast::runtime
