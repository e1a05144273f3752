/// handfast-check: judges a journal file by the invariants I1 to I9.

#include "tests/support/checker.hpp"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace {

using namespace handfast;

std::uint64_t count(const proof::journal& from, proof::event_kind kind) {
  std::uint64_t n = 0;
  for (const auto& e : from.events())
    n += e.kind == kind && e.code == ec::ok ? 1 : 0;
  return n;
}

int judge(const std::string& path, const proof::checker_options& options) {
  std::ifstream file{path};
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    std::cerr << "handfast-check: can't read " << path << "\n";
    return 2;
  }
  const auto journal = proof::journal::parse(text.str());
  if (!journal) {
    std::cerr << "handfast-check: " << path << ", " << journal.error().detail << "\n";
    return 2;
  }
  const auto found = proof::check(*journal, options);
  for (const auto& v : found)
    std::cout << v.invariant << ": " << v.text << "\n";
  std::cout << journal->size() << " events: " << count(*journal, proof::event_kind::half_answered)
            << " halves and " << count(*journal, proof::event_kind::plain_answered)
            << " plain messages acknowledged, "
            << count(*journal, proof::event_kind::decision_answered) << " decisions answered, "
            << count(*journal, proof::event_kind::delivered) << " deliveries, "
            << count(*journal, proof::event_kind::listed) << " index entries; " << found.size()
            << " violations\n";
  if (count(*journal, proof::event_kind::drained) == 0)
    std::cout
        << "the journal does not say that everything had time to come, so losses were not judged\n";
  return found.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Judges a journal of client events: exit code 0 if every promise was kept, 1 if "
               "not, 2 if it can't be read"};
  std::string path;
  proof::checker_options options;
  std::int64_t timeout = options.timeout.count();
  std::int64_t interval = options.check_interval.count();
  std::int64_t lateness = options.lateness_max.count();
  app.add_option("journal", path)->required();
  app.add_option("--timeout", timeout, "transaction.timeout of the node, in ms")
      ->capture_default_str();
  app.add_option("--interval", interval, "transaction.check_interval, in ms")
      ->capture_default_str();
  app.add_option("--lateness", lateness, "what a check may be late, in ms")->capture_default_str();
  app.add_option("--check-max", options.check_max, "transaction.check_max, 0 = not judged")
      ->capture_default_str();
  app.add_flag("--policy-commits", options.policy_commits, "transaction.give_up is commit");
  CLI11_PARSE(app, argc, argv);
  options.timeout = std::chrono::milliseconds{timeout};
  options.check_interval = std::chrono::milliseconds{interval};
  options.lateness_max = std::chrono::milliseconds{lateness};
  return judge(path, options);
}
