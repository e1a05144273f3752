#pragma once

/// What the parts of one native connection share: the client's identity, what is outstanding, the
/// output buffer, credits, and known topics.

#include "actors/connections/authorizer.hpp"
#include "actors/connections/line_limiter.hpp"
#include "actors/connections/outstanding.hpp"
#include "actors/connections/shared_amount.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"
#include "messages/native/codec.hpp"

#include <tsl/robin_map.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace handfast {

struct native_connection_state;

/// What all native connections of a node have in common. Immutable but for what they count.
struct native_door {
  std::string node;         ///< its name, for people
  std::string node_version; ///< of the program
  std::uint64_t store_id = 0;
  authorizer rights;
  std::shared_ptr<line_limiter> complaints = std::make_shared<line_limiter>();
  /// Bytes of frames that clients have begun and not finished.
  shared_amount::sum_type begun = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// What a connection remembers of a topic.
struct known_topic {
  std::string name;
  std::uint32_t queues = 0;
  bool read_only = false;
  bool buffered = false;
};

/// Shared by the parts; they live in one actor, so nothing here is locked.
class connection_core {
public:
  using pointer = loop_pointer<connection_actor, native_connection_state>;

  explicit connection_core(pointer self_pointer) : self{self_pointer} {}

  // -- talking to the client

  /// Appends a frame to the output; `flush` sends it.
  template <class Frame>
  void put(const Frame& frame) {
    native::encode(out_, frame);
  }
  /// Answers a request that nobody can do. Client correlation 0 gets no answer.
  void refuse(correlation client, ec code, std::string_view detail = {});
  /// One write for all frames since the last.
  void flush();
  /// Says why, then ends the connection. What the client did wrong goes to the log, too.
  void close(ec code, std::string_view detail);
  /// One line about this client, unless there are too many of that kind.
  void complain(std::string_view what) const;
  [[nodiscard]] bool closing() const { return closing_; }
  /// The transport is gone: nothing is written any more.
  void transport_gone() { closing_ = gone_ = true; }
  [[nodiscard]] bool gone() const { return gone_; }

  /// Whether `what` is allowed; refuses the request if not.
  [[nodiscard]] bool allowed(correlation client, action what, std::string_view resource);

  // -- talking to the actors behind

  /// Sends `message`, whose `id` becomes our own correlation, and keeps what it was asked for.
  template <class Handle, class Message>
  correlation ask(const Handle& whom, Message message, outstanding_request what) {
    const auto id = outstanding.add(what);
    message.id = id;
    send(whom, std::move(message));
    return id;
  }
  template <class Handle, class Message>
  void send(const Handle& whom, Message message);

  // -- credits

  void began(const outstanding_request& what);
  void ended(const outstanding_request& what);
  /// Reads on, unless too much is in flight or unsent.
  void read_on();
  void read_came() { reading_ = false; }
  /// Whether it is up to the client that nothing comes.
  [[nodiscard]] bool reading() const { return reading_; }
  [[nodiscard]] bool output_blocked() const { return wire->unsent() > unsent_bytes_max; }

  // -- topics

  void learn(const topic_info& topic);
  /// Null for an id that this connection has not resolved.
  [[nodiscard]] const known_topic* topic(topic_id id) const;
  /// Names of topics that the client need not have resolved; empty if it is not known.
  [[nodiscard]] std::string topic_name(topic_id id) const;
  void learn_name(topic_id id, const std::string& name);
  void forget(topic_id id) { topics_.erase(id); }

  /// A number for a piece of work of several steps.
  [[nodiscard]] std::uint32_t next_job() { return ++last_job_; }

  static constexpr std::size_t unsent_bytes_max = 8 * limits::mib;
  // Or nobody would tell when there is room again.
  static_assert(unsent_bytes_max >= transport::much_unsent);
  static constexpr std::size_t topics_max = 20'000;

  pointer self;
  const shard_environment* env = nullptr;
  std::shared_ptr<const native_door> door;
  std::shared_ptr<transport> wire;
  std::shared_ptr<const shard_peers> peers; ///< null until they are told
  outstanding_table outstanding;
  principal who;
  producer_id producer;
  std::uint32_t credit = 0;

  // in flight
  std::uint32_t sends = 0;
  std::uint64_t send_bytes = 0;
  std::uint32_t decisions = 0;

private:
  native::frame_writer out_;
  tsl::robin_map<topic_id, known_topic, std::hash<topic_id>> topics_;
  tsl::robin_map<topic_id, std::string, std::hash<topic_id>> names_; ///< of topics in checks
  std::uint32_t last_job_ = 0;
  bool reading_ = false;
  bool closing_ = false;
  bool gone_ = false;
};

} // namespace handfast
