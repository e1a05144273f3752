#include "actors/folds/producer_windows.hpp"

#include "actors/folds/slice_io.hpp"
#include "messages/assert.hpp"

#include <algorithm>
#include <bit>

namespace handfast {

namespace {

constexpr std::uint64_t first_ring_size = 8;

} // namespace

producer_windows::producer_windows(std::size_t sends_max) : size_max_{std::bit_ceil(sends_max)} {
  HANDFAST_ASSERT(sends_max > 0);
}

producer_windows::found producer_windows::find(producer_id producer, sequence_no sequence) const {
  const auto it = windows_.find(producer);
  if (it == windows_.end())
    return {};
  const auto& w = it->second;
  if (sequence.value > w.newest)
    return {};
  const auto behind = w.newest - sequence.value;
  if (behind >= size_max_)
    return {send_seen::forgotten, {}};
  if (behind >= w.ring.size())
    return {};
  const auto& place = w.ring[sequence.value & (w.ring.size() - 1)];
  return place.at.value == 0 ? found{} : found{send_seen::yes, place};
}

void producer_windows::add(producer_id producer, sequence_no sequence, const stored_send& place,
                           wall_ms time_ms) {
  if (producer.value == 0 || sequence.value == 0)
    return;
  auto& w = windows_[producer];
  w.newest_ms = std::max(w.newest_ms, time_ms);
  if (auto* slot = slot_for(w, sequence.value); slot && slot->at.value == 0)
    *slot = place;
}

/// Makes room for `sequence`; null if it is too far behind.
stored_send* producer_windows::slot_for(window& w, std::uint64_t sequence) {
  if (w.ring.empty()) {
    w.ring.resize(std::min(first_ring_size, size_max_));
    w.newest = w.oldest = sequence;
  }
  if (sequence > w.newest) {
    const auto ahead = sequence - w.newest;
    if (sequence - w.oldest >= size_max_)
      w.oldest = sequence - size_max_ + 1;
    if (const auto needed = sequence - w.oldest + 1; needed > w.ring.size())
      grow(w, std::bit_ceil(needed));
    const auto mask = w.ring.size() - 1;
    for (std::uint64_t i = 1; i <= std::min<std::uint64_t>(ahead, w.ring.size()); ++i)
      w.ring[(sequence - i + 1) & mask] = {};
    w.newest = sequence;
  } else if (const auto behind = w.newest - sequence; behind >= w.ring.size()) {
    if (behind >= size_max_)
      return nullptr;
    grow(w, std::bit_ceil(behind + 1));
  }
  w.oldest = std::min(w.oldest, sequence);
  return &w.ring[sequence & (w.ring.size() - 1)];
}

void producer_windows::grow(window& w, std::uint64_t size) {
  std::vector<stored_send> larger(size);
  const auto count = std::min<std::uint64_t>(w.ring.size(), w.newest);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto sequence = w.newest - i;
    larger[sequence & (size - 1)] = w.ring[sequence & (w.ring.size() - 1)];
  }
  w.ring = std::move(larger);
}

void producer_windows::apply(const log_record& record) {
  if (record.type != record_type::message && record.type != record_type::half)
    return;
  const auto& m = std::get<message_record>(record.content);
  add(m.producer, m.sequence, {record.at, m.offset, {m.topic, m.queue}}, record.time_ms);
}

std::size_t producer_windows::forget_idle(wall_ms now_ms) {
  constexpr auto idle_max = static_cast<wall_ms>(
      std::chrono::duration_cast<std::chrono::milliseconds>(limits::producer_idle_max).count());
  std::size_t forgotten = 0;
  for (auto it = windows_.begin(); it != windows_.end();) {
    if (it->second.newest_ms + idle_max < now_ms) {
      it = windows_.erase(it);
      ++forgotten;
    } else {
      ++it;
    }
  }
  return forgotten;
}

std::vector<producer_id> producer_windows::ids() const {
  std::vector<producer_id> all;
  all.reserve(windows_.size());
  for (const auto& [id, w] : windows_)
    all.push_back(id);
  std::sort(all.begin(), all.end());
  return all;
}

// One producer: id, time of the newest, then runs of consecutive sequences: first, count, places. A
// run of none ends it.
std::string producer_windows::save(producer_id producer, position durable) const {
  const auto it = windows_.find(producer);
  if (it == windows_.end())
    return {};
  const auto& w = it->second;
  const auto place_of = [&](std::uint64_t sequence) -> const stored_send* {
    const auto& place = w.ring[sequence & (w.ring.size() - 1)];
    return place.at.value != 0 && place.at < durable ? &place : nullptr;
  };
  slice_writer out;
  out.put(producer).put(w.newest_ms);
  bool any = false;
  const auto covered = std::min<std::uint64_t>(w.ring.size(), w.newest);
  // Counted, since a client may have chosen the largest number there is as its newest.
  const auto first = w.newest - covered + 1;
  for (std::uint64_t at = 0; at < covered;) {
    std::uint32_t count = 0;
    while (at + count < covered && place_of(first + at + count))
      ++count;
    if (count > 0) {
      any = true;
      out.put(first + at).put(count);
      for (std::uint32_t i = 0; i < count; ++i) {
        const auto& place = *place_of(first + at + i);
        out.put(place.at).put(place.offset).put(place.queue.topic).put(place.queue.queue);
      }
    }
    at += std::max<std::uint32_t>(count, 1);
  }
  out.put(std::uint64_t{0}).put(std::uint32_t{0});
  return any ? out.take() : std::string{};
}

bool producer_windows::load(std::string_view bytes) {
  slice_reader in{bytes};
  while (in.more()) {
    const auto producer = in.get<producer_id>();
    const auto newest_ms = in.get<wall_ms>();
    for (;;) {
      const auto first = in.get<std::uint64_t>();
      const auto count = in.get<std::uint32_t>();
      if (count == 0 || !in.ok())
        break;
      for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
        stored_send place;
        place.at = in.get<position>();
        place.offset = in.get<queue_offset>();
        place.queue.topic = in.get<topic_id>();
        place.queue.queue = in.get<queue_no>();
        if (in.ok())
          add(producer, sequence_no{first + i}, place, newest_ms);
      }
    }
  }
  return in.ok();
}

} // namespace handfast
