#pragma once

/// How a subscription says which messages it wants.

#include <cstdint>

namespace handfast {

/// Sent: never renumber.
enum class filter_kind : std::uint8_t { all = 0, tags = 1, sql = 2 };

} // namespace handfast
