#include "runtime/cli/body.hpp"

#include "messages/delay_levels.hpp"
#include "messages/limits.hpp"
#include "runtime/cli/values.hpp"

#include <istream>
#include <ostream>

namespace handfast::cli {

namespace {

/// No node takes more in one frame, so that a wrong pipe does not fill the memory first.
constexpr std::size_t input_bytes_max = 64 * limits::mib;

std::optional<std::string> read_all(console& io) {
  if (io.in_is_terminal)
    io.err << "reading the body from the terminal; Ctrl-D ends it" << std::endl;
  std::string all;
  std::string chunk(256 * limits::kib, '\0');
  while (io.in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) ||
         io.in.gcount() > 0) {
    all.append(chunk, 0, static_cast<std::size_t>(io.in.gcount()));
    if (all.size() > input_bytes_max) {
      complain(io, "standard input is longer than 64 MiB", "Send a smaller body");
      return std::nullopt;
    }
  }
  if (io.in.bad()) {
    complain(io, "standard input could not be read", "Check the pipe or file behind it");
    return std::nullopt;
  }
  return all;
}

} // namespace

void add_message_options(CLI::App& app, message_given& into, bool body_required) {
  app.add_option("TOPIC", into.topic, "Made if it is missing and topic.auto_create is on")
      ->required();
  auto* body = app.add_option_function<std::string>(
      "BODY",
      [&into](const std::string& text) {
        into.body = text;
        into.body_given = true;
      },
      "The message; - reads all of standard input as one message");
  body->required(body_required);
  app.add_option("--tag", into.tag, "A tag, by which consumers select")->type_name("TAG");
  app.add_option("--key", into.key, "A key to find it by; several with blanks between")
      ->type_name("KEY");
  app.add_option("--order-key", into.order_key,
                 "Messages with the same one are consumed in turn by an ordered group")
      ->type_name("KEY");
  app.add_option("--property", into.properties,
                 "A property, by which consumers select with --filter; once for each")
      ->check(property())
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_delay_options(CLI::App& app, message_given& into, bool half) {
  auto* delay = app.add_option(
      "--delay", into.delay,
      half ? "Visible only this long after the commit, such as 90s, 2h or 3d; at most three years"
           : "Visible only after this long, such as 90s, 2h or 3d; at most three years");
  delay->check(duration())->type_name("DURATION");
  auto* level = app.add_option("--delay-level", into.delay,
                               "The same as a level of RocketMQ: 1 = 1s, 2 = 5s, ... 18 = 2h");
  level->check(whole_number(1, delay_levels_ms.size()))->type_name("LEVEL")->excludes(delay);
  if (half)
    return;
  app.add_option("--at", into.delay,
                 "Visible only from this moment (UTC) on, such as 2027-05-01T08:30:00Z")
      ->check(date())
      ->type_name("DATE")
      ->excludes(delay)
      ->excludes(level);
}

std::optional<client::message> message_of(console& io, const message_given& given) {
  client::message what{given.topic, ""};
  what.tag = given.tag;
  what.keys = given.key;
  if (!given.delay.empty()) {
    const auto delay = parse_delay(given.delay, io.wall());
    if (!delay) {
      complain(io, delay.error().detail, "Choose a nearer time");
      return std::nullopt;
    }
    what.delay = std::chrono::milliseconds{static_cast<std::int64_t>(*delay)};
  }
  what.order_key = given.order_key;
  for (const auto& property : given.properties) {
    const auto sign = property.find('=');
    what.properties[property.substr(0, sign)] = property.substr(sign + 1);
  }
  if (given.body_given && given.body != "-") {
    what.body = shared_bytes::copy_of(given.body);
    return what;
  }
  auto all = read_all(io);
  if (!all)
    return std::nullopt;
  what.body = shared_bytes::copy_of(*all);
  return what;
}

} // namespace handfast::cli
