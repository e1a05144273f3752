#pragma once

/// The engine behind a client: one connection, everything under way on it, and its repair.
/// Internal.

#include "actors/client/backoff.hpp"
#include "actors/client/link.hpp"
#include "actors/client/options.hpp"
#include "actors/client/request.hpp"
#include "messages/native/frame_splitter.hpp"

#include <asio/executor_work_guard.hpp>
#include <asio/steady_timer.hpp>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

namespace handfast::client {

/// One member of a producer group, as the session sees it. Calls come from the I/O thread and must
/// not block.
class group_member {
public:
  virtual ~group_member() = default;
  /// A check that the library can't answer by itself.
  virtual void on_check(const native::check_item& item, const std::string& topic) = 0;
  /// Whether somebody here knows what became of local transactions with messages to `topic`.
  virtual bool can_answer(const std::string& topic) const = 0;
  /// Topics to declare when joining.
  virtual std::vector<std::string> topics() const = 0;
};

/// All state is confined to the I/O thread, apart from the inbox. Public functions are thread-safe.
///
/// A request lives in `requests_` from its acceptance to its answer, and moves: waiting for a name
/// -> ready -> in flight -> answered; back to ready when the connection is lost, delayed when the
/// node says "later". Every request ends: by its answer, by a refusal, or by `give_up_at`.
class session final : private link_events {
public:
  explicit session(connection_options options);
  ~session();

  /// `what.done` is called exactly once. May call it on this thread when the session is full or
  /// stopped.
  void submit(request what);
  /// Ends everything; then every request is refused. Not from the I/O thread.
  void stop();

  /// Keeps this client a member of `group` until `remove_member`. A later member of the same group
  /// replaces the earlier.
  void set_member(std::string group, std::shared_ptr<group_member> member);
  void remove_member(std::string group, const group_member* member);
  /// Tells the node anew what the member declares.
  void declare_again(std::string group);
  /// Calls `done` as soon as the node knows the member.
  void when_member(std::string group, std::function<void(error)> done);

  /// The local transaction runs here until `clear_running`. From the I/O thread (in a completion)
  /// it takes effect at once.
  void set_running(const std::string& group, const transaction_id& id);
  void clear_running(std::string group, transaction_id id);

  /// The subscription with this correlation is over; its stream hears nothing more.
  void drop_stream(correlation id);

  std::uint64_t random();
  sequence_no next_sequence();
  const connection_options& options() const { return options_; }

private:
  struct topic_entry {
    topic_id id; ///< 0 = not known
    bool asking = false;
    std::vector<std::uint64_t> waiting;
  };
  struct group_entry {
    group_id id;
    bool joined = false; ///< on this connection
    bool joining = false;
    std::uint64_t token = 0;
    std::shared_ptr<group_member> member;
    std::set<transaction_id> running;
    std::vector<std::uint64_t> waiting;
    struct waiter {
      clock::time_point since;
      std::function<void(error)> done;
    };
    std::vector<waiter> when_joined;
  };

  // link_events
  void on_open() override;
  void on_chunk(shared_bytes chunk) override;
  void on_written() override;
  void on_closed(std::string why) override;

  // connection (session.cpp)
  void post(std::function<void()> task);
  void connect_next();
  void connection_lost(const error& why);
  void schedule_reconnect();
  void on_welcome(const native::frame& f);
  void arm_tick();
  void tick();
  void shut_down();

  // requests (session_requests.cpp)
  void drain_inbox();
  void accept(request&& what);
  void place(std::uint64_t id, request& r);
  void place_all(std::vector<std::uint64_t>& ids);
  void pump();
  bool take_ready(std::deque<std::uint64_t>& queue);
  void write_request(std::uint64_t id, request& r);
  void flush_batches();
  void answer(std::uint64_t id, reply what);
  bool try_again(std::uint64_t id, request& r, const error& why);
  void complete(std::uint64_t id, reply what);
  void mark_maybe_done(request& r);
  void no_longer_in_flight(request& r);
  void check_time(std::uint64_t id, request& r, clock::time_point now);
  void fail_all(const error& why);

  // names (session_names.cpp)
  void ask_topic(const std::string& name, bool create);
  void topic_known(const std::string& name, const native::topic_resolved& answer);
  void topic_failed(const std::string& name, const error& why, bool create);
  void fail_waiting(std::vector<std::uint64_t>& ids, const error& why);
  void join_group(const std::string& name, group_entry& entry);
  void join_later(const std::string& name);
  void group_known(const std::string& name, const reply& answer);
  void announce_running(group_entry& entry);
  void fail_members(const error& why, clock::time_point waiting_since);

  // frames from the node (session_frames.cpp)
  void on_frame(const native::frame& f);
  void on_sent(const native::frame& f);
  void on_half_stored(const native::frame& f);
  void on_decided(const native::frame& f);
  void on_check(const native::frame& f);
  bool answer_check(const native::check_item& item, const std::string& topic);
  void on_delivered(const native::frame& f);
  bool end_stream(correlation id, const error& why);
  void end_streams(const error& why);
  void on_single_answer(const native::frame& f);
  void protocol_error(const error& why);

  const connection_options options_;
  std::mutex random_mutex_;
  std::atomic<std::uint64_t> sequence_{1};

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  link link_{io_, *this};
  asio::steady_timer tick_{io_};
  asio::steady_timer reconnect_{io_};
  bool tick_armed_ = false;

  // inbox
  std::mutex inbox_mutex_;
  std::vector<request> inbox_;
  bool wake_pending_ = false;
  bool stopped_ = false;
  std::atomic<std::size_t> accepted_{0};

  // connection
  producer_id producer_;
  bool welcomed_ = false;
  bool connecting_ = false;
  bool shut_down_ = false;
  std::size_t next_server_ = 0;
  std::size_t failed_in_a_row_ = 0;
  clock::time_point handshake_until_{};
  clock::time_point last_received_{};
  error last_problem_;
  std::uint64_t store_id_ = 0;
  native::welcome terms_;
  backoff pause_;
  native::frame_splitter splitter_;

  // requests
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, request> requests_;
  std::deque<std::uint64_t> ready_;
  std::deque<std::uint64_t> ready_decisions_;
  std::uint32_t in_flight_ = 0;
  std::size_t in_flight_bytes_ = 0;
  std::size_t repeated_halves_ =
      0; ///< in flight again after a lost connection: their ids are not known here yet

  std::unordered_map<std::uint64_t, std::shared_ptr<delivery_stream>> streams_; ///< by correlation

  // names
  std::map<std::string, topic_entry> topics_;
  std::map<std::string, group_entry> groups_;

  // reused from batch to batch
  native::send sends_;
  native::send_half halves_;
  native::decide decides_;
  native::check_received receipts_;
  std::size_t batch_bytes_ = 0;
  native::sent sent_;
  native::half_stored half_stored_;
  native::decided decided_;

  std::thread thread_;
};

} // namespace handfast::client
