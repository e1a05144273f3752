#include "messages/names.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/message_view.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

namespace handfast::cli {

namespace {

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A fetch is parked at most this long, so that Ctrl-C is heard.
constexpr milliseconds park_max{500};
constexpr std::uint64_t batch_max = 32;

struct given {
  std::string topic;
  std::string group;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::string wait;
  std::string from = "earliest";
  bool verbose = false;
  bool json = false;

  [[nodiscard]] message_form form() const {
    return json ? message_form::json : verbose ? message_form::verbose : message_form::body;
  }
};

/// Counts down from the last message; never ends if no time was given.
class patience {
public:
  explicit patience(const std::string& wait)
      : ends_{!wait.empty()}, wait_{ends_ ? *parse_seconds(wait) : milliseconds{0}} {}

  void restart() { since_ = steady::now(); }
  [[nodiscard]] milliseconds next_park() const {
    if (!ends_)
      return park_max;
    auto left = std::chrono::ceil<milliseconds>(since_ + wait_ - steady::now());
    return std::clamp(left, milliseconds{0}, park_max);
  }
  [[nodiscard]] bool is_over() const { return ends_ && steady::now() >= since_ + wait_; }

private:
  bool ends_;
  milliseconds wait_;
  steady::time_point since_ = steady::now();
};

bool is_view(const std::string& topic) {
  return topic == half_view_topic_name || topic == op_view_topic_name;
}

/// Prints, then acknowledges: what was not printed is delivered again.
exit_code hand_out(context& with, const given& what, client::subscription& from,
                   const std::vector<client::received_message>& messages) {
  std::vector<client::receipt> receipts;
  for (const auto& message : messages) {
    print(with.io.out, message, what.form());
    receipts.push_back(message.delivery);
  }
  if (!flush(with.io)) {
    static_cast<void>(from.hand_back(receipts));
    return exit_refused;
  }
  auto done = from.acknowledge(receipts);
  if (!done)
    return with.refuse("acknowledgement of the last " + counted(receipts.size(), "message") +
                           ", which may come again",
                       done.why());
  return exit_done;
}

exit_code consume(context& with, const given& what) {
  if (is_view(what.topic)) {
    complain(with.io, "topic " + what.topic + " is a view that has no consumer groups",
             "Read it with `handfast browse " + what.topic + "`");
    return exit_refused;
  }
  interrupt ctrl_c;
  patience left{what.wait};
  client::subscription from{with.node(), what.group, what.topic,
                            what.from == "latest" ? start_from::latest : start_from::earliest};
  std::uint64_t printed = 0;
  while (printed < what.max && !interrupt::came()) {
    // The last fetch begins before the time is up, so that `--wait 0` prints what is there.
    auto last = left.is_over();
    auto wanted = static_cast<std::uint32_t>(std::min(batch_max, what.max - printed));
    auto messages = from.fetch(wanted, left.next_park());
    if (!messages && messages.why().code == ec::unknown_topic)
      return refuse_topic(with, what.topic, messages.why());
    if (!messages)
      return with.refuse("topic " + printable(what.topic) + " for group " + printable(what.group),
                         messages.why());
    if (messages->empty()) {
      if (last)
        break;
      continue;
    }
    if (auto code = hand_out(with, what, from, messages.value()); code != exit_done)
      return code;
    printed += messages->size();
    left.restart();
  }
  if (printed == 0 && !what.json)
    with.io.err << "no message came" << std::endl;
  return exit_done;
}

} // namespace

void add_consume_command(menu& to) {
  auto what = std::make_shared<given>();
  auto& app = to.add_client({"consume", "Print messages for a consumer group, one a line",
                             "handfast consume orders --group mail --max 10 --wait 5"},
                            [what](context& with) { return consume(with, *what); });
  app.add_option("TOPIC", what->topic, "The topic, which must exist: consuming makes none")
      ->required();
  app.add_option("--group", what->group,
                 "Its members share the messages; what it acknowledged "
                 "does not come again")
      ->required()
      ->type_name("GROUP");
  app.add_option("--max", what->max, "End after N messages")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  app.add_option("--wait", what->wait, "End S seconds after the last message; never without it")
      ->check(seconds())
      ->type_name("S");
  app.add_option("--from", what->from, "Where a new group begins: earliest or latest")
      ->check(one_of({"earliest", "latest"}))
      ->type_name("WHERE");
  app.add_flag("--verbose", what->verbose, "One line with queue, offset, time, tag and key");
  add_json_flag(app, what->json, "each message as one JSON object a line");
}

} // namespace handfast::cli
