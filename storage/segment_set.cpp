#include "storage/segment_set.hpp"

#include "messages/assert.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace handfast::storage {

namespace {

constexpr std::string_view suffix = ".seg";
constexpr std::size_t hex_digits = 16;
constexpr std::uint64_t prepare_step_max = 4 * limits::mib;
/// Well below what is left for checkpoints on a disk that counts as full.
constexpr std::uint64_t ensured_ahead = 16 * limits::mib;
constexpr const char* next_name = "/next.tmp";

position shard_begin(std::uint8_t shard) {
  return {std::uint64_t{shard} << shard_shift};
}

} // namespace

std::optional<position> segment_set::base_in(const std::string& name) {
  if (name.size() != hex_digits + suffix.size() || !name.ends_with(suffix))
    return std::nullopt;
  position base;
  const auto parsed = std::from_chars(name.data(), name.data() + hex_digits, base.value, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != name.data() + hex_digits)
    return std::nullopt;
  return base;
}

segment_layout::bounds segment_layout::segment_of(position p) const {
  for (const auto& [base, end] : existing_)
    if (p >= base && p < end)
      return {base, end};
  HANDFAST_ASSERT(p >= first_base_);
  const auto number = (p.value - first_base_.value) / segment_bytes_;
  const auto base = first_base_ + number * segment_bytes_;
  return {base, base + segment_bytes_};
}

segment_set::segment_set(file_system& disk, std::string directory, std::uint64_t store_id,
                         const segment_options& options, std::string note_path)
    : disk_{disk}, directory_{std::move(directory)}, store_id_{store_id}, options_{options},
      note_path_{std::move(note_path)}, tail_{shard_begin(options.shard).value} {
  HANDFAST_ASSERT(options.segment_bytes >= segment_bytes_min &&
                  options.segment_bytes <= segment_bytes_max &&
                  options.segment_bytes % record_alignment == 0);
  options_.first_prepared_bytes = std::clamp<std::uint64_t>(
      align_record(options.first_prepared_bytes), segment_bytes_min, options.segment_bytes);
}

result<std::unique_ptr<segment_set>> segment_set::open(file_system& disk, std::string directory,
                                                       std::uint64_t store_id,
                                                       const segment_options& options,
                                                       std::string note_path) {
  std::unique_ptr<segment_set> set{
      new segment_set{disk, std::move(directory), store_id, options, std::move(note_path)}};
  return disk.make_directories(set->directory_)
      .and_then([&] { return set->load_note(open_mode::read_write); })
      .and_then([&] { return set->load(open_mode::read_write); })
      .map([&] { return std::move(set); });
}

result<std::unique_ptr<segment_set>>
segment_set::open_read_only(file_system& disk, std::string directory, std::uint64_t store_id,
                            std::uint8_t shard, std::string note_path) {
  std::unique_ptr<segment_set> set{new segment_set{
      disk, std::move(directory), store_id, {.shard = shard}, std::move(note_path)}};
  const auto there = disk.exists(set->directory_);
  if (!there)
    return tl::unexpected{there.error()};
  return set->load_note(open_mode::read)
      .and_then([&] {
        if (*there)
          return set->load(open_mode::read);
        set->compare_with_note(set->begin());
        return result<void>{};
      })
      .map([&] { return std::move(set); });
}

result<void> segment_set::load(open_mode mode) {
  const auto names = disk_.list(directory_);
  if (!names)
    return tl::unexpected{names.error()};
  auto end = position{};
  bool any = false;
  for (const auto& name : *names) {
    const auto path = directory_ + "/" + name;
    if (mode == open_mode::read_write && name.ends_with(".tmp"))
      if (auto removed = disk_.remove(path); !removed)
        return removed;
    const auto base = base_in(name);
    if (!base || shard_of(*base) != options_.shard)
      continue;
    // Below the oldest that must be there stands what an unfinished retirement left.
    if (!std::exchange(any, true))
      end = note_path_.empty()
                ? *base
                : std::min(*base, noted_ ? noted_->oldest : shard_begin(options_.shard));
    if (*base < end && (missing_.empty() || missing_.back().to != end))
      return fail(ec::corrupt, path + " overlaps the segment before it");
    if (*base > end)
      missing_.push_back({end, *base, "no file holds these positions"});
    else if (*base < end)
      missing_.back().to = *base; // the size of a segment that can't be opened was a guess
    if (auto loaded = load_segment(*base, mode, end); !loaded)
      return loaded;
  }
  compare_with_note(any ? end : begin());
  return {};
}

