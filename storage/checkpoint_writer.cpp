#include "messages/assert.hpp"
#include "messages/limits.hpp"
#include "storage/checkpoint_format.hpp"
#include "storage/crc32c.hpp"
#include "storage/file_head.hpp"
#include "storage/little_endian.hpp"
#include "storage/removal_hold.hpp"

#include <array>

namespace handfast::storage {

namespace format = checkpoint_format;

namespace {

constexpr std::size_t flush_bytes = 1 * limits::mib;
constexpr std::size_t checkpoints_kept = 2;

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

} // namespace

checkpoint_writer::checkpoint_writer(file_system& disk, std::string directory, checkpoint_info info)
    : disk_{&disk}, directory_{std::move(directory)}, info_{info} {}

result<checkpoint_writer> checkpoint_writer::begin(file_system& disk, std::string directory,
                                                   checkpoint_info info) {
  if (auto made = disk.make_directories(directory); !made)
    return tl::unexpected{made.error()};
  const auto generations = format::list_generations(disk, directory);
  if (!generations)
    return tl::unexpected{generations.error()};
  info.generation = generations->empty() ? 1 : generations->back() + 1;
  checkpoint_writer writer{disk, std::move(directory), info};
  auto opened = disk.open(writer.directory_ + format::temporary_name, open_mode::create);
  if (!opened)
    return tl::unexpected{opened.error()};
  writer.file_ = std::move(*opened);
  std::array<std::byte, format::head_bytes> head{};
  put(head.data() + format::generation_at, info.generation);
  put(head.data() + format::start_at, info.start.value);
  put(head.data() + format::durable_at, info.durable.value);
  put(head.data() + format::created_at, info.created_ms);
  seal_head(head, {format::magic, checkpoint_format_version, info.store_id});
  writer.crc_ = get<std::uint32_t>(head.data() + head_crc_at);
  append(writer.buffer_, head);
  return writer;
}

result<void> checkpoint_writer::flush() {
  auto written = file_->write(std::span<const std::byte>{buffer_}, written_);
  written_ += buffer_.size();
  buffer_.clear();
  return written;
}

result<void> checkpoint_writer::add_slice(std::string_view name, std::span<const std::byte> bytes) {
  HANDFAST_ASSERT(file_ && !name.empty() && name.size() <= format::name_bytes_max);
  std::array<std::byte, format::slice_head_bytes> head{};
  put(head.data() + format::slice_name_size_at, static_cast<std::uint16_t>(name.size()));
  put(head.data() + format::slice_size_at, std::uint64_t{bytes.size()});
  auto crc = crc32c(std::span{head}.subspan(format::slice_name_size_at), crc_seed(info_.store_id));
  crc = crc32c(std::as_bytes(std::span{name.data(), name.size()}), crc);
  crc = crc32c(bytes, crc);
  put(head.data(), crc);
  crc_ = crc32c(std::span{head}.first(sizeof crc), crc_);
  ++slices_;
  append(buffer_, head);
  append(buffer_, std::as_bytes(std::span{name.data(), name.size()}));
  if (bytes.size() >= flush_bytes) {
    // Large slices go to the file without a copy.
    if (auto flushed = flush(); !flushed)
      return flushed;
    if (auto written = file_->write(bytes, written_); !written)
      return written;
    written_ += bytes.size();
  } else {
    append(buffer_, bytes);
  }
  const auto size = written_ + buffer_.size();
  buffer_.resize(buffer_.size() + (8 - size % 8) % 8);
  return buffer_.size() >= flush_bytes ? flush() : result<void>{};
}

result<std::uint64_t> checkpoint_writer::commit() {
  HANDFAST_ASSERT(file_);
  std::array<std::byte, format::end_bytes> end{};
  put(end.data(), format::end_magic);
  put(end.data() + 8, slices_);
  put(end.data() + 12, crc_);
  append(buffer_, end);
  const auto path = directory_ + "/" + format::name_of(info_.generation);
  auto done =
      flush()
          .and_then([&] { return file_->sync(); })
          .and_then([&] { return disk_->rename(directory_ + format::temporary_name, path); })
          .and_then([&] { return disk_->sync_directory(directory_); });
  if (!done)
    return tl::unexpected{done.error()};
  file_.reset();
  const auto held = removals_held(*disk_, parent_directory(directory_));
  if (!held)
    return tl::unexpected{held.error()};
  if (*held)
    return written_;
  auto generations = format::list_generations(*disk_, directory_);
  if (!generations)
    return tl::unexpected{generations.error()};
  for (std::size_t i = 0; i + checkpoints_kept < generations->size(); ++i)
    if (auto removed = disk_->remove(directory_ + "/" + format::name_of((*generations)[i]));
        !removed)
      return tl::unexpected{removed.error()};
  return written_;
}

} // namespace handfast::storage
