#pragma once

/// The output side of a connection: frames are appended to one reusable buffer and leave in one
/// write.

#include "messages/native/frames.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace handfast::native {

/// Collects encoded frames. Small bodies are copied into the buffer; from `share_from_bytes` on
/// they are kept as shared windows, to be written by scatter-gather. `clear` keeps the memory, so
/// that a connection in its stride allocates nothing. Not thread-safe.
class frame_writer {
public:
  /// Copying less than this costs less than another element in the writev list.
  static constexpr std::size_t share_from_bytes = 4096;

  /// Starts a frame and gives its Cap'n Proto part of `meta_bytes` (a multiple of 8), zeroed and
  /// 8-aligned. The span is valid until the next call. A frame that was started must be ended.
  std::span<std::byte> begin_frame(frame_kind kind, std::size_t meta_bytes);
  /// Adds to the payload of the frame under way.
  void append_payload(const shared_bytes& payload);
  /// Adds to the payload of the frame under way, copied.
  void append_payload(std::span<const std::byte> payload);
  void end_frame();

  /// Everything so far, in order. Calls `visit(std::span<const std::byte>)` for each contiguous
  /// piece.
  template <class Visit>
  void for_each_piece(Visit&& visit) const {
    std::size_t from = 0;
    for (const auto& s : shared_) {
      if (s.at > from)
        visit(std::span<const std::byte>{own_.data() + from, s.at - from});
      visit(s.bytes.span());
      from = s.at;
    }
    if (own_.size() > from)
      visit(std::span<const std::byte>{own_.data() + from, own_.size() - from});
  }

  /// Makes room for so many bytes more at once, so that a large frame is not moved about while it
  /// grows.
  void reserve(std::size_t bytes) {
    if (own_.size() + bytes > own_.capacity())
      own_.reserve(std::max(own_.size() + bytes, 2 * own_.capacity()));
  }
  /// Everything so far as one piece, and forgets it. A large output is given away as it is, a small
  /// one is copied, so that the memory is kept.
  [[nodiscard]] shared_bytes take();

  /// Bytes to write in all.
  [[nodiscard]] std::size_t size() const { return own_.size() + shared_bytes_; }
  [[nodiscard]] bool empty() const { return own_.empty(); }
  /// Forgets the content and keeps the memory, unless one burst made it larger than
  /// `keep_bytes_max`.
  void clear();

private:
  static constexpr std::size_t keep_bytes_max = 256 * 1024;

  struct shared_piece {
    std::size_t at; ///< stands before this byte of `own_`
    shared_bytes bytes;
  };

  std::vector<std::byte> own_;
  std::vector<shared_piece> shared_;
  std::size_t shared_bytes_ = 0;
  frame_header header_;
  std::size_t header_at_ = 0;
  std::size_t payload_bytes_ = 0;
  bool in_frame_ = false;
};

} // namespace handfast::native
