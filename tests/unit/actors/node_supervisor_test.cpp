#include "actors/node_supervisor.hpp"
#include "tests/support/actor_fixture.hpp"

#include <gmock/gmock.h>
#include <map>

namespace handfast {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

class NodeSupervisor : public test::actor_fixture {
protected:
  /// A tree of probes: each answers status and, unless told otherwise, `stop`.
  struct actor_made {
    std::shared_ptr<test::probe> probe;
    incarnation life;
    bool first = false;
  };

  NodeSupervisor() { settings.shutdown.timeout = 5s; }

  void start() {
    auto from = std::make_shared<supervisor_start>();
    from->roster = roster();
    from->hooks.close_intake = [this] { order_.push_back("intake"); };
    from->hooks.rebuild = [this]() -> result<shard_roster> {
      ++rebuilt_;
      if (rebuild_fails_)
        return fail(ec::corrupt, "positions 10 to 20 are lost");
      return roster();
    };
    from->hooks.finished = [this](const stop_report& x) { finished_ = x; };
    from->first_life = incarnation{1'000};
    supervisor_ = spawn(node_supervisor, &environment, from);
    run();
  }

  template <class Handle>
  shard_roster::factory<Handle> factory(std::string name) {
    return [this, name](incarnation life, bool first) { return make<Handle>(name, life, first); };
  }

  template <class Handle>
  Handle make(const std::string& name, incarnation life, bool first) {
    auto probe = make_probe();
    probe->on<status_request>([name](const status_request&) {
      return status_report{name, {}, {}};
    });
    probe->on<stop>([this, name, raw = probe.get()](const stop&) {
      order_.push_back(name);
      if (!silent_.contains(name))
        caf::actor_cast<caf::actor>(raw->sender())
            ->eq_impl(caf::make_message_id(), caf::actor_cast<caf::strong_actor_ptr>(raw->handle()),
                      nullptr, stopped{name, unfinished_[name]});
    });
    made_[name].push_back({probe, life, first});
    return probe->as<Handle>();
  }

  shard_roster roster() {
    shard_roster all;
    all.log_reader = factory<log_reader_actor>("log_reader");
    all.segment_keeper = factory<segment_keeper_actor>("segment_keeper");
    all.checkpointer = factory<checkpointer_actor>("checkpointer");
    all.commit_log = factory<commit_log_actor>("commit_log");
    all.op_store = factory<op_store_actor>("op_store");
    all.half_store = factory<half_store_actor>("half_store");
    all.check_scheduler = factory<check_scheduler_actor>("check_scheduler");
    all.delay_scheduler = factory<delay_scheduler_actor>("delay_scheduler");
    all.topic_registry = factory<topic_registry_actor>("topic_registry");
    all.check_listener = [this] { return make<check_listener_actor>("user_listener", {}, true); };
    all.default_check_listener = [this] {
      return make<check_listener_actor>("default_listener", {}, true);
    };
    all.queue = [this](queue_key key, incarnation life, bool first) {
      return make<queue_actor>("queue " + std::to_string(key.queue.value), life, first);
    };
    all.consumer_group = [this](group_id group, incarnation life, bool first) {
      return make<consumer_group_actor>("consumers " + std::to_string(group.value), life, first);
    };
    all.producer_group = [this](group_id group, incarnation life, bool first) {
      return make<producer_group_actor>("producers " + std::to_string(group.value), life, first);
    };
    all.recovered_groups = recovered_groups_;
    return all;
  }

  actor_made& newest(const std::string& name) { return made_[name].back(); }
  std::size_t times(const std::string& name) { return made_[name].size(); }
  void crash(const std::string& name) {
    kill(newest(name).probe->handle());
    run();
  }

  /// A client's connection that the supervisor knows.
  std::shared_ptr<test::probe> connection() {
    auto made = make_probe();
    send(supervisor_, adopt_connection{made->as<connection_actor>()});
    run();
    return made;
  }

  void have_topic(std::uint32_t queues) {
    send(supervisor_, topic_present{topic_id{16}, queues});
    run();
  }

  static queue_key queue_no_(std::uint16_t n) { return {topic_id{16}, queue_no{n}}; }

  node_supervisor_actor supervisor_;
  std::map<std::string, std::vector<actor_made>> made_;
  std::vector<std::string> order_;
  std::set<std::string> silent_;
  std::map<std::string, std::string> unfinished_;
  std::vector<group_id> recovered_groups_;
  std::optional<stop_report> finished_;
  int rebuilt_ = 0;
  bool rebuild_fails_ = false;
};

// -- start ------------------------------------------------------------------------

TEST_F(NodeSupervisor, StartsEveryRoleAndTellsEachWhoTheOthersAre) {
  start();
  for (const auto* name : {"log_reader", "segment_keeper", "checkpointer", "commit_log", "op_store",
                           "half_store", "check_scheduler", "delay_scheduler", "topic_registry"}) {
    ASSERT_EQ(times(name), 1u) << name;
    EXPECT_TRUE(newest(name).first) << name;
    const auto peers = newest(name).probe->take_last<peers_changed>().peers;
    ASSERT_TRUE(peers) << name;
    EXPECT_EQ(peers->half_store.actor, newest("half_store").probe->as<half_store_actor>());
    EXPECT_EQ(peers->supervisor.actor, supervisor_);
  }
}

TEST_F(NodeSupervisor, GivesEachAnIncarnationOfItsOwnFromTheGivenOneOn) {
  start();
  EXPECT_GE(newest("log_reader").life.value, 1'000u);
  EXPECT_LT(newest("log_reader").life, newest("commit_log").life) << "bottom-up";
}

TEST_F(NodeSupervisor, StartsGroupsThatRecoveryFoundAtOnce) {
  recovered_groups_ = {group_id{7}};
  start();
  EXPECT_EQ(times("consumers 7"), 1u);
  EXPECT_EQ(newest("consumers 7").probe->count<peers_changed>(), 1u);
}

TEST_F(NodeSupervisor, TellsANewConnectionAboutThePeers) {
  start();
  EXPECT_TRUE(connection()->take_last<peers_changed>().peers);
}

// -- restart -----------------------------------------------------------------------

TEST_F(NodeSupervisor, RestartsAMemberWithAHigherIncarnationAndAnEmptyState) {
  start();
  const auto before = newest("half_store").life;
  crash("half_store");
  ASSERT_EQ(times("half_store"), 2u);
  EXPECT_GT(newest("half_store").life, before);
  EXPECT_FALSE(newest("half_store").first);
}

TEST_F(NodeSupervisor, TellsMembersAndConnectionsAboutTheNewHandle) {
  start();
  auto client = connection();
  client->forget_all();
  crash("op_store");
  for (const auto& heard :
       {client, newest("half_store").probe, newest("commit_log").probe, newest("op_store").probe}) {
    const auto peers = heard->take_last<peers_changed>().peers;
    ASSERT_TRUE(peers);
    EXPECT_EQ(peers->op_store.actor, newest("op_store").probe->as<op_store_actor>());
    EXPECT_EQ(peers->op_store.life, newest("op_store").life);
  }
}

TEST_F(NodeSupervisor, StopsTheShardWhenACriticalRoleFailsTooOften) {
  start();
  for (int i = 0; i < 6; ++i)
    crash("half_store");
  ASSERT_TRUE(finished_);
  EXPECT_EQ(finished_->failure.code, ec::internal);
  EXPECT_THAT(finished_->failure.detail, HasSubstr("half_store"));
  EXPECT_EQ(times("half_store"), 6u) << "five restarts";
}

TEST_F(NodeSupervisor, ForgivesFailuresThatLieFarApart) {
  start();
  for (int i = 0; i < 20; ++i) {
    crash("half_store");
    advance(7s, 1s);
  }
  EXPECT_FALSE(finished_);
  EXPECT_EQ(times("half_store"), 21u);
}

TEST_F(NodeSupervisor, SetsAQueueAsideThatFailsTooOftenAndGoesOn) {
  start();
  have_topic(2);
  auto client = connection();
  send_as(client, supervisor_, find_queue{queue_no_(1)});
  run();
  for (int i = 0; i < 6; ++i)
    crash("queue 1");
  EXPECT_FALSE(finished_);
  EXPECT_EQ(times("queue 1"), 6u);
  EXPECT_FALSE(client->take_last<queue_found>().actor) << "askers learn that it is gone";
  const auto status = ask<node_status>(supervisor_, status_request{});
  ASSERT_EQ(status.actors.front().quarantined.size(), 1u);
  EXPECT_THAT(status.actors.front().quarantined.front().what, HasSubstr("queue 16/1"));
}

TEST_F(NodeSupervisor, PutsTheDefaultListenerInThePlaceOfOneThatFailsTooOften) {
  start();
  for (int i = 0; i < 6; ++i)
    crash("user_listener");
  EXPECT_EQ(times("default_listener"), 1u);
  const auto peers = newest("half_store").probe->take_last<peers_changed>().peers;
  EXPECT_EQ(peers->check_listener.actor,
            newest("default_listener").probe->as<check_listener_actor>());
}

// -- finding -------------------------------------------------------------------------

TEST_F(NodeSupervisor, StartsAGroupAtItsFirstUseAndGivesTheSameOneAfterwards) {
  start();
  auto one = connection();
  auto other = connection();
  send_as(one, supervisor_, find_consumer_group{group_id{3}});
  send_as(other, supervisor_, find_consumer_group{group_id{3}});
  run();
  EXPECT_EQ(times("consumers 3"), 1u);
  EXPECT_EQ(one->take_last<consumer_group_found>().actor,
            other->take_last<consumer_group_found>().actor);
  EXPECT_TRUE(newest("consumers 3").first);
}

TEST_F(NodeSupervisor, TellsEveryAskerAgainAfterARestart) {
  start();
  auto client = connection();
  send_as(client, supervisor_, find_producer_group{group_id{3}});
  run();
  const auto before = client->take_last<producer_group_found>();
  crash("producers 3");
  const auto after = client->take_last<producer_group_found>();
  EXPECT_EQ(after.actor, newest("producers 3").probe->as<producer_group_actor>());
  EXPECT_GT(after.life, before.life);
}

TEST_F(NodeSupervisor, StartsAllQueuesOfATopicInSteps) {
  start();
  send(supervisor_, topic_present{topic_id{16}, 500});
  coordinator.try_run_once(); // the message itself
  coordinator.try_run_once(); // one step
  EXPECT_LT(made_.size(), 200u);
  run();
  EXPECT_EQ(times("queue 499"), 1u);
  EXPECT_EQ(newest("queue 499").probe->count<peers_changed>(), 1u);
}

TEST_F(NodeSupervisor, SaysThatThereIsNoSuchQueue) {
  start();
  have_topic(4);
  auto client = connection();
  send_as(client, supervisor_, find_queue{queue_no_(4)});
  run();
  const auto answer = client->take_last<queue_found>();
  EXPECT_EQ(answer.queue, queue_no_(4));
  EXPECT_FALSE(answer.actor);
}

TEST_F(NodeSupervisor, EndsTheQueuesOfADeletedTopic) {
  start();
  have_topic(2);
  auto client = connection();
  send_as(client, supervisor_, find_queue{queue_no_(0)});
  run();
  ASSERT_TRUE(client->take_last<queue_found>().actor);
  have_topic(0);
  EXPECT_FALSE(alive(newest("queue 0").probe->handle()));
  EXPECT_FALSE(client->take_last<queue_found>().actor);
  EXPECT_EQ(times("queue 0"), 1u) << "not restarted";
}

// -- the shard as a unit ----------------------------------------------------------------

TEST_F(NodeSupervisor, RebuildsTheShardAfterTheEndOfCommitLog) {
  start();
  have_topic(1);
  auto client = connection();
  const auto life = newest("half_store").life;
  crash("commit_log");
  EXPECT_EQ(rebuilt_, 1);
  EXPECT_FALSE(alive(client->handle())) << "its requests in flight are unknown";
  EXPECT_EQ(times("half_store"), 2u);
  EXPECT_TRUE(newest("half_store").first) << "from what recovery folded";
  EXPECT_GT(newest("half_store").life, life);
  EXPECT_EQ(times("queue 0"), 1u) << "until the registry says again which topics there are";
  EXPECT_TRUE(connection()->take_last<peers_changed>().peers);
}

TEST_F(NodeSupervisor, StopsWithTheReasonWhenTheShardCannotBeRecovered) {
  start();
  rebuild_fails_ = true;
  crash("commit_log");
  ASSERT_TRUE(finished_);
  EXPECT_EQ(finished_->failure.code, ec::corrupt);
}

TEST_F(NodeSupervisor, GivesUpAShardThatFailsAgainAndAgain) {
  start();
  for (int i = 0; i < 6 && !finished_; ++i)
    crash("commit_log");
  ASSERT_TRUE(finished_);
  EXPECT_EQ(rebuilt_, 5);
  EXPECT_THAT(finished_->failure.detail, HasSubstr("commit_log"));
}

TEST_F(NodeSupervisor, StopsWhenTheDiskFailsWithoutAskingForACheckpoint) {
  start();
  send(supervisor_, shard_failed{{ec::io_error, "fdatasync: Input/output error"}});
  run();
  ASSERT_TRUE(finished_);
  EXPECT_EQ(finished_->failure.code, ec::io_error);
  EXPECT_THAT(order_, ElementsAre("intake"));
}

// -- ordered stop ------------------------------------------------------------------------

TEST_F(NodeSupervisor, StopsInTheOrderIntakeChecksAppendsLogRest) {
  start();
  auto client = connection();
  send_as(client, supervisor_, find_producer_group{group_id{3}});
  send_as(client, supervisor_, find_consumer_group{group_id{4}});
  run();
  client->on<stop>([&](const stop&) {
    order_.push_back("connection");
    caf::anon_send_exit(client->handle(), caf::exit_reason::user_shutdown);
  });
  send(supervisor_, stop{});
  run();
  EXPECT_THAT(order_, ElementsAre("intake", "connection", "check_scheduler", "producers 3",
                                  testing::AnyOf("op_store", "half_store"), testing::_, testing::_,
                                  testing::_, "consumers 4", "commit_log", testing::_, testing::_,
                                  testing::_));
  ASSERT_TRUE(finished_);
  EXPECT_EQ(finished_->failure.code, ec::ok);
  EXPECT_THAT(finished_->unfinished, IsEmpty());
  EXPECT_EQ(finished_->connections, 1u);
  EXPECT_FALSE(alive(supervisor_));
  EXPECT_FALSE(alive(newest("half_store").probe->handle()));
}

TEST_F(NodeSupervisor, KeepsTheFoldsAliveUntilTheLogHasStopped) {
  start();
  silent_ = {"commit_log"};
  send(supervisor_, stop{});
  run();
  EXPECT_THAT(order_, Contains("commit_log"));
  EXPECT_TRUE(alive(newest("half_store").probe->handle())) << "the last checkpoint needs it";
  EXPECT_FALSE(finished_);
}

TEST_F(NodeSupervisor, EndsInTimeAlthoughAMemberNeverAnswers) {
  start();
  silent_ = {"half_store", "commit_log"};
  send(supervisor_, stop{});
  advance(4'900ms);
  ASSERT_TRUE(finished_);
  EXPECT_LT(finished_->took, 5s);
  EXPECT_THAT(finished_->unfinished, ElementsAre("half_store did not finish in time",
                                                 "commit_log did not finish in time"));
}

TEST_F(NodeSupervisor, ReportsWhatAMemberCouldNotFinish) {
  start();
  unfinished_["commit_log"] = "no checkpoint: disk_full";
  send(supervisor_, stop{});
  run();
  ASSERT_TRUE(finished_);
  EXPECT_THAT(finished_->unfinished, ElementsAre("commit_log: no checkpoint: disk_full"));
}

TEST_F(NodeSupervisor, HurriesWhenAskedAgain) {
  start();
  silent_ = {"check_scheduler", "half_store", "commit_log"};
  auto client = connection(); // never ends by itself
  send(supervisor_, stop{});
  run();
  send(supervisor_, stop{});
  advance(500ms);
  ASSERT_TRUE(finished_);
  EXPECT_THAT(finished_->unfinished, Contains("a connection did not finish in time"));
}

TEST_F(NodeSupervisor, DoesNotRestartWhatEndsDuringTheStop) {
  start();
  silent_ = {"half_store"};
  send(supervisor_, stop{});
  run();
  crash("half_store");
  ASSERT_TRUE(finished_) << "the stop goes on";
  EXPECT_EQ(times("half_store"), 1u);
  EXPECT_THAT(finished_->unfinished.front(), HasSubstr("half_store: ended"));
}

TEST_F(NodeSupervisor, RefusesConnectionsDuringTheStop) {
  start();
  silent_ = {"commit_log"};
  send(supervisor_, stop{});
  run();
  EXPECT_FALSE(alive(connection()->handle()));
}

// -- status --------------------------------------------------------------------------------

TEST_F(NodeSupervisor, GathersTheStatusOfEveryMember) {
  start();
  have_topic(300);
  auto client = connection();
  send_as(client, supervisor_, ask_node_status{correlation{5}});
  run();
  const auto status = client->take_last<node_status>();
  EXPECT_EQ(status.id, correlation{5});
  EXPECT_EQ(status.actors.size(), 1u + 9u + 300u);
  EXPECT_THAT(status.not_answering, IsEmpty());
}

TEST_F(NodeSupervisor, ListsMembersThatDoNotAnswer) {
  start();
  newest("half_store").probe->on<status_request>([](const status_request&) {});
  auto client = connection();
  send_as(client, supervisor_, ask_node_status{correlation{5}});
  advance(600ms);
  EXPECT_THAT(client->take_last<node_status>().not_answering, ElementsAre("half_store"));
}

TEST_F(NodeSupervisor, CountsRestartsByRole) {
  start();
  crash("op_store");
  const auto status = ask<node_status>(supervisor_, status_request{});
  EXPECT_THAT(status.restarts, Contains(std::pair<std::string, std::uint64_t>{"op_store", 1}));
}

} // namespace
} // namespace handfast
