#pragma once

/// When producers were asked about which transaction, for people. Kept for transactions that were
/// asked at all, also for a while after their decision; the oldest are forgotten beyond a bound.

#include "messages/requests.hpp"

#include <tsl/robin_map.h>

#include <deque>
#include <string>
#include <vector>

namespace handfast {

class ask_history {
public:
  /// @param transactions_max how many transactions are remembered
  explicit ask_history(std::size_t transactions_max = 16'384) : max_{transactions_max} {}

  /// A transaction keeps its newest `limits::asks_remembered`.
  void add(position transaction, ask_made ask);
  /// Notes the answer to the newest ask, if there is one.
  void answer(position transaction, std::string_view what);
  /// Says who was asked, if the newest ask does not say it yet.
  void name_member(position transaction, std::uint32_t hash, std::string_view name);
  [[nodiscard]] std::vector<ask_made> of(position transaction) const;
  /// Everything that stands in the log from `first` on was told.
  void begin_at(position first);
  /// Whether all asks of a transaction are known; none if `of` gives none.
  [[nodiscard]] bool knows(position transaction) const;
  /// Hash of the member that was asked last, 0 without one.
  [[nodiscard]] std::uint32_t last_member(position transaction) const;
  [[nodiscard]] std::size_t size() const { return asks_.size(); }

private:
  std::size_t max_;
  tsl::robin_map<position, std::vector<ask_made>> asks_;
  std::deque<position> order_;
  bool begun_ = false;
  position whole_from_; ///< what was opened from here on was never forgotten
};

} // namespace handfast
