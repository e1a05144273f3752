#pragma once

/// Where reads of sockets go: one chunk at a time, shared by all connections of a loop, so that an
/// idle connection holds no buffer and the messages of a round lie side by side.

#include "messages/bytes.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace handfast::runtime {

/// Only for the loop's thread; windows may be dropped on any thread, also after the pool is gone.
class read_pool {
public:
  static constexpr std::size_t chunk_bytes = 256 * 1024;
  static constexpr std::size_t read_bytes_max = 64 * 1024;
  /// Less room than this is left over, since short reads cost more than memory.
  static constexpr std::size_t read_bytes_min = 16 * 1024;
  /// Chunks kept for reuse once nobody holds a window into them.
  static constexpr std::size_t spare_chunks_max = 8;

  /// Room for the next read, `read_bytes_min` to `read_bytes_max` bytes.
  [[nodiscard]] std::span<std::byte> room();
  /// The first `size` bytes of that room now hold what was read.
  [[nodiscard]] shared_bytes take(std::size_t size);

private:
  /// Outlives the pool as long as a chunk is held.
  struct spares {
    std::mutex mutex;
    std::vector<std::unique_ptr<std::byte[]>> chunks;
  };
  [[nodiscard]] std::shared_ptr<std::byte> next_chunk();

  std::shared_ptr<spares> spares_ = std::make_shared<spares>();
  std::shared_ptr<std::byte> chunk_;
  std::size_t used_ = 0;
};

} // namespace handfast::runtime
