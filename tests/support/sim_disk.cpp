#include "tests/support/sim_disk.hpp"

#include "messages/assert.hpp"

#include <algorithm>
#include <cstring>

namespace handfast::testing {

using storage::file;
using storage::file_lock;
using storage::open_mode;

/// A file or a directory.
struct sim_disk::inode {
  bool directory = false;
  std::vector<std::byte> seen; ///< what programs read
  std::vector<std::byte> safe; ///< what a power cut leaves at least
  std::size_t dirty_from =
      0; ///< outside [dirty_from, dirty_to) both are the same, as far as both go
  std::size_t dirty_to = 0;

  void touch(std::size_t from, std::size_t to) {
    dirty_from = dirty_from == dirty_to ? from : std::min(dirty_from, from);
    dirty_to = std::max(dirty_to, to);
  }

  void make_safe() {
    safe.resize(seen.size());
    const auto end = std::min(dirty_to, seen.size());
    if (dirty_from < end)
      std::memcpy(safe.data() + dirty_from, seen.data() + dirty_from, end - dirty_from);
    dirty_from = dirty_to = 0;
  }
};

namespace {

/// A number below `bound`, the same for a seed everywhere.
std::uint64_t choose(std::mt19937_64& random, std::uint64_t bound) {
  return random() % bound;
}

/// What a power cut leaves of a file.
void settle_bytes(std::vector<std::byte>& seen, const std::vector<std::byte>& safe,
                  std::mt19937_64& random) {
  constexpr auto sector = sim_disk::sector_bytes;
  std::vector<std::byte> left = safe;
  if (seen.size() != safe.size()) {
    const auto low = std::min(seen.size(), safe.size());
    const auto high = std::max(seen.size(), safe.size());
    switch (choose(random, 3)) {
    case 0:
      left.resize(seen.size());
      break;
    case 1:
      left.resize(low + choose(random, high - low + 1));
      break;
    default:
      break;
    }
  }
  for (std::size_t at = 0; at < std::min(left.size(), seen.size()); at += sector) {
    const auto size = std::min({sector, left.size() - at, seen.size() - at});
    if (std::memcmp(left.data() + at, seen.data() + at, size) == 0)
      continue;
    switch (choose(random, 3)) {
    case 0:
      std::memcpy(left.data() + at, seen.data() + at, size);
      break;
    case 1: {
      // Torn: one side of a cut is new.
      const auto cut = choose(random, size + 1);
      if (choose(random, 2) == 0)
        std::memcpy(left.data() + at, seen.data() + at, cut);
      else
        std::memcpy(left.data() + at + cut, seen.data() + at + cut, size - cut);
      break;
    }
    default:
      break;
    }
  }
  seen = std::move(left);
}

} // namespace

std::string_view name_of(disk_operation operation) {
  switch (operation) {
  case disk_operation::create:
    return "create";
  case disk_operation::write:
    return "write";
  case disk_operation::sync:
    return "sync";
  case disk_operation::truncate:
    return "truncate";
  case disk_operation::reserve:
    return "reserve";
  case disk_operation::rename:
    return "rename";
  case disk_operation::remove:
    return "remove";
  case disk_operation::sync_directory:
    return "sync_directory";
  case disk_operation::make_directory:
    return "make_directory";
  }
  return "invalid";
}

class sim_disk::open_file final : public file {
public:
  open_file(sim_disk& disk, inode_ptr node, std::string path)
      : disk_{disk}, node_{std::move(node)}, path_{std::move(path)}, generation_{disk.generation_} {
  }

  result<std::size_t> read(std::span<std::byte> into, std::uint64_t offset) const override {
    const std::lock_guard lock{disk_.mutex_};
    if (auto alive = check(); !alive)
      return tl::unexpected{alive.error()};
    if (offset >= node_->seen.size())
      return 0;
    const auto size = std::min<std::size_t>(into.size(), node_->seen.size() - offset);
    std::memcpy(into.data(), node_->seen.data() + offset, size);
    return size;
  }

  result<std::optional<std::size_t>> try_read(std::span<std::byte> into,
                                              std::uint64_t offset) const override {
    {
      const std::lock_guard lock{disk_.mutex_};
      if (disk_.cold_)
        return std::nullopt;
    }
    return read(into, offset).map([](std::size_t n) { return std::optional{n}; });
  }

  result<void> write(std::span<const iovec> pieces, std::uint64_t offset) override {
    const std::lock_guard lock{disk_.mutex_};
    return check().and_then([&] { return disk_.write_pieces(*node_, pieces, offset, path_); });
  }

