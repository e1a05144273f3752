#pragma once

/// `status`: what a node says of itself, for people.

#include <nlohmann/json.hpp>

#include <iosfwd>

namespace handfast::cli {

/// Any object, whatever its members: plain values as lines, objects under headings, arrays of
/// objects as tables. Keys that end in `_ms` are durations, in `_bytes` sizes, in `_at_ms` times.
void print_status(std::ostream& to, const nlohmann::ordered_json& status, bool colours);

} // namespace handfast::cli
