#pragma once

/// A disk in memory that loses what was not synced, as a real one does when the power goes.

#include "storage/file_system.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <random>

namespace handfast::testing {

/// Kinds of operations that change or secure something; reads are not counted.
enum class disk_operation : std::uint8_t {
  create,
  write,
  sync,
  truncate,
  reserve,
  rename,
  remove,
  sync_directory,
  make_directory,
};

std::string_view name_of(disk_operation operation);

/// What an injected fault does to its operation.
enum class disk_fault : std::uint8_t {
  io_error,    ///< nothing happens, ec::io_error
  disk_full,   ///< nothing happens, ec::disk_full
  short_write, ///< half of the bytes arrive, then ec::io_error
  power_off,   ///< a write still reaches the cache, a sync does not happen; from then on everything
               ///< fails
};

/// A whole file system with two images: what programs see, and what is safe.
///
/// A power cut keeps every synced byte. Of the rest it chooses for each 512-byte sector: kept,
/// dropped, or torn (a part of the sector is new); for each change of a name that no
/// `sync_directory` followed: kept or forgotten; and a file's size lies anywhere between the synced
/// and the last one. Choices depend on the seed alone. All calls are safe from any thread.
class sim_disk final : public storage::file_system {
public:
  static constexpr std::size_t sector_bytes = 512;

  /// Called before each counted operation with its kind and path: crash points can be listed and
  /// met by it.
  using step_hook =
      std::function<void(std::uint64_t number, disk_operation operation, const std::string& path)>;

  sim_disk();
  ~sim_disk() override;

  result<std::unique_ptr<storage::file>> open(const std::string& path,
                                              storage::open_mode mode) override;
  result<bool> exists(const std::string& path) override;
  result<std::vector<std::string>> list(const std::string& directory) override;
  result<void> make_directories(const std::string& directory) override;
  result<void> remove(const std::string& path) override;
  result<void> rename(const std::string& from, const std::string& to) override;
  result<void> sync_directory(const std::string& directory) override;
  result<std::unique_ptr<storage::file_lock>> lock(const std::string& path) override;
  result<storage::disk_space> space(const std::string& directory) override;

  /// The power goes and comes back: files opened before are dead, locks are free, faults are
  /// forgotten.
  void power_cut(std::mt19937_64& random);
  /// The process ends but the machine stays up: nothing is lost, files opened before are dead,
  /// locks are free.
  void process_killed();

  /// The operation with this number (from 1) fails in this way.
  void fail_at(std::uint64_t number, disk_fault fault);
  /// Operations so far.
  [[nodiscard]] std::uint64_t operations() const;
  void on_step(step_hook hook);
  /// Bytes of all files together that fit; growth beyond is ec::disk_full.
  void set_capacity(std::uint64_t bytes);
  /// Every change is refused with ec::not_writable.
  void set_read_only(bool read_only);
  /// Whether `reserve` is supported.
  void set_reserves(bool reserves);
  /// `try_read` finds nothing in memory.
  void set_cold(bool cold);

  /// The test's own hand: changes both images at once. The file must exist and be long enough.
  void flip_bit(const std::string& path, std::uint64_t byte, unsigned bit);
  void overwrite(const std::string& path, std::uint64_t offset, std::span<const std::byte> bytes);
  void put_file(const std::string& path, std::string_view content);
  [[nodiscard]] std::vector<std::byte> content(const std::string& path) const;

private:
  class open_file;
  class held_lock;
  struct inode;
  using inode_ptr = std::shared_ptr<inode>;
  /// A change of names that is not safe yet; null means removed.
  struct name_change {
    std::string directory;
    std::vector<std::pair<std::string, inode_ptr>> names;
  };

  /// Counts one operation. An error is what it ends with; a short write or power cut is left to the
  /// caller.
  result<std::optional<disk_fault>> step(disk_operation operation, const std::string& path);
  result<void> plain_step(disk_operation operation, const std::string& path);
  result<void> write_pieces(inode& to, std::span<const iovec> pieces, std::uint64_t offset,
                            const std::string& path);
  result<void> grow(inode& to, std::uint64_t size);
  [[nodiscard]] inode_ptr find(const std::string& path) const;
  [[nodiscard]] inode& existing(const std::string& path) const;
  void change_names(const std::string& directory,
                    std::vector<std::pair<std::string, inode_ptr>> names);

  mutable std::mutex mutex_;
  std::map<std::string, inode_ptr> names_;
  std::map<std::string, inode_ptr> safe_names_;
  std::vector<name_change> changes_;
  std::map<std::string, std::uint64_t> locks_; ///< path, generation of the holder
  std::map<std::uint64_t, disk_fault> faults_;
  step_hook hook_;
  std::uint64_t operations_ = 0;
  std::uint64_t generation_ = 0; ///< counts restarts: older handles are dead
  std::uint64_t capacity_ = ~std::uint64_t{0};
  std::uint64_t used_ = 0;
  bool powered_ = true;
  bool read_only_ = false;
  bool cold_ = false;
  bool reserves_ = true;
};

} // namespace handfast::testing
