#include "tests/journeys/cut_wire.hpp"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace handfast::test {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket() {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0)
    throw std::runtime_error{"no socket"};
  return made;
}

} // namespace

cut_wire::cut_wire(std::uint16_t to) : to_{to}, listener_{new_socket()} {
  auto address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error{"no port on loopback"};
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread{[this] { accept_all(); }};
}

cut_wire::~cut_wire() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  cut();
}

void cut_wire::accept_all() {
  for (;;) {
    const int client = ::accept(listener_, nullptr, nullptr);
    if (client < 0)
      return;
    ++accepted_;
    std::lock_guard hold{mutex_};
    auto& both = pairs_.emplace_back();
    both.client = client;
    if (to_ == 0)
      continue;
    both.node = new_socket();
    const auto address = loopback(to_);
    if (::connect(both.node, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::shutdown(client, SHUT_RDWR);
      continue;
    }
    both.up = std::thread{[this, &both] { carry(both.client, both.node, false); }};
    both.down = std::thread{[this, &both] { carry(both.node, both.client, true); }};
  }
}

void cut_wire::carry(int from, int to, bool down) {
  std::array<char, 16'384> bytes{};
  for (;;) {
    const auto got = ::recv(from, bytes.data(), bytes.size(), 0);
    if (got <= 0)
      break;
    if (down && swallowing_)
      continue;
    for (ssize_t sent = 0; sent < got;) {
      const auto n =
          ::send(to, bytes.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (n <= 0)
        return;
      sent += n;
    }
  }
  ::shutdown(to, SHUT_RDWR);
}

void cut_wire::end(pair& both) {
  ::shutdown(both.client, SHUT_RDWR);
  if (both.node >= 0)
    ::shutdown(both.node, SHUT_RDWR);
  if (both.up.joinable())
    both.up.join();
  if (both.down.joinable())
    both.down.join();
  ::close(both.client);
  if (both.node >= 0)
    ::close(both.node);
}

void cut_wire::cut() {
  std::list<pair> ended;
  {
    std::lock_guard hold{mutex_};
    ended.swap(pairs_);
    swallowing_ = false;
  }
  for (auto& both : ended)
    end(both);
}

} // namespace handfast::test
