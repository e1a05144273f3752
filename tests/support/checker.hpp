#pragma once

/// Judges a journal: does what the clients saw agree with what Handfast promises? The same code
/// serves simulated runs and real processes. It believes nothing but the clients: an outcome that
/// no client was told is not known, and neither side may be blamed for it.
///
/// Invariants, by their names in reports:
///   I1  an acknowledged commit, or plain message, reaches each subscribed group, or its dead
///   letters, at least once; an acknowledged half is never forgotten I2  what was rolled back,
///   given up or never decided is never delivered I3  bodies arrive as they were sent, and nothing
///   arrives that nobody sent I4 offsets of a queue are dense, one offset names one message for
///   ever, and one message has one place I5  an answered decision is never contradicted, whoever
///   asks I6  nothing is delivered before somebody asked for its commit I7  a delivery is repeated
///   only while its acknowledgement is unanswered I8  an undecided transaction is asked about in
///   time, in stretches without faults; given up only after all its checks I9  a group's progress
///   never falls behind what it had acknowledged  I10  a message that a group cannot handle becomes
///   exactly one dead letter, with its own body, and none becomes one before all its deliveries
///   failed  I11  a delayed message is not visible before its time, and soon after it in stretches
///   without faults; one that was cancelled never is

#include "tests/support/journal.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace handfast::proof {

/// The settings of the node that was watched.
struct checker_options {
  std::chrono::milliseconds timeout{6'000};         ///< of transactions
  std::chrono::milliseconds check_interval{30'000}; ///< between checks
  /// What travel, scheduling and a session's time-out may add to a check's lateness.
  std::chrono::milliseconds lateness_max{10'000};
  std::chrono::milliseconds release_late_max{5'000}; ///< of a delayed message
  std::uint32_t delivery_max = 0; ///< failed deliveries before a dead letter, 0 = not judged
  std::uint32_t check_max = 0;    ///< checks before giving up, 0 = not judged
  bool policy_commits = false;    ///< the give-up rule commits
  std::size_t events_shown = 12;  ///< in the text of one violation
};

struct violation {
  std::string invariant; ///< "I1" to "I11"
  std::string text;      ///< what, and the events that show it
};

/// All violations found, in the order of the invariants. Empty for a broker that keeps its
/// promises.
std::vector<violation> check(const journal& from, const checker_options& options = {});

} // namespace handfast::proof
