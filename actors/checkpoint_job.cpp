#include "actors/checkpoint_job.hpp"

#include "actors/folds/queue_heads.hpp"
#include "actors/folds/queue_index.hpp"
#include "storage/log_scanner.hpp"

#include <algorithm>
#include <exception>
#include <map>

namespace handfast {

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

} // namespace

checkpoint_job::checkpoint_job(const checkpoint_places& places, position run_from, position start,
                               wall_ms now_ms, storage::checkpoint_writer writer)
    : places_{places}, run_from_{run_from}, start_{start}, now_ms_{now_ms}, writer_{std::move(
                                                                                writer)} {}

result<checkpoint_job> checkpoint_job::begin(const checkpoint_places& places, position run_from,
                                             position start, wall_ms now_ms) {
  storage::checkpoint_info info;
  info.store_id = places.store_id;
  info.start = start;
  info.durable = start;
  info.created_ms = now_ms;
  auto writer = storage::checkpoint_writer::begin(*places.disk, places.paths.checkpoints(), info);
  if (!writer)
    return tl::unexpected{writer.error()};
  return checkpoint_job{places, run_from, start, now_ms, std::move(*writer)};
}

result<void> checkpoint_job::add_slices(const slices_taken& part) {
  for (const auto& slice : part.slices)
    if (auto added = writer_.add_slice(slice.name, bytes_of(slice.bytes)); !added)
      return added;
  return {};
}

void checkpoint_job::add_unsaved(unsaved_taken&& part) {
  add_entries(part.entries);
  outcomes_.insert(outcomes_.end(), part.outcomes.begin(), part.outcomes.end());
  for (std::size_t i = 0; i < part.view_entries.size(); ++i)
    samples_.push_back({part.view_entries[i].first, queue_offset{part.view_offsets[i]},
                        part.view_entries[i].second.at});
}

void checkpoint_job::add_entries(const std::vector<std::pair<queue_key, visible_entry>>& entries) {
  entries_.insert(entries_.end(), entries.begin(), entries.end());
}

result<checkpoint_result> checkpoint_job::finish() {
  if (!lost_.empty())
    if (auto folded = fold_lost_queues(); !folded)
      return tl::unexpected{folded.error()};
  if (run_from_ < start_)
    if (auto written = write_run(); !written)
      return tl::unexpected{written.error()};
  auto bytes = writer_.commit();
  if (!bytes)
    return tl::unexpected{bytes.error()};
  return checkpoint_result{start_, *bytes, entries_.size(), outcomes_.size(), lost_.size()};
}

/// What a dead queue would have given: from the newest checkpoint and the log since its run.
result<void> checkpoint_job::fold_lost_queues() {
  std::map<queue_key, queue_index> queues;
  for (const auto key : lost_)
    queues.try_emplace(key, key);
  auto last =
      storage::load_newest_checkpoint(*places_.disk, places_.paths.checkpoints(), places_.store_id);
  if (!last)
    return tl::unexpected{last.error()};
  try {
    if (last->newest)
      for (const auto& slice : last->newest->slices)
        if (const auto it = queues.find(queue_index::key_of_slice(slice.name)); it != queues.end())
          it->second.load(slice.name, slice.bytes.text());
    storage::log_scanner scanner{
        *places_.log, *places_.codec, run_from_, {4 * limits::mib, start_}};
    for (;;) {
      auto batch = scanner.next_batch(1 * limits::mib, true);
      if (!batch)
        return tl::unexpected{batch.error()};
      if (!*batch)
        break;
      for (const auto& record : (*batch)->records)
        for_each_visible(record, [&](queue_key key, const visible_entry& entry) {
          if (const auto it = queues.find(key); it != queues.end()) {
            it->second.add(entry);
            entries_.emplace_back(key, entry);
          }
        });
    }
  } catch (const std::exception& e) {
    return fail(ec::internal, std::string{"a queue can't be folded from the log: "} + e.what());
  }
  for (const auto& [key, index] : queues)
    if (const auto bytes = index.save(); !bytes.empty())
      if (auto added = writer_.add_slice(queue_index::slice_name(key), bytes_of(bytes)); !added)
        return added;
  return {};
}

result<void> checkpoint_job::write_run() {
  auto run = storage::run_writer::begin(*places_.disk, places_.paths.runs(), places_.store_id,
                                        run_from_, start_, now_ms_);
  if (!run)
    return tl::unexpected{run.error()};
  if (auto written = write_entries(*run); !written)
    return written;
  // The later one of two knows more: that the transaction was opened again.
  std::stable_sort(outcomes_.begin(), outcomes_.end(),
                   [](const auto& a, const auto& b) { return a.transaction < b.transaction; });
  for (std::size_t i = 0; i < outcomes_.size(); ++i) {
    const auto& o = outcomes_[i];
    if (i + 1 < outcomes_.size() && outcomes_[i + 1].transaction == o.transaction)
      continue;
    if (auto added = run->add_outcome({o.transaction, o.group, o.result, o.by, o.messages,
                                       o.decided_at, o.decided_ms, o.reopened_as});
        !added)
      return added;
  }
  if (auto written = write_samples(*run); !written)
    return written;
  auto path = run->commit();
  return path ? result<void>{} : tl::unexpected{path.error()};
}

result<void> checkpoint_job::write_entries(storage::run_writer& run) {
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

result<void> checkpoint_job::write_samples(storage::run_writer& run) {
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
