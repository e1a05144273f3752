#include "messages/properties.hpp"

#include "messages/limits.hpp"
#include "messages/names.hpp"

#include <charconv>

namespace handfast {

namespace {

constexpr std::uint32_t replacement = 0xFFFD;
constexpr std::uint32_t seconds_max = 30 * 24 * 3600;

/// Length of the sequence that `lead` opens; 0 for a byte that opens none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80)
    return 1;
  if (lead >= 0xC2 && lead <= 0xDF)
    return 2;
  if (lead >= 0xE0 && lead <= 0xEF)
    return 3;
  if (lead >= 0xF0 && lead <= 0xF4)
    return 4;
  return 0;
}

bool is_allowed(std::uint32_t code_point, std::size_t length) {
  switch (length) {
  case 3:
    return code_point >= 0x800 && (code_point < 0xD800 || code_point > 0xDFFF);
  case 4:
    return code_point >= 0x10000 && code_point <= 0x10FFFF;
  default:
    return true;
  }
}

/// Takes one code point off `rest`, which is not empty; one byte and U+FFFD where it is not UTF-8.
std::uint32_t take_code_point(std::string_view& rest) {
  auto lead = static_cast<unsigned char>(rest.front());
  auto length = sequence_length(lead);
  if (length == 1) {
    rest.remove_prefix(1);
    return lead;
  }
  if (length == 0 || rest.size() < length) {
    rest.remove_prefix(1);
    return replacement;
  }
  std::uint32_t code_point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    auto byte = static_cast<unsigned char>(rest[i]);
    if ((byte & 0xC0U) != 0x80U) {
      rest.remove_prefix(1);
      return replacement;
    }
    code_point = (code_point << 6) | (byte & 0x3FU);
  }
  if (!is_allowed(code_point, length)) {
    rest.remove_prefix(1);
    return replacement;
  }
  rest.remove_prefix(length);
  return code_point;
}

bool has_separator(std::string_view text) {
  constexpr char separators[] = {property_name_end, property_value_end};
  return text.find_first_of(std::string_view{separators, sizeof separators}) !=
         std::string_view::npos;
}

tl::unexpected<error> too_large(std::size_t size) {
  return fail(ec::properties_too_large,
              "properties have " + std::to_string(size) + " bytes, at most " +
                  std::to_string(limits::properties_bytes_max) + " are allowed");
}

} // namespace

std::optional<property> next_property(std::string_view& rest) {
  if (rest.empty())
    return std::nullopt;
  auto end = rest.find(property_value_end);
  auto pair = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  auto middle = pair.find(property_name_end);
  if (middle == std::string_view::npos)
    return property{pair, {}};
  return property{pair.substr(0, middle), pair.substr(middle + 1)};
}

std::optional<std::string_view> find_property(std::string_view encoded, std::string_view key) {
  while (auto pair = next_property(encoded)) {
    if (pair->key == key)
      return pair->value;
  }
  return std::nullopt;
}

result<void> check_properties(std::string_view encoded) {
  if (encoded.size() > limits::properties_bytes_max)
    return too_large(encoded.size());
  std::size_t at = 0;
  while (at < encoded.size()) {
    auto pair = encoded.substr(at, encoded.find(property_value_end, at) - at);
    auto middle = pair.find(property_name_end);
    if (middle == std::string_view::npos)
      return fail(ec::bad_request, "property at byte " + std::to_string(at) + " (" +
                                       printable(pair) + ") has no value separator");
    if (middle == 0)
      return fail(ec::bad_request, "property at byte " + std::to_string(at) + " has an empty key");
    if (pair.find(property_name_end, middle + 1) != std::string_view::npos)
      return fail(ec::bad_request, "property " + printable(pair.substr(0, middle)) +
                                       " has a separator in its value");
    at += pair.size() + 1;
  }
  return {};
}

result<std::uint32_t> check_immunity_ms(std::string_view encoded) {
  auto text = find_property(encoded, property_keys::check_immunity);
  if (!text || text->empty())
    return 0U;
  std::uint32_t seconds = 0;
  const char* end = text->data() + text->size();
  auto [stop, problem] = std::from_chars(text->data(), end, seconds);
  if (problem != std::errc{} || stop != end || seconds > seconds_max)
    return fail(ec::bad_request, "property CHECK_IMMUNITY_TIME_IN_SECONDS is " + printable(*text) +
                                     ", a whole number of seconds from 0 to " +
                                     std::to_string(seconds_max) + " is wanted");
  return seconds * 1000;
}

std::uint32_t tag_hash(std::string_view tag) {
  std::uint32_t hash = 0;
  while (!tag.empty()) {
    auto code_point = take_code_point(tag);
    if (code_point < 0x10000) {
      hash = 31 * hash + code_point;
    } else {
      code_point -= 0x10000;
      hash = 31 * hash + (0xD800 + (code_point >> 10));
      hash = 31 * hash + (0xDC00 + (code_point & 0x3FF));
    }
  }
  return hash;
}

property_builder::property_builder(std::string_view encoded) {
  while (auto pair = next_property(encoded)) {
    if (!pair->key.empty() && !pair->value.empty())
      append(*pair);
  }
}

property_builder& property_builder::set(std::string_view key, std::string_view value) {
  if (key.empty() || has_separator(key) || has_separator(value)) {
    if (!problem_)
      problem_ = error{ec::bad_request,
                       key.empty() ? "a property has an empty key"
                                   : "property " + printable(key) + " holds a byte 0x01 or 0x02"};
    return *this;
  }
  erase(key);
  if (!value.empty())
    append({key, value});
  return *this;
}

property_builder& property_builder::erase(std::string_view key) {
  std::string_view rest{encoded_};
  if (!find_property(rest, key))
    return *this;
  property_builder kept;
  while (auto pair = next_property(rest)) {
    if (pair->key != key)
      kept.append(*pair);
  }
  encoded_ = std::move(kept.encoded_);
  return *this;
}

void property_builder::append(const property& pair) {
  encoded_.append(pair.key).push_back(property_name_end);
  encoded_.append(pair.value).push_back(property_value_end);
}

result<std::string> property_builder::build() const {
  if (problem_)
    return tl::unexpected<error>{*problem_};
  if (encoded_.size() > limits::properties_bytes_max)
    return too_large(encoded_.size());
  return encoded_;
}

} // namespace handfast
