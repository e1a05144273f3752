#pragma once

/// A real loop with real loopback sockets, and small untyped actors pinned to it.

#include "runtime/socket_set.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <mutex>

namespace handfast::runtime {

/// An untyped actor pinned to a loop; unknown messages are dropped.
class probe : public pinned<caf::event_based_actor> {
public:
  using script = std::function<caf::behavior(probe*)>;

  probe(caf::actor_config& cfg, script behaviour)
      : pinned<caf::event_based_actor>{cfg}, behaviour_{std::move(behaviour)} {
    set_default_handler(caf::drop);
  }
  caf::behavior make_behavior() override { return behaviour_(this); }
  void on_exit() override {
    behaviour_ = nullptr;
  } // gives back its transport, as the state of a real one does

private:
  script behaviour_;
};

struct one_thread : caf::actor_system_config {
  one_thread() {
    set("scheduler.policy", caf::atom("sharing"));
    set("scheduler.max-threads", 1);
  }
};

class loop_fixture : public testing::Test {
protected:
  ~loop_fixture() override { finish(); }

  /// Ends the actors, then the loop. First thing in the destructor of a fixture with sockets of its
  /// own.
  void finish() {
    for (auto& one : probes_)
      caf::anon_send_exit(one, caf::exit_reason::kill);
    probes_.clear();
    system_.await_all_actors_done();
    loop_.stop();
  }

  /// Spawns `behaviour(self)` on the loop.
  caf::actor spawn(probe::script behaviour) {
    caf::actor_config cfg{&loop_};
    caf::actor made = system_.spawn_class<probe, caf::no_spawn_options>(cfg, std::move(behaviour));
    const std::lock_guard lock{mutex_};
    probes_.push_back(made);
    return made;
  }

  /// Runs `what` on the loop's thread and waits for its result.
  template <class F>
  auto on_loop(F what) -> decltype(what()) {
    using result = decltype(what());
    auto task = std::make_shared<std::packaged_task<result()>>(std::move(what));
    auto done = task->get_future();
    loop_.post([task] { (*task)(); });
    return done.get();
  }

  one_thread config_;
  caf::actor_system system_{config_};
  shard_loop loop_{system_};
  std::mutex mutex_; ///< connections are spawned on the loop
  std::vector<caf::actor> probes_;
};

} // namespace handfast::runtime
