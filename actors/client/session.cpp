#include "actors/client/session.hpp"

#include "messages/assert.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <random>

namespace handfast::client {

namespace {

constexpr auto tick_every = std::chrono::milliseconds{25};

connection_options with_defaults(connection_options options) {
  if (options.servers.empty())
    options.servers = connection_options{}.servers;
  if (!options.random) {
    std::random_device seed;
    auto engine = std::make_shared<std::mt19937_64>((std::uint64_t{seed()} << 32) | seed());
    options.random = [engine] { return (*engine)(); };
  }
  return options;
}

} // namespace

session::session(connection_options options)
    : options_{with_defaults(std::move(options))}, pause_{options_.reconnect_first,
                                                          options_.reconnect_max} {
  producer_ = {random() | 1}; // 0 would mean "does not number its sends"
  post([this] { connect_next(); });
  thread_ = std::thread{[this] { io_.run(); }};
}

session::~session() {
  stop();
}

void session::stop() {
  {
    std::lock_guard lock{inbox_mutex_};
    stopped_ = true;
  }
  if (!thread_.joinable())
    return;
  HANDFAST_ASSERT(std::this_thread::get_id() != thread_.get_id());
  post([this] { shut_down(); });
  thread_.join();
}

std::uint64_t session::random() {
  std::lock_guard lock{random_mutex_};
  return options_.random();
}

sequence_no session::next_sequence() {
  return {sequence_.fetch_add(1, std::memory_order_relaxed)};
}

void session::post(std::function<void()> task) {
  asio::post(io_, std::move(task));
}

// -- connection --------------------------------------------------------------

void session::connect_next() {
  if (shut_down_ || welcomed_ || connecting_)
    return;
  connecting_ = true;
  link_.open(options_.servers[next_server_], options_.connect_timeout);
}

void session::on_open() {
  splitter_ = native::frame_splitter{};
  native::hello hello;
  hello.library_version = HANDFAST_VERSION;
  hello.client = options_.name;
  hello.mechanism = options_.mechanism;
  hello.credentials = options_.credentials;
  hello.producer = producer_;
  hello.credit = options_.credit_wanted;
  encode(link_.writer(), hello);
  link_.flush();
  handshake_until_ = clock::now() + options_.connect_timeout;
  arm_tick();
}

void session::on_chunk(shared_bytes chunk) {
  last_received_ = clock::now();
  splitter_.feed(std::move(chunk));
  for (;;) {
    auto next = splitter_.next();
    if (!next)
      return protocol_error(next.error());
    if (!*next)
      break;
    on_frame(**next);
    if (!link_.is_open())
      return;
  }
  pump();
}

void session::on_written() {
  pump();
}

void session::on_closed(std::string why) {
  connection_lost({ec::disconnected, std::move(why)});
}

void session::on_welcome(const native::frame& f) {
  native::welcome terms;
  if (auto decoded = decode(f, terms); !decoded)
    return protocol_error(decoded.error());
  if (terms.version != native::protocol_version)
    return protocol_error({ec::unsupported_version, "version " + std::to_string(terms.version)});
  if (terms.store_id != store_id_) {
    for (auto& [name, topic] : topics_) // ids are those of another store
      topic = {};
    for (auto& [name, group] : groups_)
      group.id = {};
    store_id_ = terms.store_id;
  }
  terms_ = terms;
  terms_.credit = std::max(terms_.credit, 1u);
  terms_.credit_bytes = std::max<std::uint64_t>(terms_.credit_bytes, 1);
  welcomed_ = true;
  connecting_ = false;
  failed_in_a_row_ = 0;
  pause_.reset();
  for (auto& [name, group] : groups_)
    if (group.member)
      join_group(name, group);
  std::vector<std::uint64_t> waiting;
  for (const auto& [id, r] : requests_)
    if (r.state == request_state::waiting_for_name)
      waiting.push_back(id);
  std::sort(waiting.begin(), waiting.end()); // the order in which they were asked for
  place_all(waiting);
}

void session::connection_lost(const error& why) {
  auto was_welcomed = std::exchange(welcomed_, false);
  connecting_ = false;
  link_.close();
  last_problem_ = why;
  in_flight_ = 0;
  in_flight_bytes_ = 0;
  ready_.clear();
  ready_decisions_.clear();
  sends_.items.clear();
  halves_.items.clear();
  decides_.items.clear();
  receipts_.items.clear();
  batch_bytes_ = 0;
  for (auto& [name, topic] : topics_) {
    topic.asking = false;
    topic.waiting.clear();
  }
  for (auto& [name, group] : groups_) {
    group.joined = group.joining = false;
    group.waiting.clear();
  }
  std::vector<std::uint64_t> lost;
  for (auto& [id, r] : requests_) {
    auto sent = r.state == request_state::in_flight;
    if (sent)
      mark_maybe_done(r);
    if (sent && !r.resend)
      lost.push_back(id);
    if (r.state != request_state::delayed)
      r.state = request_state::waiting_for_name;
  }
  end_streams(why);
  for (auto id : lost)
    complete(id, {why, {}});
  if (was_welcomed)
    failed_in_a_row_ = 0;
  else
    ++failed_in_a_row_;
  schedule_reconnect();
}

void session::schedule_reconnect() {
  if (shut_down_)
    return;
  auto round_over = failed_in_a_row_ % options_.servers.size() == 0;
  if (failed_in_a_row_ > 0)
    next_server_ = (next_server_ + 1) % options_.servers.size();
  if (!round_over)
    return post([this] { connect_next(); });
  reconnect_.expires_after(pause_.next(random()));
  reconnect_.async_wait([this](const asio::error_code& error) {
    if (!error)
      connect_next();
  });
  tick(); // those without patience end now
}

// -- time --------------------------------------------------------------------

void session::arm_tick() {
  if (tick_armed_ || shut_down_)
    return;
  if (requests_.empty() && !connecting_)
    return;
  tick_armed_ = true;
  tick_.expires_after(tick_every);
  tick_.async_wait([this](const asio::error_code& error) {
    tick_armed_ = false;
    if (!error)
      tick();
  });
}

void session::tick() {
  auto now = clock::now();
  if (connecting_ && link_.is_open() && now > handshake_until_)
    connection_lost({ec::disconnected, "no welcome within the connect time-out"});
  std::vector<std::uint64_t> ids;
  ids.reserve(requests_.size());
  for (const auto& [id, r] : requests_)
    ids.push_back(id);
  for (auto id : ids)
    if (auto at = requests_.find(id); at != requests_.end())
      check_time(id, at->second, now);
  if (!welcomed_ && failed_in_a_row_ >= options_.servers.size())
    fail_members({ec::unreachable, last_problem_.detail}, now - options_.connect_patience);
  pump();
  arm_tick();
}

void session::shut_down() {
  shut_down_ = true;
  tick_.cancel();
  reconnect_.cancel();
  if (welcomed_) {
    flush_batches();
    encode(link_.writer(), native::goodbye{});
  }
  drain_inbox();
  const error closed{ec::stopping, "the client was closed"};
  end_streams(closed);
  fail_all(closed);
  fail_members(closed, clock::now());
  link_.finish();
  welcomed_ = false;
  groups_.clear();
  work_.reset();
  io_.stop();
}

} // namespace handfast::client
