#include "actors/client/offset_store.hpp"
#include "messages/names.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/message_view.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <algorithm>
#include <limits>
#include <optional>
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
  std::optional<std::string> group;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  std::string wait;
  std::string from;
  std::string tag;
  std::string filter;
  std::string offsets;
  std::string retry_after;
  std::uint64_t fail = 0;
  bool ordered = false;
  bool broadcast = false;
  bool verbose = false;
  bool json = false;

  [[nodiscard]] message_form form() const {
    return json ? message_form::json : verbose ? message_form::verbose : message_form::body;
  }
  [[nodiscard]] client::message_filter wanted() const {
    return !tag.empty()      ? client::message_filter::tags(tag)
           : !filter.empty() ? client::message_filter::sql(filter)
                             : client::message_filter{};
  }
  [[nodiscard]] start_point start() const {
    return start_of(!from.empty() ? from : broadcast ? "latest" : "earliest");
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

using messages = std::vector<client::received_message>;

/// Where messages come from, and what is said of them once they are printed.
class source {
public:
  virtual ~source() = default;
  virtual client::answer<messages> fetch(std::uint32_t max, milliseconds wait) = 0;
  virtual exit_code printed(context& with, const messages& batch) = 0;
  /// They could not be printed.
  virtual void not_printed(const messages& batch) = 0;
  [[nodiscard]] virtual std::string subject() const = 0;
};

/// As a member of a group: what was not printed is delivered again.
class member final : public source {
public:
  member(context& with, const given& what)
      : what_{what}, fail_{what.fail}, from_{with.node(),
                                             *what.group,
                                             what.topic,
                                             {what.start(),
                                              what.ordered ? delivery_mode::ordered
                                                           : delivery_mode::concurrent,
                                              what.wanted()}} {}

  client::answer<messages> fetch(std::uint32_t max, milliseconds wait) override {
    return from_.fetch(max, wait);
  }

  exit_code printed(context& with, const messages& batch) override {
    std::vector<client::receipt> failed;
    std::vector<client::receipt> good;
    for (const auto& message : batch)
      (fail_ > failed.size() ? failed : good).push_back(message.delivery);
    fail_ -= failed.size();
    const auto pause =
        what_.retry_after.empty() ? milliseconds{0} : *parse_seconds(what_.retry_after);
    auto done = from_.acknowledge(good);
    auto told = from_.fail(failed, pause);
    if (done && told)
      return exit_done;
    return with.refuse("acknowledgement of the last " + counted(batch.size(), "message") +
                           ", which may come again",
                       done ? told.why() : done.why());
  }

  void not_printed(const messages& batch) override {
    std::vector<client::receipt> all;
    for (const auto& message : batch)
      all.push_back(message.delivery);
    static_cast<void>(from_.hand_back(all));
  }

  [[nodiscard]] std::string subject() const override {
    return "topic " + printable(what_.topic) + " for group " + printable(*what_.group);
  }

private:
  const given& what_;
  std::uint64_t fail_;
  client::subscription from_;
};

/// All messages, whoever else reads them.
class listener final : public source {
public:
  listener(context& with, const given& what, std::shared_ptr<client::offset_store> offsets)
      : what_{what}, from_{with.node(), what.topic, what.wanted(), what.start(),
                           std::move(offsets)} {}

  client::answer<messages> fetch(std::uint32_t max, milliseconds wait) override {
    return from_.fetch(max, wait);
  }
  exit_code printed(context& with, const messages&) override {
    const auto saved = from_.save();
    return saved ? exit_done : with.refuse("file " + printable(what_.offsets), saved.error());
  }
  void not_printed(const messages&) override {}
  [[nodiscard]] std::string subject() const override { return "topic " + printable(what_.topic); }

private:
  const given& what_;
  client::broadcast_reader from_;
};

exit_code run(context& with, const given& what, source& from) {
  interrupt ctrl_c;
  patience left{what.wait};
  std::uint64_t printed = 0;
  while (printed < what.max && !interrupt::came()) {
    // The last fetch begins before the time is up, so that `--wait 0` prints what is there.
    auto last = left.is_over();
    auto wanted = static_cast<std::uint32_t>(std::min(batch_max, what.max - printed));
    auto batch = from.fetch(wanted, left.next_park());
    if (!batch && batch.why().code == ec::unknown_topic)
      return refuse_topic(with, what.topic, batch.why());
    if (!batch)
      return with.refuse(from.subject(), batch.why());
    if (batch->empty()) {
      if (last)
        break;
      continue;
    }
    for (const auto& message : batch.value())
      print(with.io.out, message, what.form());
    if (!flush(with.io)) {
      from.not_printed(batch.value());
      return exit_refused;
    }
    if (auto code = from.printed(with, batch.value()); code != exit_done)
      return code;
    printed += batch->size();
    left.restart();
  }
  if (printed == 0 && !what.json)
    with.io.err << "no message came" << std::endl;
  return exit_done;
}

exit_code consume(context& with, const given& what) {
  if (is_view(what.topic)) {
    complain(with.io, "topic " + what.topic + " is a view that has no consumer groups",
             "Read it with `handfast browse " + what.topic + "`");
    return exit_refused;
  }
  if (what.broadcast == what.group.has_value()) {
    complain(with.io,
             what.broadcast ? "`handfast consume --broadcast` reads everything by itself, without "
                              "a group"
                            : "`handfast consume` wants --group GROUP, or --broadcast",
             "See `handfast consume --help`");
    return exit_usage;
  }
  if (!what.broadcast) {
    member from{with, what};
    return run(with, what, from);
  }
  std::shared_ptr<client::offset_store> offsets;
  if (!what.offsets.empty()) {
    auto opened = client::file_offsets::open(what.offsets);
    if (!opened)
      return complain(with.io, "file " + printable(what.offsets), opened.error());
    offsets = *opened;
  }
  listener from{with, what, std::move(offsets)};
  return run(with, what, from);
}

void add_what_options(CLI::App& app, given& what) {
  app.add_option(
         "--from", what.from,
         "Where a new group begins: earliest (unless --broadcast), latest, offset:N, a date "
         "such as 2026-11-30T08:30:00Z, or how long ago, such as 30m")
      ->check(start())
      ->type_name("WHERE");
  auto* tag = app.add_option("--tag", what.tag, "Only messages with one of these tags: 'a || b'")
                  ->check(tag_filter())
                  ->type_name("TAGS");
  app.add_option("--filter", what.filter,
                 "Only messages whose properties fulfil this: \"amount > 100\" (docs/filters.md)")
      ->check(sql_filter())
      ->type_name("SQL")
      ->excludes(tag);
}

} // namespace

