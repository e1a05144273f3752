#pragma once

/// The one place where rights are decided: every verb of every door passes it.

#include "messages/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace handfast {

/// Who speaks on a connection, as its handshake said.
struct principal {
  std::string name;      ///< for people
  std::string mechanism; ///< of the credentials; empty = none given
  std::string credentials;
};

/// What is about to be done.
enum class action : std::uint8_t {
  connect,
  produce,    ///< to a topic
  decide,     ///< for a producer group
  operate,    ///< decide or reopen as an operator
  consume,    ///< as a consumer group
  browse,     ///< a queue or view, without a group
  administer, ///< make, change or delete a topic
  look,       ///< listings and status
};

/// Rules of one node. This version knows no rules and allows everything; a node that listens beyond
/// loopback says so at its start. Immutable, so safe from any thread.
class authorizer {
public:
  /// `ec::not_authorized` if `who` may not do `what` to `resource` (a topic or group by name, or
  /// empty).
  [[nodiscard]] result<void> authorize(const principal& who, action what,
                                       std::string_view resource) const {
    (void)who;
    (void)what;
    (void)resource;
    return {};
  }
};

} // namespace handfast
