#include "actors/folds/log_tail.hpp"

#include "messages/assert.hpp"

#include <algorithm>

namespace handfast {

namespace {

constexpr std::string_view heads_slice = "commit_log/heads";
constexpr std::string_view producers_slice = "commit_log/producers";
constexpr std::string_view quarantine_slice = "commit_log/quarantine";
constexpr std::size_t quarantine_listed_max = 1'000;
/// One part takes well under 1 ms.
constexpr std::size_t part_bytes_max = 256 * limits::kib;

} // namespace

std::vector<visible_entry> untaken_entries::take(queue_key queue) {
  const auto it = by_queue_.find(queue);
  if (it == by_queue_.end())
    return {};
  auto entries = std::move(it.value());
  by_queue_.erase(it);
  return entries;
}

std::vector<std::pair<queue_key, visible_entry>> untaken_entries::all() const {
  std::vector<std::pair<queue_key, visible_entry>> found;
  for (const auto& [queue, entries] : by_queue_)
    for (const auto& entry : entries)
      found.emplace_back(queue, entry);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.offset < b.second.offset;
  });
  return found;
}

void untaken_entries::forget(const std::vector<std::pair<queue_key, visible_entry>>& saved) {
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const auto queue = saved[i].first;
    if (i + 1 < saved.size() && saved[i + 1].first == queue)
      continue;
    const auto it = by_queue_.find(queue);
    if (it == by_queue_.end())
      continue;
    const auto last = saved[i].second.offset;
    std::erase_if(it.value(), [&](const visible_entry& e) { return e.offset <= last; });
    if (it.value().empty())
      by_queue_.erase(it);
  }
}

void log_tail::apply(const log_record& record) {
  newest_ms = std::max(newest_ms, record.time_ms);
  heads.apply(record);
  windows.apply(record);
  samples.apply(record);
  for_each_visible(record,
                   [&](queue_key queue, const visible_entry& entry) { untaken.add(queue, entry); });
}

void log_tail::quarantine(quarantined_item item) {
  const auto known = [&](const quarantined_item& x) { return x.at == item.at; };
  if (quarantined.size() < quarantine_listed_max && std::ranges::none_of(quarantined, known))
    quarantined.push_back(std::move(item));
}

log_tail::part log_tail::save(const std::string& cursor, position durable) {
  part made;
  if (cursor.empty()) {
    saving_ = windows.ids();
    std::reverse(saving_.begin(), saving_.end());
    made.slices.push_back(
        {std::string{heads_slice}, slice_writer{}.put(newest_ms).take() + heads.save()});
    slice_writer listed;
    for (const auto& x : quarantined)
      listed.put(x.at)
          .put(x.transaction.opened_at)
          .put(x.transaction.check)
          .text(x.what)
          .text(x.why);
    if (!listed.empty())
      made.slices.push_back({std::string{quarantine_slice}, listed.take()});
  } else {
    std::string bytes;
    while (!saving_.empty() && bytes.size() < part_bytes_max) {
      bytes += windows.save(saving_.back(), durable);
      saving_.pop_back();
    }
    if (!bytes.empty())
      made.slices.push_back({std::string{producers_slice}, std::move(bytes)});
  }
  if (!saving_.empty())
    made.cursor = std::to_string(saving_.size());
  return made;
}

void log_tail::load(const std::string& name, std::string_view bytes) {
  if (name == heads_slice) {
    HANDFAST_ASSERT(bytes.size() >= sizeof newest_ms);
    newest_ms = std::max(newest_ms, slice_reader{bytes}.get<wall_ms>());
    HANDFAST_ASSERT(heads.load(bytes.substr(sizeof newest_ms)));
  } else if (name == producers_slice) {
    HANDFAST_ASSERT(windows.load(bytes));
  } else if (name == quarantine_slice) {
    for (slice_reader from{bytes}; !from.at_end();) {
      quarantined_item x;
      x.at = from.get<position>();
      x.transaction.opened_at = from.get<position>();
      x.transaction.check = from.get<std::uint32_t>();
      x.what = from.text();
      x.why = from.text();
      HANDFAST_ASSERT(from.ok());
      quarantine(std::move(x));
    }
  }
}

} // namespace handfast
