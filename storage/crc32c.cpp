#include "storage/crc32c.hpp"

#include "storage/little_endian.hpp"

#include <climits>
#include <isa-l/crc.h>

#include <algorithm>
#include <array>

namespace handfast::storage {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  // ISA-L takes an int, works on the inverted remainder, and does not change the bytes though it
  // takes them as mutable.
  constexpr std::size_t step_max = INT_MAX;
  while (!bytes.empty()) {
    const auto step = bytes.first(std::min(bytes.size(), step_max));
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(step.data()));
    before = ~crc32_iscsi(data, static_cast<int>(step.size()), ~before);
    bytes = bytes.subspan(step.size());
  }
  return before;
}

std::uint32_t crc_seed(std::uint64_t store_id) {
  std::array<std::byte, sizeof store_id> bytes;
  put(bytes.data(), store_id);
  return crc32c(bytes);
}

} // namespace handfast::storage
