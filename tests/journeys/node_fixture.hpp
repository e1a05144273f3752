#pragma once

/// A real node in this process, and the client library against it over loopback.

#include "actors/client/admin.hpp"
#include "actors/client/consumer.hpp"
#include "actors/client/producer.hpp"
#include "actors/client/transaction_producer.hpp"
#include "runtime/node.hpp"
#include "tests/support/own_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <thread>

namespace handfast::test {

using namespace std::chrono_literals;

/// Waits for what has no event of its own.
template <class Condition>
void eventually(Condition&& holds) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error{"it never came true"};
    std::this_thread::yield();
  }
}

class node_fixture : public testing::Test {
public:
  node_fixture() {
    settings.store.dir = folder_.path();
    settings.store.segment_size = 16 * limits::mib;
    settings.listen.native = {"127.0.0.1", 0};
    settings.listen.http = {};
    settings.log.level =
        std::getenv("HANDFAST_TEST_LOG") ? config::log_level::debug : config::log_level::off;
  }
  ~node_fixture() override {
    if (node_)
      stop();
  }

  /// A whole life of a transaction in well under a second.
  void quick_checks(std::uint32_t check_max = 3) {
    settings.transaction.checks.timeout = 50ms;
    settings.transaction.checks.check_interval = 20ms;
    settings.transaction.checks.check_max = check_max;
  }

  void start() {
    stopped_ = {};
    auto started = runtime::node::start({settings, "test", {}, [this] { stopped_.set_value(); }});
    if (!started)
      throw std::runtime_error{to_string(started.error())};
    node_ = std::move(*started);
    settings.listen.native = *node_->native(); // the same port again
  }

  stop_report stop() {
    node_->stop();
    stopped_.get_future().get();
    auto report = *node_->report();
    EXPECT_TRUE(node_->finish(10s));
    node_.reset();
    return report;
  }

  runtime::node& node() { return *node_; }
  std::uint16_t port() const { return settings.listen.native.port; }
  std::string server() const { return "127.0.0.1:" + std::to_string(port()); }

  client::connection_options to(std::string address) const {
    client::connection_options options;
    options.servers = {std::move(address)};
    options.reconnect_first = 1ms;
    options.reconnect_max = 20ms;
    options.total_timeout = 60s;
    options.connect_patience = 60s;
    return options;
  }
  std::unique_ptr<client::client> connect() const {
    return std::make_unique<client::client>(to(server()));
  }

  /// Sum of a sample over all its labels, as `handfast status` would show it.
  double sample(const std::string& name) {
    auto told = client::admin{*eyes()}.status();
    double sum = 0;
    const auto all = nlohmann::json::parse(told.value());
    for (const auto& actor : all["actors"])
      for (const auto& one : actor["samples"])
        if (one["name"] == name)
          sum += one["value"].get<double>();
    return sum;
  }
  double pending() { return sample("handfast_pending_transactions_all"); }
  transaction_state state_of(const transaction_id& id) {
    return client::admin{*eyes()}.transaction(id).value().life.state;
  }

  /// Bodies that a group gets until nothing is left; each is acknowledged.
  std::vector<std::string> bodies(const std::string& topic, const std::string& group = "mail") {
    client::subscription from{*eyes(), group, topic};
    std::vector<std::string> found;
    for (;;) {
      auto got = from.fetch(1'000, 200ms).value();
      if (got.empty())
        return found;
      std::vector<client::receipt> receipts;
      for (const auto& message : got) {
        found.emplace_back(message.content.body.text());
        receipts.push_back(message.delivery);
      }
      EXPECT_TRUE(from.acknowledge(receipts));
    }
  }

  config::settings settings;

private:
  client::client* eyes() {
    if (!eyes_)
      eyes_ = connect();
    return eyes_.get();
  }

  const test::own_folder folder_;
  std::promise<void> stopped_;
  std::unique_ptr<runtime::node> node_;
  std::unique_ptr<client::client> eyes_; ///< for looking; comes back by itself
};

/// A listener made of two functions.
class scripted_listener : public client::transaction_listener {
public:
  std::function<client::local_state(const client::message&, client::transaction_context&)>
      on_execute = [](auto&&...) { return client::local_state::commit; };
  std::function<client::local_state(const client::message&, const client::check_context&)>
      on_check = [](auto&&...) { return client::local_state::unknown; };
  std::atomic<std::size_t> checks{0};

  client::local_state execute(const client::message& first,
                              client::transaction_context& context) override {
    return on_execute(first, context);
  }
  client::local_state check(const client::message& first,
                            const client::check_context& context) override {
    ++checks;
    return on_check(first, context);
  }
};

inline std::shared_ptr<scripted_listener> answering(client::local_state what) {
  auto made = std::make_shared<scripted_listener>();
  made->on_check = [what](auto&&...) { return what; };
  return made;
}

} // namespace handfast::test
