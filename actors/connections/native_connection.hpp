#pragma once

/// NATIVE CONNECTION: one client on the native door, from its first byte to its last.
///
/// Receives       bytes_arrived, bytes_written, transport_closed (its transport), answers of all
///                actors behind it, ask_producers (producer groups), peers_changed.
/// Sends          append_messages (commit_log), append_halves and decide (half_store), everything
///                else that `native_parts.hpp` lists; one message per owner for all frames of one
///                read.
/// Owns           framing, credits, the client's identity, what is outstanding behind it.
/// Supervised by  nobody restarts it: a connection that fails ends alone.
/// Blocks?        No.
///
/// Guarantees: each request is answered once, or the connection ends; what an actor that died left
/// unanswered ends as `outcome_unknown`, or `recovering` where asking again is safe; a client that
/// sends more than its credit is not read until answers went out, and decisions and
/// acknowledgements have a credit of their own. Not guaranteed: the order of answers.

#include "actors/connections/connection_core.hpp"
#include "actors/connections/native_parts.hpp"
#include "messages/native/frame_splitter.hpp"

#include <memory>
#include <optional>

namespace handfast {

struct native_connection_state {
  static inline const char* name = "native-connection";

  using pointer = connection_core::pointer;

  explicit native_connection_state(pointer self)
      : core{self}, session{core}, produce{core, session}, transactions{core, session},
        consume{core}, browse{core}, groups{core}, admin{core}, delays{core} {}

  void begin(const shard_environment* env, std::shared_ptr<transport> wire,
             std::shared_ptr<const native_door> door);

  void on_peers(const std::shared_ptr<const shard_peers>& peers);
  void on_bytes(const shared_bytes& bytes);
  void on_closed();
  void on_tick(const tick& x);
  void on_stop();
  [[nodiscard]] status_report status() const;

  void on_topic(const topic_resolved& x);
  void on_group(const group_resolved& x);
  void on_names(const ids_named& x);
  void on_entries(const entries_fetched& x);
  void on_bodies(records_read& x);
  void on_decided(const decided& x);
  void on_listed(const transactions_listed& x);
  void on_consumer_group(const consumer_group_found& x);
  /// After each message: what was answered leaves, and the client is read on.
  void finish();
  /// Takes the request that `answer` belongs to off the table; calls `then(request)`.
  template <class Answer, class Then>
  void with_request(const Answer& answer, Then&& then) {
    if (const auto request = core.outstanding.take(answer.id)) {
      core.ended(*request);
      then(*request);
    }
    finish();
  }

  static constexpr std::chrono::seconds hello_within{10};
  /// Without a whole frame for so long, in the middle of one, while the node reads.
  static constexpr std::chrono::seconds frame_within{30};
  enum timer : std::uint32_t { hello_timer = 1, frame_timer, browse_timer };

  connection_core core;
  session_part session;
  produce_part produce;
  transaction_part transactions;
  consume_part consume;
  browse_part browse;
  group_part groups;
  admin_part admin;
  delay_part delays;
  native::frame_splitter splitter;
  bool greeted = false;
  shared_amount begun;             ///< bytes of the frame that is not complete
  std::uint64_t frames = 0;        ///< whole ones
  std::uint64_t frames_before = 0; ///< when the timer was set
  bool frame_timed = false;

private:
  void watch_frame();
  void on_frame(const native::frame& frame);
  void on_hello(const native::frame& frame);
  void dispatch(const native::frame& frame);
  template <class Frame, class Part>
  void give(const native::frame& frame, Part& part);
  void fail(const outstanding_request& request);
  void fail_all(peer_role role);
  void leave();
};

/// @param wire reads begin when the peers are known
connection_actor::behavior_type native_connection(native_connection_state::pointer self,
                                                  const shard_environment* env,
                                                  std::shared_ptr<transport> wire,
                                                  std::shared_ptr<const native_door> door);

} // namespace handfast
