#pragma once

/// Simulated connections: bytes of one direction arrive in order, after a while, in pieces of any
/// size; directions and connections overtake each other; a cut loses what is on the way, from any
/// byte on.

#include "actors/seams.hpp"
#include "tests/sim/sim_timeline.hpp"

#include <deque>
#include <memory>
#include <string>

namespace handfast::sim {

/// The client's end of a connection.
class link_client {
public:
  virtual ~link_client() = default;
  /// @param since events in the journal when these bytes left the node
  virtual void on_bytes(shared_bytes bytes, std::uint64_t since) = 0;
  /// Nothing more comes.
  virtual void on_closed() = 0;
};

/// What the node's end hears; in the real node the socket says it to the connection actor.
struct link_node {
  std::function<void(shared_bytes)> bytes_arrived;
  std::function<void(std::uint64_t)> bytes_written;
  std::function<void(error)> closed;
};

class sim_link final : public std::enable_shared_from_this<sim_link> {
public:
  sim_link(sim_timeline& time, link_client& client, std::string name)
      : time_{time}, client_{&client}, name_{std::move(name)} {}

  void attach_node(link_node node) { node_ = std::move(node); }

  // the client's side
  void send(shared_bytes bytes);
  /// The client's process ends, or it has had enough.
  void close_by_client();

  // the node's side
  /// What the connection actor gets; like a socket it closes when nobody holds it any more.
  std::shared_ptr<transport> wire();
  void write(shared_bytes bytes);
  void read_more();
  [[nodiscard]] std::size_t unsent() const { return unsent_; }
  void close();
  [[nodiscard]] const std::string& name() const { return name_; }

  // faults
  /// Both ends lose each other; of what is on the way, any first part still arrives.
  void cut();
  /// The node's process is gone.
  void node_died();

  /// Neither end has anything to expect any more.
  [[nodiscard]] bool over() const { return client_ == nullptr && node_over_; }

private:
  struct piece {
    shared_bytes bytes;
    std::uint64_t since = 0;
  };

  [[nodiscard]] sim_timeline::duration delay();
  void put_on_wire_to_node(shared_bytes bytes);
  void arrive_at_node();
  void pump_to_node();
  void kernel_takes();
  void arrive_at_client();
  void close_client_later();
  void tell_node_closed(error why);

  sim_timeline& time_;
  link_client* client_;
  std::string name_;
  link_node node_;

  std::deque<shared_bytes> to_node_;
  std::deque<shared_bytes> node_inbox_;
  sim_timeline::duration node_arrival_{0};
  bool client_closed_ = false; ///< and everything before has arrived at the node
  bool node_reads_ = false;
  bool node_over_ = false;
  bool node_closes_ = false;

  std::deque<piece> written_; ///< not yet taken by the kernel
  std::size_t unsent_ = 0;
  std::uint64_t written_total_ = 0;
  std::deque<piece> to_client_;
  sim_timeline::duration client_arrival_{0};
};

} // namespace handfast::sim
