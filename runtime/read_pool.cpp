#include "runtime/read_pool.hpp"

#include "messages/assert.hpp"

#include <algorithm>
#include <atomic>

namespace handfast::runtime {

std::span<std::byte> read_pool::room() {
  if (chunk_ && used_ != 0 && chunk_.use_count() == 1) {
    // All windows are gone: begin again at the front, which is still in the cache. The fence pairs
    // with the release of the last window on another thread.
    std::atomic_thread_fence(std::memory_order_acquire);
    used_ = 0;
  }
  if (!chunk_ || chunk_bytes - used_ < read_bytes_min) {
    chunk_ = next_chunk();
    used_ = 0;
  }
  return {chunk_.get() + used_, std::min(read_bytes_max, chunk_bytes - used_)};
}

shared_bytes read_pool::take(std::size_t size) {
  HANDFAST_ASSERT(chunk_ && size <= chunk_bytes - used_);
  shared_bytes window{std::shared_ptr<const std::byte>{chunk_, chunk_.get() + used_}, size};
  // The next read begins on a word, so that whole frames stay aligned.
  used_ = std::min(chunk_bytes, (used_ + size + 7) / 8 * 8);
  return window;
}

std::shared_ptr<std::byte> read_pool::next_chunk() {
  std::unique_ptr<std::byte[]> memory;
  {
    const std::lock_guard lock{spares_->mutex};
    if (!spares_->chunks.empty()) {
      memory = std::move(spares_->chunks.back());
      spares_->chunks.pop_back();
    }
  }
  if (!memory)
    memory.reset(new std::byte[chunk_bytes]); // not zeroed: pages are touched only when read into
  auto give_back = [home = spares_](std::byte* raw) {
    std::unique_ptr<std::byte[]> back{raw};
    const std::lock_guard lock{home->mutex};
    if (home->chunks.size() < spare_chunks_max)
      home->chunks.push_back(std::move(back));
  };
  return {memory.release(), std::move(give_back)};
}

} // namespace handfast::runtime
