#include "storage/crc32c.hpp"

#include "messages/assert.hpp"
#include "storage/little_endian.hpp"

#include <climits>
#include <isa-l/crc.h>

#include <array>

namespace handfast::storage {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  HANDFAST_ASSERT(bytes.size() <= static_cast<std::size_t>(INT_MAX));
  if (bytes.empty())
    return before;
  // ISA-L works on the inverted remainder and does not change the bytes, though it takes them as
  // mutable.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~before);
}

std::uint32_t crc_seed(std::uint64_t store_id) {
  std::array<std::byte, sizeof store_id> bytes;
  put(bytes.data(), store_id);
  return crc32c(bytes);
}

} // namespace handfast::storage
