#pragma once

/// Turns of several messages on CAF's test coordinator, whose own `run_once` gives each actor one
/// message at a time. A node's loop gives up to 64, and actors gather what they say in a turn.

#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <cstddef>

namespace handfast::test {

/// Gives the first actor with mail a turn of up to `messages`; one that has more mail is the next
/// again. False if there is none.
inline bool run_turn(caf::scheduler::test_coordinator& coordinator, std::size_t messages) {
  class unit final : public caf::execution_unit {
  public:
    explicit unit(caf::scheduler::test_coordinator& of)
        : caf::execution_unit{&of.system()}, coordinator_{of} {}
    void exec_later(caf::resumable* job) override { coordinator_.jobs.push_back(job); }

  private:
    caf::scheduler::test_coordinator& coordinator_;
  };
  if (coordinator.jobs.empty())
    return false;
  auto* job = coordinator.jobs.front();
  coordinator.jobs.pop_front();
  unit on{coordinator};
  switch (job->resume(&on, messages)) {
  case caf::resumable::resume_later:
    coordinator.jobs.push_front(job);
    break;
  case caf::resumable::done:
  case caf::resumable::awaiting_message:
    caf::intrusive_ptr_release(job);
    break;
  case caf::resumable::shutdown_execution_unit:
    break;
  }
  return true;
}

} // namespace handfast::test
