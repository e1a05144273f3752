#pragma once

/// Dates as people write them, at every door alike.

#include "messages/log_record.hpp"

#include <optional>
#include <string_view>

namespace handfast {

/// A date in UTC, such as `2027-05-01T08:30:00Z`, with or without seconds and thousandths, in
/// milliseconds since 1970; nothing for any other text.
std::optional<wall_ms> date_from_text(std::string_view text);

} // namespace handfast
