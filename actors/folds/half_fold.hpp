#pragma once

/// What HALF STORE knows from the log: pending transactions, and what META says of topics and
/// groups.

#include "actors/folds/ask_history.hpp"
#include "actors/folds/pending_table.hpp"
#include "actors/folds/topic_rules.hpp"

#include <tsl/robin_set.h>

#include <string>
#include <string_view>

namespace handfast {

class half_fold {
public:
  static constexpr std::string_view slice_prefix = "half/";

  pending_table pending;
  topic_rules rules;
  ask_history asks;

  /// Applies any record; the ones that don't concern transactions change nothing. Applying a
  /// stretch of the log again changes nothing either. `now` is the monotonic time, or
  /// `unknown_moment` in a replay.
  void apply(const log_record& record, mono_ms now = unknown_moment);

  /// The pieces of `apply`, for the owner, who has answers to give.
  /// @return its place, or `none` if it was to join a transaction that is not pending
  pending_table::place apply_half(const log_record& record, mono_ms now);
  pending_table::place apply_reopen(const log_record& record, mono_ms now);
  void apply_checked(const log_record& record);

  /// The record at `at` is there but its payload is damaged: the transaction that it belongs to is
  /// quarantined, once known. Call before or after the record itself is applied.
  void mark_damaged(position at, position transaction);

  /// One slice, with a cursor for the next call; an empty one begins, and is left behind at the
  /// end.
  [[nodiscard]] std::pair<std::string, std::string> save_slice(std::string& cursor) const;
  void load(const std::string& slice_name, std::string_view bytes);
  [[nodiscard]] half_fold emptied() const;

private:
  void quarantine_if_damaged(position body, pending_table::place place);

  tsl::robin_set<position> damaged_;
};

/// The name that people and logs use for a member of a group, as a number that fits a record; 0 for
/// no name.
std::uint32_t member_hash(std::string_view name);

} // namespace handfast
