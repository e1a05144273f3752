#pragma once

/// The event loop of a shard: one thread that reads the sockets and runs the actors pinned to it.
///
/// A round: run actors that have mail, send what they wrote, look at the sockets; only when nothing
/// is ready call the idle hooks (so the log commits then), and only when those brought nothing
/// either, sleep. An idle loop wakes for nothing.

#include "actors/loop_actor.hpp"
#include "actors/seams.hpp"

#include <asio/io_context.hpp>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace handfast::runtime {

/// Something that takes part in each round of a loop, on the loop's thread.
class round_participant {
public:
  virtual ~round_participant() = default;
  /// End of a round of actors: sends what they wrote.
  virtual void flush() = 0;
  /// Hands out what is ready, without waiting and without running actors. Whether there was
  /// anything.
  virtual bool poll() = 0;
};

/// A queue of actors with mail: a ring that grows and never shrinks.
class job_ring {
public:
  [[nodiscard]] bool empty() const { return head_ == tail_; }
  void push(caf::resumable* job);
  caf::resumable* pop();

private:
  std::vector<caf::resumable*> slots_ = std::vector<caf::resumable*>(256);
  std::size_t head_ = 0; ///< next to pop; both only grow, the slot is the remainder
  std::size_t tail_ = 0;
};

class shard_loop final : public actor_loop, public idle_hook {
public:
  /// Messages that one actor may handle before the next has its turn.
  static constexpr std::size_t messages_per_turn = 64;
  /// Turns of one round: sockets never wait longer.
  static constexpr std::size_t turns_per_round = 64;

  explicit shard_loop(caf::actor_system& system);
  /// Stops the thread. End the pinned actors before: those that are left never run again.
  ~shard_loop() override;

  /// Starts the thread, with all signals blocked in it. Attach the participants first.
  void start();
  /// Ends the thread, after the round under way. From any other thread; harmless when it does not
  /// run.
  void stop();
  /// Runs `what` on the loop's thread soon, between rounds of actors. From any thread.
  void post(std::function<void()> what);
  /// Takes part in every round until the loop is gone. Before `start`.
  void attach(round_participant& one) { participants_.push_back(&one); }

  /// For sockets and timers; its handlers run on the loop's thread.
  [[nodiscard]] asio::io_context& io() { return io_; }
  [[nodiscard]] bool on_loop() const override;
  /// How often the loop woke from sleep: an idle one does not.
  [[nodiscard]] std::uint64_t wake_ups() const { return wake_ups_.load(std::memory_order_relaxed); }

  /// From any thread.
  void exec_later(caf::resumable* job) override;
  /// Only on the loop's thread.
  void at_next_idle(std::function<void()> what) override;

private:
  void run();
  void run_actors();
  void take_foreign();
  bool poll_participants();
  bool run_idle_hooks();
  void sleep();

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> stay_{io_.get_executor()};
  std::vector<round_participant*> participants_;
  job_ring ready_;
  std::vector<std::function<void()>> idle_hooks_;
  std::vector<std::function<void()>> idle_hooks_running_;
  bool stopping_ = false;
  std::atomic<std::uint64_t> wake_ups_{0};

  std::mutex mutex_;
  std::vector<caf::resumable*> foreign_; ///< given by other threads
  bool asleep_ = false;                  ///< the next foreign job must wake the loop
  std::atomic<bool> has_foreign_{false};
  std::vector<caf::resumable*> foreign_taken_;
  std::thread thread_;
};

} // namespace handfast::runtime
