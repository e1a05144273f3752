#pragma once

/// Where checks of one producer group are answered by the application. Internal.

#include "actors/client/session.hpp"
#include "actors/client/transaction_listener.hpp"
#include "actors/client/worker_pool.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace handfast::client {

/// The listeners of one group, by topic, and the threads that ask them. Thread-safe.
class check_desk final : public group_member {
public:
  check_desk(std::weak_ptr<session> via, std::string group, std::vector<std::string> topics,
             std::shared_ptr<transaction_listener> general, std::size_t threads);

  void set_listener(std::string topic, std::shared_ptr<transaction_listener> listener);
  /// The one for `topic`, else the general one, which may be null.
  [[nodiscard]] std::shared_ptr<transaction_listener> listener_of(const std::string& topic) const;

  void on_check(const native::check_item& item, const std::string& topic) override;
  [[nodiscard]] bool can_answer(const std::string& topic) const override {
    return listener_of(topic) != nullptr;
  }
  [[nodiscard]] std::vector<std::string> topics() const override;
  /// Waits for running checks; later ones are not answered.
  void stop() { threads_.stop(); }

private:
  void ask(const native::check_item& item, const std::string& topic);

  std::weak_ptr<session> session_;
  std::string group_;
  mutable std::mutex mutex_;
  std::vector<std::string> topics_;
  std::shared_ptr<transaction_listener> general_;
  std::map<std::string, std::shared_ptr<transaction_listener>> by_topic_;
  worker_pool threads_;
};

/// How a local state is said to the node.
outcome outcome_of(local_state state);

} // namespace handfast::client
