#include "storage/checkpoint_format.hpp"
#include "storage/crc32c.hpp"
#include "storage/file_head.hpp"
#include "storage/little_endian.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace handfast::storage {

namespace checkpoint_format {

namespace {
constexpr std::size_t hex_digits = 16;
}

std::optional<std::uint64_t> parse_name(const std::string& name) {
  if (name.size() != hex_digits + suffix.size() || !name.ends_with(suffix))
    return std::nullopt;
  std::uint64_t generation = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + hex_digits, generation, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != name.data() + hex_digits)
    return std::nullopt;
  return generation;
}

std::string name_of(std::uint64_t generation) {
  char digits[hex_digits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(generation));
  return digits + std::string{suffix};
}

result<std::vector<std::uint64_t>> list_generations(file_system& disk,
                                                    const std::string& directory) {
  std::vector<std::uint64_t> generations;
  const auto there = disk.exists(directory);
  if (!there)
    return tl::unexpected{there.error()};
  if (!*there)
    return generations;
  return disk.list(directory).map([&](const std::vector<std::string>& names) {
    for (const auto& name : names)
      if (const auto generation = parse_name(name))
        generations.push_back(*generation);
    std::sort(generations.begin(), generations.end());
    return generations;
  });
}

} // namespace checkpoint_format

namespace format = checkpoint_format;

namespace {

result<checkpoint_info> decode_head(std::span<const std::byte> bytes, const std::string& path,
                                    std::uint64_t store_id) {
  if (bytes.size() < format::head_bytes)
    return fail(ec::corrupt, path + " is too short");
  const auto head = bytes.first(format::head_bytes);
  return check_head(head, {format::magic, checkpoint_format_version, store_id}, path).map([&] {
    return checkpoint_info{store_id,
                           get<std::uint64_t>(head.data() + format::generation_at),
                           {get<std::uint64_t>(head.data() + format::start_at)},
                           {get<std::uint64_t>(head.data() + format::durable_at)},
                           get<std::uint64_t>(head.data() + format::created_at)};
  });
}

/// Takes the slice at `at` apart and moves `at` behind it. False if it is damaged.
bool decode_slice(const shared_bytes& all, std::size_t& at, std::size_t end, std::uint32_t seed,
                  checkpoint_slice& slice) {
  if (end - at < format::slice_head_bytes)
    return false;
  const auto bytes = all.span();
  const auto* head = bytes.data() + at;
  const std::size_t name_size = get<std::uint16_t>(head + format::slice_name_size_at);
  const auto size = get<std::uint64_t>(head + format::slice_size_at);
  const auto rest = end - at - format::slice_head_bytes;
  if (name_size == 0 || name_size > format::name_bytes_max || name_size > rest ||
      size > rest - name_size)
    return false;
  const auto covered = format::slice_head_bytes + name_size + static_cast<std::size_t>(size);
  if (crc32c(bytes.subspan(at + format::slice_name_size_at, covered - format::slice_name_size_at),
             seed) != get<std::uint32_t>(head))
    return false;
  slice.name = all.window(at + format::slice_head_bytes, name_size).text();
  slice.bytes =
      all.window(at + format::slice_head_bytes + name_size, static_cast<std::size_t>(size));
  at = std::min(end, (at + covered + 7) & ~std::size_t{7});
  return true;
}

result<checkpoint> decode(const shared_bytes& all, const std::string& path,
                          std::uint64_t store_id) {
  const auto info = decode_head(all.span(), path, store_id);
  if (!info)
    return tl::unexpected{info.error()};
  checkpoint found{*info, all.size(), {}};
  if (all.size() < format::head_bytes + format::end_bytes)
    return fail(ec::corrupt, path + " ends too early");
  const auto end = all.size() - format::end_bytes;
  const auto seed = crc_seed(store_id);
  auto crc = get<std::uint32_t>(all.data() + head_crc_at);
  for (auto at = format::head_bytes; at < end;) {
    const auto begin = at;
    checkpoint_slice slice;
    if (!decode_slice(all, at, end, seed, slice))
      return fail(ec::corrupt, path + " is damaged at byte " + std::to_string(begin));
    crc = crc32c(all.span().subspan(begin, sizeof crc), crc);
    found.slices.push_back(std::move(slice));
  }
  const auto* tail = all.data() + end;
  if (get<std::uint64_t>(tail) != format::end_magic ||
      get<std::uint32_t>(tail + 8) != found.slices.size() || get<std::uint32_t>(tail + 12) != crc)
    return fail(ec::corrupt, path + " has a damaged end");
  return found;
}

result<checkpoint_info> load_head(file_system& disk, const std::string& path,
                                  std::uint64_t store_id) {
  const auto content = disk.open(path, open_mode::read);
  if (!content)
    return tl::unexpected{content.error()};
  std::array<std::byte, format::head_bytes> head{};
  return (*content)->read(head, 0).and_then(
      [&](std::size_t got) { return decode_head(std::span{head}.first(got), path, store_id); });
}

} // namespace

result<checkpoint> load_checkpoint(file_system& disk, const std::string& path,
                                   std::uint64_t store_id) {
  const auto content = disk.open(path, open_mode::read);
  if (!content)
    return tl::unexpected{content.error()};
  const auto size = (*content)->size();
  if (!size)
    return tl::unexpected{size.error()};
  auto buffer = std::make_shared_for_overwrite<std::byte[]>(*size);
  const auto got = (*content)->read({buffer.get(), static_cast<std::size_t>(*size)}, 0);
  if (!got)
    return tl::unexpected{got.error()};
  auto* raw = buffer.get();
  return decode({std::shared_ptr<const std::byte>{std::move(buffer), raw}, *got}, path, store_id);
}

result<loaded_checkpoint> load_newest_checkpoint(file_system& disk, const std::string& directory,
                                                 std::uint64_t store_id) {
  const auto generations = format::list_generations(disk, directory);
  if (!generations)
    return tl::unexpected{generations.error()};
  loaded_checkpoint loaded;
  for (auto it = generations->rbegin(); it != generations->rend(); ++it) {
    const auto path = directory + "/" + format::name_of(*it);
    if (loaded.newest) {
      // Only its start matters: what it needs must stay.
      if (const auto info = load_head(disk, path, store_id))
        loaded.oldest_start = std::min(loaded.oldest_start, info->start);
      continue;
    }
    auto found = load_checkpoint(disk, path, store_id);
    if (found) {
      loaded.oldest_start = found->info.start;
      loaded.newest = std::move(*found);
    } else if (found.error().code == ec::corrupt) {
      loaded.damaged.push_back({path, found.error().detail});
    } else {
      return tl::unexpected{found.error()};
    }
  }
  return loaded;
}

} // namespace handfast::storage
