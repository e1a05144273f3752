#include "actors/run_content.hpp"

#include "actors/folds/queue_heads.hpp"

#include <algorithm>

namespace handfast {

result<std::string> run_content::write(storage::run_writer run) {
  return write_entries(run)
      .and_then([&] { return write_outcomes(run); })
      .and_then([&] { return write_samples(run); })
      .and_then([&] { return run.commit(); });
}

result<void> run_content::write_entries(storage::run_writer& run) {
  const auto before = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.offset < b.second.offset;
  };
  const auto same = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.offset == b.second.offset;
  };
  if (!std::is_sorted(entries_.begin(), entries_.end(), before))
    std::sort(entries_.begin(), entries_.end(), before);
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
  std::vector<storage::queue_entry> row;
  for (std::size_t i = 0; i < entries_.size();) {
    // Up to the queue's end, or to offsets that were lost with their record.
    const auto& [queue, first] = entries_[i];
    row.clear();
    auto j = i;
    for (; j < entries_.size() && entries_[j].first == queue; ++j) {
      const auto& e = entries_[j].second;
      if (e.offset.value != first.offset.value + row.size())
        break;
      row.push_back({e.at, e.length, e.tag_hash, e.visible_ms});
    }
    if (auto added = run.add_entries(queue, first.offset, row); !added)
      return added;
    i = j;
  }
  return {};
}

result<void> run_content::write_outcomes(storage::run_writer& run) {
  // The later one of two knows more: that the transaction was opened again.
  std::stable_sort(outcomes_.begin(), outcomes_.end(),
                   [](const auto& a, const auto& b) { return a.transaction < b.transaction; });
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const auto& o = outcomes_[i];
    if (i + 1 < outcomes_.size() && outcomes_[i + 1].transaction == o.transaction)
      continue;
    if (auto added = run.add_outcome(o); !added)
      return added;
  }
  return {};
}

result<void> run_content::write_samples(storage::run_writer& run) {
  std::sort(samples_.begin(), samples_.end());
  samples_.erase(std::unique(samples_.begin(), samples_.end()), samples_.end());
  for (const auto which : {queue_heads::half_view, queue_heads::op_view})
    for (const auto& s : samples_)
      if (s.view == which) {
        const auto section =
            which == queue_heads::half_view ? storage::view::half : storage::view::op;
        if (auto added = run.add_view_sample(section, {s.offset, s.at}); !added)
          return added;
      }
  return {};
}

} // namespace handfast
