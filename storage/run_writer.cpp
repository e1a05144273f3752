#include "storage/run_writer.hpp"

#include "messages/assert.hpp"
#include "messages/limits.hpp"
#include "storage/file_head.hpp"
#include "storage/little_endian.hpp"
#include "storage/run_layout.hpp"

namespace handfast::storage {

namespace layout = run_layout;

namespace {

constexpr std::size_t flush_bytes = 1 * limits::mib;

constexpr std::size_t number_of(run_section s) {
  return static_cast<std::size_t>(s);
}

constexpr run_section section_of(view which) {
  return which == view::half ? run_section::half_view : run_section::op_view;
}

} // namespace

run_writer::run_writer(file_system& disk, std::string directory, const std::string& aside,
                       const run_info& info)
    : disk_{&disk}, directory_{std::move(directory)}, aside_{directory_ + "/" + aside}, info_{info},
      seed_{layout::seed_of(info)} {}

result<run_writer> run_writer::begin(file_system& disk, std::string directory,
                                     std::uint64_t store_id, position from, position to,
                                     std::uint64_t now_ms, const std::string& aside) {
  HANDFAST_ASSERT(from <= to);
  if (auto made = disk.make_directories(directory); !made)
    return tl::unexpected{made.error()};
  run_writer writer{disk, std::move(directory), aside, {store_id, from, to, now_ms, {}}};
  auto opened = disk.open(writer.aside_, open_mode::create);
  if (!opened)
    return tl::unexpected{opened.error()};
  writer.file_ = std::move(*opened);
  writer.written_ = run_block_bytes; // the first block is written last
  writer.info_.sections[0].offset = run_block_bytes;
  return writer;
}

result<void> run_writer::flush() {
  auto done = file_->write(std::span<const std::byte>{pending_}, written_);
  written_ += pending_.size();
  pending_.clear();
  return done;
}

result<void> run_writer::end_block() {
  if (block_items_ == 0)
    return {};
  const auto begin = pending_.size() - run_block_bytes;
  const auto block = std::span{pending_}.subspan(begin);
  put(block.data() + layout::block_items_at, static_cast<std::uint32_t>(block_items_));
  put(block.data() + layout::block_crc_at, layout::block_crc(block, written_ + begin, seed_));
  block_items_ = 0;
  return pending_.size() >= flush_bytes ? flush() : result<void>{};
}

result<std::byte*> run_writer::next_item() {
  if (block_items_ == run_items_per_block(section_))
    if (auto ended = end_block(); !ended)
      return tl::unexpected{ended.error()};
  if (block_items_ == 0)
    pending_.resize(pending_.size() + run_block_bytes);
  auto* at = pending_.data() + pending_.size() - run_block_bytes +
             block_items_ * run_item_bytes[number_of(section_)];
  ++block_items_;
  ++info_.sections[number_of(section_)].count;
  return at;
}

result<void> run_writer::go_to(run_section section) {
  HANDFAST_ASSERT(section >= section_);
  while (section_ < section) {
    if (auto ended = end_block(); !ended)
      return ended;
    section_ = static_cast<run_section>(number_of(section_) + 1);
    info_.sections[number_of(section_)].offset = written_ + pending_.size();
    if (section_ != run_section::extents)
      continue;
    for (const auto& extent : extents_) {
      const auto item = next_item();
      if (!item)
        return tl::unexpected{item.error()};
      layout::put_extent(*item, extent);
    }
  }
  return {};
}

result<void> run_writer::add_entries(queue_key key, queue_offset first,
                                     std::span<const queue_entry> entries) {
  HANDFAST_ASSERT(section_ == run_section::entries);
  if (entries.empty())
    return {};
  const auto count = info_.sections[number_of(run_section::entries)].count;
  auto* last = extents_.empty() ? nullptr : &extents_.back();
  const bool same = last && last->key == key;
  HANDFAST_ASSERT(!last || last->key < key ||
                  (same && last->first.value + last->count <= first.value));
  if (same && last->first.value + last->count == first.value)
    last->count += entries.size();
  else
    extents_.push_back({key, first, entries.size(), count});
  for (const auto& entry : entries) {
    const auto item = next_item();
    if (!item)
      return tl::unexpected{item.error()};
    layout::put_entry(*item, entry);
  }
  return {};
}

result<void> run_writer::add_outcome(const stored_outcome& outcome) {
  return go_to(run_section::outcomes)
      .and_then([&] { return next_item(); })
      .map([&](std::byte* item) {
        auto& last = last_key_[number_of(section_)];
        HANDFAST_ASSERT(!last || *last < outcome.transaction.value);
        last = outcome.transaction.value;
        layout::put_outcome(item, outcome);
      });
}

result<void> run_writer::add_view_sample(view which, const view_sample& sample) {
  return go_to(section_of(which)).and_then([&] { return next_item(); }).map([&](std::byte* item) {
    auto& last = last_key_[number_of(section_)];
    HANDFAST_ASSERT(!last || *last < sample.offset.value);
    last = sample.offset.value;
    layout::put_sample(item, sample);
  });
}

result<std::string> run_writer::commit() {
  HANDFAST_ASSERT(file_);
  auto ended = go_to(run_section::op_view).and_then([&] { return end_block(); }).and_then([&] {
    return flush();
  });
  if (!ended)
    return tl::unexpected{ended.error()};
  std::array<std::byte, run_block_bytes> head{};
  put(head.data() + layout::from_at, info_.from.value);
  put(head.data() + layout::to_at, info_.to.value);
  put(head.data() + layout::created_at, info_.created_ms);
  for (std::size_t i = 0; i < run_sections; ++i) {
    put(head.data() + layout::sections_at + 16 * i, info_.sections[i].offset);
    put(head.data() + layout::sections_at + 16 * i + 8, info_.sections[i].count);
  }
  seal_head(head, {layout::magic, run_format_version, info_.store_id});
  const auto path = directory_ + "/" + layout::name_of(info_.from, info_.to);
  auto done = file_->write(head, 0)
                  .and_then([&] { return file_->sync(); })
                  .and_then([&] { return disk_->rename(aside_, path); })
                  .and_then([&] { return disk_->sync_directory(directory_); });
  if (!done)
    return tl::unexpected{done.error()};
  file_.reset();
  return path;
}

} // namespace handfast::storage
