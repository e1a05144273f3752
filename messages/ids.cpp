#include "messages/ids.hpp"

#include <charconv>
#include <cstdio>

namespace handfast {

std::string to_string(const transaction_id& id) {
  char text[25];
  std::snprintf(text, sizeof text, "%016llX%08X",
                static_cast<unsigned long long>(id.opened_at.value), id.check);
  return text;
}

std::optional<transaction_id> parse_transaction_id(std::string_view text) {
  if (text.size() != 24)
    return std::nullopt;
  transaction_id id;
  const char* begin = text.data();
  auto first = std::from_chars(begin, begin + 16, id.opened_at.value, 16);
  auto second = std::from_chars(begin + 16, begin + 24, id.check, 16);
  if (first.ec != std::errc{} || first.ptr != begin + 16 || second.ec != std::errc{} ||
      second.ptr != begin + 24)
    return std::nullopt;
  return id;
}

transaction_id transaction_ids::at(position opened_at) const {
  return {opened_at, static_cast<std::uint32_t>(mix64(store_id_ ^ mix64(opened_at.value)))};
}

} // namespace handfast
