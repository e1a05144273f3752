#pragma once

/// The engine of a consumer that is a member of a group. Internal.

#include "actors/client/backoff.hpp"
#include "actors/client/consumer.hpp"
#include "actors/client/deliveries.hpp"
#include "actors/client/session.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

namespace handfast::client {

/// Subscribes to its topics, hands what comes to its threads, and acknowledges what they say: one
/// acknowledgement of a topic is under way at a time, and what is said meanwhile goes with the
/// next one. Thread-safe.
class push_consumer : public std::enable_shared_from_this<push_consumer> {
public:
  push_consumer(std::shared_ptr<session> via, consumer_options options,
                consumer::handler on_message);

  void start();
  void stop();
  [[nodiscard]] error last_error() const;

private:
  /// Messages with the same one are handled one after another.
  using lane = std::tuple<queue_key, bool, std::uint32_t>;
  struct source;
  struct task {
    std::shared_ptr<source> from;
    received_message message;
    std::uint64_t stream = 0; ///< that it came by
  };
  struct result {
    std::shared_ptr<source> from;
    settled what;
    std::uint64_t stream = 0;
    lane where;
  };
  /// One topic. Guarded by `mutex_`, but for what never changes.
  struct source final : delivery_stream, std::enable_shared_from_this<source> {
    source(std::weak_ptr<push_consumer> whose, std::string name);
    void on_delivered(native::delivered&& what) override;
    void on_end(const error& why) override;

    const std::weak_ptr<push_consumer> owner;
    const std::string topic;
    std::uint64_t stream = 0; ///< of the subscription; 0 = none
    group_id group;
    bool asking = false;
    bool was_missing = false; ///< the topic: all that it will hold came after that
    clock::time_point retry_at{};
    backoff pause;
    std::vector<settled> said; ///< and not sent yet
    std::uint32_t credit = 0;  ///< to give back with them
    bool sending = false;
  };
  using requests = std::vector<request>;

  void keep();
  void work();
  void run(std::vector<task>& mine);
  consumed handle(const received_message& message);
  void report(std::vector<result>& results);
  void take(const std::shared_ptr<source>& from, native::delivered&& what);
  void lost(source& from, const error& why);
  request subscribe_request(const std::shared_ptr<source>& to);
  void subscribed(source& to, const reply& got);
  void add_acknowledgement(const std::shared_ptr<source>& of, requests& into);
  void acknowledged(const std::shared_ptr<source>& of, const reply& got);
  void give_back_all();
  void unsubscribe_all();
  void submit(requests& all);
  void note(const error& why);
  [[nodiscard]] lane lane_of(const received_message& message) const;
  [[nodiscard]] bool all_said() const;

  const std::shared_ptr<session> via_;
  const consumer_options options_;
  const consumer::handler on_message_;

  mutable std::mutex mutex_;
  std::condition_variable work_;    ///< something is ready
  std::condition_variable changed_; ///< a subscription or an acknowledgement
  std::atomic<bool> stopping_{false};
  error problem_;
  std::vector<std::shared_ptr<source>> sources_;
  std::deque<task> ready_;
  std::map<lane, std::deque<task>> lanes_; ///< ordered: those that are busy, and what waits there
  std::vector<std::thread> threads_;
};

} // namespace handfast::client
