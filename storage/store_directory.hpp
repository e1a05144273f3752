#pragma once

/// The data folder: whose it is, which format it has, and that only one process uses it.

#include "storage/file_system.hpp"

namespace handfast::storage {

constexpr std::uint32_t store_format_version = 1;

/// What the identity file says.
struct store_identity {
  std::uint32_t format = store_format_version;
  std::uint64_t store_id = 0;
  std::uint64_t created_ms = 0;
  friend bool operator==(const store_identity&, const store_identity&) = default;
};

/// Names inside a data folder.
struct store_paths {
  std::string root;
  [[nodiscard]] std::string identity() const { return root + "/handfast-store"; }
  [[nodiscard]] std::string lock() const { return root + "/lock"; }
  [[nodiscard]] std::string log() const { return root + "/log"; }
  [[nodiscard]] std::string checkpoints() const { return root + "/checkpoints"; }
  [[nodiscard]] std::string runs() const { return root + "/runs"; }
  /// See `hold_removals`.
  [[nodiscard]] std::string removal_hold() const { return root + "/backup.lock"; }
  /// What the log of one shard must consist of: see `log_note`.
  [[nodiscard]] std::string log_note(std::uint8_t shard) const;
};

/// A data folder that this process holds until the object goes. Movable.
class store_directory {
public:
  /// Opens the store in `root`, or makes one there (with `new_store_id` and `now_ms`) if the folder
  /// is missing or empty; the note of the log of shard 0 is made before the identity, so that no
  /// store is ever without. Errors, all of which name the path: ec::directory_in_use;
  /// ec::not_our_directory with the first foreign file; ec::newer_format with both versions;
  /// ec::not_writable; ec::corrupt for a damaged identity file or a log without one.
  static result<store_directory> open(file_system& disk, std::string root,
                                      std::uint64_t new_store_id, std::uint64_t now_ms);
  /// Reads the identity of a store without locking or changing it. ec::not_our_directory if there
  /// is none.
  static result<store_identity> inspect(file_system& disk, const std::string& root);

  [[nodiscard]] const store_paths& paths() const { return paths_; }
  [[nodiscard]] const store_identity& identity() const { return identity_; }
  /// Whether `open` made it.
  [[nodiscard]] bool created() const { return created_; }

private:
  store_paths paths_;
  store_identity identity_;
  bool created_ = false;
  std::unique_ptr<file_lock> lock_;
  std::unique_ptr<file_lock> folder_lock_;
};

} // namespace handfast::storage
