#pragma once

/// The socket of a session. Internal: needs Asio.

#include "messages/bytes.hpp"
#include "messages/native/frame_writer.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace handfast::client {

/// What a link tells its session. All calls come from the I/O thread, never from inside a call to
/// the link.
class link_events {
public:
  virtual void on_open() = 0;
  virtual void on_chunk(shared_bytes chunk) = 0;
  /// `writer()` was written and may be filled again.
  virtual void on_written() = 0;
  /// Not called for a link that `close` ended.
  virtual void on_closed(std::string why) = 0;

protected:
  ~link_events() = default;
};

/// One TCP connection at a time; used from the I/O thread only.
class link {
public:
  link(asio::io_context& io, link_events& events) : io_{io}, events_{events} {}
  ~link() { close(); }

  /// Drops what there was and connects to `server` ("host:port"). Ends in `on_open` or `on_closed`.
  void open(const std::string& server, std::chrono::milliseconds timeout);
  /// Drops the connection without a call back.
  void close();

  [[nodiscard]] bool is_open() const;
  [[nodiscard]] bool is_writing() const;
  /// Where the next frames go while a write is under way or before `flush`.
  native::frame_writer& writer() { return next_; }
  /// Writes what the writer holds, if no write is under way.
  void flush();
  /// Writes what is left at once, as far as the socket takes it, and closes.
  void finish();

private:
  struct connection;
  void start(const std::shared_ptr<connection>& c);
  void read(const std::shared_ptr<connection>& c);
  void fail(const std::shared_ptr<connection>& c, const std::string& why);

  asio::io_context& io_;
  link_events& events_;
  std::shared_ptr<connection> current_;
  native::frame_writer next_;
};

} // namespace handfast::client
