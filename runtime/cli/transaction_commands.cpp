#include "actors/client/admin.hpp"
#include "actors/client/transaction_producer.hpp"
#include "messages/names.hpp"
#include "runtime/cli/body.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/listen_command.hpp"
#include "runtime/cli/name_refusal.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/transaction_view.hpp"
#include "runtime/cli/values.hpp"

#include <algorithm>
#include <array>
#include <ostream>

namespace handfast::cli {

namespace {

constexpr std::array states{transaction_state::pending,    transaction_state::deciding,
                            transaction_state::committed,  transaction_state::rolled_back,
                            transaction_state::given_up,   transaction_state::parked,
                            transaction_state::quarantined};

// -- tx send -----------------------------------------------------------------

struct send_given {
  message_given message;
  std::string group;
  std::string join;
  bool json = false;
};

exit_code send(context& with, const send_given& what) {
  auto message = message_of(with.io, what.message);
  if (!message)
    return exit_refused;
  auto bytes = counted(message->body.size(), "byte");
  client::transaction_producer producer{with.node(), {.group = what.group}};
  client::transaction opened;
  if (what.join.empty()) {
    // The local transaction, if there is one, runs elsewhere: others of the group may be asked.
    auto begun = producer.begin(std::move(*message), false);
    if (!begun && begun.why().code == ec::unknown_topic)
      return refuse_topic(with, what.message.topic, begun.why(), true);
    if (!begun)
      return with.refuse("half message of " + bytes + " for topic " + printable(what.message.topic),
                         begun.why());
    opened = begun.value();
  } else {
    opened.id = id_of(what.join);
    if (auto joined = producer.join(opened, std::move(*message)); !joined)
      return with.refuse("transaction " + what.join, joined.why());
  }
  auto id = to_string(opened.id);
  if (what.json)
    with.io.out << line_of({{"id", id}, {"topic", what.message.topic}, {"group", what.group}})
                << '\n';
  else
    with.io.out << id << '\n';
  return flush(with.io) ? exit_done : exit_refused;
}

void add_send(menu& tx) {
  auto what = std::make_shared<send_given>();
  auto& app = tx.add_client(
      {"send", "Store a half message and print the transaction's id; it stays pending",
       "id=$(handfast tx send orders 'paid: order 1' --group shop)\n"
       "  handfast tx send stock 'reserve 3' --group shop --join $id\n"
       "  handfast tx commit $id"},
      [what](context& with) { return send(with, *what); });
  add_message_options(app, what->message, true);
  add_delay_options(app, what->message, true);
  app.add_option("--group", what->group, "The producer group that is asked if nobody decides")
      ->required()
      ->type_name("GROUP");
  app.add_option("--join", what->join, "Add the message to this transaction instead of opening one")
      ->check(transaction())
      ->check(open_transaction())
      ->type_name("ID");
  add_json_flag(app, what->json, "id, topic and group as a JSON object");
}

// -- tx list | show ----------------------------------------------------------

struct list_given {
  std::string state;
  std::string group;
  std::string topic;
  std::size_t max = 100;
  bool json = false;
};

exit_code list(context& with, const list_given& what) {
  client::transaction_filter filter;
  for (auto state : states) {
    if (name_of(state) == what.state)
      filter.state = state;
  }
  filter.group = what.group;
  filter.topic = what.topic;
  auto found = client::admin{with.node()}.transactions(filter, what.max);
  if (!found && found.why().code == ec::unknown_topic)
    return refuse_topic(with, what.topic, found.why());
  if (!found && found.why().code == ec::unknown_group)
    return refuse_group(with, what.group, found.why());
  if (!found)
    return with.refuse("list of transactions", found.why());
  if (what.json) {
    auto all = json::array();
    for (const auto& transaction : found.value())
      all.push_back(json_of(transaction));
    with.io.out << page_of(all) << '\n';
  } else {
    print_lives(with.io.out, found.value(), with.io.colours, with.io.width);
  }
  auto got_through = flush(with.io);
  if (found->size() == what.max && !what.json)
    with.io.err << "ended after " << what.max << "; --max, --state, --group and --topic show more"
                << std::endl;
  return got_through ? exit_done : exit_refused;
}

void add_list(menu& tx) {
  auto what = std::make_shared<list_given>();
  auto& app = tx.add_client({"list", "List transactions: those that wait first, then decided ones",
                             "handfast tx list --state pending --group shop"},
                            [what](context& with) { return list(with, *what); });
  std::vector<std::string> names;
  for (auto state : states)
    names.emplace_back(name_of(state));
  app.add_option("--state", what->state, "Only those in this state, such as pending or given_up")
      ->check(one_of(names))
      ->type_name("STATE");
  app.add_option("--group", what->group, "Only those of this producer group")->type_name("GROUP");
  app.add_option("--topic", what->topic, "Only those with a message to this topic")
      ->type_name("TOPIC");
  app.add_option("--max", what->max, "At most N (100)")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  add_json_flag(app, what->json, "a JSON array of transactions");
}

struct one_given {
  std::string id;
  bool json = false;
};

exit_code show(context& with, const one_given& what) {
  auto found = client::admin{with.node()}.transaction(id_of(what.id));
  if (!found)
    return with.refuse("transaction " + what.id, found.why());
  if (what.json)
    with.io.out << page_of(json_of(found.value())) << '\n';
  else
    print_life(with.io.out, found.value(), with.io.colours, with.io.width);
  return flush(with.io) ? exit_done : exit_refused;
}

// -- tx commit | rollback | reopen -------------------------------------------

exit_code report(context& with, const one_given& what,
                 const client::answer<client::decision>& decided) {
  if (!decided)
    return with.refuse("transaction " + what.id, decided.why());
  const auto& decision = decided.value();
  if (what.json) {
    with.io.out << line_of(json_of(decision)) << '\n';
  } else {
    std::string recorded{name_of(decision.recorded)};
    std::replace(recorded.begin(), recorded.end(), '_', ' ');
    with.io.out << recorded;
    if (decision.recorded == outcome::committed && decision.messages == 1 && decision.due_ms != 0)
      with.io.out << ": queue " << decision.queue.queue.value << ", becomes visible at "
                  << time_text(decision.due_ms);
    else if (decision.recorded == outcome::committed && decision.messages == 1)
      with.io.out << ": queue " << decision.queue.queue.value << ", offset "
                  << decision.offset.value;
    else if (decision.messages > 0)
      with.io.out << ": " << counted(decision.messages, "message");
    with.io.out << '\n';
  }
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code commit(context& with, const one_given& what) {
  return report(with, what, client::admin{with.node()}.commit(id_of(what.id)));
}

exit_code rollback(context& with, const one_given& what) {
  return report(with, what, client::admin{with.node()}.rollback(id_of(what.id)));
}

exit_code reopen(context& with, const one_given& what) {
  auto opened = client::admin{with.node()}.reopen(id_of(what.id));
  if (!opened)
    return with.refuse("transaction " + what.id, opened.why());
  auto id = to_string(opened.value());
  if (what.json)
    with.io.out << line_of({{"id", id}, {"reopened_from", what.id}}) << '\n';
  else
    with.io.out << id << '\n';
  return flush(with.io) ? exit_done : exit_refused;
}

void add_one(menu& tx, const command_text& text, exit_code (*what)(context&, const one_given&),
             const std::string& printed) {
  auto given = std::make_shared<one_given>();
  auto& app = tx.add_client(text, [given, what](context& with) { return what(with, *given); });
  app.add_option("ID", given->id, "The transaction, as `tx send` and `tx list` print it")
      ->required()
      ->check(transaction());
  add_json_flag(app, given->json, printed);
}

} // namespace

void add_transaction_commands(menu& to) {
  auto tx = to.group("tx", "Send, watch and decide transactions");
  add_send(tx);
  add_listen_command(tx);
  add_list(tx);
  add_one(tx, {"show", "Tell the life of a transaction", "handfast tx show $id"}, show,
          "the transaction as a JSON object");
  add_one(tx,
          {"commit", "Commit as operator, for any group: its messages become visible",
           "handfast tx commit $id"},
          commit, "the recorded decision as a JSON object");
  add_one(tx,
          {"rollback", "Roll back as operator, for any group: its messages are never delivered",
           "handfast tx rollback $id"},
          rollback, "the recorded decision as a JSON object");
  add_one(tx,
          {"reopen", "Open a given-up transaction again, and print the new id",
           "handfast tx list --state given_up\n  id=$(handfast tx reopen $id)"},
          reopen, "the new id as a JSON object");
}

} // namespace handfast::cli
