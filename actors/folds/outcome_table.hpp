#pragma once

/// What became of decided transactions, the newest in memory: 48 bytes each and 16 to 32 for
/// finding it. What has left the memory stands in a derived run. Not thread-safe.

#include "actors/folds/place_index.hpp"
#include "messages/log_record.hpp"

#include <tsl/robin_map.h>

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handfast {

struct outcome_entry {
  position transaction;
  position decided_at; ///< of the DECIDE record
  wall_ms decided_ms = 0;
  queue_offset offset; ///< of the first message, or when it gets one (see `place_or_due.hpp`)
  group_id group;
  topic_id topic;
  queue_no queue;
  std::uint16_t messages = 0;
  outcome result = outcome::pending;
  origin by = origin::producer;
};
static_assert(sizeof(outcome_entry) == 48, "one million of them stay in memory");

class outcome_table {
public:
  static constexpr std::string_view slice_prefix = "outcome/";

  /// Applies DECIDE and REOPEN; the first outcome of a transaction stays. Idempotent.
  void apply(const log_record& record);

  /// Null if it is not in memory.
  [[nodiscard]] const outcome_entry* find(position transaction) const;
  /// What a given-up transaction was opened again as, or none.
  [[nodiscard]] position reopened_as(position transaction) const;

  /// Drops the oldest that stand below `below`, until at most `keep` are left.
  void evict(std::size_t keep, position below);
  /// Everything decided below is in a derived run.
  void saved_below(position to);
  [[nodiscard]] position saved() const { return saved_; }
  /// The last decision in memory; none if there is none.
  [[nodiscard]] position newest() const {
    return ring_.empty() ? position{} : ring_.back().decided_at;
  }
  /// Highest decision that has left the memory.
  [[nodiscard]] position evicted() const { return evicted_; }

  /// Calls `visit(entry)` for what is decided below `to` and in no run, oldest first.
  template <class Visit>
  void each_unsaved(position to, Visit&& visit) const {
    for (auto i = first_unsaved(); i < ring_.size() && ring_[i].decided_at < to; ++i)
      visit(ring_[i]);
  }

  /// Entries by age: 0 is the oldest.
  [[nodiscard]] std::size_t size() const { return ring_.size(); }
  [[nodiscard]] const outcome_entry& by_age(std::size_t i) const { return ring_[i]; }
  /// Its age rank; nothing if it is not in memory.
  [[nodiscard]] std::optional<std::size_t> age_of(position transaction) const;

  /// One slice of what no run has, with a cursor for the next call; an empty one begins, and is
  /// left behind at the end.
  [[nodiscard]] std::pair<std::string, std::string> save_slice(std::string& cursor) const;
  void load(const std::string& slice_name, std::string_view bytes);
  [[nodiscard]] outcome_table emptied() const { return {}; }

private:
  /// Numbers entries by their turn. Turns begin anew after 2³², of which far fewer are in memory.
  struct entry_ring : std::deque<outcome_entry> {
    place_index::place first_turn = 0;
  };

  void add(const outcome_entry& entry);
  [[nodiscard]] std::size_t first_unsaved() const;

  entry_ring ring_;
  place_index index_;
  tsl::robin_map<position, position> reopened_;
  position saved_;
  position evicted_;
};

/// The entries of one decision inside its record. Empty if the record has no such decision.
std::span<const index_entry> entries_of(const decide_record& record, position transaction);

} // namespace handfast
