#pragma once

/// Pins actors to an event loop, so that a message between two of them is a function call away.
/// Spawned without a loop, the same classes are ordinary actors on CAF's scheduler, or on its test
/// coordinator.

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/sec.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <exception>
#include <functional>
#include <string>
#include <utility>

namespace handfast {

/// An event loop that runs actors. `exec_later` may be called from any thread (CAF's own rule is
/// narrower): a foreign thread's call is handed over to the loop's.
class actor_loop : public caf::execution_unit {
public:
  using caf::execution_unit::execution_unit;
};

/// A typed actor that runs on the loop it was spawned with.
template <class... Sigs>
class loop_actor : public caf::typed_event_based_actor<Sigs...> {
public:
  using super = caf::typed_event_based_actor<Sigs...>;

  explicit loop_actor(caf::actor_config& cfg)
      : super{cfg}, loop_{dynamic_cast<actor_loop*>(cfg.host)} {
    // The supervisor's log line and the list of quarantined actors say what was wrong.
    this->set_exception_handler([](caf::scheduled_actor*, std::exception_ptr& what) -> caf::error {
      try {
        std::rethrow_exception(what);
      } catch (const std::exception& e) {
        return caf::make_error(caf::sec::runtime_error, std::string{e.what()});
      } catch (...) {
        return caf::make_error(caf::sec::runtime_error,
                               std::string{"an exception of no known type"});
      }
    });
  }

  using super::enqueue;

  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* from) override {
    super::enqueue(std::move(what), loop_ ? loop_ : from);
  }

  void launch(caf::execution_unit* from, bool lazy, bool hide) override {
    super::launch(loop_ ? loop_ : from, lazy, hide);
  }

  /// Calls `what` at the end of each turn: after the actor has handled what was in its mailbox, or
  /// as much of it as one turn may. So what several messages gave to say leaves as one message. It
  /// must not throw. An actor that ends in its turn loses what it gathered, as with a crash. Only
  /// for actors that are pinned, or on a scheduler with one thread, as that of the tests is.
  void at_turn_end(std::function<void()> what) { turn_end_ = std::move(what); }

  caf::resumable::resume_result resume(caf::execution_unit* on, std::size_t messages) override {
    const auto left = super::resume(on, messages);
    if (turn_end_ && left != caf::resumable::done)
      turn_end_();
    return left;
  }

private:
  caf::execution_unit* loop_;
  std::function<void()> turn_end_;
};

namespace detail {
template <class Handle>
struct loop_actor_of;
template <class... Sigs>
struct loop_actor_of<caf::typed_actor<Sigs...>> {
  using type = loop_actor<Sigs...>;
};
} // namespace detail

/// What the behaviour function of a pinned stateful actor takes as its first parameter.
template <class Handle, class State>
using loop_pointer = caf::stateful_actor<State, typename detail::loop_actor_of<Handle>::type>*;

/// Spawns `behaviour(self, args...)` on `loop`; without a loop as an ordinary actor.
template <class Behaviour, class... Args>
auto spawn_on(caf::actor_system& system, actor_loop* loop, Behaviour behaviour, Args&&... args) {
  caf::actor_config cfg{loop};
  return system.spawn_functor(std::true_type{}, cfg, behaviour, std::forward<Args>(args)...);
}

} // namespace handfast

namespace caf {
template <class... Sigs>
class behavior_type_of<handfast::loop_actor<Sigs...>> {
public:
  using type = typed_behavior<Sigs...>;
};
} // namespace caf
