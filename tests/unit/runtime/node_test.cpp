#include "actors/type_ids.hpp"
#include "runtime/node.hpp"
#include "tests/support/own_folder.hpp"

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <gtest/gtest.h>
#include <httplib.h>

#include <filesystem>
#include <future>
#include <gmock/gmock.h>

namespace handfast::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A real node in a folder of its own, on ports that the system chooses.
class Node : public ::testing::Test {
protected:
  Node() {
    settings_.store.dir = folder_;
    settings_.store.segment_size = 16 * limits::mib;
    settings_.listen.native = {"127.0.0.1", 0};
    settings_.listen.http = {"127.0.0.1", 0};
    settings_.log.level = config::log_level::off;
  }
  ~Node() override {
    if (node_)
      stop();
  }

  result<void> try_start() {
    stopped_ = {};
    node_options options{settings_, "test", users_, [this] { stopped_.set_value(); }};
    auto started = node::start(std::move(options));
    if (!started)
      return tl::unexpected{started.error()};
    node_ = std::move(*started);
    return {};
  }

  void start() {
    if (const auto started = try_start(); !started)
      throw std::runtime_error{to_string(started.error())};
  }

  stop_report wait_for_end() {
    stopped_.get_future().get();
    auto report = *node_->report();
    EXPECT_TRUE(node_->finish(std::chrono::seconds{5}));
    node_.reset();
    return report;
  }

  stop_report stop() {
    node_->stop();
    return wait_for_end();
  }

  using known_peers = std::shared_ptr<const shard_peers>;

  /// Who the actors are now, as a connection is told; null if the connection was ended instead.
  known_peers ask_peers() {
    auto told = std::make_shared<std::promise<known_peers>>();
    auto once = std::make_shared<std::once_flag>();
    const auto tell = [told, once](known_peers what) {
      std::call_once(*once, [&] { told->set_value(std::move(what)); });
    };
    auto listener = node_->system().spawn([tell](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler(caf::drop);
      return {[tell, self](const peers_changed& x) {
        tell(x.peers);
        self->quit();
      }};
    });
    listener->attach_functor([tell] { tell(nullptr); });
    caf::anon_send(node_->supervisor(),
                   adopt_connection{caf::actor_cast<connection_actor>(listener)});
    return told->get_future().get();
  }

  std::string get(const char* path) {
    const auto answer = httplib::Client{"127.0.0.1", node_->http()->port}.Get(path);
    return answer ? answer->body : "no answer";
  }

  const test::own_folder own_;
  const fs::path folder_ = own_.path() / "store";
  config::settings settings_;
  user_actors users_;
  std::promise<void> stopped_;
  std::unique_ptr<node> node_;
};

TEST_F(Node, StartsServesAndStopsInOrder) {
  start();
  EXPECT_EQ(get("/readyz"), "ready\n");
  EXPECT_THAT(get("/metrics"), HasSubstr("handfast_actors{role=\"half_store\"} 1"));
  const auto report = stop();
  EXPECT_EQ(report.failure.code, ec::ok);
  EXPECT_THAT(report.unfinished, ::testing::IsEmpty());
}

TEST_F(Node, ReplaysNothingAfterAnOrderedStop) {
  start();
  EXPECT_TRUE(node_->recovery().created);
  stop();
  start();
  EXPECT_FALSE(node_->recovery().created);
  EXPECT_EQ(node_->recovery().records, 0u) << node_->recovery().text();
}

TEST_F(Node, RefusesAFolderThatAnotherNodeHolds) {
  start();
  auto other = node::start({settings_, "test", {}, {}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ec::directory_in_use);
  EXPECT_THAT(other.error().detail, HasSubstr(folder_.string()));
}

TEST_F(Node, NamesABusyPortAndUnlocksTheFolderAgain) {
  start();
  auto settings = settings_;
  settings.store.dir = folder_.string() + "-other";
  settings.listen.native = *node_->native();
  auto other = node::start({settings, "test", {}, {}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ec::address_in_use);
  EXPECT_THAT(other.error().detail, HasSubstr("`--set listen.native=HOST:PORT`"));
  fs::remove_all(settings.store.dir);
}

TEST_F(Node, RunsWithBothDoorsOff) {
  settings_.listen.native = {};
  settings_.listen.http = {};
  start();
  EXPECT_FALSE(node_->native());
  EXPECT_FALSE(node_->http());
}

TEST_F(Node, RecoversTheShardWhenItsLogActorEnds) {
  start();
  const auto before = ask_peers();
  caf::anon_send_exit(before->commit_log.actor, caf::exit_reason::kill);
  auto after = ask_peers();
  while (!after || after->commit_log.life == before->commit_log.life)
    after = ask_peers();
  EXPECT_GT(after->half_store.life, before->half_store.life);
  EXPECT_EQ(get("/readyz"), "ready\n");
}

TEST_F(Node, StopsWithTheReasonWhenTheShardFails) {
  start();
  caf::anon_send(node_->supervisor(), shard_failed{{ec::io_error, "fdatasync: no such luck"}});
  const auto report = wait_for_end();
  EXPECT_EQ(report.failure.code, ec::io_error);
}

TEST_F(Node, StopsInTimeAlthoughAListenerNeverReturns) {
  std::promise<void> release;
  users_.check_listener = [&](caf::actor_system& system) {
    auto stuck = system.spawn<caf::detached>([&](caf::event_based_actor*) -> caf::behavior {
      release.get_future().wait();
      return {[](const checks_exhausted&) {}};
    });
    return caf::actor_cast<check_listener_actor>(stuck);
  };
  settings_.shutdown.timeout = std::chrono::milliseconds{500};
  start();
  node_->stop();
  stopped_.get_future().get();
  EXPECT_THAT(node_->report()->unfinished,
              ::testing::Contains("check_listener did not end in time"));
  EXPECT_FALSE(node_->finish(std::chrono::milliseconds{10})) << "the process leaves without it";
  release.set_value();
  EXPECT_TRUE(node_->finish(std::chrono::seconds{5}));
  node_.reset();
}

} // namespace
} // namespace handfast::runtime
