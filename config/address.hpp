#pragma once

/// Where a door listens.

#include "messages/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace handfast::config {

/// A host name or IP address (IPv6 without brackets) and a port; an empty host means that the door
/// is off. Port 0 lets the operating system choose.
struct address {
  std::string host;
  std::uint16_t port = 0;

  [[nodiscard]] bool is_off() const { return host.empty(); }

  friend bool operator==(const address&, const address&) = default;
};

/// Reads `HOST:PORT` or `[::1]:PORT`; an empty text is a door that is off. `ec::config_invalid`
/// names what is wrong.
result<address> parse_address(std::string_view text);

/// The form that `parse_address` reads.
std::string to_string(const address& where);

/// Whether only this machine can reach it: `localhost`, 127.0.0.0/8 or ::1 (also mapped,
/// `::ffff:127.0.0.1`). Other names are not resolved, so they do not count as loopback.
bool is_loopback(const address& where);

} // namespace handfast::config
