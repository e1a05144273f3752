/// What the machine can do at most: a server that speaks the native frames and makes both phases of
/// a transaction durable before it answers, and does nothing else. No actors, no index, no
/// recognition of repeats, no checks, no recovery. `handfast bench
/// --floor` runs it beside a node.
///
/// One thread: read what is ready, append to the batch, when nothing more is ready write and sync
/// it, answer.

#include "bench/floor_log.hpp"
#include "messages/native/codec.hpp"
#include "messages/native/frame_splitter.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>

namespace handfast::bench {
namespace {

// As many bytes as the real log writes: record header, then the Cap'n Proto part.
constexpr std::size_t record_header_bytes = 40;
constexpr std::size_t message_meta_bytes = 88;
constexpr std::size_t decision_bytes = 48;

constexpr std::size_t read_bytes = 32 * 1024;

volatile std::sig_atomic_t stop_requested = 0;

struct connection {
  int fd;
  native::frame_splitter splitter;
  native::frame_writer out;
  std::vector<std::byte> left; ///< what the socket did not take
  native::half_stored halves;
  native::decided decided;
  native::sent sent;
  bool has_answers = false;
  bool armed = false; ///< wakes up when the socket has room
};

class floor_server {
public:
  floor_server(std::string directory, std::size_t prepare, const std::string& host,
               std::uint16_t port)
      : log_{std::move(directory), prepare} {
    listen(host, port);
  }

