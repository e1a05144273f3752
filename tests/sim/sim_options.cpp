#include "tests/sim/sim_options.hpp"

#include "tests/sim/sim_random.hpp"

namespace handfast::sim {

using std::chrono::milliseconds;

std::string_view name_of(mutant m) {
  switch (m) {
  case mutant::none:
    return "none";
  case mutant::no_sync:
    return "no_sync";
  case mutant::answer_before_sync:
    return "answer_before_sync";
  }
  return "invalid";
}

namespace {

/// Small numbers everywhere, so that every bound, segment end and time-out is met within a short
/// run.
config::settings small_settings(sim_random& random) {
  config::settings s;
  s.store.dir = "/data";
  s.store.segment_size = random.chance(500) ? 64 * limits::kib : 256 * limits::kib;
  s.store.checkpoint_bytes = random.between(8, 64) * limits::kib;
  s.transaction.checks.timeout = milliseconds{random.between(500, 3'000)};
  s.transaction.checks.check_interval = milliseconds{random.between(500, 3'000)};
  s.transaction.checks.check_max = static_cast<std::uint32_t>(random.between(1, 5));
  s.transaction.outcomes_in_memory = random.chance(500) ? random.between(4, 40) : 10'000;
  if (random.chance(200))
    s.transaction.pending_max = random.between(4, 20);
  s.producer.session_timeout = milliseconds{random.between(500, 3'000)};
  s.topic.default_queues = static_cast<std::uint32_t>(random.between(1, 4));
  s.consumer.lease = milliseconds{random.between(500, 3'000)};
  s.supervision.restarts = 1'000; // kills are ours, not a reason to stop
  return s;
}

void hurry(config::policy& checks, sim_random& random) {
  checks.timeout = milliseconds{random.between(20, 300)};
  checks.check_interval = milliseconds{random.between(20, 300)};
  checks.check_max = static_cast<std::uint32_t>(random.between(1, 2));
}

std::uint32_t sometimes(sim_random& random, std::uint32_t per_mille, std::uint32_t value) {
  return random.chance(per_mille) ? value : 0;
}

} // namespace

sim_plan plan_of(std::uint64_t seed) {
  sim_random random{seed ^ 0x706c616eULL};
  sim_plan p;
  p.power_cut = sometimes(random, 700, static_cast<std::uint32_t>(random.between(1, 5)));
  p.kill = sometimes(random, 500, static_cast<std::uint32_t>(random.between(1, 20)));
  p.cut_connection = sometimes(random, 500, static_cast<std::uint32_t>(random.between(1, 4)));
  p.disk_step = static_cast<std::uint32_t>(random.between(20, 400));
  p.time_slip = sometimes(random, 500, static_cast<std::uint32_t>(random.between(1, 60)));
  p.powered_ops = static_cast<std::uint32_t>(random.between(0, 700));
  constexpr std::uint64_t disk_us[] = {200, 2'000, 20'000, 100'000};
  p.disk_step_max = std::chrono::microseconds{disk_us[random.below(4)]};
  constexpr std::uint64_t pace_ms[] = {10, 50, 300};
  p.pace = milliseconds{pace_ms[random.below(3)]};
  p.producers = static_cast<std::uint32_t>(random.between(1, 4));
  p.consumers = static_cast<std::uint32_t>(random.between(1, 3));
  p.topics = static_cast<std::uint32_t>(random.between(1, 3));
  p.conflicts = sometimes(random, 500, 200);
  p.undecided = sometimes(random, 600, static_cast<std::uint32_t>(random.between(50, 500)));
  p.slow = sometimes(random, 500, static_cast<std::uint32_t>(random.between(50, 300)));
  p.several = sometimes(random, 500, 400);
  p.plain = sometimes(random, 500, 500);
  p.stalls = sometimes(random, 400, 100);
  p.client_crashes = sometimes(random, 400, 2);
  p.settings = small_settings(random);
  p.disk_pause = static_cast<std::uint32_t>(random.between(0, 700));
  if (random.chance(300)) // much is given up, and opened again, while things go wrong
    hurry(p.settings.transaction.checks, random);
  p.delayed = sometimes(random, 500, static_cast<std::uint32_t>(random.between(50, 500)));
  if (p.delayed != 0 && random.chance(200))
    p.settings.delay.max = random.between(2, 20);
  p.poison = sometimes(random, 500, static_cast<std::uint32_t>(random.between(20, 200)));
  auto& consumer = p.settings.consumer;
  consumer.retry_backoff_min = milliseconds{0};
  consumer.retry_backoff_max = milliseconds{random.between(0, 200)};
  if (p.poison != 0)
    consumer.delivery_max = static_cast<std::uint32_t>(random.between(1, 4));
  return p;
}

} // namespace handfast::sim
