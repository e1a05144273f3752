#pragma once

/// Durations as people write them, at every door alike: the configuration, the command line,
/// properties.

#include "messages/error.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace handfast {

/// A whole number and one of the units ms, s, m, h, d, such as `500ms` or `3d`; a bare `0` too.
/// `ec::bad_request` that lists the units otherwise, and for what does not fit 64 bits.
result<std::chrono::milliseconds> duration_from_text(std::string_view text);

/// The shortest form that `duration_from_text` reads back as `value` (which is not negative).
std::string text_of_duration(std::chrono::milliseconds value);

} // namespace handfast
