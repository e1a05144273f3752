#include "runtime/socket_set.hpp"

#include "runtime/socket_transport.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <system_error>

namespace handfast::runtime {

namespace {

/// Then the actors have their turn, so that what was read is still in the CPU's cache when it is
/// looked at, and the disk can begin with a first batch while the rest is read: with 64 busy
/// connections a third more transactions than reading all of them first.
constexpr std::size_t reads_per_round = 8;

int make_epoll() {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  if (set < 0)
    throw std::system_error{errno, std::generic_category(), "epoll_create1"};
  return set;
}

} // namespace

socket_set::socket_set(shard_loop& loop) : loop_{loop}, events_{loop.io(), make_epoll()} {
  loop_.attach(*this);
  wait_for_events();
}

socket_set::~socket_set() = default;

void socket_set::wait_for_events() {
  // Only ends the loop's sleep; what is ready is taken by `poll`, which waits anew. Waiting anew in
  // here would see the same events again and never let the loop go.
  waiting_ = true;
  events_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this](const asio::error_code&) { waiting_ = false; });
}

bool socket_set::add(socket_transport& one) {
  epoll_event interest{};
  interest.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  interest.data.ptr = &one;
  if (::epoll_ctl(events_.native_handle(), EPOLL_CTL_ADD, one.descriptor(), &interest) != 0)
    return false;
  ++open_;
  return true;
}

void socket_set::remove(socket_transport& one) {
  ::epoll_ctl(events_.native_handle(), EPOLL_CTL_DEL, one.descriptor(), nullptr);
  std::erase(to_read_, &one);
  std::erase(to_flush_, &one);
  --open_;
  if (on_closed_)
    on_closed_();
}

void socket_set::flush() {
  round_.swap(to_flush_);
  for (auto* one : round_)
    one->flush();
  round_.clear();
}

bool socket_set::poll() {
  std::array<epoll_event, 256> events;
  // With enough to read already, a look for more is not worth its syscall.
  const int count = to_read_.size() >= reads_per_round
                        ? 0
                        : ::epoll_wait(events_.native_handle(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    static_cast<socket_transport*>(event.data.ptr)->on_events(event.events);
  }
  if (!waiting_)
    wait_for_events();
  const auto taken =
      to_read_.begin() + static_cast<std::ptrdiff_t>(std::min(to_read_.size(), reads_per_round));
  round_.assign(to_read_.begin(), taken);
  to_read_.erase(to_read_.begin(), taken);
  const bool any = count > 0 || !round_.empty();
  for (auto* one : round_)
    one->read();
  round_.clear();
  return any;
}

} // namespace handfast::runtime
