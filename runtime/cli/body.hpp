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
  std::string delay; ///< a duration, level or date; empty = none
  std::string order_key;
  std::vector<std::string> properties; ///< each NAME=VALUE
};

/// TOPIC, BODY, --tag, --key, --order-key and --property.
void add_message_options(CLI::App& app, message_given& into, bool body_required);

/// --delay and --delay-level, of a plain message also --at: at most one of them. A half waits from
/// its commit on, so no date can be given for it.
void add_delay_options(CLI::App& app, message_given& into, bool half);

/// The message; `-`, or no body where it may be left out, reads all of standard input as one body.
/// Nothing after a complaint.
std::optional<client::message> message_of(console& io, const message_given& given);

} // namespace handfast::cli
