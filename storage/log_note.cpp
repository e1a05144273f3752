#include "storage/log_note.hpp"

#include "storage/file_head.hpp"
#include "storage/little_endian.hpp"

#include <array>

namespace handfast::storage {

namespace {

constexpr std::uint64_t magic = 0x45544f4e474f4c48; // "HLOGNOTE"
/// Far enough apart that no single write of a disk touches both.
constexpr std::size_t slot_distance = 4096;
constexpr std::size_t slots = 2;
constexpr std::size_t note_bytes = 96;
constexpr std::size_t number_at = 24;
constexpr std::size_t oldest_at = 32;
constexpr std::size_t newest_at = 40;
constexpr std::size_t size_at = 48;
constexpr std::size_t prepared_at = 56;
constexpr std::size_t durable_at = 64;
constexpr std::size_t flags_at = 72;
constexpr std::size_t epoch_at = 80;
constexpr std::uint64_t ended_flag = 1;

using slot_bytes = std::array<std::byte, note_bytes>;

slot_bytes encode(const log_note& note, std::uint64_t store_id) {
  slot_bytes bytes{};
  put(bytes.data() + number_at, note.number);
  put(bytes.data() + oldest_at, note.oldest.value);
  put(bytes.data() + newest_at, note.newest.value);
  put(bytes.data() + size_at, note.size);
  put(bytes.data() + prepared_at, note.prepared);
  put(bytes.data() + durable_at, note.durable.value);
  put(bytes.data() + flags_at, note.ended ? ended_flag : std::uint64_t{0});
  put(bytes.data() + epoch_at, note.epoch);
  seal_head(bytes, {magic, log_note_version, store_id});
  return bytes;
}

result<log_note> decode(std::span<const std::byte> bytes, std::uint64_t store_id,
                        const std::string& path) {
  return check_head(bytes, {magic, log_note_version, store_id}, path).map([&] {
    const auto* at = bytes.data();
    return log_note{get<std::uint64_t>(at + number_at),
                    {get<std::uint64_t>(at + oldest_at)},
                    {get<std::uint64_t>(at + newest_at)},
                    get<std::uint64_t>(at + size_at),
                    get<std::uint64_t>(at + prepared_at),
                    {get<std::uint64_t>(at + durable_at)},
                    (get<std::uint64_t>(at + flags_at) & ended_flag) != 0,
                    get<std::uint32_t>(at + epoch_at)};
  });
}

constexpr std::uint64_t place_of(std::uint64_t number) {
  return number % slots * slot_distance;
}

} // namespace

result<void> log_note_file::make(file_system& disk, const std::string& path, std::uint64_t store_id,
                                 const log_note& first) {
  std::vector<std::byte> all(slots * slot_distance);
  const auto bytes = encode(first, store_id);
  std::copy(bytes.begin(), bytes.end(), all.data() + place_of(first.number));
  return replace_file(disk, path, all);
}

result<log_note_file> log_note_file::open(file_system& disk, const std::string& path,
                                          std::uint64_t store_id, open_mode mode) {
  auto content = disk.open(path, mode);
  if (!content)
    return tl::unexpected{content.error()};
  log_note_file opened{std::move(*content), store_id};
  std::optional<log_note> newest;
  error why;
  for (std::size_t i = 0; i < slots; ++i) {
    slot_bytes bytes{};
    const auto got = opened.content_->read(bytes, i * slot_distance);
    if (!got)
      return tl::unexpected{got.error()};
    auto note = decode(std::span{bytes}.first(*got), store_id, path);
    if (note && (!newest || note->number > newest->number))
      newest = *note;
    else if (!note && note.error().code != ec::corrupt)
      return tl::unexpected{note.error()};
    else if (!note && why.code == ec::ok)
      why = note.error();
  }
  if (!newest)
    return tl::unexpected{why};
  opened.last_ = *newest;
  return opened;
}

result<void> log_note_file::write(log_note note) {
  note.number = last_.number + 1;
  return content_->write(encode(note, store_id_), place_of(note.number))
      .and_then([&] { return content_->sync(); })
      .map([&] { last_ = note; });
}

} // namespace handfast::storage
