#pragma once

/// The `transport` seam over a TCP socket.

#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <asio/steady_timer.hpp>

#include <memory>
#include <string>
#include <vector>

namespace handfast::runtime {

class socket_set;

/// One read per wake-up, one `bytes_arrived` per `read_more`; writes of a round leave as one
/// `writev`. All members on the loop's thread. Destroying it closes the socket at once and drops
/// what is unsent; `close` sends first.
///
/// `close` shuts the sending side and waits up to `linger` for the peer's end, so that an answer
/// sent just before is not cut off by bytes that the peer was still sending. A peer that takes
/// nothing is cut off after `linger` too.
class socket_transport final : public transport,
                               public std::enable_shared_from_this<socket_transport> {
public:
  static constexpr std::chrono::milliseconds linger{500};

  /// Takes over a connected, non-blocking socket. Null when the system can't watch it; the socket
  /// is closed then.
  static std::shared_ptr<socket_transport> adopt(socket_set& set, int descriptor,
                                                 std::string peer_name);
  ~socket_transport() override;
  socket_transport(const socket_transport&) = delete;
  socket_transport& operator=(const socket_transport&) = delete;

  /// Who hears of bytes. Before anything else; the transport keeps it alive until the socket is
  /// closed.
  void bind(connection_actor owner) { owner_ = std::move(owner); }

  void write(shared_bytes bytes) override;
  void read_more() override;
  [[nodiscard]] std::size_t unsent() const override { return unsent_; }
  void close() override;
  [[nodiscard]] std::string peer_name() const override { return peer_name_; }

  [[nodiscard]] int descriptor() const { return descriptor_; }

private:
  friend class socket_set;
  socket_transport(socket_set& set, int descriptor, std::string peer_name);

  void on_events(std::uint32_t events);
  void read();
  void flush();
  [[nodiscard]] bool send_some();
  void forget_sent();
  void begin_drain();
  void drain();
  void arm_linger();
  void end(error why);
  void request_read();

  socket_set& set_;
  int descriptor_;
  std::string peer_name_;
  connection_actor owner_;

  std::vector<shared_bytes> out_;
  std::size_t out_first_ = 0;  ///< of `out_`, not wholly sent
  std::size_t out_offset_ = 0; ///< sent of that one
  std::size_t unsent_ = 0;
  std::uint64_t sent_total_ = 0;

  bool wanted_ = false;   ///< `read_more` was called and not answered yet
  bool readable_ = false; ///< there may be bytes
  bool hangup_ = false;   ///< the peer's end was seen: read until it says so
  bool writable_ = true;
  bool read_queued_ = false;
  bool flush_queued_ = false;
  bool closing_ = false;  ///< `close` was called
  bool draining_ = false; ///< everything is sent; waits for the peer's end
  std::unique_ptr<asio::steady_timer> linger_timer_;
};

} // namespace handfast::runtime
