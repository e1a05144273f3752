#include "bench/load/load.hpp"

#include "bench/load/load_connection.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace handfast::bench {

namespace {

constexpr auto drain_max = std::chrono::seconds{5};
/// How often refused transactions are begun again and the clock is looked at when nothing arrives.
constexpr int idle_ms = 10;

nanoseconds now_ns() {
  return static_cast<nanoseconds>(
      std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count());
}

nanoseconds ns_of(std::chrono::milliseconds time) {
  return static_cast<nanoseconds>(std::chrono::nanoseconds{time}.count());
}

result<int> connect_to(const load_options& options) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  auto port = std::to_string(options.port);
  if (int bad = ::getaddrinfo(options.host.c_str(), port.c_str(), &hints, &found); bad != 0)
    return fail(ec::unreachable, options.host + ": " + ::gai_strerror(bad));
  int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool connected = fd >= 0 && ::connect(fd, found->ai_addr, found->ai_addrlen) == 0;
  auto problem = errno;
  ::freeaddrinfo(found);
  if (!connected) {
    if (fd >= 0)
      ::close(fd);
    return fail(ec::unreachable, options.host + ":" + port + ": " + std::strerror(problem));
  }
  int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

percentiles in_ms(const histogram& h) {
  auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };
  return {ms(h.at(0.5)), ms(h.at(0.9)), ms(h.at(0.99)), ms(h.at(0.999)), ms(h.max())};
}

/// The epoll set and its connections.
class load_run {
public:
  explicit load_run(const load_options& options) : epoll_{::epoll_create1(EPOLL_CLOEXEC)} {
    run_.options = options;
    run_.body = shared_bytes::copy_of(std::string(options.body_bytes, 'h'));
  }
  ~load_run() { ::close(epoll_); }
  load_run(const load_run&) = delete;
  load_run& operator=(const load_run&) = delete;

  result<void> connect() {
    for (std::size_t i = 0; i < run_.options.connections; ++i) {
      auto fd = connect_to(run_.options);
      if (!fd)
        return tl::unexpected{fd.error()};
      producer_id producer{mix64(run_.options.seed ^ mix64(i + 1)) | 1};
      auto& c = connections_.emplace_back(std::make_unique<load_connection>(run_, *fd, producer));
      if (auto known = c->introduce(); !known)
        return known;
      epoll_event event{EPOLLIN, {.ptr = c.get()}};
      if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, *fd, &event) != 0)
        return fail(ec::io_error, std::string{"epoll_ctl: "} + std::strerror(errno));
    }
    return {};
  }

  result<load_report> measure() {
    run_.now = now_ns();
    run_.measure_from = run_.now + ns_of(run_.options.warm_up);
    run_.measure_to = run_.measure_from + ns_of(run_.options.measured);
    for (auto& c : connections_) {
      if (auto begun = c->begin(); !begun)
        return tl::unexpected{begun.error()};
      arm(*c);
    }
    while (run_.now < run_.measure_to)
      if (auto turned = turn(); !turned)
        return tl::unexpected{turned.error()};
    run_.stopping = true;
    auto until = run_.now + ns_of(drain_max);
    while (run_.under_way > 0 && run_.now < until)
      if (auto turned = turn(); !turned)
        return tl::unexpected{turned.error()};
    return report();
  }

private:
  result<void> turn() {
    int count = ::epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), idle_ms);
    if (count < 0 && errno != EINTR)
      return fail(ec::io_error, std::string{"epoll_wait: "} + std::strerror(errno));
    run_.now = now_ns();
    for (int i = 0; i < count; ++i)
      if (auto served = serve(events_[static_cast<std::size_t>(i)]); !served)
        return served;
    if (count > 0)
      return {};
    for (auto& c : connections_) {
      if (auto begun = c->begin_refused(); !begun)
        return begun;
      arm(*c);
    }
    return {};
  }

  result<void> serve(const epoll_event& event) {
    auto& c = *static_cast<load_connection*>(event.data.ptr);
    result<void> served;
    if (event.events & EPOLLOUT)
      served = c.on_writable();
    if (served && (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
      served = c.on_readable();
    arm(c);
    return served;
  }

  /// Asks for wake-ups about room in the socket only while something waits for it.
  void arm(load_connection& c) {
    if (c.armed == c.wants_to_write())
      return;
    c.armed = c.wants_to_write();
    epoll_event wanted{EPOLLIN | (c.armed ? std::uint32_t{EPOLLOUT} : 0u), {.ptr = &c}};
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, c.fd(), &wanted);
  }

  load_report report() const {
    load_report r;
    r.seconds = static_cast<double>(run_.measure_to - run_.measure_from) / 1e9;
    r.committed = run_.committed;
    r.committed_per_s = static_cast<double>(run_.committed) / r.seconds;
    r.whole = in_ms(run_.whole);
    r.half = in_ms(run_.half);
    r.decide = in_ms(run_.decide);
    r.errors = run_.errors;
    r.unanswered = run_.under_way;
    return r;
  }

  run_state run_;
  int epoll_;
  std::array<epoll_event, 256> events_{};
  std::vector<std::unique_ptr<load_connection>> connections_;
};

} // namespace

result<load_report> run_load(const load_options& options) {
  if (options.connections == 0 || options.window == 0 || options.measured.count() <= 0)
    return fail(ec::bad_request, "connections, window and seconds must be positive");
  auto run = std::make_unique<load_run>(options); // holds three histograms: too much for a stack
  if (auto connected = run->connect(); !connected)
    return tl::unexpected{connected.error()};
  return run->measure();
}

} // namespace handfast::bench
