#include "tests/sim/sim_world.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <random>
#include <set>
#include <tuple>
#include <utility>

namespace handfast::sim {

using proof::event_kind;
using std::chrono::milliseconds;

sim_counts& sim_counts::operator+=(const sim_counts& other) {
  steps += other.steps;
  power_cuts += other.power_cuts;
  kills += other.kills;
  connection_cuts += other.connection_cuts;
  client_crashes += other.client_crashes;
  transactions += other.transactions;
  deliveries += other.deliveries;
  entries += other.entries;
  events += other.events;
  checks += other.checks;
  conflicts += other.conflicts;
  given_up += other.given_up;
  reopened += other.reopened;
  repeated += other.repeated;
  disk_waits += other.disk_waits;
  return *this;
}

sim_world::sim_world(const sim_options& options)
    : options_{options}, plan_{options.plan ? *options.plan : plan_of(options.seed)},
      time_{options.seed}, node_{time_, disk_, plan_, options.planted} {
  node_.on_disk_wait([this] { let_others_go_on(); });
  make_clients();
}

void sim_world::make_clients() {
  for (std::uint32_t i = 0; i < plan_.topics; ++i)
    topics_.push_back({"topic-" + std::to_string(i), plan_.settings.topic.default_queues});
  std::vector<std::shared_ptr<sim_database>> databases;
  const auto groups = time_.random.between(1, std::max<std::uint32_t>(1, plan_.producers / 2));
  for (std::uint64_t i = 0; i < groups; ++i)
    databases.push_back(std::make_shared<sim_database>());
  for (std::uint32_t i = 0; i < plan_.producers; ++i) {
    const auto group = i % groups;
    producers_.push_back(std::make_unique<sim_producer>(time_, *this, "p" + std::to_string(i),
                                                        "producers-" + std::to_string(group),
                                                        databases[group], topics_, plan_));
    clients_.push_back(producers_.back().get());
  }
  const auto readers = time_.random.between(1, std::min<std::uint32_t>(2, plan_.consumers));
  for (std::uint32_t i = 0; i < plan_.consumers; ++i) {
    const auto group = "consumers-" + std::to_string(i % readers);
    consumers_.push_back(std::make_unique<sim_consumer>(time_, *this, "c" + std::to_string(i),
                                                        group, topics_, plan_));
    clients_.push_back(consumers_.back().get());
    if (i < readers)
      for (const auto& topic : topics_)
        time_.witness({.kind = event_kind::subscribed, .group = group, .topic = topic.name});
  }
  operator_ = std::make_unique<sim_operator>(time_, *this, topics_, plan_);
  clients_.push_back(operator_.get());
}

std::shared_ptr<sim_link> sim_world::connect(link_client& client, const std::string& name) {
  return node_.connect(client, name);
}

// -- one step ----------------------------------------------------------------------

void sim_world::step() {
  ++counts_.steps;
  auto& random = time_.random;
  if (faults_)
    something_goes_wrong();
  const bool job = node_.has_job();
  const bool due = time_.has_due();
  const bool disk = node_.has_disk_step();
  if (disk && random.chance(job || due ? plan_.disk_step : 800))
    node_.disk_step();
  else if (due && (!job || random.chance(300)))
    time_.run_one_due();
  else if (faults_ && random.chance(plan_.time_slip))
    pass_time();
  else if (job)
    node_.run_job();
  else if (node_.has_idle() && random.chance(900))
    node_.idle();
  else
    pass_time();
  if (disk_waiters_ != 0)
    return; // an actor's stack frame stands below: the node cannot die here
  notice_power();
  if (const auto why = node_.failure(); why && !power_failed_) {
    complain("the node stopped by itself: " + to_string(*why));
    node_.die();
  }
}

/// To the next moment at which something is due, or a little on the way there.
void sim_world::pass_time() {
  auto to = std::min(time_.next_due(), node_.next_timer());
  const auto slip = time_.now() + std::chrono::microseconds{time_.random.between(10, 20'000)};
  if (node_.has_job() || node_.has_idle())
    to = std::min(to, slip);
  time_.advance_to(to == sim_timeline::duration::max() ? slip : to);
  node_.follow_time();
}

/// A detached actor of the real node waits for the disk: everybody else goes on for a while.
void sim_world::let_others_go_on() {
  constexpr std::uint32_t detached_roles = 3;
  auto& random = time_.random;
  if (disk_waiters_ == detached_roles || !random.chance(plan_.disk_pause))
    return;
  ++counts_.disk_waits;
  // Now and then long enough for a whole transaction.
  const bool long_one = random.chance(50);
  const auto end =
      time_.now() + (long_one ? milliseconds{random.between(1, 50)}
                              : std::chrono::microseconds{random.below(
                                    static_cast<std::uint64_t>(plan_.disk_step_max.count()))});
  ++disk_waiters_;
  for (auto left = random.between(1, long_one ? 600 : 40);
       left > 0 && time_.now() <= end && !power_failed_ && !node_.failure(); --left)
    step();
  --disk_waiters_;
}

// -- faults ------------------------------------------------------------------------

void sim_world::something_goes_wrong() {
  auto& random = time_.random;
  if (random.chance(plan_.power_cut) && random.chance(250)) {
    if (disk_waiters_ != 0 || random.chance(plan_.powered_ops))
      plan_power_cut_at_disk();
    else
      cut_power();
  }
  if (node_.up() && random.chance(plan_.kill) && random.chance(500))
    if (const auto who = node_.kill_some_actor(); !who.empty()) {
      ++counts_.kills;
      time_.note("killed " + who);
    }
  if (random.chance(plan_.cut_connection) && random.chance(500)) {
    ++counts_.connection_cuts;
    node_.cut_some_connection();
  }
  if (random.chance(plan_.client_crashes) && random.chance(500)) {
    ++counts_.client_crashes;
    if (random.chance(500))
      random.pick(producers_)->crash();
    else
      random.pick(clients_)->drop();
  }
}

void sim_world::plan_power_cut_at_disk() {
  if (power_cut_planned_)
    return;
  const auto number = disk_.operations() + (disk_waiters_ != 0 ? 1 : time_.random.between(1, 12));
  disk_.fail_at(number, testing::disk_fault::power_off);
  power_cut_planned_ = true;
  disk_.on_step([this, number](std::uint64_t now, testing::disk_operation, const std::string&) {
    power_failed_ |= now >= number;
  });
}

void sim_world::notice_power() {
  if (power_failed_)
    cut_power();
}

void sim_world::cut_power() {
  ++counts_.power_cuts;
  time_.note("power cut");
  node_.die();
  std::mt19937_64 random{time_.random.next()};
  disk_.on_step({});
  disk_.power_cut(random);
  power_failed_ = power_cut_planned_ = false;
  time_.after(time_.random.between(milliseconds{5}, milliseconds{2'000}), [this] { power_on(); });
}

void sim_world::power_on() {
  if (node_.up())
    return;
  if (faults_ && time_.random.chance(plan_.powered_ops) && time_.random.chance(200))
    plan_power_cut_at_disk();
  const auto started = node_.start();
  if (!started && !power_failed_)
    complain("the node does not start: " + to_string(started.error()));
}

// -- the whole run -----------------------------------------------------------------

sim_verdict sim_world::run() {
  power_on();
  for (auto* client : clients_)
    time_.after(time_.random.between(milliseconds{0}, milliseconds{50}),
                [client] { client->start(); });
  while (goes_on()) {
    if (options_.kill && !ordered_ && counts_.steps >= options_.kill->after_steps) {
      node_.obey(*options_.kill, [this] { return much_is_outstanding(); });
      ordered_ = true;
    }
    step();
  }
  if (violations_.empty())
    come_to_rest();
  auto found = proof::check(time_.journal, judge());
  violations_.insert(violations_.end(), found.begin(), found.end());

  count_events();
  return {options_.seed,          time_.journal.hash(),     counts_,
          std::move(violations_), std::move(time_.journal), operator_->status_json(),
          node_.order_obeyed()};
}

bool sim_world::much_is_outstanding() const {
  const auto any = [this](bool (sim_producer::*outstanding)() const) {
    return std::any_of(producers_.begin(), producers_.end(),
                       [&](const auto& p) { return ((*p).*outstanding)(); });
  };
  return any(&sim_producer::append_outstanding) && any(&sim_producer::decision_outstanding);
}

/// An actor that is to be ended may be a quiet one: the load goes on until its message comes.
bool sim_world::goes_on() const {
  const bool waits = options_.kill && !node_.order_obeyed();
  return violations_.empty() && counts_.steps < options_.steps * (waits ? 40 : 1);
}

void sim_world::count_events() {
  for (const auto& p : producers_)
    counts_.transactions += p->opened();
  for (const auto& c : consumers_)
    counts_.deliveries += c->taken();
  for (const auto& [topic, entries] : operator_->entries_listed())
    counts_.entries += entries;
  counts_.events = time_.journal.size();
  std::set<std::tuple<std::string, std::string, std::uint32_t, std::uint64_t>> seen;
  std::set<transaction_id> given_up;
  for (const auto& e : time_.journal.events()) {
    counts_.checks += e.kind == event_kind::check_asked ? 1 : 0;
    counts_.reopened += e.kind == event_kind::reopened && e.code == ec::ok ? 1 : 0;
    counts_.conflicts +=
        e.code >= ec::conflict_committed && e.code <= ec::conflict_given_up ? 1 : 0;
    if (e.recorded == outcome::given_up)
      given_up.insert(e.tx);
    if (e.kind == event_kind::delivered)
      counts_.repeated += seen.emplace(e.group, e.topic, e.queue, e.offset).second ? 0 : 1;
  }
  counts_.given_up = given_up.size();
}

proof::checker_options sim_world::judge() const {
  const auto& checks = plan_.settings.transaction.checks;
  return {.timeout = checks.timeout,
          .check_interval = checks.check_interval,
          .lateness_max = plan_.settings.producer.session_timeout + milliseconds{3'000},
          .delivery_max = plan_.settings.consumer.delivery_max,
          .check_max = checks.check_max};
}

// -- for callers ---------------------------------------------------------------------

sim_verdict run_seed(const sim_options& options) {
  // Kills and power cuts would fill the screen with the node's complaints.
  spdlog::set_level(options.show_log ? spdlog::level::info : spdlog::level::off);
  try {
    return sim_world{options}.run();
  } catch (const std::exception& e) {
    return {options.seed,
            0,
            {},
            {{"rest", std::string{"the run ended by an exception: "} + e.what()}},
            {}};
  }
}

std::string report_of(const sim_verdict& verdict, const sim_options& options,
                      std::size_t events_shown) {
  std::string text = "seed " + std::to_string(verdict.seed) + ": " +
                     std::to_string(verdict.violations.size()) + " violation(s)\n";
  for (const auto& v : verdict.violations)
    text += "  " + v.invariant + ": " + v.text + "\n";
  const auto& events = verdict.journal.events();
  const auto from = events.size() > events_shown ? events.size() - events_shown : 0;
  text += "  last events of " + std::to_string(events.size()) + ":\n";
  for (auto i = from; i < events.size(); ++i)
    text += "    [" + std::to_string(i) + "] " + line_of(events[i]) + "\n";
  text += "  replay: handfast-sim --seed " + std::to_string(verdict.seed) + " --steps " +
          std::to_string(options.steps);
  if (options.planted != mutant::none)
    text += " --mutant " + std::string{name_of(options.planted)};
  return text + "\n";
}

} // namespace handfast::sim
