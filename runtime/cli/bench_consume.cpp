#include "runtime/cli/bench_consume.hpp"

#include "actors/client/admin.hpp"
#include "messages/names.hpp"
#include "runtime/cli/bench_report.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/progress.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"

#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <ostream>
#include <thread>
#include <unistd.h>

namespace handfast::cli {

namespace {

using steady = std::chrono::steady_clock;

struct amount {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;

  [[nodiscard]] double mb_per_s() const {
    return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e6 : 0;
  }
};

double seconds_since(steady::time_point begin) {
  return std::chrono::duration<double>(steady::now() - begin).count();
}

/// One group from the first to the last message.
amount consume_all(context& with, const consume_bench& what, const std::string& group,
                   std::uint64_t total) {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> bytes{0};
  client::consumer_options options;
  options.group = group;
  options.topics = {what.load.topic};
  options.threads = what.threads;
  options.credit = 16'384;
  progress shown{with.io, "consuming", total};
  const auto begin = steady::now();
  client::consumer reader{with.node(), options, [&](const client::received_message& m) {
                            bytes.fetch_add(m.content.body.size(), std::memory_order_relaxed);
                            messages.fetch_add(1, std::memory_order_relaxed);
                            return client::consumed::done;
                          }};
  while (messages < total && !interrupt::came()) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    shown.at(messages);
  }
  const auto seconds = seconds_since(begin);
  reader.stop();
  return {messages, bytes, seconds};
}

/// All files below `folder`, one after another, as a program would that does nothing else.
result<amount> read_files(const std::string& folder) {
  amount sum;
  std::vector<char> buffer(1024 * 1024);
  std::error_code problem;
  const auto begin = steady::now();
  for (const auto& each : std::filesystem::recursive_directory_iterator{folder, problem}) {
    if (!each.is_regular_file())
      continue;
    const int file = ::open(each.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
      return fail(ec::io_error, each.path().string());
    for (ssize_t got = 1; got > 0;) {
      got = ::read(file, buffer.data(), buffer.size());
      sum.bytes += got > 0 ? static_cast<std::uint64_t>(got) : 0;
    }
    ::close(file);
  }
  if (problem)
    return fail(ec::io_error, folder + ": " + problem.message());
  sum.seconds = seconds_since(begin);
  return sum;
}

std::string speed_text(const amount& of) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f MB/s", of.mb_per_s());
  return text;
}

/// Messages that the topic holds.
client::answer<std::uint64_t> messages_in(client::admin& node, const std::string& topic) {
  const auto whole = node.topic(topic);
  if (!whole)
    return whole.why();
  std::uint64_t sum = 0;
  for (const auto& queue : whole->queues)
    sum += queue.end.value - queue.first.value;
  return sum;
}

exit_code print(context& with, const consume_bench& what, const std::vector<amount>& rounds,
                const std::optional<amount>& plain) {
  std::vector<double> speeds;
  for (const auto& round : rounds)
    speeds.push_back(round.mb_per_s());
  const auto middle = median(speeds);
  const auto& last = rounds.back();
  if (what.json) {
    json value{{"what", "consume"},
               {"mb_per_s", middle},
               {"messages", last.messages},
               {"body_bytes", last.bytes},
               {"rounds_mb_per_s", speeds}};
    if (plain)
      value["plain_read_mb_per_s"] = plain->mb_per_s();
    with.io.out << page_of(value) << '\n';
  } else {
    fact_sheet facts;
    char text[64];
    std::snprintf(text, sizeof text, "%.0f MB/s of bodies", middle);
    facts.add("consumed", {text, look::strong});
    facts.add("messages", count_text(last.messages) + " with " + bytes_text(last.bytes) +
                              ", one group, " + counted(what.threads, "thread"));
    if (plain)
      facts.add("plain read", speed_text(*plain) + " of the files in " + what.data);
    facts.print(with.io.out, with.io.colours);
  }
  return flush(with.io) ? exit_done : exit_refused;
}

} // namespace

exit_code run_consume_bench(context& with, const consume_bench& what) {
  auto& err = with.io.err;
  err << "producing... " << std::flush;
  auto produced = bench::run_load(what.load);
  if (!produced) {
    err << std::endl;
    return with.refuse("load on " + with.server(), produced.error());
  }
  err << line_of(*produced) << std::endl;
  client::admin node{with.node()};
  const auto total = messages_in(node, what.load.topic);
  if (!total)
    return with.refuse("topic " + printable(what.load.topic), total.why());
  interrupt ctrl_c;
  std::vector<amount> rounds;
  for (unsigned n = 1; n <= what.rounds && !interrupt::came(); ++n) {
    const auto group = "handfast-bench-" + std::to_string(what.load.seed) + "-" + std::to_string(n);
    rounds.push_back(consume_all(with, what, group, total.value()));
    static_cast<void>(node.delete_group(group));
    err << "round " << n << " of " << what.rounds << ": " << speed_text(rounds.back()) << std::endl;
  }
  if (rounds.empty())
    return exit_refused;
  std::optional<amount> plain;
  if (!what.data.empty()) {
    auto read = read_files(what.data);
    if (!read)
      return complain(with.io, "folder " + printable(what.data), read.error());
    plain = *read;
  }
  return print(with, what, rounds, plain);
}

} // namespace handfast::cli
