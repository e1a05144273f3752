#pragma once

/// Pins actors to an event loop, so that a message between two of them is a function call away.
/// Spawned without a loop, the same classes are ordinary actors on CAF's scheduler, or on its test
/// coordinator.

#include "actors/near_mail.hpp"

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
  /// Whether the caller is on the loop's thread.
  [[nodiscard]] virtual bool on_loop() const = 0;
};

/// An actor of CAF's class `Base` that runs on the loop it was spawned with.
///
/// What is sent to it on its loop's thread waits in a queue of its own (`near_mail`) instead of
/// CAF's mailbox; all else takes CAF's way: what comes from other threads, and urgent messages,
/// which overtake the others as ever. Messages of one sender stay in order, since a sender lives on
/// one thread.
template <class Base>
class pinned : public Base {
public:
  using super = Base;

  explicit pinned(caf::actor_config& cfg) : super{cfg}, loop_{dynamic_cast<actor_loop*>(cfg.host)} {
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
    if (!loop_ || what->is_high_priority() || !loop_->on_loop()) {
      super::enqueue(std::move(what), loop_ ? loop_ : from);
      return;
    }
    near_.push(std::move(what));
    if (!std::exchange(near_waits_, true)) {
      near_turn_.intrusive_ptr_add_ref_impl(); // the loop releases it after the turn
      loop_->exec_later(&near_turn_);
    }
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
    return end_turn(super::resume(on, messages));
  }

private:
  /// What the loop runs for near mail, as it runs the actor itself for what is in CAF's mailbox.
  class near_turn final : public caf::resumable {
  public:
    explicit near_turn(pinned& of) : of_{of} {}
    caf::resumable::resume_result resume(caf::execution_unit* on, std::size_t messages) override {
      return of_.end_turn(of_.take_near_mail(on, messages));
    }
    void intrusive_ptr_add_ref_impl() override { caf::intrusive_ptr_add_ref(of_.ctrl()); }
    void intrusive_ptr_release_impl() override { caf::intrusive_ptr_release(of_.ctrl()); }

  private:
    pinned& of_;
  };

  caf::resumable::resume_result take_near_mail(caf::execution_unit* on, std::size_t messages) {
    using activation = caf::scheduled_actor::activation_result;
    bool alive = this->activate(on);
    for (; alive && messages > 0 && !near_.empty(); --messages) {
      auto next = near_.pop();
      const auto how = this->reactivate(*next);
      alive = how != activation::terminated;
      if (how == activation::skipped)
        super::enqueue(std::move(next), on); // CAF's mailbox can keep it for a later behaviour
    }
    if (alive && !near_.empty())
      return caf::resumable::resume_later;
    near_waits_ = false;
    while (!near_.empty()) // it has ended: CAF says so to whoever waits for an answer
      super::enqueue(near_.pop(), on);
    return alive ? caf::resumable::awaiting_message : caf::resumable::done;
  }

  caf::resumable::resume_result end_turn(caf::resumable::resume_result left) {
    if (turn_end_ && left != caf::resumable::done)
      turn_end_();
    return left;
  }

  actor_loop* loop_;
  std::function<void()> turn_end_;
  near_mail near_;
  near_turn near_turn_{*this};
  bool near_waits_ = false; ///< the loop has a turn for near mail
};

/// A typed actor that is pinned.
template <class... Sigs>
class loop_actor : public pinned<caf::typed_event_based_actor<Sigs...>> {
public:
  using pinned<caf::typed_event_based_actor<Sigs...>>::pinned;
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
