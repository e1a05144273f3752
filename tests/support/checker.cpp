#include "tests/support/checker.hpp"

#include "tests/support/checker_history.hpp"

namespace handfast::proof {

std::vector<violation> check(const journal& from, const checker_options& options) {
  const history h{from};
  findings found{h, options};
  judge_arrival(h, options, found);
  judge_visibility(h, options, found);
  judge_bodies(h, found);
  judge_places(h, found);
  judge_decisions(h, found);
  judge_repetition(h, found);
  judge_dead_letters(h, options, found);
  judge_checks(h, options, found);
  judge_delays(h, options, found);
  return found.take();
}

} // namespace handfast::proof
