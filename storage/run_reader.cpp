#include "storage/run_reader.hpp"

#include "messages/assert.hpp"
#include "storage/file_head.hpp"
#include "storage/little_endian.hpp"
#include "storage/run_layout.hpp"

#include <algorithm>

namespace handfast::storage {

namespace layout = run_layout;

namespace {

constexpr std::size_t number_of(run_section s) {
  return static_cast<std::size_t>(s);
}

constexpr run_section section_of(view which) {
  return which == view::half ? run_section::half_view : run_section::op_view;
}

std::uint64_t blocks_of(run_section s, std::uint64_t items) {
  const auto each = run_items_per_block(s);
  return items / each + (items % each != 0 ? 1 : 0);
}

/// Whether the sections that the head names lie inside a file of `bytes`.
bool sections_fit(const run_info& info, std::uint64_t bytes) {
  for (std::size_t i = 0; i < run_sections; ++i) {
    const auto& place = info.sections[i];
    const auto blocks = blocks_of(static_cast<run_section>(i), place.count);
    if (place.offset < run_block_bytes || place.offset > bytes ||
        place.offset % run_block_bytes != 0 || blocks > (bytes - place.offset) / run_block_bytes)
      return false;
  }
  return true;
}

} // namespace

/// Items of one section by number; keeps the block that was read last.
class run_reader::cursor {
public:
  cursor(const run_reader& run, run_section section)
      : run_{run}, section_{section}, block_(run_block_bytes) {}

  [[nodiscard]] std::uint64_t size() const { return run_.count(section_); }

  result<const std::byte*> item(std::uint64_t number) {
    HANDFAST_ASSERT(number < size());
    const auto each = run_items_per_block(section_);
    if (const auto wanted = number / each; wanted != loaded_) {
      loaded_.reset();
      if (auto got = run_.read_block(section_, wanted, block_); !got)
        return tl::unexpected{got.error()};
      loaded_ = wanted;
    }
    return block_.data() + (number % each) * run_item_bytes[number_of(section_)];
  }