  result<void> sync() override {
    const std::lock_guard lock{disk_.mutex_};
    return check().and_then([&] { return disk_.plain_step(disk_operation::sync, path_); }).map([&] {
      node_->make_safe();
    });
  }

  result<std::uint64_t> size() const override {
    const std::lock_guard lock{disk_.mutex_};
    return check().map([&] { return std::uint64_t{node_->seen.size()}; });
  }

  result<void> reserve(std::uint64_t from, std::uint64_t to) override {
    const std::lock_guard lock{disk_.mutex_};
    return check()
        .and_then([&] { return disk_.plain_step(disk_operation::reserve, path_); })
        .and_then([&]() -> result<void> {
          if (!disk_.reserves_)
            return fail(ec::not_supported, path_);
          HANDFAST_ASSERT(from == node_->seen.size() && from <= to);
          return disk_.grow(*node_, to);
        });
  }

  result<void> truncate(std::uint64_t size) override {
    const std::lock_guard lock{disk_.mutex_};
    return check()
        .and_then([&] { return disk_.plain_step(disk_operation::truncate, path_); })
        .and_then([&] { return disk_.grow(*node_, size); });
  }

private:
  [[nodiscard]] result<void> check() const {
    if (generation_ != disk_.generation_ || !disk_.powered_)
      return fail(ec::io_error, path_ + ": the power was off");
    return {};
  }

