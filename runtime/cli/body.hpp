#pragma once

/// What `produce` and `tx send` have in common: a message given on the command line.

#include "actors/client/message.hpp"
#include "runtime/cli/menu.hpp"

#include <CLI/App.hpp>

#include <optional>
#include <string>
#include <vector>

namespace handfast::cli {

struct message_given {
  std::string topic;
  std::string body;
  bool body_given = false;
  std::string tag;
  std::string key;
  std::string order_key;
  std::vector<std::string> properties; ///< each NAME=VALUE
};

/// TOPIC, BODY, --tag, --key, --order-key and --property.
void add_message_options(CLI::App& app, message_given& into, bool body_required);

/// The message; `-`, or no body where it may be left out, reads all of standard input as one body.
/// Nothing after a complaint.
std::optional<client::message> message_of(console& io, const message_given& given);

} // namespace handfast::cli
