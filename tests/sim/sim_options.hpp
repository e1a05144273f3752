#pragma once

/// What one simulated run does. Everything else follows from the seed.

#include "config/settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace handfast::sim {

/// A fault planted on purpose, to show that the checker finds it.
enum class mutant : std::uint8_t {
  none,
  no_sync,            ///< the sync does nothing, although it is reported done
  answer_before_sync, ///< a batch is reported done before it is synced
};

std::string_view name_of(mutant m);

/// How often things happen in a run, drawn from its seed: most runs leave some kinds of fault out,
/// so that others come to the fore. Per-mille values are chances per step.
struct sim_plan {
  std::uint32_t power_cut = 0;
  std::uint32_t kill = 0;
  std::uint32_t cut_connection = 0;
  std::uint32_t disk_step = 0; ///< chance that a disk step that is due goes before a waiting actor
  std::uint32_t disk_pause =
      0; ///< chance that others go on while a detached actor waits for the disk
  std::uint32_t time_slip = 0; ///< chance that time passes although actors have work
  std::uint32_t powered_ops =
      0; ///< chance that a power cut comes at a disk operation instead of between steps
  std::chrono::microseconds disk_step_max{500}; ///< time of a write or a sync
  std::chrono::milliseconds pace{300};          ///< between a producer's transactions, at most
  std::uint32_t producers = 2;
  std::uint32_t consumers = 2;
  std::uint32_t topics = 2;
  std::uint32_t conflicts = 0;
  std::uint32_t undecided = 0;
  std::uint32_t slow = 0;
  std::uint32_t several = 0; ///< more than one message in a transaction
  std::uint32_t plain = 0;
  std::uint32_t stalls = 0;
  std::uint32_t client_crashes = 0;
  std::uint32_t delayed = 0; ///< messages that become visible later, of both kinds
  std::uint32_t poison = 0;  ///< messages that a group can never handle
  config::settings settings;
};

/// One actor to end at one moment.
struct kill_order {
  std::string role;
  /// Instead of handling its message with this number, from 1. Counted are messages that come while
  /// an append and a decision are outstanding, and after `after_steps`. Of several actors with the
  /// role it is the one that gets so far first.
  std::uint64_t message = 1;
  std::uint64_t after_steps = 500; ///< of load before
};

struct sim_options {
  std::uint64_t seed = 1;
  std::uint64_t steps = 4'000; ///< of the safety phase
  mutant planted = mutant::none;
  std::optional<sim_plan> plan{};   ///< instead of the one drawn from the seed
  std::optional<kill_order> kill{}; ///< beside what the plan does
  bool show_log = false;            ///< the node's own log, on standard output
};

sim_plan plan_of(std::uint64_t seed);

} // namespace handfast::sim