  /// Number of the first item for which `is_behind(item)`; `size()` if there is none.
  template <class Predicate>
  result<std::uint64_t> first_behind(Predicate is_behind) {
    std::uint64_t low = 0;
    std::uint64_t high = size();
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      const auto at = item(middle);
      if (!at)
        return tl::unexpected{at.error()};
      if (is_behind(*at))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

private:
  const run_reader& run_;
  run_section section_;
  std::vector<std::byte> block_;
  std::optional<std::uint64_t> loaded_;
};

run_reader::run_reader(std::string path, std::unique_ptr<file> content, const run_info& info)
    : path_{std::move(path)}, content_{std::move(content)}, info_{info}, seed_{layout::seed_of(
                                                                             info)} {}

result<std::shared_ptr<const run_reader>>
run_reader::open(file_system& disk, const std::string& path, std::uint64_t store_id) {
  auto content = disk.open(path, open_mode::read);
  if (!content)
    return tl::unexpected{content.error()};
  std::vector<std::byte> head(run_block_bytes);
  const auto got = (*content)->read(head, 0);
  if (!got)
    return tl::unexpected{got.error()};
  head.resize(*got);
  if (auto checked = check_head(head, {layout::magic, run_format_version, store_id}, path);
      !checked)
    return tl::unexpected{checked.error()};
  if (head.size() < run_block_bytes)
    return fail(ec::corrupt, path + " is too short");
  run_info info;
  info.store_id = store_id;
  info.from = {get<std::uint64_t>(head.data() + layout::from_at)};
  info.to = {get<std::uint64_t>(head.data() + layout::to_at)};
  info.created_ms = get<std::uint64_t>(head.data() + layout::created_at);
  for (std::size_t i = 0; i < run_sections; ++i)
    info.sections[i] = {get<std::uint64_t>(head.data() + layout::sections_at + 16 * i),
                        get<std::uint64_t>(head.data() + layout::sections_at + 16 * i + 8)};
  const auto size = (*content)->size();
  if (!size)
    return tl::unexpected{size.error()};
  if (!sections_fit(info, *size))
    return fail(ec::corrupt, path + " is shorter than its head says");
  return std::shared_ptr<const run_reader>{new run_reader{path, std::move(*content), info}};
}

result<void> run_reader::read_block(run_section s, std::uint64_t number,
                                    std::span<std::byte> into) const {
  HANDFAST_ASSERT(into.size() == run_block_bytes);
  const auto& place = info_.sections[number_of(s)];
  const auto offset = place.offset + number * run_block_bytes;
  const auto got = content_->read(into, offset);
  if (!got)
    return tl::unexpected{got.error()};
  const auto each = run_items_per_block(s);
  const auto items = std::min<std::uint64_t>(each, place.count - number * each);
  if (*got != into.size() ||
      get<std::uint32_t>(into.data() + layout::block_crc_at) !=
          layout::block_crc(into, offset, seed_) ||
      get<std::uint32_t>(into.data() + layout::block_items_at) != items)
    return fail(ec::corrupt, path_ + " is damaged at byte " + std::to_string(offset));
  return {};
}

result<run_reader::entries> run_reader::find_entries(queue_key key, queue_offset from,
                                                     queue_offset to, std::size_t count_max) const {
  entries answer{from, {}};
  cursor extents{*this, run_section::extents};
  // The first extent of which anything lies at or behind (key, from).
  const auto place = extents.first_behind([&](const std::byte* item) {
    const auto extent = layout::get_extent(item);
    return extent.key > key ||
           (extent.key == key && extent.first.value + extent.count > from.value);
  });
  if (!place)
    return tl::unexpected{place.error()};
  if (*place == extents.size())
    return answer;
  const auto item = extents.item(*place);
  if (!item)
    return tl::unexpected{item.error()};
  const auto extent = layout::get_extent(*item);
  if (extent.key != key || extent.first >= to)
    return answer;
  answer.first = std::max(from, extent.first);
  const auto end = std::min(to.value, extent.first.value + extent.count);
  const auto skipped = answer.first.value - extent.first.value;
  const auto count =
      end > answer.first.value ? std::min<std::uint64_t>(count_max, end - answer.first.value) : 0;
  cursor found{*this, run_section::entries};
  if (extent.index + skipped + count > found.size())
    return fail(ec::corrupt, path_ + " has a queue that points beyond its entries");
  answer.found.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto entry = found.item(extent.index + skipped + i);
    if (!entry)
      return tl::unexpected{entry.error()};
    answer.found.push_back(layout::get_entry(*entry));
  }
  return answer;
}

result<std::optional<stored_outcome>> run_reader::find_outcome(position transaction) const {
  cursor outcomes{*this, run_section::outcomes};
  const auto place = outcomes.first_behind(
      [&](const std::byte* item) { return get<std::uint64_t>(item) >= transaction.value; });
  if (!place)
    return tl::unexpected{place.error()};
  if (*place == outcomes.size())
    return std::nullopt;
  return outcomes.item(*place).map([&](const std::byte* item) {
    const auto found = layout::get_outcome(item);
    return found.transaction == transaction ? std::optional{found} : std::nullopt;
  });
}

result<std::optional<view_sample>> run_reader::find_view_sample(view which,
                                                                queue_offset offset) const {
  cursor samples{*this, section_of(which)};
  const auto behind = samples.first_behind(
      [&](const std::byte* item) { return get<std::uint64_t>(item) > offset.value; });
  if (!behind)
    return tl::unexpected{behind.error()};
  if (*behind == 0)
    return std::nullopt;
  return samples.item(*behind - 1).map([](const std::byte* item) {
    return std::optional{layout::get_sample(item)};
  });
}

result<void>
run_reader::for_each_extent(const std::function<void(const queue_extent&)>& each) const {
  cursor extents{*this, run_section::extents};
  for (std::uint64_t i = 0; i < extents.size(); ++i) {
    const auto item = extents.item(i);
    if (!item)
      return tl::unexpected{item.error()};
    each(layout::get_extent(*item));
  }
  return {};
}

result<void>
run_reader::for_each_outcome(const std::function<void(const stored_outcome&)>& each) const {
  cursor outcomes{*this, run_section::outcomes};
  for (std::uint64_t i = 0; i < outcomes.size(); ++i) {
    const auto item = outcomes.item(i);
    if (!item)
      return tl::unexpected{item.error()};
    each(layout::get_outcome(*item));
  }
  return {};
}

result<void> run_reader::verify() const {
  std::vector<std::byte> block(run_block_bytes);
  for (std::size_t s = 0; s < run_sections; ++s) {
    const auto section = static_cast<run_section>(s);
    for (std::uint64_t i = 0; i < blocks_of(section, info_.sections[s].count); ++i)
      if (auto checked = read_block(section, i, block); !checked)
        return checked;
  }
  return {};
}

} // namespace handfast::storage
