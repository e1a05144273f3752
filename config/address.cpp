#include "config/address.hpp"

#include "messages/names.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace handfast::config {

namespace {

constexpr std::size_t host_chars_max = 253;

tl::unexpected<error> misread(std::string_view text, std::string_view why) {
  return fail(ec::config_invalid, printable(text) + " is not an address: " + std::string{why} +
                                      "; write HOST:PORT or [IPV6]:PORT, such as 127.0.0.1:7310");
}

bool is_host_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

/// IPv6 digits, with the dots of a mapped address and a zone.
bool is_ipv6_char(char c) {
  return is_host_char(c) || c == ':' || c == '%';
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  auto [stop, problem] = std::from_chars(text.data(), end, port);
  if (text.empty() || problem != std::errc{} || stop != end)
    return std::nullopt;
  return port;
}

bool is_ipv4_loopback(std::string_view host) {
  if (!host.starts_with("127."))
    return false;
  int parts = 0;
  while (true) {
    auto end = host.find('.');
    auto part = host.substr(0, end);
    unsigned value = 256;
    auto [stop, problem] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (problem != std::errc{} || stop != part.data() + part.size() || value > 255)
      return false;
    ++parts;
    if (end == std::string_view::npos)
      return parts == 4;
    host.remove_prefix(end + 1);
  }
}

} // namespace

result<address> parse_address(std::string_view text) {
  if (text.empty())
    return address{};
  auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return misread(text, "the port is missing");
  auto host = text.substr(0, colon);
  auto port = parse_port(text.substr(colon + 1));
  if (host.starts_with('[') != host.ends_with(']') || (host.starts_with('[') && host.size() < 3))
    return misread(text, "the brackets do not enclose a host");
  bool bracketed = host.starts_with('[');
  if (!bracketed && host.find(':') != std::string_view::npos)
    return misread(text, "an IPv6 host stands in brackets");
  if (bracketed)
    host = host.substr(1, host.size() - 2);
  if (host.empty())
    return misread(text, "the host is missing");
  if (host.size() > host_chars_max ||
      !std::all_of(host.begin(), host.end(), bracketed ? is_ipv6_char : is_host_char))
    return misread(text, "the host has other characters than a name or IP address");
  if (!port)
    return misread(text, "the port is not a number from 0 to 65535");
  return address{std::string{host}, *port};
}

std::string to_string(const address& where) {
  if (where.is_off())
    return {};
  bool ipv6 = where.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + where.host + "]" : where.host) + ":" + std::to_string(where.port);
}

bool is_loopback(const address& where) {
  constexpr std::string_view mapped = "::ffff:";
  std::string_view host{where.host};
  if (host.starts_with(mapped))
    host.remove_prefix(mapped.size());
  return host == "localhost" || host == "::1" || is_ipv4_loopback(host);
}

} // namespace handfast::config
