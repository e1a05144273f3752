#pragma once

/// How `consume` and `browse` show a message.

#include "actors/client/consumer.hpp"

#include <iosfwd>

namespace handfast::cli {

enum class message_form {
  body,    ///< the bytes and a line feed, nothing else
  verbose, ///< one line with where it stands, then the body
  json,    ///< one object on one line
};

void print(std::ostream& to, const client::received_message& message, message_form form);

} // namespace handfast::cli
