#include "actors/client/admin.hpp"
#include "messages/limits.hpp"
#include "messages/names.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/message_view.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/values.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

namespace handfast::cli {

namespace {

struct given {
  std::string topic;
  std::optional<std::uint32_t> queue;
  std::optional<std::uint64_t> offset;
  std::uint64_t max = 100;
  bool bodies = false;
  bool json = false;

  [[nodiscard]] message_form form() const {
    return json ? message_form::json : bodies ? message_form::body : message_form::verbose;
  }
};

/// Prints from one queue until its end or until `left` is used up.
exit_code browse_queue(context& with, client::admin& node, const given& what, queue_no queue,
                       queue_offset from, std::uint64_t& left) {
  constexpr std::uint64_t page_max = 32;
  while (left > 0) {
    auto page =
        node.peek(what.topic, queue, from, static_cast<std::uint32_t>(std::min(left, page_max)));
    if (!page)
      return with.refuse("queue " + std::to_string(queue.value) + " of topic " +
                             printable(what.topic),
                         page.why());
    if (page->empty())
      break;
    for (const auto& message : page.value())
      print(with.io.out, message, what.form());
    left -= std::min<std::uint64_t>(left, page->size());
    from = queue_offset{page->back().delivery.offset.value + 1};
  }
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code browse(context& with, const given& what) {
  client::admin node{with.node()};
  auto topic = node.topic(what.topic);
  if (!topic)
    return refuse_topic(with, what.topic, topic.why());
  if (what.queue && *what.queue >= topic->info.queues) {
    complain(with.io,
             "topic " + printable(what.topic) + " has no queue " + std::to_string(*what.queue),
             "Its queues are 0 to " + std::to_string(topic->info.queues - 1));
    return exit_refused;
  }
  auto left = what.max;
  auto end = what.queue ? *what.queue + 1 : topic->info.queues;
  for (auto number = what.queue.value_or(0); number < end && left > 0; ++number) {
    queue_no queue{static_cast<std::uint16_t>(number)};
    auto extent = std::find_if(topic->queues.begin(), topic->queues.end(),
                               [&](const auto& each) { return each.queue == queue; });
    queue_offset first{extent == topic->queues.end() ? 0 : extent->first.value};
    if (what.offset)
      first = std::max(first, queue_offset{*what.offset});
    auto code = browse_queue(with, node, what, queue, first, left);
    if (code != exit_done)
      return code;
  }
  if (left == what.max && !what.json)
    with.io.err << "no message is there" << std::endl;
  if (left == 0)
    with.io.err << "ended after " << what.max << "; --max, --queue and --offset show more"
                << std::endl;
  return exit_done;
}

} // namespace

void add_browse_command(menu& to) {
  auto what = std::make_shared<given>();
  auto& app =
      to.add_client({"browse", "Look at messages without consuming them, also in the node's views",
                     "handfast browse orders --queue 1 --offset 100\n"
                     "  handfast browse RMQ_SYS_TRANS_HALF_TOPIC     # halves as they were stored\n"
                     "  handfast browse RMQ_SYS_TRANS_OP_HALF_TOPIC  # which of them are decided"},
                    [what](context& with) { return browse(with, *what); });
  app.add_option("TOPIC", what->topic, "The topic or view")->required();
  app.add_option("--queue", what->queue, "This queue alone; all of them without it")
      ->check(whole_number(0, limits::queues_max - 1))
      ->type_name("N");
  app.add_option("--offset", what->offset, "Begin at this offset; at the oldest without it")
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()))
      ->type_name("X");
  app.add_option("--max", what->max, "End after N messages (100)")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  app.add_flag("--bodies", what->bodies, "Print bodies only, as `consume` does");
  add_json_flag(app, what->json, "each message as one JSON object a line");
}

} // namespace handfast::cli
