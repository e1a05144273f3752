#include "runtime/page_cache_source.hpp"

namespace handfast::runtime {

std::optional<log_record> page_cache_source::try_read(position at, std::uint32_t length) {
  auto record = reader_.try_read(at, length);
  return record ? std::move(*record) : std::nullopt;
}

void page_cache_source::try_read_all(const std::vector<place>& places, const visitor& found) {
  std::vector<storage::record_reader::spot> all;
  all.reserve(places.size());
  for (const auto& p : places)
    all.push_back({p.at, p.length});
  reader_.try_read_all(all, found);
}

} // namespace handfast::runtime
