#include "runtime/socket_transport.hpp"

#include "actors/type_ids.hpp"
#include "messages/assert.hpp"
#include "runtime/socket_set.hpp"

#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <system_error>
#include <unistd.h>

namespace handfast::runtime {

namespace {

constexpr std::size_t pieces_per_send = 64;

error disconnected(int code) {
  return {ec::disconnected, std::generic_category().message(code)};
}

bool would_block(int code) {
  return code == EAGAIN || code == EWOULDBLOCK;
}

} // namespace

std::shared_ptr<socket_transport> socket_transport::adopt(socket_set& set, int descriptor,
                                                          std::string peer_name) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::shared_ptr<socket_transport> made{
      new socket_transport{set, descriptor, std::move(peer_name)}};
  if (set.add(*made))
    return made;
  ::close(std::exchange(made->descriptor_, -1));
  return nullptr;
}

socket_transport::socket_transport(socket_set& set, int descriptor, std::string peer_name)
    : set_{set}, descriptor_{descriptor}, peer_name_{std::move(peer_name)} {}

socket_transport::~socket_transport() {
  if (descriptor_ < 0)
    return;
  set_.remove(*this);
  ::close(descriptor_);
}

// -- reading -------------------------------------------------------------------

void socket_transport::read_more() {
  HANDFAST_ASSERT(!wanted_);
  if (closing_ || descriptor_ < 0)
    return;
  wanted_ = true;
  if (readable_)
    request_read();
}

void socket_transport::request_read() {
  if (!std::exchange(read_queued_, true))
    set_.queue_read(*this);
}

void socket_transport::on_events(std::uint32_t events) {
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
    hangup_ = true;
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    readable_ = true;
    if (wanted_ || draining_)
      request_read();
  }
  if ((events & EPOLLOUT) != 0 && !std::exchange(writable_, true) && unsent_ != 0 &&
      !std::exchange(flush_queued_, true))
    set_.queue_flush(*this);
}

void socket_transport::read() {
  read_queued_ = false;
  if (draining_) {
    drain();
    return;
  }
  if (!wanted_ || closing_)
    return;
  const auto room = set_.reads().room();
  const auto got = ::recv(descriptor_, room.data(), room.size(), 0);
  if (got > 0) {
    const auto size = static_cast<std::size_t>(got);
    // A short read emptied the socket, and more bytes raise a new edge; the peer's end does not.
    readable_ = size == room.size() || hangup_;
    wanted_ = false;
    caf::anon_send(owner_, bytes_arrived{set_.reads().take(size)});
  } else if (got == 0) {
    end({});
  } else if (would_block(errno)) {
    readable_ = false;
  } else if (errno == EINTR) {
    request_read();
  } else {
    end(disconnected(errno));
  }
}

// -- writing -------------------------------------------------------------------

void socket_transport::write(shared_bytes bytes) {
  if (bytes.empty() || closing_ || descriptor_ < 0)
    return;
  unsent_ += bytes.size();
  out_.push_back(std::move(bytes));
  if (writable_ && !std::exchange(flush_queued_, true))
    set_.queue_flush(*this);
}

void socket_transport::flush() {
  flush_queued_ = false;
  if (descriptor_ < 0)
    return;
  const auto before = sent_total_;
  const bool much = unsent_ >= much_unsent;
  const bool healthy = send_some();
  if (much && sent_total_ != before)
    caf::anon_send(owner_, bytes_written{sent_total_});
  if (!healthy)
    end(disconnected(errno));
  else if (closing_ && unsent_ == 0)
    begin_drain();
}

bool socket_transport::send_some() {
  while (unsent_ != 0) {
    std::array<iovec, pieces_per_send> pieces;
    std::size_t count = 0;
    for (auto i = out_first_; i < out_.size() && count < pieces.size(); ++i, ++count) {
      const auto skip = count == 0 ? out_offset_ : 0;
      pieces[count] = {const_cast<std::byte*>(out_[i].data() + skip), out_[i].size() - skip};
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = count;
    const auto taken = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL);
    if (taken < 0) {
      if (errno == EINTR)
        continue;
      if (!would_block(errno))
        return false;
      writable_ = false; // the next edge tells
      forget_sent();
      return true;
    }
    auto left = static_cast<std::size_t>(taken);
    unsent_ -= left;
    sent_total_ += left;
    while (left != 0) {
      auto& piece = out_[out_first_];
      const auto step = std::min(left, piece.size() - out_offset_);
      left -= step;
      out_offset_ += step;
      if (out_offset_ == piece.size()) {
        piece = {};
        ++out_first_;
        out_offset_ = 0;
      }
    }
  }
  out_.clear();
  out_first_ = 0;
  return true;
}

void socket_transport::forget_sent() {
  // A peer that is never quite caught up must not make the list grow for ever.
  if (out_first_ >= pieces_per_send && out_first_ * 2 >= out_.size()) {
    out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(out_first_));
    out_first_ = 0;
  }
}

// -- the end -------------------------------------------------------------------

void socket_transport::close() {
  if (closing_ || descriptor_ < 0)
    return;
  closing_ = true;
  wanted_ = false;
  arm_linger();
  if (!std::exchange(flush_queued_, true))
    set_.queue_flush(*this);
}

void socket_transport::begin_drain() {
  draining_ = true;
  ::shutdown(descriptor_, SHUT_WR);
  readable_ = true;
  request_read();
}

void socket_transport::drain() {
  std::array<std::byte, 16 * 1024> waste;
  const auto got = ::recv(descriptor_, waste.data(), waste.size(), 0);
  if (got > 0)
    request_read(); // one read per round; `linger` bounds it all
  else if (got == 0 || !would_block(errno))
    end({});
}

void socket_transport::arm_linger() {
  linger_timer_ = std::make_unique<asio::steady_timer>(set_.loop().io(), linger);
  linger_timer_->async_wait([weak = weak_from_this()](const asio::error_code& why) {
    const auto self = weak.lock();
    if (!why && self && self->descriptor_ >= 0)
      self->end(self->unsent_ == 0 ? error{} : error{ec::disconnected, "the peer took no bytes"});
  });
}

void socket_transport::end(error why) {
  set_.remove(*this);
  ::close(std::exchange(descriptor_, -1));
  if (linger_timer_)
    linger_timer_->cancel();
  out_.clear();
  out_first_ = out_offset_ = unsent_ = 0;
  auto owner = std::move(owner_);
  caf::anon_send(owner, transport_closed{std::move(why)});
}

} // namespace handfast::runtime