/// Opens the segment at `base` or lists it as missing, and tells where it ends.
result<void> segment_set::load_segment(position base, open_mode mode, position& end) {
  auto opened = open_segment(disk_, path_of(base), store_id_, base, mode);
  if (opened) {
    end = (*opened)->end();
    segments_.push_back(std::move(*opened));
    return {};
  }
  if (opened.error().code != ec::corrupt)
    return tl::unexpected{opened.error()};
  const bool is_newest = noted_ && noted_->size != 0 && noted_->newest == base;
  end = base + (is_newest ? noted_->size : options_.segment_bytes);
  missing_.push_back({base, end, opened.error().detail});
  return {};
}

std::vector<std::shared_ptr<segment>> segment_set::segments() const {
  const std::shared_lock lock{list_mutex_};
  return segments_;
}

std::shared_ptr<segment> segment_set::find_from(position p) const {
  const std::shared_lock lock{list_mutex_};
  const auto found = std::upper_bound(segments_.begin(), segments_.end(), p,
                                      [](position at, const auto& one) { return at < one->end(); });
  return found == segments_.end() ? nullptr : *found;
}

std::shared_ptr<segment> segment_set::find(position p) const {
  auto found = find_from(p);
  return found && found->holds(p) ? found : nullptr;
}

position segment_set::begin() const {
  const std::shared_lock lock{list_mutex_};
  auto first = segments_.empty() ? shard_begin(options_.shard) : segments_.front()->base();
  if (!missing_.empty() && (segments_.empty() || missing_.front().from < first))
    first = missing_.front().from;
  return first;
}

position segment_set::next_base() const {
  const std::shared_lock lock{list_mutex_};
  auto next = segments_.empty() ? shard_begin(options_.shard) : segments_.back()->end();
  if (!missing_.empty())
    next = std::max(next, missing_.back().to);
  return next;
}

segment_layout segment_set::layout() const {
  std::vector<std::pair<position, position>> existing;
  for (const auto& one : segments())
    existing.emplace_back(one->base(), one->end());
  return {std::move(existing), next_base(), options_.segment_bytes};
}

std::string segment_set::path_of(position base) const {
  char digits[hex_digits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(base.value));
  return directory_ + "/" + digits + std::string{suffix};
}

result<void> segment_set::begin_next() {
  HANDFAST_ASSERT(!next_);
  const segment_header header{store_id_, next_base(), options_.segment_bytes};
  auto made = create_segment(disk_, directory_ + next_name, header, options_.first_prepared_bytes);
  if (!made)
    return tl::unexpected{made.error()};
  next_ = std::move(*made);
  return {};
}

result<void> segment_set::publish_next() {
  HANDFAST_ASSERT(next_ && next_->base() == next_base());
  if (const auto all = segments(); !all.empty())
    if (auto whole = complete(*all.back()); !whole)
      return whole;
  return disk_.rename(directory_ + next_name, path_of(next_->base()))
      .and_then([&] { return disk_.sync_directory(directory_); })
      .and_then([&] {
        {
          const std::unique_lock lock{list_mutex_};
          segments_.push_back(std::move(next_));
        }
        return write_note(note_now());
      });
}

