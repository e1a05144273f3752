#pragma once

/// A journal turned by subject: what happened to each message, transaction and place. Read by the
/// rules of the checker.

#include "tests/support/checker.hpp"

#include <map>
#include <optional>
#include <set>

namespace handfast::proof {

/// Numbers of events in the journal, rising.
using event_list = std::vector<std::size_t>;

struct place {
  std::string topic;
  std::uint32_t queue = 0;
  std::uint64_t offset = 0;
  auto operator<=>(const place&) const = default;
};

std::string to_string(const place& p);

/// One message by its key.
struct message_history {
  std::string topic;
  std::uint64_t body = 0;
  bool plain = false;
  bool acknowledged = false;             ///< half or plain message: stored, says the node
  std::uint64_t delay = 0;               ///< that it was sent with
  std::uint64_t due = 0;                 ///< when it becomes visible, says the node
  bool cancelled = false;                ///< says the node
  std::int64_t cancels_unanswered = 0;   ///< or answered as unknown
  std::set<transaction_id> transactions; ///< that it was said to be part of
  std::set<place> places;
  std::set<std::string> reached; ///< groups
  event_list events;
};

/// An outcome that the node named to somebody.
struct stated_outcome {
  std::size_t event = 0;
  outcome recorded = outcome::pending;
};

struct transaction_history {
  bool acknowledged = false;  ///< a half of it was answered ok
  std::set<std::string> keys; ///< of halves answered ok or shown in a check
  std::vector<stated_outcome> stated;
  event_list commits_asked;
  event_list checks;
  event_list events;
  transaction_id reopened_as;
  std::optional<std::size_t> reopened_at; ///< event that said so first
  transaction_id reopened_from;
};

/// One message on its way to one group.
struct delivery_history {
  event_list delivered;
  event_list acknowledged; ///< answers, ok only
  event_list ack_sent;
  event_list rejected;
  event_list dead;               ///< found among the dead letters
  std::set<std::string> dead_at; ///< and where
  event_list events;
};

struct group_place {
  std::string group;
  place at;
  auto operator<=>(const group_place&) const = default;
};

struct history {
  explicit history(const journal& from);

  const std::vector<event>& events;
  std::map<std::string, message_history> messages;
  std::map<transaction_id, transaction_history> transactions;
  std::map<group_place, delivery_history> deliveries;
  std::map<place, std::set<std::string>> keys_at;
  std::map<std::string, std::set<std::string>> groups_of_topic;
  std::map<std::pair<std::string, std::uint32_t>, std::set<std::uint64_t>> listed;
  event_list listed_events;
  event_list progress;
  bool drained = false;

  /// `id` and all that it was reopened from or as.
  [[nodiscard]] std::set<transaction_id> family(const transaction_id& id) const;
  /// The lines of some events, the last `max` of them.
  [[nodiscard]] std::string show(const event_list& which, std::size_t max) const;

private:
  void add(std::size_t number, const event& e);
  void add_to_message(std::size_t number, const event& e);
  void add_to_transaction(std::size_t number, const event& e);
  void add_to_delivery(std::size_t number, const event& e);
};

/// Without faults, on the clock of the journal.
struct calm_stretch {
  std::uint64_t from_ms = 0;
  std::uint64_t to_ms = 0;
};

std::vector<calm_stretch> calm_stretches(const history& h);

/// Where the rules put what they find.
class findings {
public:
  findings(const history& from, const checker_options& options)
      : history_{from}, options_{options} {}

  void add(std::string invariant, std::string what, const event_list& shown);
  std::vector<violation> take() { return std::move(found_); }

private:
  const history& history_;
  const checker_options& options_;
  std::vector<violation> found_;
};

void judge_arrival(const history& h, const checker_options& o, findings& to);      // I1
void judge_visibility(const history& h, const checker_options& o, findings& to);   // I2, I6
void judge_bodies(const history& h, findings& to);                                 // I3
void judge_places(const history& h, findings& to);                                 // I4
void judge_decisions(const history& h, findings& to);                              // I5
void judge_repetition(const history& h, findings& to);                             // I7, I9
void judge_dead_letters(const history& h, const checker_options& o, findings& to); // I10
void judge_checks(const history& h, const checker_options& o, findings& to);       // I8
void judge_delays(const history& h, const checker_options& o, findings& to);       // I11

} // namespace handfast::proof
