#include "storage/run_layout.hpp"
#include "storage/run_reader.hpp"

#include <algorithm>

namespace handfast::storage {

namespace {

constexpr std::size_t copied_at_once = 256 * run_block_bytes;

using ranges = std::vector<std::pair<position, position>>;

ranges ranges_of(const run_catalog& catalog) {
  ranges all;
  for (const auto& run : catalog.runs)
    all.emplace_back(run->info().from, run->info().to);
  return all;
}

/// The lowest position in [begin, end) that none of `all`, which are sorted, covers.
position first_gap(const ranges& all, position begin, position end) {
  auto covered = begin;
  for (const auto& [from, to] : all)
    if (from <= covered)
      covered = std::max(covered, to);
  return std::min(covered, end);
}

} // namespace

position run_catalog::first_uncovered(position begin, position end) const {
  return first_gap(ranges_of(*this), begin, end);
}

position run_catalog::first_unnamed(position begin, position end) const {
  auto all = ranges_of(*this);
  all.insert(all.end(), damaged_ranges.begin(), damaged_ranges.end());
  std::sort(all.begin(), all.end());
  return first_gap(all, begin, end);
}

position run_catalog::end_of_next(position end) const {
  auto all = ranges_of(*this);
  all.insert(all.end(), damaged_ranges.begin(), damaged_ranges.end());
  for (const auto& [from, to] : all)
    if (from == end)
      return to;
  return end;
}

std::string run_name(position from, position to) {
  return run_layout::name_of(from, to);
}

std::optional<position> run_begin(std::string_view name) {
  const auto end = name.find(run_layout::suffix);
  if (end == std::string_view::npos)
    return std::nullopt;
  const auto range =
      run_layout::parse_name(std::string{name.substr(0, end + run_layout::suffix.size())});
  return range ? std::optional{range->first} : std::nullopt;
}

result<void> keep_damaged_copy(file_system& disk, const std::string& path) {
  const auto from = disk.open(path, open_mode::read);
  if (!from)
    return tl::unexpected{from.error()};
  const auto to = disk.open(path + ".damaged", open_mode::create);
  if (!to)
    return tl::unexpected{to.error()};
  std::vector<std::byte> chunk(copied_at_once);
  for (std::uint64_t at = 0;;) {
    const auto got = (*from)->read(chunk, at);
    if (!got)
      return tl::unexpected{got.error()};
    if (*got == 0)
      break;
    if (auto written = (*to)->write(std::span<const std::byte>{chunk}.first(*got), at); !written)
      return written;
    at += *got;
  }
  return (*to)->sync().and_then([&] { return disk.sync_directory(parent_directory(path)); });
}

result<run_catalog> open_runs(file_system& disk, const std::string& directory,
                              std::uint64_t store_id, bool read_only) {
  run_catalog catalog;
  const auto there = disk.exists(directory);
  if (!there)
    return tl::unexpected{there.error()};
  if (!*there)
    return catalog;
  const auto names = disk.list(directory);
  if (!names)
    return tl::unexpected{names.error()};
  for (const auto& name : *names) {
    const auto path = directory + "/" + name;
    if (!read_only && name.ends_with(".tmp"))
      if (auto removed = disk.remove(path); !removed)
        return tl::unexpected{removed.error()};
    const auto range = run_layout::parse_name(name);
    if (!range)
      continue;
    auto opened = run_reader::open(disk, path, store_id);
    if (opened && (*opened)->info().from == range->first && (*opened)->info().to == range->second)
      catalog.runs.push_back(std::move(*opened));
    else if (opened || opened.error().code == ec::corrupt) {
      catalog.damaged.push_back(
          {path, opened ? path + " has a name and a head that differ" : opened.error().detail});
      catalog.damaged_ranges.push_back(*range);
    } else
      return tl::unexpected{opened.error()};
  }
  // Names sort by position already, since they have a fixed width.
  return catalog;
}

} // namespace handfast::storage
