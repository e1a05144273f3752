#pragma once

/// What is said to a decision when another outcome, or the same, is on record.

#include "messages/error.hpp"
#include "messages/log_record.hpp"
#include "messages/requests.hpp"

namespace handfast {

/// The answer to `wanted` when `recorded` stands. A question ("pending") is always answered.
/// Rolling back what the policy has rolled back already asks for nothing new.
constexpr ec verdict_on(outcome recorded, outcome wanted) {
  if (wanted == recorded || wanted == outcome::pending)
    return ec::ok;
  switch (recorded) {
  case outcome::committed:
    return ec::conflict_committed;
  case outcome::rolled_back:
    return wanted == outcome::given_up ? ec::ok : ec::conflict_rolled_back;
  case outcome::given_up:
    return wanted == outcome::rolled_back ? ec::ok : ec::conflict_given_up;
  case outcome::pending:
    break;
  }
  return ec::internal;
}

/// Operators and the policy decide for any group; a producer only for its own.
constexpr bool may_decide(const decide_request& request, group_id owner) {
  return request.by == origin::admin || request.by == origin::policy || request.group == owner;
}

/// Whether the fields of a request have values that a caller may choose.
constexpr bool is_well_formed(const decide_request& request) {
  switch (request.wanted) {
  case outcome::pending:
  case outcome::committed:
  case outcome::rolled_back:
    return request.by >= origin::producer && request.by <= origin::policy;
  case outcome::given_up:
    return request.by == origin::policy;
  }
  return false;
}

} // namespace handfast
