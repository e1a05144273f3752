#include "runtime/node_command.hpp"

#include "runtime/cli/config_flags.hpp"
#include "runtime/cli/version.hpp"
#include "runtime/node.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <array>
#include <csignal>
#include <ctime>
#include <iostream>
#include <map>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace handfast::runtime {

namespace {

/// Past the time that the supervisor allows itself, the process goes without it.
constexpr std::chrono::milliseconds grace{200};
/// For threads that still wait for the disk or for user code.
constexpr std::chrono::milliseconds actors_patience{300};
/// `timeout` and some supervisors signal a process and then its group: that is one request.
constexpr std::chrono::milliseconds one_request{200};

/// Blocks the signals that the main thread waits for, in all threads started while it lives.
class awaited_signals {
public:
  /// Our own, to end the wait.
  static constexpr int stopped = SIGUSR1;

  awaited_signals() {
    sigemptyset(&set_);
    for (const int one : {SIGTERM, SIGINT, SIGHUP, stopped})
      sigaddset(&set_, one);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~awaited_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  awaited_signals(const awaited_signals&) = delete;
  awaited_signals& operator=(const awaited_signals&) = delete;

  [[nodiscard]] int wait() const {
    int got = 0;
    sigwait(&set_, &got);
    return got;
  }
  /// 0 when none came in time.
  [[nodiscard]] int wait_for(std::chrono::nanoseconds at_most) const {
    const timespec span{at_most.count() / 1'000'000'000, at_most.count() % 1'000'000'000};
    const int got = sigtimedwait(&set_, nullptr, &span);
    return std::max(got, 0);
  }

private:
  sigset_t set_{};
  sigset_t before_{};
};

/// Each client costs a descriptor: take all that the system grants without asking an administrator.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

void greet(const node& running, const config::settings& settings, std::chrono::milliseconds took,
           std::ostream& out) {
  const auto line = [&](const char* what, const std::string& text) {
    out << fmt::format("  {:<10}{}\n", what, text);
  };
  out << fmt::format("handfast {} ({})\n", cli::version(), cli::commit());
  line("data", fmt::format("{} (store {:016x})", settings.store.dir.string(), running.store_id()));
  line("recovery", running.recovery().text());
  const auto native = running.native();
  line("clients", native ? config::to_string(*native) : "off (listen.native is empty)");
  const auto http = running.http();
  line("http", http ? "http://" + config::to_string(*http) + " /metrics /readyz /livez /status"
                    : "off (listen.http is empty)");
  out << fmt::format("Ready after {} ms. Ctrl-C stops.\n", took.count()) << std::flush;
}

void say_goodbye(const stop_report& how, cli::console& io) {
  if (how.failure.code != ec::ok)
    io.err << "handfast: stopped: " << to_string(how.failure) << "\n" << std::flush;
  io.out << fmt::format("Stopped after {} ms: {} connection{} closed, {}, {}\n", how.took.count(),
                        how.connections, how.connections == 1 ? "" : "s",
                        how.checkpoint ? "checkpoint made" : "no new checkpoint",
                        how.unfinished.empty() ? "everything finished." : "not finished:");
  constexpr std::size_t lines_max = 20;
  std::map<std::string_view, std::size_t> times;
  for (const auto& one : how.unfinished)
    ++times[one];
  std::size_t lines = 0;
  for (const auto& [one, count] : times)
    if (++lines <= lines_max)
      io.out << "  " << one << (count == 1 ? "" : fmt::format(", {} times", count)) << "\n";
  if (lines > lines_max)
    io.out << fmt::format("  and {} more\n", lines - lines_max);
  io.out << std::flush;
}

/// Waits for the end. Nothing when the supervisor does not come to it in time.
std::optional<stop_report> wait_for_end(node& running, const awaited_signals& signals,
                                        std::chrono::milliseconds stop_timeout) {
  std::optional<clock::time_point> leave_at;
  clock::time_point asked_at;
  const system_clock time;
  for (;;) {
    const int got = leave_at ? signals.wait_for(std::max<std::chrono::nanoseconds>(
                                   *leave_at - time.now(), std::chrono::nanoseconds{1}))
                             : signals.wait();
    if (auto report = running.report())
      return report;
    if (got == SIGHUP) {
      running.reopen_logs();
    } else if ((got == SIGTERM || got == SIGINT) &&
               !(leave_at && time.now() - asked_at < one_request)) {
      asked_at = time.now();
      spdlog::info("{}: stopping{}", got == SIGTERM ? "SIGTERM" : "SIGINT",
                   leave_at ? " in a hurry" : "");
      running.stop();
      if (!leave_at)
        leave_at = time.now() + stop_timeout + grace;
    }
    if (leave_at && time.now() >= *leave_at)
      return std::nullopt;
  }
}

} // namespace

cli::exit_code run_node(const config::settings& settings, cli::console& io) {
  const system_clock time;
  const auto began = time.now();
  const awaited_signals signals;
  raise_descriptor_limit();
  auto started = node::start({settings, std::string{cli::version()}, {}, [main = pthread_self()] {
                                pthread_kill(main, awaited_signals::stopped);
                              }});
  if (!started) {
    cli::complain(io, "the node cannot start", started.error());
    return started.error().code == ec::config_invalid ? cli::exit_usage : cli::exit_refused;
  }
  auto& running = **started;
  greet(running, settings,
        std::chrono::duration_cast<std::chrono::milliseconds>(time.now() - began), io.out);

  const auto report = wait_for_end(running, signals, settings.shutdown.timeout);
  const bool failed = !report || report->failure.code != ec::ok;
  if (report)
    say_goodbye(*report, io);
  else
    io.err << "handfast: the stop took too long and was cut short; the next start recovers\n"
           << std::flush;
  const auto code = failed ? cli::exit_refused : cli::exit_done;
  if (!report || !running.finish(actors_patience)) {
    // Something hangs in the disk or in user code: what is durable is durable, so leave.
    spdlog::default_logger()->flush();
    ::_exit(code);
  }
  return code;
}

void add_node_command(cli::menu& to) {
  const auto flags = std::make_shared<cli::config_flags>();
  auto& command =
      to.add({"node", "Run a node in the foreground", "handfast node --data ./handfast-data"},
             [flags](cli::context& in) {
               const auto loaded = flags->load();
               if (!loaded) {
                 cli::complain_about(in.io, loaded.error());
                 return cli::exit_usage;
               }
               return run_node(loaded->values, in.io);
             });
  flags->add_to(command);
}

} // namespace handfast::runtime
