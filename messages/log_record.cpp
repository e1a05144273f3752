#include "messages/log_record.hpp"

#include "messages/requests.hpp"

namespace handfast {

std::string_view name_of(outcome o) {
  switch (o) {
  case outcome::pending:
    return "pending";
  case outcome::committed:
    return "committed";
  case outcome::rolled_back:
    return "rolled_back";
  case outcome::given_up:
    return "given_up";
  }
  return "invalid";
}

std::string_view name_of(origin o) {
  switch (o) {
  case origin::producer:
    return "producer";
  case origin::check:
    return "check";
  case origin::admin:
    return "admin";
  case origin::policy:
    return "policy";
  }
  return "invalid";
}

std::string_view name_of(transaction_state s) {
  switch (s) {
  case transaction_state::pending:
    return "pending";
  case transaction_state::deciding:
    return "deciding";
  case transaction_state::committed:
    return "committed";
  case transaction_state::rolled_back:
    return "rolled_back";
  case transaction_state::given_up:
    return "given_up";
  case transaction_state::parked:
    return "parked";
  case transaction_state::quarantined:
    return "quarantined";
  }
  return "invalid";
}

std::string_view name_of(record_type t) {
  switch (t) {
  case record_type::message:
    return "MESSAGE";
  case record_type::half:
    return "HALF";
  case record_type::decide:
    return "DECIDE";
  case record_type::checked:
    return "CHECKED";
  case record_type::release:
    return "RELEASE";
  case record_type::reopen:
    return "REOPEN";
  case record_type::move:
    return "MOVE";
  case record_type::progress:
    return "PROGRESS";
  case record_type::meta:
    return "META";
  case record_type::epoch:
    return "EPOCH";
  case record_type::pad:
    return "PAD";
  case record_type::mark:
    return "MARK";
  case record_type::dead_letter:
    return "DEAD_LETTER";
  case record_type::retire:
    return "RETIRE";
  }
  return "invalid";
}

const message_record* message_of(const log_record& record) {
  if (const auto* message = std::get_if<message_record>(&record.content))
    return message;
  if (const auto* moved = std::get_if<move_record>(&record.content))
    return &moved->message;
  if (const auto* dead = std::get_if<dead_letter_record>(&record.content))
    return &dead->message;
  return nullptr;
}

position transaction_of(const log_record& record) {
  const auto* message = message_of(record);
  if (!message || message->transaction != position{})
    return message ? message->transaction : position{};
  return record.type == record_type::half ? record.at : position{};
}

} // namespace handfast
