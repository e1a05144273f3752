/// Marks an order as paid in the shop's own database and tells everybody: both happen, or neither.
/// Run it beside a node; then `handfast consume orders --group mail --wait 1` prints the message.

#include "actors/client/transaction_producer.hpp"

#include <cstdio>
#include <mutex>
#include <set>

using namespace handfast::client;

/// Stands for the application's database.
class shop_database {
public:
  void mark_paid(std::string_view order) {
    std::lock_guard hold{mutex_};
    paid_.emplace(order);
  }
  bool is_paid(std::string_view order) {
    std::lock_guard hold{mutex_};
    return paid_.contains(std::string{order});
  }

private:
  std::mutex mutex_;
  std::set<std::string> paid_;
};

class payments final : public transaction_listener {
public:
  explicit payments(shop_database& db) : db_{db} {}

  /// The message is stored by now, but nobody sees it. Throwing would leave it undecided.
  local_state execute(const message& first, transaction_context&) override {
    db_.mark_paid(first.body.text());
    return local_state::commit;
  }
  /// The node asks when a producer left a transaction undecided, for example by crashing. The
  /// database knows the truth.
  local_state check(const message& first, const check_context&) override {
    return db_.is_paid(first.body.text()) ? local_state::commit : local_state::rollback;
  }

private:
  shop_database& db_;
};

/// What to do instead of running; -1 = run.
int answer_arguments(int argc, char** argv) {
  constexpr const char* usage =
      "usage: example_order_payment [HOST:PORT]\n"
      "Marks an order as paid and announces it in one transaction, at the node that listens at\n"
      "HOST:PORT (127.0.0.1:7310 without it).\n";
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--help" || first == "-h") {
    std::fputs(usage, stdout);
    return 0;
  }
  if (argc > 2 || first.starts_with('-')) {
    std::fprintf(stderr, "unexpected argument '%s'\n%s", argv[argc - 1], usage);
    return 2;
  }
  return -1;
}

int main(int argc, char** argv) {
  if (const int answered = answer_arguments(argc, argv); answered >= 0)
    return answered;
  const char* server = argc > 1 ? argv[1] : "127.0.0.1:7310";
  std::fprintf(stderr, "connecting to %s\n", server);
  shop_database db;
  // Somebody watches: say soon that nobody is there. A service would rather wait for its node.
  client node{{.servers = {server}, .connect_patience = std::chrono::seconds{1}}};
  transaction_producer shop{node, {.group = "shop"}, std::make_shared<payments>(db)};

  auto result = shop.send_in_transaction(message{"orders", "order 1"});

  // Done, refused, or unknown: never an exception, never a log line.
  return result.decided.match(
      [](const decision& d) {
        std::printf("order 1 is paid and announced: %s\n", handfast::to_string(d.id).c_str());
        return 0;
      },
      [](const handfast::error& why) {
        std::fprintf(stderr, "it did not happen: %s\n", handfast::to_string(why).c_str());
        return 1;
      },
      [server](const handfast::error& why) { // the node finds out by asking `check`
        if (why.code == handfast::ec::unreachable)
          std::fprintf(stderr, "no node answers at %s: start one with `handfast node`\n", server);
        else
          std::fprintf(stderr, "not known yet: %s\n", handfast::to_string(why).c_str());
        return 3;
      });
}
