#pragma once

/// Numbers, times and foreign bytes as people read them.

#include "messages/ids.hpp"
#include "messages/log_record.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace handfast::cli {

/// `2026-11-30 15:12:30.123Z`; `-` for 0.
std::string time_text(wall_ms at);
/// Two units at most: `450 ms`, `6.5 s`, `2 min 5 s`, `3 h 12 min`, `4 d 6 h`.
std::string span_text(std::uint64_t ms);
/// `512 B`, `1.5 KiB`, `64 MiB`.
std::string bytes_text(std::uint64_t bytes);
/// With commas: `12,345`.
std::string count_text(std::uint64_t count);
/// `1 message`, `2 messages`.
std::string counted(std::uint64_t count, std::string_view noun);
/// On one line and safe for a terminal: control characters and bytes that are not UTF-8 as `\xNN`,
/// cut with `...` behind `chars_max` characters.
std::string one_line(std::string_view text, std::size_t chars_max = 60);

/// Whether `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);
/// At most `chars_max` characters, the last of them `~` if some were left out.
std::string shortened(std::string_view text, std::size_t chars_max);
/// Broken at blanks into lines of at most `chars_max` characters, at least one line; a longer word
/// has a line of its own. 0 = one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t chars_max);
/// Characters of UTF-8 text.
std::size_t width_of(std::string_view text);
/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

} // namespace handfast::cli
