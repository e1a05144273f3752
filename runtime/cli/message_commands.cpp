#include "actors/client/admin.hpp"
#include "messages/limits.hpp"
#include "messages/names.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/message_view.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/progress.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

namespace handfast::cli {

namespace {

constexpr std::uint64_t any_number = std::numeric_limits<std::int64_t>::max();

std::string place_text(const std::string& topic, std::uint64_t queue, std::uint64_t offset) {
  return "offset " + std::to_string(offset) + " of queue " + std::to_string(queue) + " of topic " +
         printable(topic);
}

// -- get ----------------------------------------------------------------------------

struct get_given {
  std::string what;
  std::optional<std::uint32_t> queue;
  std::optional<std::uint64_t> offset;
  bool json = false;
};

/// Prints the one message that stands exactly there.
exit_code print_at(context& with, const std::string& topic, queue_no queue, queue_offset offset,
                   message_form form) {
  auto page = client::admin{with.node()}.peek(topic, queue, offset, 1);
  const auto where = place_text(topic, queue.value, offset.value);
  if (!page)
    return with.refuse(where, page.why());
  if (page->empty() || page->front().delivery.offset != offset) {
    complain(with.io, "no message stands at " + where,
             "`handfast topic show " + topic + "` tells which offsets are there");
    return exit_refused;
  }
  print(with.io.out, page->front(), form);
  return exit_done;
}

/// The transaction knows when such a message gets its place, but not which.
exit_code tell_delayed(context& with, const std::string& transaction, const std::string& topic,
                       wall_ms due) {
  complain(with.io,
           "a message of transaction " + transaction + " to topic " + printable(topic) +
               " has its place in the queue from " + time_text(due) + " on",
           "Then `handfast message find " + topic + " --id " + transaction + "` shows it");
  return exit_refused;
}

/// All messages of a transaction.
exit_code get_transaction(context& with, const get_given& wanted, const transaction_id& id,
                          message_form form) {
  auto found = client::admin{with.node()}.transaction(id);
  if (!found)
    return with.refuse("transaction " + wanted.what, found.why());
  const auto& life = found->life;
  if (life.state != transaction_state::committed) {
    complain(with.io,
             "transaction " + wanted.what + " is not committed, so its messages stand in no queue",
             "See `handfast tx show " + wanted.what + "`");
    return exit_refused;
  }
  auto code = exit_done;
  for (std::size_t i = 0; i < life.messages.size() && i < found->topics.size(); ++i) {
    const auto& entry = life.messages[i];
    const auto ended = entry.is_delayed()
                           ? tell_delayed(with, wanted.what, found->topics[i], entry.due_ms)
                           : print_at(with, found->topics[i], entry.queue, entry.offset, form);
    code = code == exit_done ? ended : code;
  }
  return flush(with.io) ? code : exit_refused;
}

exit_code get(context& with, const get_given& wanted) {
  const auto form = wanted.json ? message_form::json : message_form::verbose;
  if (wanted.offset) {
    const auto code =
        print_at(with, wanted.what, queue_no{static_cast<std::uint16_t>(wanted.queue.value_or(0))},
                 queue_offset{*wanted.offset}, form);
    return flush(with.io) ? code : exit_refused;
  }
  if (const auto id = parse_transaction_id(wanted.what))
    return get_transaction(with, wanted, *id, form);
  complain(with.io, printable(wanted.what) + " is not the id of a transaction",
           "For a message of a topic give --offset, and --queue unless it is 0");
  return exit_usage;
}

// -- find ---------------------------------------------------------------------------

struct find_given {
  std::string topic;
  std::string key;
  std::string id;
  std::string from = "earliest";
  std::string until;
  std::uint64_t max = 100;
  bool json = false;
};

/// Keys are separated by blanks, as RocketMQ's clients write them.
bool has_key(const std::string& keys, const std::string& wanted) {
  for (std::size_t at = 0; at <= keys.size();) {
    const auto end = std::min(keys.find(' ', at), keys.size());
    if (keys.compare(at, end - at, wanted) == 0 && end - at == wanted.size())
      return true;
    at = end + 1;
  }
  return false;
}

bool is_wanted(const client::received_message& message, const find_given& what) {
  return (what.key.empty() || has_key(message.content.keys, what.key)) &&
         (what.id.empty() || message.transaction == id_of(what.id));
}

/// The part of a queue that is to be looked through.
struct stretch {
  queue_no queue;
  queue_offset from;
  queue_offset to;
};

result<std::vector<stretch>> stretches(client::admin& node, const find_given& what) {
  auto begins = node.find_offsets(what.topic, start_of(what.from));
  if (!begins)
    return tl::unexpected{begins.why()};
  std::vector<stretch> all;
  for (const auto& one : begins.value())
    all.push_back({one.queue, one.offset, one.end});
  if (what.until.empty())
    return all;
  auto ends = node.find_offsets(what.topic, start_of(what.until));
  if (!ends)
    return tl::unexpected{ends.why()};
  for (const auto& one : ends.value())
    for (auto& part : all)
      if (part.queue == one.queue)
        part.to = std::min(part.to, one.offset);
  return all;
}

class finder {
public:
  finder(context& with, const find_given& what, std::uint64_t total)
      : with_{with}, what_{what}, node_{with.node()}, shown_{with.io, "looking", total} {}

