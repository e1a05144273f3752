#include "messages/native/frame_splitter.hpp"

#include "messages/assert.hpp"

#include <algorithm>
#include <cstring>

namespace handfast::native {

void frame_splitter::feed(shared_bytes chunk) {
  HANDFAST_ASSERT(left() == 0 || broken_);
  chunk_ = std::move(chunk);
  at_ = 0;
}

result<std::optional<frame>> frame_splitter::next() {
  if (broken_)
    return tl::unexpected{*broken_};
  if (inside_frame() || left() < frame_header_bytes)
    return next_across_chunks();
  auto header = parse_frame_header(
      std::span<const std::byte, frame_header_bytes>{chunk_.data() + at_, frame_header_bytes},
      limits_);
  if (!header)
    return fail_for_good(header.error());
  if (left() - frame_header_bytes < header->rest_bytes())
    return next_across_chunks();
  frame whole{*header, chunk_.window(at_ + frame_header_bytes, header->rest_bytes())};
  at_ += frame_header_bytes + header->rest_bytes();
  let_go_when_used_up();
  return whole;
}

result<std::optional<frame>> frame_splitter::next_across_chunks() {
  if (!assembling_) {
    auto take = std::min(frame_header_bytes - header_have_, left());
    if (take > 0)
      std::memcpy(header_bytes_.data() + header_have_, chunk_.data() + at_, take);
    at_ += take;
    header_have_ += take;
    let_go_when_used_up();
    if (header_have_ < frame_header_bytes)
      return std::optional<frame>{};
    auto header = parse_frame_header(header_bytes_, limits_);
    if (!header)
      return fail_for_good(header.error());
    header_ = *header;
    header_have_ = 0;
    assembling_ = true;
    buffer_ = std::make_shared_for_overwrite<std::byte[]>(header_.rest_bytes());
    buffer_have_ = 0;
  }
  return assemble();
}

std::optional<frame> frame_splitter::assemble() {
  auto whole_size = header_.rest_bytes();
  auto take = std::min(whole_size - buffer_have_, left());
  if (take > 0)
    std::memcpy(buffer_.get() + buffer_have_, chunk_.data() + at_, take);
  at_ += take;
  buffer_have_ += take;
  let_go_when_used_up();
  if (buffer_have_ < whole_size)
    return std::nullopt;
  assembling_ = false;
  auto* raw = buffer_.get();
  return frame{header_, {std::shared_ptr<const std::byte>{std::move(buffer_), raw}, whole_size}};
}

/// The buffer may go back to its pool as soon as the bodies are done with it.
void frame_splitter::let_go_when_used_up() {
  if (left() > 0)
    return;
  chunk_ = {};
  at_ = 0;
}

result<std::optional<frame>> frame_splitter::fail_for_good(error why) {
  broken_ = why;
  return tl::unexpected{std::move(why)};
}

} // namespace handfast::native
