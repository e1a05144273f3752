/// SEGMENT SET, what is not plain appending: the note of what must be there, losses, cuts, and
/// retirement.

#include "messages/assert.hpp"
#include "storage/removal_hold.hpp"
#include "storage/segment_set.hpp"

#include <algorithm>
#include <array>

namespace handfast::storage {

// -- the note ---------------------------------------------------------------------

result<void> segment_set::load_note(open_mode mode) {
  if (note_path_.empty())
    return {};
  const auto there = disk_.exists(note_path_);
  if (!there)
    return tl::unexpected{there.error()};
  if (!*there) {
    note_missing_ = note_path_ + " is missing";
    return {};
  }
  auto opened = log_note_file::open(disk_, note_path_, store_id_, mode);
  if (opened) {
    noted_ = opened->last();
    note_.emplace(std::move(*opened));
  } else if (opened.error().code == ec::corrupt) {
    note_missing_ = opened.error().detail;
  } else {
    return tl::unexpected{opened.error()};
  }
  return {};
}

/// Lists what must be there and is not; `end` is where the files end.
void segment_set::compare_with_note(position end) {
  if (!noted_ || noted_->size == 0)
    return;
  end = std::max(end, noted_->oldest);
  if (end < noted_->end())
    missing_.push_back({end, noted_->end(), "no file holds these positions"});
  for (const auto& one : segments_) {
    if (one->base() > noted_->newest)
      break;
    const auto asked = one->base() < noted_->newest ? one->end() : one->base() + noted_->prepared;
    if (one->prepared_end() < asked)
      cut_.push_back({one->prepared_end(), asked,
                      path_of(one->base()) + " has " +
                          std::to_string(one->prepared_end().value - one->base().value) +
                          " bytes, where at least " +
                          std::to_string(asked.value - one->base().value) + " must be"});
  }
}

/// What the log consists of now, as far as it is synced.
log_note segment_set::note_now() const {
  auto note = note_ ? note_->last() : log_note{};
  note.ended = false;
  const auto all = segments();
  if (all.empty())
    return note;
  note.oldest = all.front()->base();
  note.newest = all.back()->base();
  note.size = all.back()->end().value - all.back()->base().value;
  note.prepared = all.back()->prepared_end().value - all.back()->base().value;
  return note;
}

result<void> segment_set::write_note(const log_note& note) {
  return note_ ? note_->write(note) : result<void>{};
}

/// Gives a segment its whole size, durably.
result<void> segment_set::complete(segment& one) {
  if (one.prepared_end() == one.end())
    return {};
  auto made = one.prepare(one.end(), room::reserved);
  if (!made && made.error().code == ec::not_supported)
    made = one.prepare(one.end(), room::zeroed);
  return made.and_then([&] { return one.sync(); });
}

result<void> segment_set::settle(position end, std::uint32_t epoch) {
  const std::unique_lock lock{prepare_mutex_};
  const auto all = segments();
  for (const auto& one : all)
    if (auto done = one == all.back() ? one->sync() : complete(*one); !done)
      return done;
  cut_.clear();
  if (note_path_.empty())
    return {};
  auto note = note_now();
  note.durable = end;
  note.epoch = epoch;
  if (note_)
    return write_note(note);
  return log_note_file::make(disk_, note_path_, store_id_, note).and_then([&] {
    return log_note_file::open(disk_, note_path_, store_id_, open_mode::read_write)
        .map([&](log_note_file&& made) { note_.emplace(std::move(made)); });
  });
}

result<void> segment_set::note_end(position end) {
  const std::unique_lock lock{prepare_mutex_};
  auto note = note_ ? note_->last() : log_note{};
  note.durable = end;
  note.ended = true;
  return write_note(note);
}

// -- losses and cuts ---------------------------------------------------------------

result<void> segment_set::erase(position from, position to) {
  for (const auto& one : segments()) {
    const auto begin = std::max(from, one->first());
    const auto end = std::min(to, one->prepared_end());
    if (begin >= end)
      continue;
    if (auto erased = one->erase(begin, end).and_then([&] { return one->sync(); }); !erased)
      return erased;
  }
  return {};
}

result<void> segment_set::bridge(const record_codec& codec, position from, position to,
                                 std::uint32_t epoch, wall_ms time_ms) {
  for (const auto& one : segments()) {
    const auto begin = std::max(from, one->first());
    const auto end = std::min(to, one->end());
    if (begin >= end || end.value - begin.value < record_header_bytes)
      continue;
    std::array<std::byte, record_header_bytes> pad{};
    codec.encode_pad(begin, static_cast<std::uint32_t>(end.value - begin.value), epoch, time_ms,
                     durable_lag_unknown, record_flags::accepted_loss, pad);
    const iovec piece{pad.data(), pad.size()};
    auto done = one->prepare(begin + pad.size(), room::zeroed)
                    .and_then([&] {
                      return one->write(begin, std::span{&piece, 1});
                    })
                    .and_then([&] { return one->sync(); });
    if (!done)
      return done;
  }
  return {};
}

/// Makes the segment that stands for a loss, in the place of whatever has its name.
result<void> segment_set::fill(const record_codec& codec, position base, std::uint64_t size,
                               wall_ms time_ms) {
  const auto path = path_of(base);
  const auto there = disk_.exists(path);
  if (!there)
    return tl::unexpected{there.error()};
  if (*there)
    if (auto aside = disk_.rename(path, path + ".damaged"); !aside)
      return aside;
  const auto aside = path + ".tmp";
  auto made = create_segment(disk_, aside, {store_id_, base, size},
                             segment_header_bytes + record_header_bytes);
  if (!made)
    return tl::unexpected{made.error()};
  auto& one = **made;
  std::array<std::byte, record_header_bytes> pad{};
  codec.encode_pad(one.first(), static_cast<std::uint32_t>(one.end().value - one.first().value), 0,
                   time_ms, durable_lag_unknown, record_flags::accepted_loss, pad);
  const iovec piece{pad.data(), pad.size()};
  return one.write(one.first(), std::span{&piece, 1})
      .and_then([&] { return complete(one); })
      .and_then([&] { return disk_.rename(aside, path); })
      .and_then([&] { return disk_.sync_directory(directory_); })
      .map([&] {
        const std::unique_lock lock{list_mutex_};
        const auto behind = std::find_if(segments_.begin(), segments_.end(),
                                         [&](const auto& next) { return next->base() > base; });
        segments_.insert(behind, std::move(*made));
      });
}

result<void> segment_set::fill_missing(const record_codec& codec, wall_ms time_ms) {
  for (const auto& gap : std::exchange(missing_, {})) {
    for (auto base = gap.from; base < gap.to;) {
      const auto rest = gap.to.value - base.value;
      auto size = std::min(rest, segment_bytes_max);
      if (rest > size && rest - size < segment_bytes_min)
        size -= segment_bytes_min;
      if (size < segment_bytes_min || size % record_alignment != 0)
        return fail(ec::corrupt, "no segment can stand for the positions " +
                                     std::to_string(gap.from.value) + " to " +
                                     std::to_string(gap.to.value) + ": " + gap.reason);
      if (auto filled = fill(codec, base, size, time_ms); !filled)
        return filled;
      base = base + size;
    }
  }
  return {};
}

// -- retirement --------------------------------------------------------------------

result<std::uint64_t> segment_set::retire(position limit) {
  const auto below = std::min(limit, tail());
  std::uint64_t freed = 0;
  const auto all = segments();
  auto oldest = all.begin();
  while (oldest != all.end() && (*oldest)->end() <= below && *oldest != all.back())
    ++oldest;
  if (oldest == all.begin())
    return freed;
  const auto held = removals_held(disk_, parent_directory(directory_));
  if (!held)
    return tl::unexpected{held.error()};
  if (*held)
    return freed;
  {
    const std::unique_lock lock{prepare_mutex_};
    auto note = note_ ? note_->last() : log_note{};
    note.oldest = (*oldest)->base();
    if (auto noted = write_note(note); !noted)
      return tl::unexpected{noted.error()};
  }
  for (auto it = all.begin(); it != oldest; ++it) {
    const auto& one = *it;
    // Durable one by one: what is left after a crash has no hole.
    auto removed = disk_.remove(path_of(one->base())).and_then([&] {
      return disk_.sync_directory(directory_);
    });
    if (!removed)
      return tl::unexpected{removed.error()};
    freed += one->prepared_end().value - one->base().value;
    const std::unique_lock lock{list_mutex_};
    HANDFAST_ASSERT(segments_.front() == one);
    segments_.erase(segments_.begin());
  }
  return freed;
}

} // namespace handfast::storage
