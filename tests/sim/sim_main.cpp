/// handfast-sim: runs seeds of the simulated node, shows progress, and ends with a table and one
/// closing line.

#include "tests/sim/sim_world.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <iostream>

namespace {

using namespace handfast;

struct arguments {
  sim::sim_options options;
  std::uint64_t seeds = 1;
  bool print_journal = false;
  bool keep_going = false;
};

struct totals {
  sim::sim_counts counts;
  std::uint64_t seeds = 0;
  std::uint64_t violating = 0;
  std::uint64_t first_violating = 0;
};

void show_progress(const totals& so_far, const arguments& given) {
  if (given.seeds > 1 && so_far.seeds % 50 == 0)
    std::cerr << "\r" << so_far.seeds << " of " << given.seeds << " seeds, "
              << so_far.counts.power_cuts << " power cuts, " << so_far.violating << " violating"
              << std::flush;
}

totals run_all(const arguments& given) {
  totals all;
  for (std::uint64_t i = 0; i < given.seeds; ++i) {
    auto options = given.options;
    options.seed += i;
    const auto verdict = sim::run_seed(options);
    ++all.seeds;
    all.counts += verdict.counts;
    if (given.print_journal)
      std::cout << verdict.journal.text();
    if (given.seeds == 1)
      std::cout << "journal hash " << std::hex << verdict.journal_hash << std::dec << "\n";
    if (!verdict.violations.empty()) {
      if (all.violating++ == 0)
        all.first_violating = options.seed;
      std::cout << "\n" << report_of(verdict, options) << std::flush;
      if (!given.keep_going)
        break;
    }
    show_progress(all, given);
  }
  return all;
}

void print_table(const totals& all, double seconds) {
  const auto line = [](const char* what, auto value) {
    std::cout << "  " << what << std::string(24 - std::string_view{what}.size(), ' ') << value
              << "\n";
  };
  std::cout << "\n";
  line("seeds", all.seeds);
  line("steps", all.counts.steps);
  line("power cuts", all.counts.power_cuts);
  line("actors killed", all.counts.kills);
  line("connections cut", all.counts.connection_cuts);
  line("clients crashed", all.counts.client_crashes);
  line("transactions", all.counts.transactions);
  line("checks asked", all.counts.checks);
  line("conflicts", all.counts.conflicts);
  line("given up", all.counts.given_up);
  line("reopened", all.counts.reopened);
  line("waits for the disk", all.counts.disk_waits);
  line("index entries", all.counts.entries);
  line("deliveries", all.counts.deliveries);
  line("deliveries repeated", all.counts.repeated);
  line("events judged", all.counts.events);
  line("seeds with violations", all.violating);
  line("seconds", seconds);
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs the whole node in one thread from a seed, with faults, and judges what its "
               "clients saw"};
  arguments given;
  std::string planted = "none";
  app.add_option("--seed", given.options.seed, "the first seed")->capture_default_str();
  app.add_option("--seeds", given.seeds, "how many seeds, one after another")
      ->capture_default_str();
  app.add_option("--steps", given.options.steps, "steps with faults in each run")
      ->capture_default_str();
  app.add_option("--mutant", planted,
                 "plant a fault, to see it caught: none, no_sync, answer_before_sync")
      ->check(CLI::IsMember({"none", "no_sync", "answer_before_sync"}));
  app.add_flag("--log", given.options.show_log, "show the node's own log");
  app.add_flag("--journal", given.print_journal, "print every event");
  app.add_flag("--keep-going", given.keep_going, "go on after a violation");
  CLI11_PARSE(app, argc, argv);
  for (const auto m : {sim::mutant::no_sync, sim::mutant::answer_before_sync})
    if (planted == name_of(m))
      given.options.planted = m;

  const auto start = std::chrono::steady_clock::now();
  const auto all = run_all(given);
  print_table(all, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (all.violating != 0)
    std::cout << "VIOLATED, first by seed " << all.first_violating << "\n";
  else
    std::cout << "all promises kept\n";
  return all.violating == 0 ? 0 : 1;
}
