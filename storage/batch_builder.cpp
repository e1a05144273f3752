#include "storage/batch_builder.hpp"

#include "messages/assert.hpp"

#include <cstring>

namespace handfast::storage {

namespace {
/// Up to here copying a payload is cheaper than giving the kernel one more piece.
constexpr std::size_t copied_payload_max = 256;
} // namespace

batch_builder::batch_builder(const record_codec& codec, segment_layout layout, position tail,
                             const batch_limits& limits)
    : codec_{codec}, layout_{std::move(layout)}, limits_{limits}, bounds_{layout_.segment_of(tail)},
      from_{tail}, tail_{tail}, durable_{tail} {
  HANDFAST_ASSERT(tail.value % record_alignment == 0);
}

segment_layout::bounds batch_builder::bounds_at(position p) const {
  return p >= bounds_.base && p < bounds_.end ? bounds_ : layout_.segment_of(p);
}

result<position> batch_builder::next_position(std::uint64_t stored_bytes) const {
  if (stored_bytes > layout_.record_bytes_max())
    return fail(ec::body_too_large, "a record of " + std::to_string(stored_bytes) +
                                        " bytes does not fit into a segment, which takes at most " +
                                        std::to_string(layout_.record_bytes_max()) +
                                        ": raise the segment size");
  for (auto at = tail_;;) {
    const auto bounds = bounds_at(at);
    at = std::max(at, bounds.first());
    if (at + stored_bytes <= bounds.end)
      return at;
    at = bounds.end;
  }
}

std::uint32_t batch_builder::lag_of(position at) const {
  HANDFAST_ASSERT(at >= durable_);
  const auto lag = at.value - durable_.value;
  return lag < durable_lag_unknown ? static_cast<std::uint32_t>(lag) : durable_lag_unknown;
}

result<position> batch_builder::add(log_record record) {
  const auto size = record_codec::size_of(record);
  if (!size)
    return tl::unexpected{size.error()};
  const auto at = next_position(size->stored);
  if (!at)
    return at;
  pad_to(*at, record.time_ms);
  record.at = *at;
  record.length = size->stored;
  record.epoch = epoch_;
  const auto& payload = record_codec::payload_of(record);
  const bool copy = size->payload <= copied_payload_max;
  const auto bytes = batch_.arena_.allocate(copy ? size->stored : size->head);
  codec_.encode(record, *size, lag_of(*at), bytes.first(size->head));
  if (copy && size->payload > 0)
    std::memcpy(bytes.data() + size->head, payload.data(), size->payload);
  append_bytes(*at, bytes);
  if (!copy)
    append_payload(*at + size->head, payload);
  tail_ = *at + size->stored;
  bounds_ = bounds_at(*at);
  HANDFAST_ASSERT(run_end_ == tail_ && tail_ <= bounds_.end);
  records_.push_back(std::move(record));
  return *at;
}

void batch_builder::pad_to(position at, wall_ms time_ms) {
  for (auto from = tail_; from < at;) {
    const auto bounds = bounds_at(from);
    from = std::max(from, bounds.first());
    if (from >= at)
      break;
    HANDFAST_ASSERT(at > bounds.end);
    const auto rest = bounds.end.value - from.value;
    // A rest that is too short for a header is passed over without one.
    if (rest >= record_header_bytes) {
      const auto bytes = batch_.arena_.allocate(record_header_bytes);
      codec_.encode_pad(from, static_cast<std::uint32_t>(rest), epoch_, time_ms, lag_of(from), 0,
                        bytes.first<record_header_bytes>());
      append_bytes(from, bytes);
    }
    from = bounds.end;
  }
}

void batch_builder::append_bytes(position at, std::span<const std::byte> bytes) {
  auto& pieces = batch_.pieces_;
  auto& runs = batch_.runs_;
  if (runs.empty() || run_end_ != at)
    runs.push_back({at, pieces.size(), 0});
  run_end_ = at + bytes.size();
  if (runs.back().count > 0) {
    auto& last = pieces.back();
    if (static_cast<const std::byte*>(last.iov_base) + last.iov_len == bytes.data()) {
      last.iov_len += bytes.size();
      return;
    }
  }
  pieces.push_back({const_cast<std::byte*>(bytes.data()), bytes.size()});
  ++runs.back().count;
}

void batch_builder::append_payload(position at, const shared_bytes& payload) {
  append_bytes(at, payload.span());
  const auto zeros = align_record(payload.size()) - payload.size();
  if (zeros == 0)
    return;
  // The end of a word, so that the next head follows in memory too and needs no piece of its own.
  append_bytes(at + payload.size(), batch_.arena_.allocate(record_alignment).last(zeros));
}

bool batch_builder::full() const {
  return bytes() >= limits_.bytes_max || records_.size() >= limits_.records_max;
}

write_batch batch_builder::take() {
  write_batch done = std::exchange(batch_, std::exchange(spare_, write_batch{}));
  done.from_ = from_;
  done.to_ = tail_;
  if (!records_.empty()) {
    const auto expected = records_.size();
    done.records_ = std::make_shared<const record_batch>(
        record_batch{from_, tail_, false, std::exchange(records_, {})});
    records_.reserve(expected);
  }
  from_ = tail_;
  return done;
}

void batch_builder::recycle(write_batch&& done) {
  done.records_.reset();
  done.runs_.clear();
  done.pieces_.clear();
  done.arena_.clear();
  spare_ = std::move(done);
}

} // namespace handfast::storage
