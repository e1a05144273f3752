#pragma once

/// All client sockets of a loop, in one edge-triggered epoll set that hangs on the loop as a single
/// descriptor: a read costs no registration, and waiting for ten thousand quiet connections costs
/// nothing.

#include "runtime/read_pool.hpp"
#include "runtime/shard_loop.hpp"

#include <asio/posix/stream_descriptor.hpp>

#include <functional>
#include <vector>

namespace handfast::runtime {

class socket_transport;

/// Belongs to the loop's thread once the loop runs. Must outlive its sockets, and the loop must
/// outlive it.
class socket_set final : public round_participant {
public:
  /// Throws std::system_error when the system gives no epoll set.
  explicit socket_set(shard_loop& loop);
  ~socket_set() override;

  void flush() override;
  bool poll() override;

  [[nodiscard]] std::size_t open_sockets() const { return open_; }
  [[nodiscard]] shard_loop& loop() { return loop_; }
  [[nodiscard]] read_pool& reads() { return reads_; }
  /// Called whenever a socket was closed: there is room for another.
  void on_closed(std::function<void()> what) { on_closed_ = std::move(what); }

private:
  friend class socket_transport;
  /// False when the system refuses; `errno` says why.
  [[nodiscard]] bool add(socket_transport& one);
  /// It closes its descriptor itself.
  void remove(socket_transport& one);
  /// It wants to read, and there may be bytes.
  void queue_read(socket_transport& one) { to_read_.push_back(&one); }
  /// It has bytes to send.
  void queue_flush(socket_transport& one) { to_flush_.push_back(&one); }
  void wait_for_events();

  shard_loop& loop_;
  read_pool reads_;
  asio::posix::stream_descriptor events_;
  std::vector<socket_transport*> to_read_;
  std::vector<socket_transport*> to_flush_;
  std::vector<socket_transport*> round_;
  std::size_t open_ = 0;
  bool waiting_ = false; ///< the loop is told of the next event
  std::function<void()> on_closed_;
};

} // namespace handfast::runtime
