/// The second half of a run: no faults any more, everything that was begun must come to its end.

#include "tests/sim/sim_world.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace handfast::sim {

using proof::event_kind;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

bool sim_world::settle(milliseconds limit, const std::function<bool()>& done) {
  const auto end = time_.now() + limit;
  std::uint64_t until_look = 0;
  while (time_.now() < end && violations_.empty()) {
    step();
    if (++until_look % 64 == 0 && done())
      return true;
  }
  return done();
}

void sim_world::come_to_rest() {
  faults_ = false;
  if (power_cut_planned_)
    cut_power();
  if (!settle(30s, [this] { return node_.up(); }))
    return complain("the node did not come back");
  for (auto* client : clients_)
    client->wind_up();
  settle(2s, [] { return false; });
  time_.witness({.kind = event_kind::calm});
  // Where few may be pending at a time, the others wait for their turn.
  std::size_t open = 0;
  for (const auto& p : producers_)
    open += p->open();
  const auto turns = 1 + open / std::max<std::uint64_t>(1, plan_.settings.transaction.pending_max);
  const bool producers_done = settle(120s + turns * undecided_max(), [this] {
    return std::all_of(producers_.begin(), producers_.end(),
                       [](const auto& p) { return p->finished(); });
  });
  if (!producers_done)
    return complain("producers do not come to an end" + who_waits());
  if (!settle_undecided())
    return;
  operator_->give_second_chances();
  if (!settle(60s, [this] { return operator_->second_chances_given(); }))
    return complain("given-up transactions can't be opened again" + who_waits());
  if (settle_undecided())
    drain();
}

/// The longest that a transaction stays pending while nothing goes wrong.
milliseconds sim_world::undecided_max() const {
  const auto& checks = plan_.settings.transaction.checks;
  return checks.timeout + checks.check_interval * checks.check_max * 2 + 60s;
}

/// Until nothing is pending.
bool sim_world::settle_undecided() {
  bool asked = false;
  const bool none_pending = settle(undecided_max(), [this, &asked] {
    if (asked && operator_->looked() && operator_->pending().empty())
      return true;
    if (!asked || operator_->looked())
      operator_->look();
    asked = true;
    return false;
  });
  if (!none_pending)
    complain("transactions stay undecided" + who_waits());
  return none_pending;
}

/// Until no message waits for its time, the last of which may have been committed just now.
bool sim_world::settle_delayed() {
  double left = 0;
  for (int asked = 0; asked < 20; ++asked) {
    if (!settle_status())
      return false;
    left = sum_of("handfast_delayed_messages");
    if (left == 0)
      return true;
    settle(1s, [] { return false; });
  }
  complain(std::to_string(left) + " messages still wait for their time");
  return false;
}

/// Of all samples with this name in the newest status.
double sim_world::sum_of(const std::string& sample_name) const {
  double sum = 0;
  const auto status = nlohmann::json::parse(operator_->status_json());
  for (const auto& actor : status.at("actors"))
    for (const auto& sample : actor.at("samples"))
      if (sample.at("name") == sample_name)
        sum += sample.at("value").get<double>();
  return sum;
}

void sim_world::drain() {
  if (plan_.delayed != 0 && !settle_delayed())
    return;
  for (auto& consumer : consumers_)
    consumer->wind_up();
  const bool consumed = settle(120s, [this] {
    return std::all_of(consumers_.begin(), consumers_.end(),
                       [](const auto& c) { return c->finished(); });
  });
  if (!consumed)
    return complain("consumers do not come to an end" + who_waits());
  operator_->audit();
  if (!settle(60s, [this] { return operator_->audited(); }))
    return complain("the audit does not come to an end" + who_waits());
  time_.witness({.kind = event_kind::drained});
  if (!settle_status())
    return;
  compare_gauges();
  constexpr std::uint64_t patience_ms = 10'000; // fetches may be parked for a second
  for (const auto* client : clients_)
    if (client->oldest_unanswered_ms() > patience_ms)
      complain(client->name() + " waits for an answer" + who_waits());
}

/// Of a node that has nothing to do any more. An actor that waits for its disk may miss one
/// question.
bool sim_world::settle_status() {
  std::string missing;
  for (int asked = 0; asked < 5; ++asked) {
    operator_->ask_status();
    if (!settle(10s, [this] { return !operator_->status_json().empty(); })) {
      complain("the node's status does not come" + who_waits());
      return false;
    }
    const auto status = nlohmann::json::parse(operator_->status_json());
    if (status.at("not_answering").empty())
      return true;
    missing = status.at("not_answering").dump();
  }
  complain("no status from " + missing);
  return false;
}

/// Gauges are computed from state: at rest they say what the operator found by asking.
void sim_world::compare_gauges() {
  const auto status = nlohmann::json::parse(operator_->status_json());
  std::map<std::string, double> sums;
  std::map<std::string, double> queue_ends;
  for (const auto& actor : status.at("actors"))
    for (const auto& sample : actor.at("samples")) {
      const auto name = sample.at("name").get<std::string>();
      const auto value = sample.at("value").get<double>();
      sums[name] += value;
      if (name == "handfast_queue_end_offset") {
        const auto labels = sample.at("labels").get<std::string>();
        queue_ends[labels.substr(0, labels.find(','))] += value;
      }
    }
  const auto equal = [&](const std::string& gauge, double shown, std::uint64_t expected) {
    if (shown != static_cast<double>(expected))
      complain(gauge + " is " + std::to_string(shown) + ", not " + std::to_string(expected));
  };
  const auto compare = [&](const char* gauge, std::uint64_t expected) {
    equal(gauge, sums[gauge], expected);
  };
  compare("handfast_pending_transactions_all", operator_->pending().size());
  compare("handfast_pending_transactions", operator_->pending().size());
  compare("rocketmq_half_messages", 0);
  compare("handfast_deciding_transactions", 0);
  compare("handfast_decisions_under_way", 0);
  compare("handfast_outcome_lookups", 0);
  compare("handfast_checks_queued", 0);
  compare("handfast_topic_changes_waiting", 0);
  compare("handfast_delayed_messages", 0);
  for (const auto& [topic, entries] : operator_->entries_listed()) {
    const auto label = "topic=\"" + std::to_string(topic.value) + "\"";
    equal("handfast_queue_end_offset of " + label, queue_ends[label], entries);
  }
  compare("handfast_actors_quarantined", 0);
}

void sim_world::complain(std::string what) {
  violations_.push_back({"rest", std::move(what)});
}

std::string sim_world::who_waits() const {
  std::string text;
  for (const auto* client : clients_)
    text += "\n  " + client->waiting_for();
  return text;
}

} // namespace handfast::sim