  exit_code look_through(const stretch& part) {
    constexpr std::uint32_t page_max = 256;
    auto from = part.from;
    while (from < part.to && found_ < what_.max && !interrupt::came()) {
      auto page = node_.peek(what_.topic, part.queue, from, page_max);
      if (!page)
        return with_.refuse("queue " + std::to_string(part.queue.value) + " of topic " +
                                printable(what_.topic),
                            page.why());
      if (page->empty())
        break;
      for (const auto& message : page.value()) {
        if (message.delivery.offset >= part.to || found_ == what_.max)
          break;
        if (!is_wanted(message, what_))
          continue;
        print(with_.io.out, message, what_.json ? message_form::json : message_form::verbose);
        ++found_;
      }
      const queue_offset next{page->back().delivery.offset.value + 1};
      looked_ += std::min(next, part.to).value - from.value;
      from = next;
      shown_.at(looked_);
    }
    return exit_done;
  }

  [[nodiscard]] std::uint64_t found() const { return found_; }

private:
  context& with_;
  const find_given& what_;
  client::admin node_;
  progress shown_;
  std::uint64_t found_ = 0;
  std::uint64_t looked_ = 0;
};

exit_code find(context& with, const find_given& what) {
  client::admin node{with.node()};
  const auto parts = stretches(node, what);
  if (!parts)
    return refuse_topic(with, what.topic, parts.error());
  std::uint64_t total = 0;
  for (const auto& part : *parts)
    total += part.to > part.from ? part.to.value - part.from.value : 0;
  interrupt ctrl_c;
  finder search{with, what, total};
  for (const auto& part : *parts)
    if (const auto code = search.look_through(part); code != exit_done)
      return code;
  if (search.found() == 0 && !what.json)
    with.io.err << "no such message among " << total << std::endl;
  if (search.found() == what.max)
    with.io.err << "ended after " << what.max << "; --max, --from and --until show more"
                << std::endl;
  return flush(with.io) ? exit_done : exit_refused;
}

void add_get(menu& message) {
  auto what = std::make_shared<get_given>();
  auto& app = message.add_client(
      {"get", "Show the message at one place, or those of a committed transaction",
       "handfast message get orders --queue 1 --offset 100\n"
       "  handfast message get 0000000000000208E42E40AA"},
      [what](context& with) { return get(with, *what); });
  app.add_option("WHAT", what->what, "The topic or view, or the id of a transaction")->required();
  app.add_option("--queue", what->queue, "The queue (0)")
      ->check(whole_number(0, limits::queues_max - 1))
      ->type_name("N");
  app.add_option("--offset", what->offset, "The offset in the queue")
      ->check(whole_number(0, any_number))
      ->type_name("X");
  add_json_flag(app, what->json, "each message as one JSON object a line");
}

void add_find(menu& message) {
  auto what = std::make_shared<find_given>();
  auto& app = message.add_client(
      {"find", "Look through a topic, queue by queue, for messages by key, transaction or time",
       "handfast message find orders --key order-17\n"
       "  handfast message find orders --from 2026-11-30T08:30:00Z --until 5m --json"},
      [what](context& with) { return find(with, *what); });
  app.add_option("TOPIC", what->topic, "The topic")->required();
  app.add_option("--key", what->key, "Only messages with this key among theirs")->type_name("KEY");
  app.add_option("--id", what->id, "Only messages of this transaction")
      ->check(transaction())
      ->type_name("ID");
  app.add_option("--from", what->from,
                 "Begin at `earliest`, `offset:N`, a UTC date or so long ago (earliest)")
      ->check(start())
      ->type_name("START");
  app.add_option("--until", what->until, "End before this, written like --from")
      ->check(start())
      ->type_name("START");
  app.add_option("--max", what->max, "End after N messages (100)")
      ->check(whole_number(1, any_number))
      ->type_name("N");
  add_json_flag(app, what->json, "each message as one JSON object a line");
}

} // namespace

void add_message_commands(menu& to) {
  auto message = to.group("message", "Look messages up by place, key, transaction or time");
  add_get(message);
  add_find(message);
}

} // namespace handfast::cli
