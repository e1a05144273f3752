#include "messages/names.hpp"
#include "runtime/cli/body.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/text.hpp"

#include <ostream>

namespace handfast::cli {

namespace {

struct given {
  message_given message;
  bool json = false;
};

exit_code produce(context& with, const given& what) {
  auto message = message_of(with.io, what.message);
  if (!message)
    return exit_refused;
  auto bytes = message->body.size();
  auto stored = client::producer{with.node()}.send(std::move(*message));
  if (!stored && stored.why().code == ec::unknown_topic)
    return refuse_topic(with, what.message.topic, stored.why(), true);
  if (!stored)
    return with.refuse("message of " + counted(bytes, "byte") + " for topic " +
                           printable(what.message.topic),
                       stored.why());
  if (what.json)
    with.io.out << line_of(json_of(what.message.topic, stored.value())) << '\n';
  else if (stored->due_ms != 0)
    with.io.out << "stored for " << what.message.topic << ", queue " << stored->queue.queue.value
                << "; becomes visible at " << time_text(stored->due_ms) << "; id "
                << stored->at.value << '\n';
  else
    with.io.out << "stored in " << what.message.topic << ", queue " << stored->queue.queue.value
                << ", offset " << stored->offset.value << '\n';
  return flush(with.io) ? exit_done : exit_refused;
}

} // namespace

void add_produce_command(menu& to) {
  auto what = std::make_shared<given>();
  auto& app = to.add_client({"produce", "Store a message; consumers see it at once, or later",
                             "handfast produce orders 'order 1 packed' --tag packed\n"
                             "  handfast produce pictures - < cat.png\n"
                             "  handfast produce orders 'order 1: still not paid?' --delay 30m"},
                            [what](context& with) { return produce(with, *what); });
  add_message_options(app, what->message, false);
  add_delay_options(app, what->message, false);
  add_json_flag(app, what->json, "where it was stored as a JSON object");
}

} // namespace handfast::cli
