#pragma once

/// Copies a whole store, also while a node uses it: for backups and for bringing them back.

#include "messages/ids.hpp"
#include "storage/store_directory.hpp"

#include <functional>

namespace handfast::storage {

/// What was copied.
struct store_copy {
  store_identity identity;
  position end; ///< everything below is in the copy, nothing behind
  std::uint64_t segments = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t runs = 0;
  std::uint64_t bytes = 0; ///< read
};

/// Told after each piece: bytes copied so far, and bytes in all.
using copy_progress = std::function<void(std::uint64_t done, std::uint64_t all)>;

/// Copies the store in `from` into the folder `to`, which must be missing or empty, and makes the
/// copy durable. The copy is what a power cut at one moment during the call could have left of
/// `from`: everything that was acknowledged before the call is in it. Its identity comes last, so
/// that an unfinished copy is no store. Damage is copied as it is.
///
/// A node may write on meanwhile; it keeps its files until the call ends (`hold_removals`).
///
/// Errors name the path: ec::not_our_directory if there is no store in `from` or `to` is not empty;
/// ec::directory_in_use if another copy is being made; ec::corrupt if records below the durable
/// mark are lost near the log's end, so that nobody can say where it ends; ec::disk_full,
/// ec::not_writable, ec::io_error. What is in `to` then can be deleted.
result<store_copy> copy_store(file_system& disk, const std::string& from, const std::string& to,
                              const copy_progress& progress = {});

} // namespace handfast::storage
