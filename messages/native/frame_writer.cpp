#include "messages/native/frame_writer.hpp"

#include "messages/assert.hpp"

#include <cstring>
#include <memory>

namespace handfast::native {

std::span<std::byte> frame_writer::begin_frame(frame_kind kind, std::size_t meta_bytes) {
  HANDFAST_ASSERT(!in_frame_);
  HANDFAST_ASSERT(meta_bytes % 8 == 0 && meta_bytes > 0);
  HANDFAST_ASSERT(own_.size() % 8 == 0);
  in_frame_ = true;
  header_ = {kind, 0, static_cast<std::uint32_t>(meta_bytes), 0};
  header_at_ = own_.size();
  payload_bytes_ = 0;
  own_.resize(own_.size() + frame_header_bytes + meta_bytes);
  return {own_.data() + header_at_ + frame_header_bytes, meta_bytes};
}

void frame_writer::append_payload(const shared_bytes& payload) {
  if (payload.size() < share_from_bytes) {
    append_payload(payload.span());
    return;
  }
  HANDFAST_ASSERT(in_frame_);
  // Only whole words are shared, so that `own_` stays aligned for the frames that follow.
  auto words = payload.size() & ~std::size_t{7};
  shared_.push_back({own_.size(), payload.window(0, words)});
  shared_bytes_ += words;
  payload_bytes_ += words;
  append_payload(payload.span().subspan(words));
}

void frame_writer::append_payload(std::span<const std::byte> payload) {
  HANDFAST_ASSERT(in_frame_);
  own_.insert(own_.end(), payload.begin(), payload.end());
  payload_bytes_ += payload.size();
}

void frame_writer::end_frame() {
  HANDFAST_ASSERT(in_frame_);
  HANDFAST_ASSERT(payload_bytes_ <= UINT32_MAX);
  in_frame_ = false;
  header_.payload_bytes = static_cast<std::uint32_t>(payload_bytes_);
  put_frame_header(header_, std::span<std::byte, frame_header_bytes>{own_.data() + header_at_,
                                                                     frame_header_bytes});
  own_.resize(own_.size() + (8 - payload_bytes_ % 8) % 8);
}

shared_bytes frame_writer::take() {
  HANDFAST_ASSERT(!in_frame_);
  if (shared_.empty() && own_.size() > keep_bytes_max) {
    auto owner = std::make_shared<std::vector<std::byte>>(std::move(own_));
    own_ = {};
    return {std::shared_ptr<const std::byte>{owner, owner->data()}, owner->size()};
  }
  const auto count = size();
  auto buffer = std::make_shared_for_overwrite<std::byte[]>(count);
  auto* at = buffer.get();
  for_each_piece([&](std::span<const std::byte> piece) {
    std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  });
  clear();
  const auto* raw = buffer.get();
  return {std::shared_ptr<const std::byte>{std::move(buffer), raw}, count};
}

void frame_writer::clear() {
  HANDFAST_ASSERT(!in_frame_);
  shared_.clear();
  shared_bytes_ = 0;
  if (own_.capacity() > keep_bytes_max)
    own_ = {};
  else
    own_.clear();
}

} // namespace handfast::native
