/// Each kind of actor of a node ends at each of its first messages under load: every promise is
/// kept, the actor is back, and nobody waits for an answer for ever.

#include "tests/sim/sim_world.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <ostream>

namespace handfast::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint64_t messages_max = 50;

struct kill_case {
  const char* name;
  std::string role;
  void (*shape)(sim_plan& plan) = [](sim_plan&) {};
};

void PrintTo(const kill_case& c, std::ostream* to) {
  *to << c.name;
}

/// Nothing goes wrong but what the test orders; all roles have much to do.
sim_plan busy_plan() {
  sim_plan p;
  p.disk_step = 100;
  p.disk_pause = 100;
  p.disk_step_max = microseconds{20'000};
  p.pace = milliseconds{10};
  p.producers = 3;
  p.topics = 1;
  p.conflicts = 200;
  p.undecided = 200;
  p.slow = 50;
  p.several = 200;
  p.plain = 300;
  p.stalls = 50;
  auto& s = p.settings;
  s.store.dir = "/data";
  s.store.segment_size = 64 * limits::kib;
  s.store.checkpoint_bytes = 8 * limits::kib;
  s.transaction.checks.timeout = milliseconds{500};
  s.transaction.checks.check_interval = milliseconds{500};
  s.transaction.checks.check_max = 2;
  s.transaction.outcomes_in_memory = 20;
  s.producer.session_timeout = milliseconds{500};
  s.topic.default_queues = 1;
  s.consumer.lease = milliseconds{1'000};
  return p;
}

/// Most of what HALF STORE hears is about checks.
void checks_only(sim_plan& plan) {
  plan.undecided = 900;
  plan.plain = 0;
  plan.settings.transaction.checks.check_max = 5;
  plan.settings.transaction.checks.timeout = milliseconds{100};
  plan.settings.transaction.checks.check_interval = milliseconds{100};
}

void gives_up_often(sim_plan& plan) {
  plan.undecided = 700;
  plan.settings.transaction.checks.check_max = 1;
  plan.settings.transaction.checks.timeout = milliseconds{100};
}

/// SEGMENT KEEPER goes by time more than by load: there is always something on a slow disk.
void takes_time(sim_plan& plan) {
  plan.pace = milliseconds{300};
  plan.disk_step_max = microseconds{1'000'000};
}

void delays_much(sim_plan& plan) {
  plan.delayed = 500;
}

/// HANDFAST_KILL_ROUNDS: how often, each time with other seeds.
std::uint64_t rounds() {
  const char* given = std::getenv("HANDFAST_KILL_ROUNDS");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

class KillList : public ::testing::TestWithParam<kill_case> {
public:
  static sim_options options_for(const kill_case& which, std::uint64_t round,
                                 std::uint64_t message) {
    sim_options options;
    options.seed = 7'000 + round * messages_max + message;
    options.steps = 1'500;
    options.plan = busy_plan();
    which.shape(*options.plan);
    options.kill = kill_order{which.role, message, 400};
    return options;
  }

  /// What is wrong with the node's own word on who lives; empty if nothing is.
  static std::string trouble_with_lives(const sim_verdict& verdict, const std::string& role) {
    const auto status = nlohmann::json::parse(verdict.status_json, nullptr, false);
    if (status.is_discarded())
      return "there is no status";
    std::string trouble;
    for (const auto& [name, count] : status.at("restarts").items())
      if (const auto expected = name == role ? 1 : 0; count != expected)
        trouble += name + " was restarted " + count.dump() + " times; ";
    if (role == "connection") // ends its connection only; its client has come back, else no rest
      return trouble;
    const auto label = "role=\"" + role + "\"";
    for (const auto& actor : status.at("actors"))
      for (const auto& sample : actor.at("samples"))
        if (sample.at("name") == "handfast_actors" && sample.at("labels") == label &&
            sample.at("value") >= 1)
          return trouble;
    return trouble + "no " + role + " is running";
  }
};

TEST_P(KillList, CostsNoPromiseAtAnyMessage) {
  const auto& which = GetParam();
  for (std::uint64_t i = 0; i < rounds() * messages_max; ++i) {
    const auto message = 1 + i % messages_max;
    const auto options = options_for(which, i / messages_max, message);
    const auto verdict = run_seed(options);
    const auto where = std::string{which.name} + " killed at message " + std::to_string(message) +
                       ", seed " + std::to_string(options.seed);
    ASSERT_TRUE(verdict.order_obeyed) << where << ": it never came so far";
    ASSERT_TRUE(verdict.violations.empty()) << where << "\n" << report_of(verdict, options);
    ASSERT_EQ(trouble_with_lives(verdict, which.role), "") << where;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Roles, KillList,
    ::testing::Values(
        kill_case{"commit_log", "commit_log"}, kill_case{"log_reader", "log_reader"},
        kill_case{"segment_keeper", "segment_keeper", takes_time},
        kill_case{"checkpointer", "checkpointer"}, kill_case{"half_store", "half_store"},
        kill_case{"check_desk", "half_store", checks_only}, kill_case{"op_store", "op_store"},
        kill_case{"check_scheduler", "check_scheduler"},
        kill_case{"delay_scheduler", "delay_scheduler", delays_much},
        kill_case{"producer_group", "producer_group"},
        kill_case{"topic_registry", "topic_registry"}, kill_case{"queue", "queue"},
        kill_case{"consumer_group", "consumer_group"}, kill_case{"connection", "connection"},
        kill_case{"check_listener", "check_listener", gives_up_often}),
    [](const auto& one) { return std::string{one.param.name}; });

} // namespace
} // namespace handfast::sim