  sim_disk& disk_;
  inode_ptr node_;
  std::string path_;
  std::uint64_t generation_;
};

class sim_disk::held_lock final : public file_lock {
public:
  held_lock(sim_disk& disk, std::string path)
      : disk_{disk}, path_{std::move(path)}, generation_{disk.generation_} {}
  held_lock(const held_lock&) = delete;
  held_lock& operator=(const held_lock&) = delete;
  ~held_lock() override {
    const std::lock_guard lock{disk_.mutex_};
    const auto held = disk_.locks_.find(path_);
    if (held != disk_.locks_.end() && held->second == generation_)
      disk_.locks_.erase(held);
  }

private:
  sim_disk& disk_;
  std::string path_;
  std::uint64_t generation_;
};

sim_disk::sim_disk() {
  auto root = std::make_shared<inode>();
  root->directory = true;
  for (const auto* name : {"/", "."}) {
    names_[name] = root;
    safe_names_[name] = root;
  }
}

sim_disk::~sim_disk() = default;

sim_disk::inode_ptr sim_disk::find(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? nullptr : found->second;
}

sim_disk::inode& sim_disk::existing(const std::string& path) const {
  auto found = find(path);
  HANDFAST_ASSERT(found && !found->directory);
  return *found;
}

result<std::optional<disk_fault>> sim_disk::step(disk_operation operation,
                                                 const std::string& path) {
  if (!powered_)
    return fail(ec::io_error, path + ": the power is off");
  ++operations_;
  if (hook_)
    hook_(operations_, operation, path);
  if (read_only_)
    return fail(ec::not_writable, path + " is on a read-only disk");
  const auto planned = faults_.find(operations_);
  if (planned == faults_.end())
    return std::nullopt;
  const auto text = path + ": injected at " + std::string{name_of(operation)};
  switch (planned->second) {
  case disk_fault::io_error:
    return fail(ec::io_error, text);
  case disk_fault::disk_full:
    return fail(ec::disk_full, text);
  case disk_fault::short_write:
  case disk_fault::power_off:
    break;
  }
  return planned->second;
}

result<void> sim_disk::plain_step(disk_operation operation, const std::string& path) {
  const auto fault = step(operation, path);
  if (!fault)
    return tl::unexpected{fault.error()};
  if (!*fault)
    return {};
  powered_ = **fault != disk_fault::power_off;
  return fail(ec::io_error, path + ": the power went at " + std::string{name_of(operation)});
}

result<void> sim_disk::grow(inode& to, std::uint64_t size) {
  const auto before = to.seen.size();
  if (size > before && used_ + (size - before) > capacity_)
    return fail(ec::disk_full, "no room for " + std::to_string(size - before) + " more bytes");
  used_ = used_ - before + size;
  if (size > before)
    to.touch(before, size);
  to.seen.resize(size);
  return {};
}

result<void> sim_disk::write_pieces(inode& to, std::span<const iovec> pieces, std::uint64_t offset,
                                    const std::string& path) {
  const auto fault = step(disk_operation::write, path);
  if (!fault)
    return tl::unexpected{fault.error()};
  std::vector<std::byte> bytes;
  for (const auto& piece : pieces) {
    const auto* from = static_cast<const std::byte*>(piece.iov_base);
    bytes.insert(bytes.end(), from, from + piece.iov_len);
  }
  if (*fault == disk_fault::short_write)
    bytes.resize(bytes.size() / 2);
  if (offset + bytes.size() > to.seen.size())
    if (auto grown = grow(to, offset + bytes.size()); !grown)
      return grown;
  if (!bytes.empty()) {
    std::memcpy(to.seen.data() + offset, bytes.data(), bytes.size());
    to.touch(offset, offset + bytes.size());
  }
  if (!*fault)
    return {};
  powered_ = **fault != disk_fault::power_off;
  return fail(ec::io_error, path + ": injected at write");
}

void sim_disk::change_names(const std::string& directory,
                            std::vector<std::pair<std::string, inode_ptr>> names) {
  for (const auto& [path, node] : names) {
    if (node)
      names_[path] = node;
    else
      names_.erase(path);
  }
  changes_.push_back({directory, std::move(names)});
}

result<std::unique_ptr<file>> sim_disk::open(const std::string& path, open_mode mode) {
  const std::lock_guard lock{mutex_};
  auto node = find(path);
  if (node && node->directory)
    return fail(ec::io_error, path + " is a folder");
  if (mode != open_mode::create) {
    if (!powered_ || !node)
      return fail(ec::io_error, "cannot open " + path);
    return std::make_unique<open_file>(*this, std::move(node), path);
  }
  const auto directory = storage::parent_directory(path);
  if (!find(directory))
    return fail(ec::io_error, "no folder " + directory);
  if (auto stepped = plain_step(disk_operation::create, path); !stepped)
    return tl::unexpected{stepped.error()};
  if (node) {
    used_ -= node->seen.size();
    node->seen.clear();
  } else {
    node = std::make_shared<inode>();
    change_names(directory, {{path, node}});
  }
  return std::make_unique<open_file>(*this, std::move(node), path);
}

result<bool> sim_disk::exists(const std::string& path) {
  const std::lock_guard lock{mutex_};
  return find(path) != nullptr;
}

result<std::vector<std::string>> sim_disk::list(const std::string& directory) {
  const std::lock_guard lock{mutex_};
  const auto node = find(directory);
  if (!powered_ || !node || !node->directory)
    return fail(ec::io_error, "cannot list " + directory);
  std::vector<std::string> names;
  for (const auto& [path, unused] : names_)
    if (path != directory && path != "/" && path != "." &&
        storage::parent_directory(path) == directory)
      names.push_back(path.substr(path.rfind('/') + 1));
  return names; // the map is sorted
}

result<void> sim_disk::make_directories(const std::string& directory) {
  {
    const std::lock_guard lock{mutex_};
    if (const auto node = find(directory)) {
      if (node->directory)
        return {};
      return fail(ec::io_error, directory + " is a file");
    }
  }
  const auto parent = storage::parent_directory(directory);
  return make_directories(parent)
      .and_then([&]() -> result<void> {
        const std::lock_guard lock{mutex_};
        return plain_step(disk_operation::make_directory, directory).map([&] {
          auto node = std::make_shared<inode>();
          node->directory = true;
          change_names(parent, {{directory, std::move(node)}});
        });
      })
      .and_then([&] { return sync_directory(parent); });
}

result<void> sim_disk::remove(const std::string& path) {
  const std::lock_guard lock{mutex_};
  const auto node = find(path);
  if (!node || node->directory)
    return fail(ec::io_error, "cannot remove " + path);
  return plain_step(disk_operation::remove, path).map([&] {
    used_ -= node->seen.size();
    change_names(storage::parent_directory(path), {{path, nullptr}});
  });
}

result<void> sim_disk::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock{mutex_};
  const auto node = find(from);
  if (!node || node->directory)
    return fail(ec::io_error, "cannot rename " + from);
  // The change of both names is one; only renames inside one folder are needed.
  HANDFAST_ASSERT(storage::parent_directory(from) == storage::parent_directory(to));
  return plain_step(disk_operation::rename, from).map([&] {
    if (const auto replaced = find(to))
      used_ -= replaced->seen.size();
    change_names(storage::parent_directory(to), {{to, node}, {from, nullptr}});
  });
}

