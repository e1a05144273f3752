#pragma once

/// What an actor says of itself when it is asked how it is going.

#include "messages/ids.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace handfast {

/// A gauge or counter computed from state at the moment of asking. `labels` in Prometheus form
/// without braces.
struct sample {
  std::string name;
  std::string labels;
  double value = 0;
};
template <class Inspector>
auto inspect(Inspector& f, sample& x) {
  return f(x.name, x.labels, x.value);
}

/// Something set aside because it cannot be applied or read.
struct quarantined_item {
  position at;
  std::string what; ///< record type or actor
  std::string why;
  transaction_id transaction;
};
template <class Inspector>
auto inspect(Inspector& f, quarantined_item& x) {
  return f(x.at, x.what, x.why, x.transaction);
}

/// Answer to `status_request` from any actor of the tree.
struct status_report {
  std::string actor;
  std::vector<sample> samples;
  std::vector<quarantined_item> quarantined;
};
template <class Inspector>
auto inspect(Inspector& f, status_report& x) {
  return f(x.actor, x.samples, x.quarantined);
}

} // namespace handfast
