#include "config/loader.hpp"
#include "config/units.hpp"

namespace handfast::config {

namespace {

/// What a record or frame holds beside body and properties, generously.
constexpr std::uint64_t message_overhead = 64 * limits::kib;

void check_door(std::string_view key, const address& where, bool insecure,
                std::vector<std::string>& problems) {
  if (where.is_off() || insecure || is_loopback(where))
    return;
  problems.push_back(std::string{key} + ": " + to_string(where) +
                     " can be reached by other machines, and this door has no TLS; listen on "
                     "127.0.0.1, or set `insecure = true` if the network is trusted");
}

void check_holds_message(std::string_view key, std::uint64_t size, std::uint64_t body,
                         std::vector<std::string>& problems) {
  auto least = body + message_overhead;
  if (size < least)
    problems.push_back(std::string{key} + ": " + format_size(size) +
                       " does not hold a message of `limits.body` = " + format_size(body) +
                       "; set it to at least " + format_size(least) + ", or lower `limits.body`");
}

} // namespace

std::vector<std::string> validate(const settings& values) {
  std::vector<std::string> problems;
  check_door("listen.native", values.listen.native, values.insecure, problems);
  check_door("listen.http", values.listen.http, values.insecure, problems);
  if (!values.listen.native.is_off() && values.listen.native.port != 0 &&
      values.listen.native == values.listen.http)
    problems.push_back("listen.http: " + to_string(values.listen.http) +
                       " is the address of `listen.native` too; give it a port of its own");
  check_holds_message("store.segment_size", values.store.segment_size, values.limits.body,
                      problems);
  check_holds_message("limits.frame", values.limits.frame, values.limits.body, problems);
  return problems;
}

} // namespace handfast::config
