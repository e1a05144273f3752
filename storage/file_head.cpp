#include "storage/file_head.hpp"

#include "messages/assert.hpp"
#include "storage/crc32c.hpp"
#include "storage/little_endian.hpp"

namespace handfast::storage {

namespace {

std::uint32_t crc_of(std::span<const std::byte> head) {
  return crc32c(head.subspan(head_store_at), crc32c(head.first(head_crc_at)));
}

} // namespace

void seal_head(std::span<std::byte> head, const file_head& fields) {
  HANDFAST_ASSERT(head.size() >= head_own_at);
  put(head.data(), fields.magic);
  put(head.data() + head_version_at, fields.version);
  put(head.data() + head_store_at, fields.store_id);
  put(head.data() + head_crc_at, crc_of(head));
}

result<void> check_head(std::span<const std::byte> head, const file_head& expected,
                        const std::string& path) {
  if (head.size() < head_own_at)
    return fail(ec::corrupt, path + " is too short");
  if (get<std::uint64_t>(head.data()) != expected.magic)
    return fail(ec::corrupt, path + " does not begin like a file of its kind");
  if (get<std::uint32_t>(head.data() + head_crc_at) != crc_of(head))
    return fail(ec::corrupt, path + " has a damaged head");
  const auto version = get<std::uint32_t>(head.data() + head_version_at);
  if (version > expected.version)
    return fail(ec::newer_format, path + " has format " + std::to_string(version) +
                                      "; this version reads up to " +
                                      std::to_string(expected.version));
  if (get<std::uint64_t>(head.data() + head_store_at) != expected.store_id)
    return fail(ec::corrupt, path + " belongs to another store");
  return {};
}

} // namespace handfast::storage
