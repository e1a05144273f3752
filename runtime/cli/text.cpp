#include "runtime/cli/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace handfast::cli {

namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 96> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

/// Bytes of the UTF-8 character at the start of `text`; 0 if there is none.
std::size_t character_at(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto lead = byte(0);
  if (lead < 0x80)
    return 1;
  std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
    return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  }
  // Overlong forms, surrogates, and what lies beyond Unicode.
  auto second = byte(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
    return 0;
  return length;
}

bool is_control(std::string_view character) {
  auto first = static_cast<unsigned char>(character[0]);
  auto c1 =
      character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return first < 0x20 || first == 0x7F || c1;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  for (auto c : bytes)
    text += formatted("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

} // namespace

std::string time_text(wall_ms at) {
  if (at == 0)
    return "-";
  auto whole = static_cast<std::time_t>(at / 1000);
  std::tm parts{};
  if (!::gmtime_r(&whole, &parts))
    return std::to_string(at) + " ms";
  return formatted("%04d-%02d-%02d %02d:%02d:%02d.%03uZ", parts.tm_year + 1900, parts.tm_mon + 1,
                   parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                   static_cast<unsigned>(at % 1000));
}

std::string span_text(std::uint64_t ms) {
  constexpr std::uint64_t second = 1000;
  constexpr std::uint64_t minute = 60 * second;
  constexpr std::uint64_t hour = 60 * minute;
  constexpr std::uint64_t day = 24 * hour;
  auto two = [&](std::uint64_t big, const char* big_name, std::uint64_t small,
                 const char* small_name) {
    auto text = std::to_string(ms / big) + " " + big_name;
    auto rest = ms % big / small;
    return rest == 0 ? text : text + " " + std::to_string(rest) + " " + small_name;
  };
  if (ms < second)
    return std::to_string(ms) + " ms";
  if (ms < minute)
    return formatted("%.1f s", static_cast<double>(ms / 100) / 10);
  if (ms < hour)
    return two(minute, "min", second, "s");
  if (ms < day)
    return two(hour, "h", minute, "min");
  return two(day, "d", hour, "h");
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  auto text = formatted("%.1f", value);
  if (text.ends_with(".0"))
    text.resize(text.size() - 2);
  return text + " " + units.at(unit);
}

std::string count_text(std::uint64_t count) {
  auto text = std::to_string(count);
  for (auto at = text.size(); at > 3; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  std::string name{noun};
  if (count != 1 && name.ends_with("ry"))
    name.replace(name.size() - 1, 1, "ie");
  return count_text(count) + " " + name + (count == 1 ? "" : "s");
}

std::string one_line(std::string_view text, std::size_t chars_max) {
  std::string line;
  for (std::size_t chars = 0; !text.empty(); ++chars) {
    if (chars == chars_max)
      return line + "...";
    auto length = character_at(text);
    auto character = text.substr(0, std::max<std::size_t>(length, 1));
    line += length == 0 || is_control(character) ? escaped(character) : std::string{character};
    text.remove_prefix(character.size());
  }
  return line;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    auto length = character_at(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string shortened(std::string_view text, std::size_t chars_max) {
  if (width_of(text) <= chars_max)
    return std::string{text};
  std::string kept;
  for (std::size_t chars = 0; chars + 1 < chars_max && !text.empty(); ++chars) {
    auto length = std::max<std::size_t>(character_at(text), 1);
    kept += text.substr(0, length);
    text.remove_prefix(length);
  }
  return kept + "~";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t chars_max) {
  if (chars_max == 0 || width_of(text) <= chars_max)
    return {std::string{text}};
  std::vector<std::string> lines{{}};
  while (!text.empty()) {
    auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    auto& line = lines.back();
    if (line.empty())
      line = word;
    else if (width_of(line) + 1 + width_of(word) <= chars_max)
      line += " " + std::string{word};
    else
      lines.emplace_back(word);
  }
  return lines;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

} // namespace handfast::cli
