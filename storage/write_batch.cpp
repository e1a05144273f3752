#include "storage/write_batch.hpp"

#include "messages/assert.hpp"

#include <algorithm>
#include <cstring>

namespace handfast::storage {

namespace {
constexpr std::size_t chunk_bytes = 64 * limits::kib;
} // namespace

std::span<std::byte> batch_arena::allocate(std::size_t bytes) {
  HANDFAST_ASSERT(bytes % record_alignment == 0);
  if (chunks_.empty() || chunks_.back().capacity - used_ < bytes) {
    const auto capacity = std::max(bytes, chunk_bytes);
    chunks_.push_back({std::unique_ptr<std::byte[]>{new std::byte[capacity]}, capacity});
    used_ = 0;
  }
  auto* at = chunks_.back().bytes.get() + used_;
  used_ += bytes;
  std::memset(at, 0, bytes);
  return {at, bytes};
}

void batch_arena::clear() {
  if (chunks_.size() > 1)
    chunks_.resize(1);
  used_ = 0;
}

result<void> write_batch::write(segment_set& log) const {
  const auto bytes_of = [this](const run& one) {
    std::uint64_t bytes = 0;
    for (auto i = one.first; i < one.first + one.count; ++i)
      bytes += pieces_[i].iov_len;
    return bytes;
  };
  // All room first: a full disk must not leave half a batch.
  for (const auto& one : runs_)
    if (auto ensured = log.ensure(one.at + bytes_of(one)); !ensured)
      return ensured;
  for (const auto& one : runs_)
    if (auto written = log.write(one.at, std::span{pieces_}.subspan(one.first, one.count));
        !written)
      return written;
  return {};
}

} // namespace handfast::storage
