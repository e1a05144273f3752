#include "storage/run_layout.hpp"
#include "storage/run_reader.hpp"

#include <algorithm>

namespace handfast::storage {

position run_catalog::first_uncovered(position begin, position end) const {
  auto covered = begin;
  for (const auto& run : runs)
    if (run->info().from <= covered)
      covered = std::max(covered, run->info().to);
  return std::min(covered, end);
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
    else if (opened || opened.error().code == ec::corrupt)
      catalog.damaged.push_back(
          {path, opened ? "its name and its head differ" : opened.error().detail});
    else
      return tl::unexpected{opened.error()};
  }
  // Names sort by position already, since they have a fixed width.
  return catalog;
}

} // namespace handfast::storage
