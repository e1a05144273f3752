#include "actors/client/admin.hpp"
#include "config/address.hpp"
#include "config/units.hpp"
#include "messages/limits.hpp"
#include "messages/names.hpp"
#include "runtime/cli/bench_consume.hpp"
#include "runtime/cli/bench_report.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/floor_process.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"
#include "runtime/cli/version.hpp"

#include <ostream>
#include <random>
#include <thread>

namespace handfast::cli {

namespace {

struct given {
  std::size_t connections = 64;
  std::size_t window = 16;
  std::string body = "1KiB";
  std::string seconds = "5";
  std::string warm_up = "1";
  unsigned rounds = 0; ///< 0 = one, or three beside the floor
  std::string folder = ".";
  std::string topic = "handfast-bench";
  std::string data;
  bool plain = false;
  bool floor = false;
  bool consume = false;
  bool json = false;
};

/// Of log per second of the floor's run: more than any machine tried so far wrote (0.9 GB with
/// bodies of 1 KiB), so that the floor never stops to prepare a segment.
constexpr std::uint64_t floor_bytes_per_s = 1024 * limits::mib;

result<bench::load_options> load_of(const given& what, const std::string& server) {
  auto address = config::parse_address(server);
  if (!address)
    return tl::unexpected{address.error()};
  bench::load_options load;
  load.host = address->host;
  load.port = address->port;
  load.connections = what.connections;
  load.window = what.window;
  load.body_bytes = *config::parse_size(what.body);
  load.measured = *parse_seconds(what.seconds);
  load.warm_up = *parse_seconds(what.warm_up);
  load.plain = what.plain;
  load.topic = what.topic;
  return load;
}

/// The topic may be there from an earlier run, whatever it looks like.
exit_code make_topic(context& with, const given& what) {
  auto made = client::admin{with.node()}.create_topic(what.topic);
  if (!made && made.why().code != ec::topic_exists)
    return with.refuse("topic " + printable(what.topic), made.why());
  return exit_done;
}

std::uint64_t fresh_seed() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

result<bench::load_report> run_floor(const given& what, bench::load_options load) {
  auto seconds = static_cast<std::uint64_t>((load.measured + load.warm_up).count() / 1000 + 1);
  auto prepare = seconds * floor_bytes_per_s;
  auto floor = floor_process::start(what.folder, prepare);
  if (!floor)
    return tl::unexpected{floor.error()};
  load.host = floor->address().host;
  load.port = floor->address().port;
  load.seed = fresh_seed();
  return bench::run_load(load);
}

/// Node and floor in turn, so that both meet the same weather.
exit_code measure(context& with, const given& what, bench_results& results) {
  auto rounds = what.rounds != 0 ? what.rounds : what.floor ? 3u : 1u;
  auto& err = with.io.err;
  for (unsigned i = 1; i <= rounds; ++i) {
    auto name = "round " + std::to_string(i) + " of " + std::to_string(rounds) + ": ";
    err << name << "node... " << std::flush;
    results.load.seed = fresh_seed();
    auto node = bench::run_load(results.load);
    if (!node) {
      err << std::endl;
      return with.refuse("load on " + with.server(), node.error());
    }
    err << line_of(*node) << std::endl;
    results.node.push_back(std::move(*node));
    if (!what.floor)
      continue;
    err << name << "floor... " << std::flush;
    auto floor = run_floor(what, results.load);
    if (!floor) {
      err << std::endl;
      return complain(with.io, "floor", floor.error());
    }
    err << line_of(*floor) << std::endl;
    results.floor.push_back(std::move(*floor));
  }
  return exit_done;
}

exit_code run_bench(context& with, const given& what) {
  auto load = load_of(what, with.server());
  if (!load)
    return complain(with.io, "server " + printable(with.server()), load.error());
  if (auto code = make_topic(with, what); code != exit_done)
    return code;
  if (what.consume) {
    consume_bench reading{*load, what.rounds != 0 ? what.rounds : 3, 2, what.data, what.json};
    reading.load.plain = true;
    reading.load.seed = fresh_seed();
    return run_consume_bench(with, reading);
  }
  auto disk = bench::fdatasync_probe(what.folder);
  if (!disk)
    return complain(with.io, "folder " + printable(what.folder), disk.error());
  bench_results results;
  results.server = with.server();
  results.version = version();
  results.commit = commit();
  results.cores = std::thread::hardware_concurrency();
  results.load = *load;
  results.disk = *disk;
  results.disk_folder = what.folder;
  if (auto code = measure(with, what, results); code != exit_done)
    return code;
  if (what.json)
    with.io.out << page_of(json_of(results)) << '\n';
  else
    print(with.io.out, results, with.io.colours);
  return flush(with.io) ? exit_done : exit_refused;
}

CLI::Validator body_size() {
  return {[](std::string& text) -> std::string {
            auto size = config::parse_size(text);
            return size && *size >= 1 && *size <= limits::body_bytes_max
                       ? ""
                       : "takes a size from 1B to 4MiB such as 1KiB, not " + printable(text);
          },
          ""};
}

} // namespace

void add_bench_command(menu& to) {
  auto what = std::make_shared<given>();
  auto& app = to.add_client({"bench", "Measure how many transactions a node commits, and how fast",
                             "handfast bench --connections 64 --window 16 --seconds 5\n"
                             "  handfast bench --floor --json > result.json\n"
                             "  handfast bench --consume --data ./handfast-data"},
                            [what](context& with) { return run_bench(with, *what); });
  app.add_option("--connections", what->connections, "Connections (64)")
      ->check(whole_number(1, 10'000))
      ->type_name("N");
  app.add_option("--window", what->window, "Transactions under way on each connection (16)")
      ->check(whole_number(1, limits::connection_credit))
      ->type_name("N");
  app.add_option("--body", what->body, "Size of each body (1KiB)")
      ->check(body_size())
      ->type_name("SIZE");
  app.add_option("--seconds", what->seconds, "Measured time of each round (5)")
      ->check(seconds())
      ->type_name("S");
  app.add_option("--warm-up", what->warm_up, "Time before that, not measured (1)")
      ->check(seconds())
      ->type_name("S");
  app.add_option("--rounds", what->rounds, "Rounds; figures are medians (1, or 3 with --floor)")
      ->check(whole_number(1, 1'000))
      ->type_name("N");
  app.add_flag("--plain", what->plain, "Plain messages instead of transactions");
  auto* floor =
      app.add_flag("--floor", what->floor,
                   "Take turns with the floor: a bare program that only writes and syncs");
  auto* consume = app.add_flag("--consume", what->consume,
                               "Produce plain messages, then measure how fast a group reads them")
                      ->excludes(floor);
  app.add_option("--data", what->data,
                 "... and beside it how fast the files of this folder, the node's, are read")
      ->type_name("DIR")
      ->needs(consume);
  app.add_option("--dir", what->folder,
                 "A folder on the node's disk, for the floor and the fdatasync probe (.)")
      ->type_name("DIR");
  app.add_option("--topic", what->topic, "The topic to send to (handfast-bench)")
      ->type_name("TOPIC");
  add_json_flag(app, what->json, "the figures as a JSON object");
}

} // namespace handfast::cli
