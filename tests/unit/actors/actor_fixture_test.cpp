#include "tests/support/actor_fixture.hpp"

namespace handfast {
namespace {

using namespace std::chrono_literals;

struct metronome_state {
  static inline const char* name = "metronome";
  int ticks = 0;
};

segment_keeper_actor::behavior_type
metronome(loop_pointer<segment_keeper_actor, metronome_state> self, std::string label) {
  self->delayed_send(self, 100ms, tick{});
  return {
      [=](const peers_changed& x) {
        self->send(x.peers->supervisor.actor, stopped{label, {}});
      },
      [=](const stop&) { self->quit(); },
      [=](const status_request&) {
        return status_report{label, {}, {}};
      },
      [=](const tick&) {
        ++self->state.ticks;
        self->delayed_send(self, 100ms, tick{});
      },
  };
}

class ActorFixture : public test::actor_fixture {};

TEST_F(ActorFixture, KeepsWhatAProbeIsTold) {
  auto actor = spawn(metronome, "m");
  auto peer = make_probe();
  auto peers = std::make_shared<shard_peers>();
  peers->supervisor.actor = peer->as<node_supervisor_actor>();
  send(actor, peers_changed{peers});
  run();
  ASSERT_EQ(peer->count<stopped>(), 1u);
  EXPECT_EQ(peer->take_last<stopped>().actor, "m");
  EXPECT_EQ(peer->count<stopped>(), 0u);
}

TEST_F(ActorFixture, LetsTimersFireInVirtualTime) {
  auto actor = spawn(metronome, "m");
  const auto before = time.wall();
  advance(1s);
  EXPECT_EQ(state_of<metronome_state>(actor).ticks, 10);
  EXPECT_EQ(time.wall(), before + 1000);
}

TEST_F(ActorFixture, AnswersRequestsByRule) {
  auto peer = make_probe();
  peer->on<take_slices>([](const take_slices& x) { return slices_taken{{}, x.cursor + "!"}; });
  EXPECT_EQ(ask<slices_taken>(peer->as<commit_log_actor>(), take_slices{"a"}).cursor, "a!");
}

TEST_F(ActorFixture, RunsTheIdleHookAfterAllMail) {
  std::vector<std::string> order;
  auto peer = make_probe();
  peer->watch([&](const caf::message&) { order.emplace_back("mail"); });
  idle.at_next_idle([&] { order.emplace_back("idle"); });
  send(peer->as<segment_keeper_actor>(), tick{});
  run();
  EXPECT_EQ(order, (std::vector<std::string>{"mail", "idle"}));
}

TEST_F(ActorFixture, KillsAsACrashWould) {
  auto actor = spawn(metronome, "m");
  EXPECT_TRUE(alive(actor));
  kill(actor);
  EXPECT_FALSE(alive(actor));
}

} // namespace
} // namespace handfast