result<void> segment_set::ensure(position to) {
  const auto last = position{to.value - 1};
  auto holder = find(last);
  if (holder && holder->prepared_end() >= to)
    return {};
  const std::unique_lock lock{prepare_mutex_};
  while (next_base() < to) {
    if (!next_)
      if (auto begun = begin_next(); !begun)
        return begun;
    if (auto published = publish_next(); !published)
      return published;
  }
  holder = find(last);
  HANDFAST_ASSERT(holder);
  if (holder->prepared_end() >= to)
    return {};
  // More than asked for, so that not every batch has to extend the file.
  auto prepared = holder->prepare(to + ensured_ahead, room::reserved);
  if (!prepared && prepared.error().code == ec::not_supported)
    prepared = holder->prepare(to + options_.first_prepared_bytes, room::zeroed);
  if (!prepared && prepared.error().code == ec::disk_full)
    return holder->prepare(to, room::zeroed);
  return prepared;
}

result<void> segment_set::write(position at, std::span<const iovec> pieces) {
  const auto holder = find(at);
  HANDFAST_ASSERT(holder);
  auto end = at;
  for (const auto& piece : pieces)
    end = end + piece.iov_len;
  HANDFAST_ASSERT(end <= holder->end());
  if (end > tail())
    set_tail(end);
  return holder->write(at, pieces);
}

result<void> segment_set::sync(position from, position to) {
  for (auto at = from; at < to;) {
    const auto holder = find_from(at);
    if (!holder || holder->base() >= to)
      break;
    if (auto synced = holder->sync(); !synced)
      return synced;
    at = holder->end();
  }
  return {};
}

void segment_set::set_tail(position tail) {
  tail_.store(tail.value, std::memory_order_release);
}

result<bool> segment_set::prepare_step(std::uint64_t bytes_max) {
  HANDFAST_ASSERT(bytes_max >= record_alignment && bytes_max <= prepare_step_max);
  return make_room(bytes_max & ~std::uint64_t{record_alignment - 1}, room::zeroed);
}

result<bool> segment_set::reserve_step() {
  auto reserved = make_room(segment_bytes_max, room::reserved);
  if (!reserved && reserved.error().code == ec::not_supported)
    return make_room(prepare_step_max, room::zeroed);
  return reserved;
}

result<bool> segment_set::make_room(std::uint64_t bytes_max, room how) {
  const std::unique_lock lock{prepare_mutex_};
  const auto tail = this->tail();
  const auto step = [&](segment& one) {
    return one.prepare(one.prepared_end() + bytes_max, how).and_then([&] { return one.sync(); });
  };
  bool ahead = false; // there is a segment behind the one at the tail
  for (const auto& one : segments()) {
    if (one->end() <= tail)
      continue;
    if (one->prepared_end() < one->end())
      return step(*one).and_then([&] { return write_note(note_now()); }).map([] { return true; });
    ahead = one->base() > tail;
  }
  if (ahead)
    return false;
  if (!next_)
    return begin_next().map([] { return true; });
  if (next_->prepared_end() < next_->end())
    return step(*next_).map([] { return true; });
  return publish_next().map([] { return false; });
}

std::uint64_t segment_set::prepared_ahead() const {
  const auto tail = this->tail();
  std::uint64_t bytes = 0;
  for (const auto& one : segments()) {
    if (one->end() <= tail)
      continue;
    const auto from = std::max(tail, one->first());
    if (one->prepared_end() > from)
      bytes += one->prepared_end().value - from.value;
    if (one->prepared_end() < one->end())
      break; // going on would extend this file
  }
  return bytes;
}

std::uint64_t segment_set::still_to_prepare() {
  const std::unique_lock lock{prepare_mutex_};
  const auto tail = this->tail();
  std::uint64_t bytes = 0;
  bool ahead = false;
  for (const auto& one : segments()) {
    if (one->end() <= tail)
      continue;
    bytes += one->end().value - one->prepared_end().value;
    ahead = one->base() > tail;
  }
  if (ahead)
    return bytes;
  return bytes + (next_ ? next_->end().value - next_->prepared_end().value : segment_bytes());
}

} // namespace handfast::storage