void add_consume_command(menu& to) {
  auto what = std::make_shared<given>();
  auto& app = to.add_client({"consume", "Print messages for a consumer group, one a line",
                             "handfast consume orders --group mail --max 10 --wait 5\n"
                             "  handfast consume orders --group big --filter \"amount > 100\"\n"
                             "  handfast consume orders --broadcast"},
                            [what](context& with) { return consume(with, *what); });
  app.add_option("TOPIC", what->topic, "The topic, which must exist: consuming makes none")
      ->required();
  app.add_option("--group", what->group,
                 "Its members share the messages; what it acknowledged "
                 "does not come again")
      ->type_name("GROUP");
  app.add_option("--max", what->max, "End after N messages")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  app.add_option("--wait", what->wait, "End S seconds after the last message; never without it")
      ->check(seconds())
      ->type_name("S");
  add_what_options(app, *what);
  auto* ordered = app.add_flag("--ordered", what->ordered,
                               "Of each order key one message at a time; all members must say so");
  auto* broadcast = app.add_flag("--broadcast", what->broadcast,
                                 "All messages, whoever else reads; nothing is acknowledged");
  broadcast->excludes(ordered);
  app.add_option("--offsets", what->offsets, "Where --broadcast keeps how far it has come")
      ->type_name("FILE")
      ->needs(broadcast);
  auto* fail = app.add_option("--fail", what->fail,
                              "Report the first N as failed, to try retries and dead letters out")
                   ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
                   ->type_name("N")
                   ->excludes(broadcast);
  app.add_option("--retry-after", what->retry_after,
                 "... to come again after S seconds; the group's back-off without it")
      ->check(seconds())
      ->type_name("S")
      ->needs(fail);
  app.add_flag("--verbose", what->verbose, "One line with queue, offset, time, tag and key");
  add_json_flag(app, what->json, "each message as one JSON object a line");
}

} // namespace handfast::cli
