#include "runtime/cli/message_view.hpp"

#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"

#include <ostream>

namespace handfast::cli {

namespace {

void print_verbose(std::ostream& to, const client::received_message& message) {
  auto visible =
      std::chrono::duration_cast<std::chrono::milliseconds>(message.visible.time_since_epoch());
  const auto& content = message.content;
  to << "queue " << message.delivery.queue.queue.value << "  offset "
     << message.delivery.offset.value << "  " << time_text(static_cast<wall_ms>(visible.count()));
  if (message.attempt > 1)
    to << "  delivery " << message.attempt;
  if (message.transaction.opened_at.value != 0)
    to << "  tx " << to_string(message.transaction);
  if (!content.tag.empty())
    to << "  tag " << one_line(content.tag);
  if (!content.keys.empty())
    to << "  key " << one_line(content.keys);
  for (const auto& [key, value] : content.properties)
    to << "  " << one_line(key) << '=' << one_line(value);
  to << "  | " << one_line(content.body.text(), 1000) << '\n';
}

} // namespace

void print(std::ostream& to, const client::received_message& message, message_form form) {
  switch (form) {
  case message_form::body:
    to << message.content.body.text() << '\n';
    break;
  case message_form::verbose:
    print_verbose(to, message);
    break;
  case message_form::json:
    to << line_of(json_of(message)) << '\n';
    break;
  }
}

} // namespace handfast::cli
