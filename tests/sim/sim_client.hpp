#pragma once

/// What all simulated clients share: a connection that comes back, the handshake, frames in and
/// out, and what is unanswered.

#include "messages/native/codec.hpp"
#include "messages/native/frame_splitter.hpp"
#include "tests/sim/sim_network.hpp"

#include <map>
#include <memory>
#include <string>

namespace handfast::sim {

/// Where clients knock.
class sim_door {
public:
  virtual ~sim_door() = default;
  /// A connection, or null while nobody listens.
  virtual std::shared_ptr<sim_link> connect(link_client& client, const std::string& name) = 0;
};

/// Which topics there are; clients of one run share it.
struct topic_plan {
  std::string name;
  std::uint32_t queues = 1;
};

class sim_client : public link_client {
public:
  sim_client(sim_timeline& time, sim_door& door, std::string name)
      : time_{time}, door_{door}, name_{std::move(name)} {}

  /// Makes the first connection, and from then on a new one whenever one is lost.
  void start();
  /// Ends the session without a word, as a process that dies; a new one follows.
  void drop();
  /// From now on finish what is begun, begin nothing new.
  virtual void wind_up() { winding_up_ = true; }
  /// Nothing left to finish.
  [[nodiscard]] virtual bool finished() const { return unanswered_.empty(); }
  /// A request that the node has had for so long on the connection of now; 0 without one.
  [[nodiscard]] std::uint64_t oldest_unanswered_ms() const;
  /// What it still waits for, for people.
  [[nodiscard]] virtual std::string waiting_for() const;
  [[nodiscard]] const std::string& name() const { return name_; }

  void on_bytes(shared_bytes bytes, std::uint64_t since) final;
  void on_closed() final;

protected:
  /// The producer id for the handshake.
  [[nodiscard]] virtual producer_id producer() const { return {}; }
  /// The handshake is done.
  virtual void on_welcome() = 0;
  /// The connection is lost, with all that was unanswered on it.
  virtual void on_lost() = 0;
  virtual void on_frame(const native::frame& from) = 0;

  [[nodiscard]] bool connected() const { return welcomed_; }
  /// Events in the journal when the frame that is being handled left the node.
  [[nodiscard]] std::uint64_t since() const { return frame_since_; }
  correlation next_id() { return correlation{++last_id_}; }

  /// Sends one frame at once.
  template <class Frame>
  void send(const Frame& frame) {
    native::encode(writer_, frame);
    flush();
  }
  /// `id` is a request that must be answered.
  correlation expect(correlation id) {
    unanswered_[id.value] = time_.now_ms();
    return id;
  }
  /// Returns whether it was expected.
  bool answered(correlation id) { return unanswered_.erase(id.value) != 0; }
  /// Calls `what` after `delay` if the connection of now is still the one.
  void later(std::chrono::milliseconds delay, std::function<void()> what);
  void witness(proof::event e) {
    e.who = name_;
    time_.witness(std::move(e));
  }

  template <class Frame>
  static bool read(const native::frame& from, Frame& into) {
    return from.header.kind == Frame::kind && native::decode(from, into).has_value();
  }

  sim_timeline& time_;
  bool winding_up_ = false;

private:
  void knock();
  void flush();
  void lost();

  sim_door& door_;
  std::string name_;
  std::shared_ptr<sim_link> link_;
  std::uint64_t session_ = 0; ///< counts connections
  bool welcomed_ = false;
  native::frame_splitter splitter_;
  native::frame_writer writer_;
  std::uint64_t frame_since_ = 0;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::uint64_t> unanswered_; ///< since when
};

} // namespace handfast::sim
