#include "storage/removal_hold.hpp"

#include "storage/store_directory.hpp"

namespace handfast::storage {

result<std::unique_ptr<file_lock>> hold_removals(file_system& disk, const std::string& root) {
  return disk.lock(store_paths{root}.removal_hold());
}

result<bool> removals_held(file_system& disk, const std::string& root) {
  // Asking must not make the file: most stores are never copied.
  const auto path = store_paths{root}.removal_hold();
  const auto there = disk.exists(path);
  if (!there || !*there)
    return there;
  const auto mine = disk.lock(path);
  if (!mine && mine.error().code != ec::directory_in_use)
    return tl::unexpected{mine.error()};
  return !mine.has_value();
}

} // namespace handfast::storage
