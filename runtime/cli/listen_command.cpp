#include "runtime/cli/listen_command.hpp"

#include "actors/client/transaction_producer.hpp"
#include "messages/names.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <condition_variable>
#include <limits>
#include <mutex>
#include <ostream>

namespace handfast::cli {

namespace {

using client::local_state;

struct given {
  std::string group;
  std::string answer;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  bool json = false;
};

local_state state_of(const std::string& answer) {
  return answer == "commit"     ? local_state::commit
         : answer == "rollback" ? local_state::rollback
                                : local_state::unknown;
}

/// Gives the same answer to every check and prints it with the node's word on it.
class one_answer final : public client::transaction_listener {
public:
  one_answer(console& io, const given& what) : io_{io}, what_{what} {}

  local_state execute(const client::message&, client::transaction_context&) override {
    return local_state::unknown;
  }
  local_state check(const client::message&, const client::check_context&) override {
    return state_of(what_.answer);
  }
  void checked(const client::message& first, const client::check_context& asked, local_state,
               const client::answer<client::decision>& result) override {
    std::lock_guard hold{mutex_};
    if (printed_ == what_.max)
      return;
    if (what_.json)
      print_json(first, asked, result);
    else
      print_line(first, asked, result);
    io_.out.flush();
    ++printed_;
    changed_.notify_one();
  }

  /// Until N checks were printed, Ctrl-C, or nobody reads what is printed.
  void wait_for_end() {
    std::unique_lock hold{mutex_};
    while (printed_ < what_.max && !interrupt::came() && io_.out.good())
      changed_.wait_for(hold, std::chrono::milliseconds{200});
  }

private:
  void print_line(const client::message& first, const client::check_context& asked,
                  const client::answer<client::decision>& result) {
    io_.out << to_string(asked.id) << "  asked " << asked.attempt << " of "
            << asked.attempt + asked.attempts_left << "  " << first.topic << "  "
            << one_line(first.body.text(), 40);
    if (asked.messages > 1)
      io_.out << "  (" << counted(asked.messages, "message") << ")";
    io_.out << "  answered " << what_.answer;
    if (!result)
      io_.out << ": " << to_string(result.why());
    else if (result->recorded == outcome::pending)
      io_.out << ": still pending";
    else
      io_.out << ": " << one_line(name_of(result->recorded));
    io_.out << '\n';
  }

  void print_json(const client::message& first, const client::check_context& asked,
                  const client::answer<client::decision>& result) {
    json line{{"id", to_string(asked.id)},
              {"attempt", asked.attempt},
              {"attempts_left", asked.attempts_left},
              {"topic", first.topic},
              {"messages", asked.messages}};
    set_text(line, "body", first.body.text());
    line["answered"] = what_.answer;
    if (result)
      line["outcome"] = name_of(result->recorded);
    else
      line["error"] = name_of(result.why().code);
    io_.out << line_of(line) << '\n';
  }

  console& io_;
  const given& what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t printed_ = 0;
};

exit_code listen(context& with, const given& what) {
  interrupt ctrl_c;
  auto listener = std::make_shared<one_answer>(with.io, what);
  client::transaction_options options;
  options.group = what.group;
  options.check_threads = 1;
  client::transaction_producer member{with.node(), options, listener};
  if (auto joined = member.wait_until_member(); !joined)
    return with.refuse("producer group " + printable(what.group), joined.why());
  with.io.err << "answering `" << what.answer << "` to checks of group " << what.group
              << "; Ctrl-C ends it" << std::endl;
  listener->wait_for_end();
  return flush(with.io) ? exit_done : exit_refused;
}

} // namespace

void add_listen_command(menu& tx) {
  auto what = std::make_shared<given>();
  auto& app = tx.add_client({"listen", "Join a producer group, answer its checks and print them",
                             "handfast tx listen --group shop --answer commit"},
                            [what](context& with) { return listen(with, *what); });
  app.add_option("--group", what->group, "The producer group to answer for")
      ->required()
      ->type_name("GROUP");
  app.add_option("--answer", what->answer,
                 "What to say of every transaction: commit, rollback or "
                 "unknown")
      ->required()
      ->check(one_of({"commit", "rollback", "unknown"}))
      ->type_name("ANSWER");
  app.add_option("--max", what->max, "End after N checks; at Ctrl-C without it")
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  add_json_flag(app, what->json, "each check as one JSON object a line");
}

} // namespace handfast::cli
