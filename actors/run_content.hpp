#pragma once

/// What one derived run is made of, in any order, until it is written. No actor in here; not
/// thread-safe.

#include "messages/delivery.hpp"
#include "storage/run_writer.hpp"

#include <vector>

namespace handfast {

class run_content {
public:
  void add_entry(queue_key queue, const visible_entry& entry) {
    entries_.emplace_back(queue, entry);
  }
  void add_outcome(const storage::stored_outcome& outcome) { outcomes_.push_back(outcome); }
  /// `view` is `queue_heads::half_view` or `queue_heads::op_view`.
  void add_sample(queue_key view, queue_offset offset, position at) {
    samples_.push_back({view, offset, at});
  }

  /// Also those that were added twice and will be written once.
  [[nodiscard]] std::size_t entries() const { return entries_.size(); }
  [[nodiscard]] std::size_t outcomes() const { return outcomes_.size(); }

  /// Sorts everything and writes it; of two outcomes of one transaction the one added last. Call
  /// once, last. Returns the path of the run, which is durable then.
  result<std::string> write(storage::run_writer run);

private:
  result<void> write_entries(storage::run_writer& run);
  result<void> write_outcomes(storage::run_writer& run);
  result<void> write_samples(storage::run_writer& run);

  struct sample {
    queue_key view;
    queue_offset offset;
    position at;
    auto operator<=>(const sample&) const = default;
  };

  std::vector<std::pair<queue_key, visible_entry>> entries_;
  std::vector<storage::stored_outcome> outcomes_;
  std::vector<sample> samples_;
};

} // namespace handfast
