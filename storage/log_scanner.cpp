#include "storage/log_scanner.hpp"

#include "messages/assert.hpp"

#include <algorithm>

namespace handfast::storage {

namespace {
/// Header and Cap'n Proto part of any record fit.
constexpr std::size_t chunk_bytes_min = 1 * limits::mib;
static_assert(chunk_bytes_min >= record_header_bytes + record_meta_bytes_max);
} // namespace

log_scanner::log_scanner(const segment_set& log, const record_codec& codec, position from,
                         const scan_options& options)
    : log_{log}, codec_{codec}, options_{options}, at_{from} {
  HANDFAST_ASSERT(from.value % record_alignment == 0);
  options_.chunk_bytes = std::max(align_record(options_.chunk_bytes), chunk_bytes_min);
}

void log_scanner::seek(position p) {
  HANDFAST_ASSERT(p.value % record_alignment == 0);
  at_ = p;
}

bool log_scanner::enter_segment() {
  for (;;) {
    if (!segment_ || !segment_->holds(at_)) {
      segment_ = log_.find(at_);
      chunk_size_ = 0;
      if (!segment_)
        return false;
    }
    at_ = std::max(at_, segment_->first());
    if (segment_->end().value - at_.value >= record_header_bytes)
      return true;
    at_ = segment_->end();
  }
}

std::span<const std::byte> log_scanner::window() const {
  if (chunk_size_ == 0 || at_ < chunk_at_ || at_ >= chunk_at_ + chunk_size_)
    return {};
  const auto skipped = at_.value - chunk_at_.value;
  return {chunk_.get() + skipped, chunk_size_ - skipped};
}

result<void> log_scanner::load(std::size_t bytes) {
  const auto rest = static_cast<std::size_t>(segment_->end().value - at_.value);
  const auto wanted = std::min(std::max(bytes, options_.chunk_bytes), rest);
  if (!chunk_ || chunk_is_shared_ || chunk_capacity_ < wanted) {
    chunk_ = std::make_shared_for_overwrite<std::byte[]>(wanted);
    chunk_capacity_ = wanted;
    chunk_is_shared_ = false;
  }
  chunk_size_ = 0;
  const auto got = segment_->read(at_, {chunk_.get(), wanted});
  if (!got)
    return tl::unexpected{got.error()};
  chunk_at_ = at_;
  chunk_size_ = *got;
  return {};
}

result<decode_status> log_scanner::decode_here(log_record& record) {
  for (std::size_t needed = record_header_bytes;;) {
    if (window().size() < needed) {
      if (at_ + needed > segment_->prepared_end())
        return needed == record_header_bytes ? decode_status::not_a_record : decode_status::torn;
      if (auto loaded = load(needed); !loaded)
        return tl::unexpected{loaded.error()};
      if (window().size() < needed)
        return decode_status::torn; // the file is shorter than it was
    }
    const auto bytes = window();
    const std::shared_ptr<const std::byte> owner{chunk_, chunk_.get()};
    const auto status = codec_.decode(bytes, at_, owner, header_, record);
    if (status != decode_status::torn)
      return status;
    // The length may be believed once the head, whose CRC covers it, is complete.
    const auto complete =
        bytes.size() < header_.head_bytes() ? header_.head_bytes() : header_.length;
    HANDFAST_ASSERT(complete > needed);
    needed = complete;
  }
}

scan_status log_scanner::settle(decode_status status) {
  reason_ = status;
  const bool whole = status == decode_status::ok || status == decode_status::bad_payload ||
                     status == decode_status::undecodable;
  if (!whole)
    return scan_status::invalid;
  if (at_ + header_.stored_bytes() > segment_->end()) {
    reason_ = decode_status::not_a_record;
    return scan_status::invalid;
  }
  durable_ = std::max(durable_, header_.durable());
  at_ = at_ + header_.stored_bytes();
  return status == decode_status::ok ? scan_status::record : scan_status::damaged;
}

scan_status log_scanner::next(log_record& record) {
  for (;;) {
    if (options_.to.value != 0 && at_ >= options_.to)
      return scan_status::end;
    if (!enter_segment()) {
      reason_ = decode_status::not_a_record;
      return log_.find_from(at_) ? scan_status::invalid : scan_status::end;
    }
    if (options_.to.value != 0 && at_ >= options_.to)
      return scan_status::end;
    const auto status = decode_here(record);
    if (!status) {
      failure_ = status.error();
      return scan_status::io_failed;
    }
    const auto settled = settle(*status);
    if (settled == scan_status::record && header_.type == record_type::pad) {
      if (options_.on_pad)
        options_.on_pad(header_);
      continue;
    }
    chunk_is_shared_ = chunk_is_shared_ || !record_codec::payload_of(record).empty();
    return settled;
  }
}

result<std::shared_ptr<record_batch>> log_scanner::next_batch(std::size_t bytes_max,
                                                              bool skip_damaged) {
  auto batch = std::make_shared<record_batch>();
  batch->replay = true;
  batch->from = at_;
  const auto is_full = [&] { return at_.value - batch->from.value >= bytes_max; };
  while (batch->records.empty() || !is_full()) {
    auto& record = batch->records.emplace_back();
    const auto before = at_;
    const auto status = next(record);
    if (status == scan_status::record ||
        (status == scan_status::damaged && skip_damaged && reason_ == decode_status::bad_payload))
      continue;
    batch->records.pop_back();
    if (status == scan_status::damaged && skip_damaged)
      continue;
    if (status == scan_status::end)
      break;
    if (!batch->records.empty()) {
      at_ = before; // first what is whole; the next call meets the fault again
      break;
    }
    if (status == scan_status::io_failed)
      return tl::unexpected{failure_};
    return fail(ec::corrupt, "at position " + std::to_string(before.value) + ": " +
                                 std::string{name_of(reason_)});
  }
  batch->to = at_;
  if (batch->records.empty())
    return std::shared_ptr<record_batch>{};
  return batch;
}

} // namespace handfast::storage