result<void> sim_disk::sync_directory(const std::string& directory) {
  const std::lock_guard lock{mutex_};
  return plain_step(disk_operation::sync_directory, directory).map([&] {
    std::erase_if(changes_, [&](const name_change& change) {
      if (change.directory != directory)
        return false;
      for (const auto& [path, node] : change.names) {
        if (node)
          safe_names_[path] = node;
        else
          safe_names_.erase(path);
      }
      return true;
    });
  });
}

result<std::unique_ptr<file_lock>> sim_disk::lock(const std::string& path) {
  const std::lock_guard lock{mutex_};
  if (!powered_)
    return fail(ec::io_error, path + ": the power is off");
  const auto held = locks_.find(path);
  if (held != locks_.end() && held->second == generation_)
    return fail(ec::directory_in_use, path + " is locked by another process");
  if (!find(path)) {
    if (read_only_)
      return fail(ec::not_writable, path + " is on a read-only disk");
    change_names(storage::parent_directory(path), {{path, std::make_shared<inode>()}});
  }
  locks_[path] = generation_;
  return std::make_unique<held_lock>(*this, path);
}

result<storage::disk_space> sim_disk::space(const std::string&) {
  const std::lock_guard lock{mutex_};
  return storage::disk_space{capacity_, capacity_ - std::min(capacity_, used_)};
}

void sim_disk::power_cut(std::mt19937_64& random) {
  const std::lock_guard lock{mutex_};
  for (const auto& change : changes_) {
    if (choose(random, 2) == 0)
      continue;
    for (const auto& [path, node] : change.names) {
      if (node)
        safe_names_[path] = node;
      else
        safe_names_.erase(path);
    }
  }
  changes_.clear();
  names_ = safe_names_;
  used_ = 0;
  for (const auto& [path, node] : names_) {
    settle_bytes(node->seen, node->safe, random);
    node->safe = node->seen;
    node->dirty_from = node->dirty_to = 0;
    used_ += node->seen.size();
  }
  ++generation_;
  faults_.clear();
  powered_ = true;
}

void sim_disk::process_killed() {
  const std::lock_guard lock{mutex_};
  ++generation_;
  faults_.clear();
  powered_ = true;
}

void sim_disk::fail_at(std::uint64_t number, disk_fault fault) {
  const std::lock_guard lock{mutex_};
  faults_[number] = fault;
}

std::uint64_t sim_disk::operations() const {
  const std::lock_guard lock{mutex_};
  return operations_;
}

void sim_disk::on_step(step_hook hook) {
  const std::lock_guard lock{mutex_};
  hook_ = std::move(hook);
}

void sim_disk::set_capacity(std::uint64_t bytes) {
  const std::lock_guard lock{mutex_};
  capacity_ = bytes;
}

void sim_disk::set_read_only(bool read_only) {
  const std::lock_guard lock{mutex_};
  read_only_ = read_only;
}

void sim_disk::set_reserves(bool reserves) {
  const std::lock_guard lock{mutex_};
  reserves_ = reserves;
}

void sim_disk::set_cold(bool cold) {
  const std::lock_guard lock{mutex_};
  cold_ = cold;
}

void sim_disk::flip_bit(const std::string& path, std::uint64_t byte, unsigned bit) {
  const std::lock_guard lock{mutex_};
  auto& node = existing(path);
  HANDFAST_ASSERT(byte < node.seen.size());
  node.seen[byte] ^= std::byte{1} << bit;
  if (byte < node.safe.size())
    node.safe[byte] ^= std::byte{1} << bit;
}

void sim_disk::overwrite(const std::string& path, std::uint64_t offset,
                         std::span<const std::byte> bytes) {
  const std::lock_guard lock{mutex_};
  auto& node = existing(path);
  HANDFAST_ASSERT(offset + bytes.size() <= node.seen.size());
  std::copy(bytes.begin(), bytes.end(), node.seen.begin() + static_cast<std::ptrdiff_t>(offset));
  node.safe = node.seen;
}

void sim_disk::put_file(const std::string& path, std::string_view content) {
  const std::lock_guard lock{mutex_};
  auto node = std::make_shared<inode>();
  const auto bytes = std::as_bytes(std::span{content.data(), content.size()});
  node->seen.assign(bytes.begin(), bytes.end());
  node->safe = node->seen;
  used_ += node->seen.size();
  names_[path] = node;
  safe_names_[path] = node;
}

std::vector<std::byte> sim_disk::content(const std::string& path) const {
  const std::lock_guard lock{mutex_};
  return existing(path).seen;
}

} // namespace handfast::testing
