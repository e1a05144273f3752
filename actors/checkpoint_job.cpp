#include "actors/checkpoint_job.hpp"

#include "actors/folds/queue_index.hpp"
#include "storage/log_scanner.hpp"

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
  for (const auto& o : part.outcomes)
    content_.add_outcome({o.transaction, o.group, o.result, o.by, o.messages, o.decided_at,
                          o.decided_ms, o.reopened_as});
  for (std::size_t i = 0; i < part.view_entries.size(); ++i)
    content_.add_sample(part.view_entries[i].first, queue_offset{part.view_offsets[i]},
                        part.view_entries[i].second.at);
}

void checkpoint_job::add_entries(const std::vector<std::pair<queue_key, visible_entry>>& entries) {
  for (const auto& [queue, entry] : entries)
    content_.add_entry(queue, entry);
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
  return checkpoint_result{start_, *bytes, content_.entries(), content_.outcomes(), lost_.size()};
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
            content_.add_entry(key, entry);
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
  return storage::run_writer::begin(*places_.disk, places_.paths.runs(), places_.store_id,
                                    run_from_, start_, now_ms_)
      .and_then([&](storage::run_writer&& run) { return content_.write(std::move(run)); })
      .map([](const std::string&) {});
}

} // namespace handfast
