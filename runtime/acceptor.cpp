#include "runtime/acceptor.hpp"

#include "actors/type_ids.hpp"
#include "runtime/socket_transport.hpp"

#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace handfast::runtime {

namespace {

constexpr int accepted_per_look = 64;

using tcp = asio::ip::tcp;

std::string text_of(const tcp::endpoint& where) {
  return config::to_string({where.address().to_string(), where.port()});
}

error cannot_listen(const acceptor_options& options, const asio::error_code& why) {
  auto text = "cannot listen on " + config::to_string(options.where) + ": " + why.message();
  if (why == asio::error::address_in_use)
    return {ec::address_in_use, "cannot listen on " + config::to_string(options.where) +
                                    ": another process, perhaps another node, listens there. Stop "
                                    "it, or choose another address with `--set " +
                                    options.key + "=HOST:PORT` (port 0: any that is free; " +
                                    "empty: none)"};
  if (why == asio::error::access_denied)
    text += "; ports below 1024 need rights: choose another with " + options.key;
  else
    text += "; check " + options.key;
  return {ec::config_invalid, std::move(text)};
}

bool out_of_descriptors(int code) {
  return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

} // namespace

result<std::unique_ptr<acceptor>> acceptor::open(socket_set& set, acceptor_options options,
                                                 connection_factory make) {
  asio::error_code why;
  tcp::resolver resolver{set.loop().io()};
  const auto found = resolver.resolve(options.where.host, std::to_string(options.where.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, why);
  if (why || found.empty())
    return tl::unexpected{cannot_listen(options, why)};
  const auto endpoint = found.begin()->endpoint();
  std::unique_ptr<acceptor> made{new acceptor{set, std::move(options), std::move(make)}};
  auto& socket = made->socket_;
  socket.open(endpoint.protocol(), why);
  if (!why)
    socket.set_option(asio::socket_base::reuse_address{true}, why);
  if (!why)
    socket.bind(endpoint, why);
  if (!why)
    socket.listen(1024, why);
  if (!why)
    socket.native_non_blocking(true, why);
  if (why)
    return tl::unexpected{cannot_listen(made->options_, why)};
  made->where_ = {made->options_.where.host, socket.local_endpoint().port()};
  return made;
}

acceptor::acceptor(socket_set& set, acceptor_options options, connection_factory make)
    : set_{set}, options_{std::move(options)}, make_{std::move(make)}, socket_{set.loop().io()},
      retry_timer_{set.loop().io()} {}

void acceptor::start(node_supervisor_actor supervisor) {
  supervisor_ = std::move(supervisor);
  set_.on_closed([this] { set_.loop().post([this] { resume(); }); });
  wait();
}

void acceptor::close() {
  asio::error_code ignored;
  socket_.close(ignored);
  retry_timer_.cancel();
  set_.on_closed(nullptr);
  supervisor_ = nullptr;
}

void acceptor::wait() {
  socket_.async_wait(tcp::acceptor::wait_read, [this](const asio::error_code& why) {
    if (!why && socket_.is_open())
      accept_some();
  });
}

void acceptor::accept_some() {
  for (int i = 0; i < accepted_per_look; ++i) {
    if (set_.open_sockets() >= options_.connections_max)
      return pause(false);
    tcp::endpoint peer;
    auto size = static_cast<socklen_t>(peer.capacity());
    const int descriptor =
        ::accept4(socket_.native_handle(), peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      peer.resize(size);
      welcome(descriptor, text_of(peer));
    } else if (out_of_descriptors(errno)) {
      return pause(true);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } // else: that client is gone already
  }
  wait();
}

void acceptor::welcome(int descriptor, std::string peer_name) {
  auto socket = socket_transport::adopt(set_, descriptor, std::move(peer_name));
  if (!socket)
    return;
  auto connection = make_(socket);
  socket->bind(connection);
  caf::anon_send(supervisor_, adopt_connection{connection});
  ++accepted_;
}

void acceptor::pause(bool retry_later) {
  ++pauses_;
  paused_ = true;
  if ((pauses_ & (pauses_ - 1)) ==
      0) // the first, second, fourth, eighth ...: a storm of clients is no storm of lines
    spdlog::warn("{}: no new connections for now: {} are open, {}", options_.key,
                 set_.open_sockets(),
                 retry_later ? "and the process is at its limit of file descriptors (ulimit -n)"
                             : "as many as limits.connections allows");
  if (!retry_later)
    return;
  retry_timer_.expires_after(retry);
  retry_timer_.async_wait([this](const asio::error_code& why) {
    if (!why)
      resume();
  });
}

void acceptor::resume() {
  if (!paused_ || !socket_.is_open())
    return;
  paused_ = false;
  retry_timer_.cancel();
  wait();
}

} // namespace handfast::runtime
