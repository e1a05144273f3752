#pragma once

/// Durations and sizes as people write them.

#include "messages/error.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace handfast::config {

/// A whole number and one of the units ms, s, m, h, d, such as `500ms` or `3d`; a bare `0` too.
/// `ec::config_invalid` that lists the units otherwise, and for what does not fit 64 bits.
result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// A whole number of bytes, or one with a unit B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB,
/// TB (powers of 1000). `ec::config_invalid` that lists the units otherwise.
result<std::uint64_t> parse_size(std::string_view text);

/// The shortest form that `parse_duration` reads back as `value` (which is not negative).
std::string format_duration(std::chrono::milliseconds value);

/// A form that `parse_size` reads back as `bytes`, in the largest unit that divides it.
std::string format_size(std::uint64_t bytes);

} // namespace handfast::config