  void run() {
    while (!stop_requested) {
      auto timeout = log_.empty() ? -1 : 0;
      int count = ::epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), timeout);
      for (int i = 0; i < count; ++i)
        serve(events_[static_cast<std::size_t>(i)]);
      if (count <= 0 && !log_.empty()) { // nothing else is ready
        log_.commit();
        answer_all();
      }
    }
  }

private:
  void listen(const std::string& host, std::uint16_t port) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1 ||
        ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 256) != 0) {
      std::fprintf(stderr, "handfast-floor: cannot listen on %s:%u: %s\n", host.c_str(), port,
                   std::strerror(errno));
      std::exit(3);
    }
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{EPOLLIN, {.ptr = nullptr}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event);
    std::printf("listening on %s:%u\n", host.c_str(), ntohs(address.sin_port));
    std::fflush(stdout);
  }

  void serve(const epoll_event& event) {
    auto* c = static_cast<connection*>(event.data.ptr);
    if (!c)
      return accept();
    if (event.events & EPOLLOUT)
      write_left(*c);
    if (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR))
      read(*c);
  }

  void accept() {
    int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
      return;
    int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto c = std::make_unique<connection>();
    c->fd = fd;
    epoll_event event{EPOLLIN, {.ptr = c.get()}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    connections_.emplace(c.get(), std::move(c));
  }

  void close(connection& c) {
    std::erase(answering_, &c);
    ::close(c.fd);
    connections_.erase(&c);
  }

  void read(connection& c) {
    if (!buffer_ || buffer_.use_count() > 1)
      buffer_ = std::make_shared_for_overwrite<std::byte[]>(read_bytes);
    auto got = ::recv(c.fd, buffer_.get(), read_bytes, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (got <= 0)
      return close(c);
    c.splitter.feed(
        {std::shared_ptr<const std::byte>{buffer_, buffer_.get()}, static_cast<std::size_t>(got)});
    for (;;) {
      auto next = c.splitter.next();
      if (!next)
        return close(c);
      if (!*next)
        break;
      if (!take(c, **next))
        return close(c);
    }
    write(c); // handshakes are answered at once
  }

  bool take(connection& c, const native::frame& f) {
    switch (f.header.kind) {
    case native::frame_kind::hello:
      return on_hello(c, f);
    case native::frame_kind::resolve_topic:
      return on_resolve_topic(c, f);
    case native::frame_kind::join_producer_group:
      return on_join(c, f);
    case native::frame_kind::send:
      return on_send(c, f);
    case native::frame_kind::send_half:
      return on_halves(c, f);
    case native::frame_kind::decide:
      return on_decide(c, f);
    default:
      return false;
    }
  }

  bool on_hello(connection& c, const native::frame& f) {
    native::hello hello;
    if (!decode(f, hello))
      return false;
    native::welcome welcome;
    welcome.node = "floor";
    welcome.credit = limits::connection_credit;
    welcome.credit_bytes = limits::connection_bytes_in_flight;
    welcome.frame_max = limits::frame_bytes_max;
    welcome.body_max = limits::body_bytes_max;
    encode(c.out, welcome);
    return true;
  }

  static bool on_resolve_topic(connection& c, const native::frame& f) {
    native::resolve_topic asked;
    if (!decode(f, asked))
      return false;
    encode(c.out, native::topic_resolved{asked.id, ec::ok, first_user_topic, 4, {}});
    return true;
  }

  static bool on_join(connection& c, const native::frame& f) {
    native::join_producer_group asked;
    if (!decode(f, asked))
      return false;
    encode(c.out, native::group_joined{asked.id, ec::ok, {1}, {}});
    return true;
  }

  position append(const native::send_item& item) {
    auto head = record_header_bytes + message_meta_bytes;
    auto place = log_.append(head + item.payload.size());
    std::memcpy(place.at, &item.id, sizeof item.id);
    if (!item.payload.empty())
      std::memcpy(place.at + head, item.payload.data(), item.payload.size());
    return {place.position};
  }

  bool on_send(connection& c, const native::frame& f) {
    if (!decode(f, sends_))
      return false;
    for (const auto& item : sends_.items)
      c.sent.items.push_back(
          {item.id, ec::ok, append(item), item.topic, queue_no{0}, queue_offset{offset_++}});
    sends_.items.clear(); // lets go of the read buffer
    expects_answer(c);
    return true;
  }

  bool on_halves(connection& c, const native::frame& f) {
    if (!decode(f, halves_))
      return false;
    for (const auto& item : halves_.items)
      c.halves.items.push_back(
          {item.id, ec::ok, {append(item), 1}, queue_offset{half_offset_++}, queue_no{0}});
    halves_.items.clear();
    expects_answer(c);
    return true;
  }

  bool on_decide(connection& c, const native::frame& f) {
    if (!decode(f, decides_))
      return false;
    auto place = log_.append(record_header_bytes + decision_bytes * decides_.items.size());
    for (std::size_t i = 0; i < decides_.items.size(); ++i) {
      const auto& item = decides_.items[i];
      std::memcpy(place.at + record_header_bytes + decision_bytes * i, &item.transaction,
                  sizeof item.transaction);
      auto& answer = c.decided.items.emplace_back();
      answer.id = item.id;
      answer.transaction = item.transaction;
      answer.recorded = item.wanted;
      answer.messages = 1;
      answer.topic = first_user_topic;
      answer.offset = {offset_++};
    }
    expects_answer(c);
    return true;
  }

  void expects_answer(connection& c) {
    if (!std::exchange(c.has_answers, true))
      answering_.push_back(&c);
  }

  void answer_all() {
    for (auto* c : std::exchange(answering_, {})) {
      c->has_answers = false;
      auto answer = [&](auto& batch) {
        if (batch.items.empty())
          return;
        encode(c->out, batch);
        batch.items.clear();
      };
      answer(c->decided);
      answer(c->halves);
      answer(c->sent);
      write(*c);
    }
  }

  void write(connection& c) {
    c.out.for_each_piece([&](std::span<const std::byte> piece) {
      if (c.left.empty()) {
        auto wrote = ::send(c.fd, piece.data(), piece.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        piece = piece.subspan(static_cast<std::size_t>(std::max<ssize_t>(wrote, 0)));
      }
      c.left.insert(c.left.end(), piece.begin(), piece.end());
    });
    c.out.clear();
    arm(c);
  }

  void write_left(connection& c) {
    auto wrote = ::send(c.fd, c.left.data(), c.left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote > 0)
      c.left.erase(c.left.begin(), c.left.begin() + wrote);
    arm(c);
  }

  /// Asks for room in the socket only while something waits for it.
  void arm(connection& c) {
    auto wanted = !c.left.empty();
    if (std::exchange(c.armed, wanted) == wanted)
      return;
    epoll_event event{EPOLLIN | (wanted ? std::uint32_t{EPOLLOUT} : 0u), {.ptr = &c}};
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, c.fd, &event);
  }

  floor_log log_;
  int listener_ = -1;
  int epoll_ = -1;
  std::array<epoll_event, 256> events_{};
  std::unordered_map<connection*, std::unique_ptr<connection>> connections_;
  std::vector<connection*> answering_;
  std::shared_ptr<std::byte[]> buffer_;
  std::uint64_t offset_ = 0;
  std::uint64_t half_offset_ = 0;
  native::send sends_;
  native::send_half halves_;
  native::decide decides_;
};

struct arguments {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string data;
  std::size_t prepare = std::size_t{1} << 30;
};

/// `16MiB`, `2GiB`, or bytes.
std::optional<std::size_t> parse_size(const std::string& text) {
  char* rest = nullptr;
  auto number = std::strtoull(text.c_str(), &rest, 10);
  std::string unit{rest};
  if (rest == text.c_str())
    return std::nullopt;
  if (unit.empty())
    return number;
  if (unit == "MiB")
    return number << 20;
  if (unit == "GiB")
    return number << 30;
  return std::nullopt;
}

std::optional<arguments> parse(int argc, char** argv) {
  arguments args;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string name = argv[i];
    std::string value = argv[i + 1];
    if (name == "--data") {
      args.data = value;
    } else if (name == "--listen") {
      auto colon = value.rfind(':');
      if (colon == std::string::npos)
        return std::nullopt;
      args.host = value.substr(0, colon);
      args.port = static_cast<std::uint16_t>(std::atoi(value.c_str() + colon + 1));
    } else if (name == "--prepare") {
      auto size = parse_size(value);
      if (!size)
        return std::nullopt;
      args.prepare = *size;
    } else {
      return std::nullopt;
    }
  }
  if (argc % 2 == 0 || args.data.empty())
    return std::nullopt;
  return args;
}

} // namespace
} // namespace handfast::bench

int main(int argc, char** argv) {
  auto args = handfast::bench::parse(argc, argv);
  if (!args) {
    std::fprintf(stderr, "usage: handfast-floor --data DIR [--listen HOST:PORT] [--prepare SIZE]\n"
                         "Prints `listening on HOST:PORT` when it is ready; ends on SIGTERM.\n");
    return 2;
  }
  struct sigaction action {};
  action.sa_handler = [](int) { handfast::bench::stop_requested = 1; };
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::mkdir(args->data.c_str(), 0700);
  handfast::bench::floor_server server{args->data, args->prepare, args->host, args->port};
  server.run();
  return 0;
}
