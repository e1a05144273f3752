#pragma once

/// A deterministic actor system for tests: CAF's test coordinator, virtual time, one thread.
/// Nothing runs but inside `run` and `advance`, so a test sees each step.

#include "actors/loop_actor.hpp"
#include "actors/seams.hpp"
#include "actors/type_ids.hpp"
#include "config/settings.hpp"
#include "tests/support/probe.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace handfast::test {

/// The coordinator's clock behind the seam. `wall` starts at a fixed date and moves along, plus
/// what a test adds.
class virtual_clock final : public clock {
public:
  static constexpr wall_ms first_wall = 1'700'000'000'000;

  explicit virtual_clock(const caf::detail::test_actor_clock& source)
      : source_{source}, start_{source.now()} {}

  [[nodiscard]] time_point now() const override { return source_.now(); }
  [[nodiscard]] wall_ms wall() const override {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now() - start_);
    return static_cast<wall_ms>(static_cast<std::int64_t>(first_wall) + passed.count() + skew_ms_);
  }
  /// The wall clock jumps; the monotonic one does not.
  void jump_wall(std::int64_t by_ms) { skew_ms_ += by_ms; }

private:
  const caf::detail::test_actor_clock& source_;
  time_point start_;
  std::int64_t skew_ms_ = 0;
};

/// Keeps what is to be called when the coordinator has nothing else.
class queued_idle_hook final : public idle_hook {
public:
  void at_next_idle(std::function<void()> what) override { waiting_.push_back(std::move(what)); }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// Calls everything that waits now. Returns whether there was anything.
  bool call_all() {
    auto now = std::exchange(waiting_, {});
    for (auto& what : now)
      what();
    return !now.empty();
  }
  void drop_all() { waiting_.clear(); }

private:
  std::deque<std::function<void()>> waiting_;
};

/// Configuration of an actor system on the test coordinator.
class test_system_config : public caf::actor_system_config {
public:
  test_system_config() { set("scheduler.policy", caf::atom("testing")); }
};

/// GoogleTest fixture (also usable as a plain object). Tests spawn with `spawn`, make peers with
/// `make_probe`, send with `send` or `send_as`, and let things happen with `run` and `advance`.
/// Every actor spawned here is ended with it.
class actor_fixture : public ::testing::Test {
public:
  actor_fixture() {
    environment.settings = &settings;
    environment.time = &time;
    environment.idle = &idle;
    run();
  }

  ~actor_fixture() override {
    idle.drop_all();
    for (auto& actor : spawned_)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    spawned_.clear();
    probes_.clear();
    while (coordinator.try_run_once()) {
    }
    coordinator.inline_all_enqueues();
  }

  /// Spawns the behaviour function `fun(self, args...)`; it ends with the fixture.
  template <class Fun, class... Args>
  auto spawn(Fun fun, Args&&... args) {
    auto handle = spawn_on(system, nullptr, fun, std::forward<Args>(args)...);
    spawned_.push_back(caf::actor_cast<caf::strong_actor_ptr>(handle));
    return handle;
  }

  /// An actor that takes any message and keeps it; `probe->as<queue_actor>()` is its handle.
  std::shared_ptr<probe> make_probe() {
    auto made = probe::spawn(system);
    spawned_.push_back(caf::actor_cast<caf::strong_actor_ptr>(made->handle()));
    probes_.push_back(made);
    return made;
  }

  template <class Handle, class Message>
  void send(const Handle& to, Message&& what) {
    caf::anon_send(to, std::forward<Message>(what));
  }

  /// Sends so that the receiver sees `from` as the sender and answers there.
  template <class Handle, class Message>
  void send_as(const std::shared_ptr<probe>& from, const Handle& to, Message&& what) {
    caf::actor_cast<caf::actor>(to)->eq_impl(caf::make_message_id(),
                                             caf::actor_cast<caf::strong_actor_ptr>(from->handle()),
                                             nullptr, std::forward<Message>(what));
  }

  /// Runs actors until none has mail, without the idle hook.
  void run_actors() {
    std::size_t steps = 0;
    while (coordinator.try_run_once())
      if (++steps > 1'000'000) {
        ADD_FAILURE() << "actors never come to rest";
        return;
      }
  }

  /// Runs actors and the idle hook until nothing is left to do now. Time stands still.
  void run() {
    std::size_t rounds = 0;
    do {
      run_actors();
      if (++rounds > 100'000) {
        ADD_FAILURE() << "the idle hook never comes to rest";
        return;
      }
    } while (idle.call_all());
  }

  /// Lets time pass in steps, so that timers which re-arm themselves fire as often as they would.
  template <class Rep, class Period>
  void advance(std::chrono::duration<Rep, Period> by,
               std::chrono::nanoseconds step = std::chrono::milliseconds{10}) {
    run();
    auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(by);
    while (left.count() > 0) {
      const auto now = std::min(left, step);
      coordinator.advance_time(now);
      left -= now;
      run();
    }
  }

  /// Asks `to` and returns the answer; fails the test without one.
  template <class Answer, class Handle, class Request>
  Answer ask(const Handle& to, Request&& what) {
    auto asker = make_probe();
    Answer answer{};
    bool came = false;
    asker->request<Answer>(to, std::forward<Request>(what), [&](Answer& x) {
      answer = std::move(x);
      came = true;
    });
    run();
    EXPECT_TRUE(came) << "no answer";
    return answer;
  }

  /// Whether the actor still lives.
  template <class Handle>
  [[nodiscard]] bool alive(const Handle& handle) const {
    auto* actor = caf::actor_cast<caf::abstract_actor*>(handle);
    return !actor->getf(caf::abstract_actor::is_terminated_flag);
  }

  /// Ends an actor as a crash would.
  template <class Handle>
  void kill(const Handle& handle) {
    caf::anon_send_exit(handle, caf::exit_reason::kill);
    run_actors();
  }

  /// What an actor keeps in itself, for white-box checks.
  template <class State, class Handle>
  [[nodiscard]] State& state_of(const Handle& handle) const {
    using self_type = std::remove_pointer_t<loop_pointer<Handle, State>>;
    return dynamic_cast<self_type&>(*caf::actor_cast<caf::abstract_actor*>(handle)).state;
  }

  test_system_config config;
  caf::actor_system system{config};
  caf::scheduler::test_coordinator& coordinator =
      dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  virtual_clock time{coordinator.clock()};
  queued_idle_hook idle;
  handfast::config::settings settings;
  shard_environment environment;

private:
  std::vector<caf::strong_actor_ptr> spawned_;
  std::vector<std::shared_ptr<probe>> probes_;
};

} // namespace handfast::test
