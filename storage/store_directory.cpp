#include "storage/store_directory.hpp"

#include "storage/crc32c.hpp"
#include "storage/log_format.hpp"
#include "storage/log_note.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

namespace handfast::storage {

namespace {

constexpr std::uint64_t identity_bytes_max = 4 * limits::kib;

/// What an interrupted creation may leave, and what file systems put into an empty root of their
/// own.
constexpr std::array<std::string_view, 9> harmless_names{
    "lock",        "backup.lock", "handfast-store.tmp", "log-00.note", "log-00.note.tmp", "log",
    "checkpoints", "runs",        "lost+found"};

std::string encode(const store_identity& identity) {
  char text[256];
  std::snprintf(text, sizeof text,
                "HANDFAST\nformat %" PRIu32 "\nstore %016" PRIx64 "\ncreated %" PRIu64 "\n",
                identity.format, identity.store_id, identity.created_ms);
  std::string all{text};
  std::snprintf(text, sizeof text, "crc %08" PRIx32 "\n",
                crc32c(std::as_bytes(std::span{all.data(), all.size()})));
  return all + text;
}

result<store_identity> decode(const std::string& text, const std::string& path) {
  store_identity identity;
  if (std::sscanf(text.c_str(), "HANDFAST\nformat %" SCNu32, &identity.format) != 1)
    return fail(ec::corrupt, path + " does not begin like the identity of a store");
  if (identity.format > store_format_version)
    return fail(ec::newer_format, path + " has format " + std::to_string(identity.format) +
                                      "; this version reads up to " +
                                      std::to_string(store_format_version));
  if (std::sscanf(text.c_str(), "HANDFAST\nformat %" SCNu32 "\nstore %" SCNx64 "\ncreated %" SCNu64,
                  &identity.format, &identity.store_id, &identity.created_ms) != 3 ||
      encode(identity) != text)
    return fail(ec::corrupt, path + " is damaged");
  return identity;
}

error with_path(const error& e, const std::string& root) {
  return {e.code, "data folder " + root + ": " + e.detail};
}

/// Refuses a folder without identity unless it is as good as empty.
result<void> check_empty(file_system& disk, const store_paths& paths) {
  const auto names = disk.list(paths.root);
  if (!names)
    return tl::unexpected{names.error()};
  for (const auto& name : *names)
    if (std::find(harmless_names.begin(), harmless_names.end(), name) == harmless_names.end())
      return fail(ec::not_our_directory, "it holds " + name + " and no store");
  for (const auto& path : {paths.log(), paths.checkpoints(), paths.runs()}) {
    const auto there = disk.exists(path);
    if (!there)
      return tl::unexpected{there.error()};
    if (!*there)
      continue;
    const auto inside = disk.list(path);
    if (!inside)
      return tl::unexpected{inside.error()};
    if (!inside->empty())
      return fail(ec::corrupt, path + " holds " + inside->front() +
                                   ", but the store's identity file is missing");
  }
  return {};
}

result<store_identity> read_identity(file_system& disk, const std::string& path) {
  const auto content = disk.open(path, open_mode::read);
  if (!content)
    return tl::unexpected{content.error()};
  return read_whole(**content, identity_bytes_max).and_then([&](const auto& bytes) {
    return decode({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  });
}

} // namespace

std::string store_paths::log_note(std::uint8_t shard) const {
  char name[32];
  std::snprintf(name, sizeof name, "/log-%02x.note", shard);
  return root + name;
}

result<store_identity> store_directory::inspect(file_system& disk, const std::string& root) {
  const store_paths paths{root};
  const auto there = disk.exists(paths.identity());
  if (!there)
    return tl::unexpected{with_path(there.error(), root)};
  if (!*there)
    return fail(ec::not_our_directory, "data folder " + root + ": there is no store in it");
  return read_identity(disk, paths.identity()).map_error([&](const error& e) {
    return with_path(e, root);
  });
}

result<store_directory> store_directory::open(file_system& disk, std::string root,
                                              std::uint64_t new_store_id, std::uint64_t now_ms) {
  store_directory opened;
  opened.paths_.root = std::move(root);
  const auto& paths = opened.paths_;
  const auto refuse = [&](const error& e) { return tl::unexpected{with_path(e, paths.root)}; };

  if (auto made = disk.make_directories(paths.root); !made)
    return refuse(made.error());
  // Nothing is put into a folder that is not ours, not even a lock.
  const auto there = disk.exists(paths.identity());
  if (!there)
    return refuse(there.error());
  if (!*there)
    if (auto empty = check_empty(disk, paths); !empty)
      return refuse(empty.error());
  auto lock = disk.lock(paths.lock());
  if (!lock)
    return refuse(lock.error());
  opened.lock_ = std::move(*lock);
  // Somebody may have removed the file under a running node; nobody can remove the folder. Some
  // network file systems cannot lock a folder: there the file alone must do.
  auto whole = disk.lock(paths.root);
  if (!whole && whole.error().code == ec::directory_in_use)
    return refuse(whole.error());
  if (whole)
    opened.folder_lock_ = std::move(*whole);
  for (const auto& folder : {paths.log(), paths.checkpoints(), paths.runs()})
    if (auto made = disk.make_directories(folder); !made)
      return refuse(made.error());
  // Asked again under the lock: another process may just have made it.
  const auto still = disk.exists(paths.identity());
  if (!still)
    return refuse(still.error());
  if (!*still) {
    const auto text = encode({store_format_version, new_store_id, now_ms});
    auto written = log_note_file::make(disk, paths.log_note(0), new_store_id, {}).and_then([&] {
      return replace_file(disk, paths.identity(),
                          std::as_bytes(std::span{text.data(), text.size()}));
    });
    if (!written)
      return refuse(written.error());
    opened.created_ = true;
  }
  const auto identity = read_identity(disk, paths.identity());
  if (!identity)
    return refuse(identity.error());
  opened.identity_ = *identity;
  return opened;
}

} // namespace handfast::storage
