#pragma once

/// Cuts a stream of bytes into frames. Both sides of a connection use it.

#include "messages/native/frames.hpp"

#include <array>
#include <optional>

namespace handfast::native {

/// Takes chunks as they came from the socket and gives complete frames.
///
/// What is copied: a frame that lies in one chunk is a window into it, nothing is copied. A frame
/// that crosses chunks is assembled in one buffer of its exact size, so its bytes are copied once;
/// only that frame, never its neighbours. The buffer is allocated after the header has passed the
/// limits.
///
/// Use: `feed` one chunk, then `next` until it gives nothing, then the next chunk. After an error
/// the stream has no meaning any more, and `next` repeats the error. Not thread-safe.
class frame_splitter {
public:
  explicit frame_splitter(frame_limits limits = {}) : limits_{limits} {}

  /// The chunk before must be used up.
  void feed(shared_bytes chunk);

  /// The next complete frame; nothing when more bytes are needed. Errors are those of
  /// `parse_frame_header`.
  result<std::optional<frame>> next();

  /// Whether the stream stands inside a frame: an end of the connection here is a cut, and a peer
  /// that stays here is slow.
  [[nodiscard]] bool inside_frame() const { return header_have_ != 0 || assembling_; }

  /// Of a frame that is not complete yet, what came so far.
  [[nodiscard]] std::size_t bytes_held() const { return assembling_ ? buffer_have_ : 0; }

  /// Narrower or wider limits for the frames that follow.
  void set_limits(frame_limits limits) { limits_ = limits; }

private:
  [[nodiscard]] std::size_t left() const { return chunk_.size() - at_; }
  void let_go_when_used_up();
  result<std::optional<frame>> fail_for_good(error why);
  std::optional<frame> assemble();
  result<std::optional<frame>> next_across_chunks();

  frame_limits limits_;
  shared_bytes chunk_;
  std::size_t at_ = 0; ///< used up of `chunk_`
  std::array<std::byte, frame_header_bytes> header_bytes_{};
  std::size_t header_have_ = 0;
  bool assembling_ = false;
  frame_header header_;
  std::shared_ptr<std::byte[]> buffer_;
  std::size_t buffer_have_ = 0;
  std::optional<error> broken_;
};

} // namespace handfast::native
