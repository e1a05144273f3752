#pragma once

/// Listens on one address and makes a connection of each client.

#include "actors/roles.hpp"
#include "config/address.hpp"
#include "runtime/socket_set.hpp"

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <string>

namespace handfast::runtime {

/// Spawns the actor of one connection on the loop.
using connection_factory = std::function<connection_actor(std::shared_ptr<transport>)>;

struct acceptor_options {
  config::address where;
  std::string key; ///< of the configuration, for messages: `listen.native`
  std::size_t connections_max =
      0; ///< of the whole set; clients beyond it wait in the kernel's queue
};

/// Accepting pauses while `connections_max` are open, and while the process is out of descriptors:
/// then it looks again when a connection ends and every `retry`. All but `open` and `where` on the
/// loop's thread.
class acceptor {
public:
  static constexpr std::chrono::milliseconds retry{200};

  /// Binds and listens; clients are taken from `start` on. `ec::config_invalid` names the address,
  /// the key and the remedy.
  static result<std::unique_ptr<acceptor>> open(socket_set& set, acceptor_options options,
                                                connection_factory make);

  /// @param supervisor is told about each connection
  void start(node_supervisor_actor supervisor);
  /// Takes no more clients; those that wait are refused by the system. Connections stay.
  void close();

  /// Where it really listens: the port that the system chose.
  [[nodiscard]] const config::address& where() const { return where_; }
  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }
  /// Times that it had to pause.
  [[nodiscard]] std::uint64_t pauses() const { return pauses_; }

private:
  acceptor(socket_set& set, acceptor_options options, connection_factory make);
  void wait();
  void accept_some();
  void pause(bool retry_later);
  void resume();
  void welcome(int descriptor, std::string peer_name);

  socket_set& set_;
  acceptor_options options_;
  connection_factory make_;
  asio::ip::tcp::acceptor socket_;
  asio::steady_timer retry_timer_;
  config::address where_;
  node_supervisor_actor supervisor_;
  bool paused_ = false;
  std::uint64_t accepted_ = 0;
  std::uint64_t pauses_ = 0;
};

} // namespace handfast::runtime
