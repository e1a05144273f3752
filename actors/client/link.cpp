#include "actors/client/link.hpp"

#include <asio/connect.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

#include <utility>

namespace handfast::client {

namespace {

constexpr std::size_t read_bytes = 64 * 1024;

/// Host and port; the host may stand in brackets (IPv6).
std::pair<std::string, std::string> split_server(const std::string& server) {
  auto colon = server.rfind(':');
  if (colon == std::string::npos)
    return {server, {}};
  auto host = server.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return {host, server.substr(colon + 1)};
}

} // namespace

/// Handlers hold it by shared pointer and do nothing once it is no longer the current one.
struct link::connection {
  explicit connection(asio::io_context& io) : socket{io}, resolver{io}, timer{io} {}

  asio::ip::tcp::socket socket;
  asio::ip::tcp::resolver resolver;
  asio::steady_timer timer;
  std::string server;
  bool open = false;
  bool writing = false;
  native::frame_writer on_the_way;
  std::vector<asio::const_buffer> pieces;
  std::shared_ptr<std::byte[]> buffer;
};

bool link::is_open() const {
  return current_ && current_->open;
}
bool link::is_writing() const {
  return current_ && current_->writing;
}

void link::open(const std::string& server, std::chrono::milliseconds timeout) {
  close();
  auto c = std::make_shared<connection>(io_);
  current_ = c;
  c->server = server;
  c->timer.expires_after(timeout);
  c->timer.async_wait([this, c](const asio::error_code& error) {
    if (!error && c == current_ && !c->open)
      fail(c, "timed out");
  });
  auto [host, port] = split_server(server);
  if (host.empty() || port.empty()) {
    asio::post(io_, [this, c] { fail(c, "is not of the form host:port"); });
    return;
  }
  c->resolver.async_resolve(
      host, port, [this, c](const asio::error_code& error, const auto& endpoints) {
        if (c != current_)
          return;
        if (error)
          return fail(c, error.message());
        asio::async_connect(c->socket, endpoints,
                            [this, c](const asio::error_code& failed, const auto&) {
                              if (c != current_)
                                return;
                              if (failed)
                                return fail(c, failed.message());
                              start(c);
                            });
      });
}

void link::start(const std::shared_ptr<connection>& c) {
  c->timer.cancel();
  asio::error_code ignored;
  c->socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
  c->socket.non_blocking(true, ignored);
  c->open = true;
  events_.on_open();
  if (c == current_)
    read(c);
}

void link::read(const std::shared_ptr<connection>& c) {
  // Bodies that the application still holds keep their buffer; then the next read takes a new one.
  if (!c->buffer || c->buffer.use_count() > 1)
    c->buffer = std::make_shared_for_overwrite<std::byte[]>(read_bytes);
  c->socket.async_read_some(
      asio::buffer(c->buffer.get(), read_bytes),
      [this, c](const asio::error_code& error, std::size_t count) {
        if (c != current_)
          return;
        if (error)
          return fail(c, error == asio::error::eof ? "closed by the node" : error.message());
        events_.on_chunk({std::shared_ptr<const std::byte>{c->buffer, c->buffer.get()}, count});
        if (c == current_)
          read(c);
      });
}

void link::flush() {
  auto c = current_;
  if (!c || !c->open || c->writing || next_.empty())
    return;
  c->writing = true;
  std::swap(c->on_the_way, next_);
  c->pieces.clear();
  c->on_the_way.for_each_piece([&](std::span<const std::byte> piece) {
    c->pieces.emplace_back(piece.data(), piece.size());
  });
  asio::async_write(c->socket, c->pieces, [this, c](const asio::error_code& error, std::size_t) {
    if (c != current_)
      return;
    if (error)
      return fail(c, error.message());
    c->writing = false;
    c->on_the_way.clear();
    events_.on_written();
  });
}

void link::finish() {
  if (is_open() && !is_writing()) {
    asio::error_code ignored;
    next_.for_each_piece([&](std::span<const std::byte> piece) {
      current_->socket.write_some(asio::buffer(piece.data(), piece.size()), ignored);
    });
    current_->socket.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  }
  close();
}

void link::close() {
  next_.clear();
  if (!current_)
    return;
  auto c = std::exchange(current_, nullptr);
  asio::error_code ignored;
  c->resolver.cancel();
  c->timer.cancel();
  c->socket.close(ignored);
}

void link::fail(const std::shared_ptr<connection>& c, const std::string& why) {
  if (c != current_)
    return;
  auto text = c->server + ": " + why;
  close();
  events_.on_closed(std::move(text));
}

} // namespace handfast::client
