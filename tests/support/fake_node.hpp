#pragma once

/// A node in this process for tests of clients: it speaks the native protocol over loopback, keeps
/// everything in memory, and misbehaves on demand.

#include "messages/native/codec.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace handfast::native::test {

/// What it does with the next requests of one kind instead of its duty.
enum class misbehaviour : std::uint8_t {
  drop_request, ///< neither does it nor answers
  drop_answer,  ///< does it, and does not answer
  close_before, ///< ends the connection without doing it
  close_after,  ///< does it, and ends the connection instead of answering
};

/// Thread-safe. Everything it received can be read at any time; `eventually` waits for it.
class fake_node {
public:
  struct settings {
    std::uint32_t credit = 1'000;
    std::uint64_t store_id = 4'711;
    std::uint32_t body_max = 1'000'000;
  };

  fake_node() : fake_node(settings{}) {}
  explicit fake_node(settings how);
  ~fake_node();

  /// `127.0.0.1:port`.
  [[nodiscard]] std::string server() const;

  /// The next `count` frames of `kind` are treated like this.
  void misbehave(native::frame_kind kind, misbehaviour how, int count = 1);
  /// The next `count` items or frames of `kind` are refused.
  void refuse(native::frame_kind kind, ec code, std::string detail, int count = 1);
  /// Ends all connections.
  void disconnect_all();
  /// Pushes a check about a stored half to every connection.
  void push_check(const transaction_id& id, std::uint16_t attempt = 1,
                  std::uint16_t attempts_max = 15);

  /// Waits, at most five seconds, until `condition` holds; it is looked at under the lock after
  /// each frame.
  [[nodiscard]] bool eventually(std::function<bool()> condition);

  // What came in; read it inside `eventually` or when the client is quiet.
  struct stored_half {
    native::send_item item;
    outcome recorded = outcome::pending;
    int messages = 1;
    std::vector<native::send_item> joined;
  };
  std::vector<native::hello> hellos;
  std::vector<native::join_producer_group> joins;
  std::vector<native::send_item> sends;     ///< each attempt
  std::vector<native::send_item> halves;    ///< each attempt
  std::vector<native::decide_item> decides; ///< each attempt
  std::vector<native::transaction_ref> running;
  std::vector<native::transaction_ref> receipts;
  std::vector<native::acknowledge_item> acknowledged;
  std::vector<native::subscribe> subscriptions;
  std::vector<native::unsubscribe> unsubscribed;
  std::vector<native::fetch> fetches;
  std::vector<native::read_queues> queue_reads;
  std::vector<native::reset_progress> resets;
  std::uint32_t pushed_unsettled_max = 0; ///< messages that were pushed and not given back, at most
  std::uint32_t lease_ms = 30'000;        ///< of what it delivers
  std::vector<native::send_item> visible; ///< stored plain messages, each once
  std::vector<native::delayed_item> delayed; ///< never becomes visible; may be set before
  std::map<transaction_id, stored_half> transactions;
  int send_frames = 0;
  std::size_t most_in_one_frame = 0;
  int goodbyes = 0;
  int leaves = 0;

private:
  struct impl;
  friend struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace handfast::native::test
