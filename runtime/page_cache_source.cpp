#include "runtime/page_cache_source.hpp"

namespace handfast::runtime {

std::optional<log_record> page_cache_source::try_read(position at, std::uint32_t length) {
  auto record = reader_.try_read(at, length);
  return record ? std::move(*record) : std::nullopt;
}

} // namespace handfast::runtime
