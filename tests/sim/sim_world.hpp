#pragma once

/// One whole run: a node, its clients, and what goes wrong.

#include "tests/sim/sim_consumer.hpp"
#include "tests/sim/sim_node.hpp"
#include "tests/sim/sim_operator.hpp"
#include "tests/sim/sim_producer.hpp"
#include "tests/support/checker.hpp"

#include <memory>
#include <vector>

namespace handfast::sim {

struct sim_counts {
  std::uint64_t steps = 0;
  std::uint64_t power_cuts = 0;
  std::uint64_t kills = 0;
  std::uint64_t connection_cuts = 0;
  std::uint64_t client_crashes = 0;
  std::uint64_t transactions = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t entries = 0;
  std::uint64_t events = 0;
  std::uint64_t checks = 0;
  std::uint64_t conflicts = 0; ///< decisions refused since the opposite was recorded
  std::uint64_t given_up = 0;
  std::uint64_t reopened = 0;
  std::uint64_t repeated = 0;   ///< deliveries of what a group had got before
  std::uint64_t disk_waits = 0; ///< of detached actors, in which others went on

  sim_counts& operator+=(const sim_counts& other);
};

struct sim_verdict {
  std::uint64_t seed = 0;
  std::uint64_t journal_hash = 0;
  sim_counts counts;
  std::vector<proof::violation> violations;
  proof::journal journal;
  std::string status_json{}; ///< of the node, at the end
  bool order_obeyed = false; ///< the kill that was ordered has happened
};

class sim_world final : public sim_door {
public:
  explicit sim_world(const sim_options& options);

  /// Faults first, then rest, then judgement. Call once.
  sim_verdict run();

  std::shared_ptr<sim_link> connect(link_client& client, const std::string& name) override;

private:
  void make_clients();
  void step();
  void pass_time();
  void something_goes_wrong();
  void cut_power();
  void power_on();
  void notice_power();
  void let_others_go_on();
  [[nodiscard]] bool goes_on() const;
  [[nodiscard]] bool much_is_outstanding() const;
  void plan_power_cut_at_disk();

  // The end (sim_rest.cpp).
  void come_to_rest();
  void drain();
  bool settle_undecided();
  [[nodiscard]] std::chrono::milliseconds undecided_max() const;
  bool settle_status();
  bool settle_delayed();
  [[nodiscard]] double sum_of(const std::string& sample_name) const;
  void compare_gauges();
  /// Steps until `done` or until `limit` of virtual time has passed. Returns whether it was done.
  bool settle(std::chrono::milliseconds limit, const std::function<bool()>& done);
  void count_events();
  void complain(std::string what);
  [[nodiscard]] std::string who_waits() const;
  [[nodiscard]] proof::checker_options judge() const;

  sim_options options_;
  sim_plan plan_;
  sim_timeline time_;
  testing::sim_disk disk_;
  sim_node node_;
  std::vector<topic_plan> topics_;
  std::vector<std::unique_ptr<sim_producer>> producers_;
  std::vector<std::unique_ptr<sim_consumer>> consumers_;
  std::unique_ptr<sim_operator> operator_;
  std::vector<sim_client*> clients_;
  sim_counts counts_;
  std::vector<proof::violation> violations_;
  bool faults_ = true;
  std::uint32_t disk_waiters_ = 0; ///< actors in the middle of a disk operation
  bool ordered_ = false;           ///< the node was told whom to end
  bool power_cut_planned_ = false; ///< at a disk operation that is still to come
  bool power_failed_ = false;      ///< at a disk operation; noticed after the step
};

/// Runs the seed; a run that throws is a violation too.
sim_verdict run_seed(const sim_options& options);

/// Everything a person needs to follow a violation: what, the last events, how to run it again.
std::string report_of(const sim_verdict& verdict, const sim_options& options,
                      std::size_t events_shown = 60);

} // namespace handfast::sim
