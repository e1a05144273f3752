#include "runtime/node.hpp"

#include "actors/register_types.hpp"
#include "config/loader.hpp"
#include "runtime/native_connections.hpp"
#include "runtime/page_cache_source.hpp"
#include "runtime/thread_writer.hpp"

#include <caf/actor_clock.hpp>
#include <caf/atom.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <spdlog/spdlog.h>

#include <random>

namespace handfast::runtime {

namespace {

/// A busy actor never holds its thread for longer; CAF's own default has no limit.
constexpr std::size_t messages_per_turn = 500;
/// For user code and whatever is not on the loop.
constexpr std::size_t scheduler_threads = 2;
/// HTTP gives up on the shard after this.
constexpr std::chrono::seconds status_patience{3};

std::uint64_t random_id() {
  std::random_device source;
  return (std::uint64_t{source()} << 32) | source();
}

} // namespace

node::caf_settings::caf_settings() {
  register_message_types(*this);
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", scheduler_threads);
  set("scheduler.max-throughput", messages_per_turn);
}

result<std::unique_ptr<node>> node::start(node_options options) {
  if (const auto problems = config::validate(options.settings); !problems.empty())
    return fail(ec::config_invalid, problems.front());
  auto log = logging::start(options.settings.log);
  if (!log)
    return tl::unexpected{log.error()};
  std::unique_ptr<node> made{new node{std::move(options)}};
  made->log_ = std::move(*log);
  if (auto opened = made->open_shard(); !opened)
    return tl::unexpected{opened.error()};
  made->recovery_ = made->shard_->store.report;
  if (auto opened = made->open_doors(); !opened) {
    made->close_shard();
    return tl::unexpected{opened.error()};
  }
  return made;
}

node::node(node_options options)
    : options_{std::move(options)}, disk_{std::make_unique<storage::posix_file_system>()},
      system_{caf_settings_}, loop_{system_}, sockets_{loop_} {}

node::~node() {
  http_.reset();
  supervisor_ = nullptr;
  loop_.stop();
  // CAF's clock lives until the system ends, and must find no actor to send to whose loop is gone.
  // It waits for what is being sent now.
  system_.clock().cancel_all();
  door_.reset();
  close_shard();
}

// -- the shard -------------------------------------------------------------------

result<void> node::open_shard() {
  auto recovered =
      recover_shard(*disk_, options_.settings,
                    {clock_.wall(), random_id(),
                     [this] { return std::chrono::nanoseconds{clock_.now().time_since_epoch()}; }});
  if (!recovered)
    return tl::unexpected{recovered.error()};
  shard_ = std::move(*recovered);
  if (!shard_->checkpoint_refused.empty())
    spdlog::warn("the newest checkpoint could not be used, the whole log was replayed: {}",
                 shard_->checkpoint_refused);
  for (const auto& item : shard_->tail.quarantined)
    spdlog::error("quarantined: {} at position {}: {}", item.what, item.at.value, item.why);
  writer_ = std::make_unique<thread_writer>(*shard_->store.log);
  records_ = std::make_unique<page_cache_source>(*shard_->store.log, shard_->codec);
  store_id_ = shard_->store.directory.identity().store_id;
  environment_.settings = &options_.settings;
  environment_.time = &clock_;
  environment_.idle = &loop_;
  environment_.writer = writer_.get();
  environment_.records = records_.get();
  environment_.ids = transaction_ids{store_id_};
  return {};
}

void node::close_shard() {
  environment_.writer = nullptr;
  environment_.records = nullptr;
  writer_.reset(); // ends what is being written
  records_.reset();
  shard_.reset(); // unlocks the data folder
}

assembly node::parts() {
  return {&system_, &loop_, true, disk_.get(), &environment_, shard_.get(), options_.users};
}

void node::spawn_supervisor() {
  auto start = std::make_shared<supervisor_start>();
  start->roster = make_roster(parts());
  start->hooks.close_intake = [this] {
    stopping_ = true;
    if (door_)
      door_->close();
  };
  start->hooks.rebuild = [this]() -> result<shard_roster> {
    close_shard();
    if (auto opened = open_shard(); !opened)
      return tl::unexpected{opened.error()};
    spdlog::info("the shard was recovered: {}", shard_->store.report.text());
    return make_roster(parts());
  };
  start->hooks.finished = [this](const stop_report& how) { note_end(how); };
  supervisor_ = spawn_on(system_, &loop_, node_supervisor, &environment_, std::move(start));
  caf::actor_cast<caf::actor>(supervisor_)->attach_functor([this](const caf::error& why) {
    // It says so before it ends; only an exception can end it otherwise.
    note_end({.failure = {ec::internal, "the supervisor failed: " + system_.render(why)},
              .unfinished = {}});
  });
}

// -- doors ------------------------------------------------------------------------

result<void> node::open_doors() {
  const auto& listen = options_.settings.listen;
  if (!listen.native.is_off()) {
    if (!config::is_loopback(listen.native))
      spdlog::warn("listen.native is open to other machines, without encryption or credentials");
    auto connect =
        native_connections(system_, loop_, environment_,
                           {config::to_string(listen.native), options_.version, store_id_});
    auto door = acceptor::open(
        sockets_, {listen.native, "listen.native", options_.settings.limits.connections},
        std::move(connect));
    if (!door)
      return tl::unexpected{door.error()};
    door_ = std::move(*door);
  }
  if (!listen.http.is_off()) {
    auto http = http_server::start(listen.http, {[this] { return ask_status(); },
                                                 [this] { return not_ready(); }, options_.version});
    if (!http)
      return tl::unexpected{http.error()};
    http_ = std::move(*http);
  }
  spawn_supervisor();
  started_.store(true, std::memory_order_release);
  loop_.start();
  if (door_)
    loop_.post([this, supervisor = supervisor_] { door_->start(supervisor); });
  return {};
}

std::optional<config::address> node::native() const {
  return door_ ? std::optional{door_->where()} : std::nullopt;
}

std::optional<config::address> node::http() const {
  return http_ ? std::optional{http_->where()} : std::nullopt;
}

result<node_status> node::ask_status() {
  if (!started_.load(std::memory_order_acquire))
    return fail(ec::recovering, "the node is starting");
  caf::scoped_actor self{system_};
  result<node_status> answer = fail(ec::timed_out, "the shard does not answer");
  self->request(supervisor_, status_patience, status_request{})
      .receive([&](node_status& status) { answer = std::move(status); },
               [&](const caf::error& why) {
                 answer = fail(ec::timed_out, "the shard does not answer: " + system_.render(why));
               });
  return answer;
}

std::string node::not_ready() {
  if (stopping_)
    return "stopping";
  const auto status = ask_status();
  if (!status)
    return status.error().detail;
  std::string silent;
  for (const auto& one : status->not_answering)
    silent += (silent.empty() ? "not answering: " : ", ") + one;
  return silent;
}

// -- the end ------------------------------------------------------------------------

void node::stop() {
  stopping_ = true;
  caf::anon_send(supervisor_, handfast::stop{});
}

void node::note_end(const stop_report& how) {
  {
    const std::lock_guard lock{mutex_};
    if (report_)
      return;
    report_ = how;
  }
  stopping_ = true;
  if (options_.stopped)
    options_.stopped();
}

std::optional<stop_report> node::report() const {
  const std::lock_guard lock{mutex_};
  return report_;
}

bool node::finish(std::chrono::milliseconds patience) {
  http_.reset();
  const auto until = clock_.now() + patience;
  while (system_.registry().running() != 0) {
    if (clock_.now() >= until)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

} // namespace handfast::runtime
