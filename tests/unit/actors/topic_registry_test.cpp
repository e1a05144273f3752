#include "actors/topic_registry.hpp"
#include "tests/support/actor_fixture.hpp"

namespace handfast {
namespace {

using test::actor_fixture;
using test::probe;

class TopicRegistry : public actor_fixture {
protected:
  topic_registry_actor start(topic_table table = {}, bool whole = true) {
    auto made = spawn(topic_registry, &environment,
                      fold_start<topic_table>{std::move(table), whole, {}, incarnation{++life}});
    auto peers = std::make_shared<shard_peers>();
    peers->supervisor = {supervisor->as<node_supervisor_actor>(), incarnation{1}};
    peers->commit_log = {log->as<commit_log_actor>(), incarnation{1}};
    peers->log_reader = {reader->as<log_reader_actor>(), incarnation{1}};
    peers->half_store = {half_store->as<half_store_actor>(), incarnation{1}};
    peers->delay_scheduler = {delays->as<delay_scheduler_actor>(), incarnation{1}};
    send(made, peers_changed{peers});
    run();
    return made;
  }

  void resolve(const std::shared_ptr<probe>& from, const std::string& topic, bool create = true) {
    send_as(from, registry, resolve_topic{correlation{3}, topic, create});
    run();
  }

  /// Everything appended so far becomes durable.
  void make_durable() {
    auto batch = std::make_shared<record_batch>();
    batch->from = position{at};
    for (auto& order : log->take<append_records>())
      for (auto& record : order.records) {
        record.at = position{at};
        record.length = 100;
        at += 100;
        batch->records.push_back(record);
        last_meta = std::get<meta_record>(record.content);
      }
    batch->to = position{at};
    send(registry, records_durable{batch});
    run();
  }

  topic_resolved answer() { return asker->take_last<topic_resolved>(); }

  topic_resolved make_topic(const std::string& topic) {
    resolve(asker, topic);
    make_durable();
    return answer();
  }

  std::shared_ptr<probe> supervisor = make_probe();
  std::shared_ptr<probe> log = make_probe();
  std::shared_ptr<probe> reader = make_probe();
  std::shared_ptr<probe> half_store = make_probe();
  std::shared_ptr<probe> delays = make_probe();
  std::shared_ptr<probe> asker = make_probe();
  std::shared_ptr<probe> other = make_probe();
  std::uint64_t life = 0;
  std::uint64_t at = 4096;
  meta_record last_meta;
  topic_registry_actor registry = start();
};

TEST_F(TopicRegistry, TellsTheSupervisorOfAllTopicsAtItsStart) {
  const auto present = supervisor->take<topic_present>();
  ASSERT_EQ(present.size(), 3U);
  EXPECT_EQ(present[2].topic, give_up_topic);
  EXPECT_EQ(present[2].queues, 1U);
}

TEST_F(TopicRegistry, KnowsTheViews) {
  resolve(asker, std::string{half_view_topic_name}, false);
  const auto found = answer();
  EXPECT_EQ(found.why.code, ec::ok);
  EXPECT_EQ(found.topic.id, half_view_topic);
  EXPECT_TRUE(found.topic.read_only);
}

TEST_F(TopicRegistry, MakesATopicAtItsFirstUseAndAnswersWhenDurable) {
  supervisor->forget_all();
  resolve(asker, "orders");
  EXPECT_EQ(asker->count<topic_resolved>(), 0U);
  make_durable();
  const auto found = answer();
  EXPECT_EQ(found.id, correlation{3});
  EXPECT_EQ(found.topic.id, first_user_topic);
  EXPECT_EQ(found.topic.queues, settings.topic.default_queues);
  EXPECT_EQ(supervisor->take_last<topic_present>().queues, settings.topic.default_queues);
}

TEST_F(TopicRegistry, LetsAllWhoWantTheSameNameWaitForOneRecord) {
  resolve(asker, "orders");
  resolve(other, "orders");
  EXPECT_EQ(log->count<append_records>(), 1U);
  make_durable();
  EXPECT_EQ(answer().topic.id, other->take_last<topic_resolved>().topic.id);
}

TEST_F(TopicRegistry, GivesNewIdsThoughNoneIsDurableYet) {
  resolve(asker, "a");
  resolve(asker, "b");
  make_durable();
  const auto answers = asker->take<topic_resolved>();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_NE(answers[0].topic.id, answers[1].topic.id);
}

TEST_F(TopicRegistry, RefusesUnknownTopicsWhenCreationIsOff) {
  settings.topic.auto_create = false;
  resolve(asker, "orders");
  EXPECT_EQ(answer().why.code, ec::unknown_topic);
}

TEST_F(TopicRegistry, RefusesUnknownTopicsThatAreOnlyLookedUp) {
  resolve(asker, "orders", false);
  EXPECT_EQ(answer().why.code, ec::unknown_topic);
}

TEST_F(TopicRegistry, RefusesNamesOutsideTheGrammar) {
  resolve(asker, "../etc/passwd");
  EXPECT_EQ(answer().why.code, ec::bad_name);
}

TEST_F(TopicRegistry, BoundsTopicsMadeByThemselves) {
  settings.topic.max = 1;
  EXPECT_EQ(make_topic("a").why.code, ec::ok);
  EXPECT_EQ(make_topic("b").why.code, ec::too_many_topics);
  send_as(asker, registry, put_topic{correlation{4}, "c", 2, {}});
  run();
  make_durable();
  EXPECT_EQ(answer().why.code, ec::ok) << "the bound is for automatic ones";
}

TEST_F(TopicRegistry, MakesATopicAsAskedFor) {
  attributes options;
  options.check_max = 3;
  send_as(asker, registry, put_topic{correlation{4}, "orders", 8, options});
  run();
  make_durable();
  const auto found = answer();
  EXPECT_EQ(found.topic.queues, 8U);
  EXPECT_EQ(found.topic.options, options);
}

TEST_F(TopicRegistry, AcceptsTheSameTopicAgainAndRefusesAnother) {
  make_topic("orders");
  send_as(asker, registry, put_topic{correlation{4}, "orders", 0, {}});
  run();
  EXPECT_EQ(answer().why.code, ec::ok);
  send_as(asker, registry, put_topic{correlation{4}, "orders", 9, {}});
  run();
  EXPECT_EQ(answer().why.code, ec::topic_exists);
}

TEST_F(TopicRegistry, BoundsQueues) {
  send_as(asker, registry, put_topic{correlation{4}, "orders", 100'000, {}});
  run();
  EXPECT_EQ(answer().why.code, ec::bad_request);
}

TEST_F(TopicRegistry, DeletesATopicThatNobodyUses) {
  const auto id = make_topic("orders").topic.id;
  supervisor->forget_all();
  send_as(asker, registry, delete_topic{correlation{4}, "orders"});
  run();
  EXPECT_EQ(half_store->take_last<ask_topic_usage>().topic, id);
  send(registry, topic_usage{id, 0});
  run();
  EXPECT_EQ(log->count<append_records>(), 0U) << "nobody knows yet what waits for its time";
  EXPECT_EQ(delays->take_last<ask_topic_usage>().topic, id);
  send(registry, topic_usage{id, 0, 0, appender_role::delay_scheduler});
  run();
  make_durable();
  EXPECT_EQ(answer().why.code, ec::ok);
  EXPECT_EQ(supervisor->take_last<topic_present>().queues, 0U);
  EXPECT_NE(make_topic("orders").topic.id, id) << "ids are never used twice";
}

TEST_F(TopicRegistry, RefusesToDeleteATopicWithPendingTransactions) {
  const auto id = make_topic("orders").topic.id;
  send_as(asker, registry, delete_topic{correlation{4}, "orders"});
  send(registry, topic_usage{id, 2});
  run();
  EXPECT_EQ(answer().why.code, ec::topic_in_use);
}

TEST_F(TopicRegistry, RefusesToDeleteATopicWithDelayedMessages) {
  const auto id = make_topic("orders").topic.id;
  send_as(asker, registry, delete_topic{correlation{4}, "orders"});
  send(registry, topic_usage{id, 0});
  send(registry, topic_usage{id, 0, 3, appender_role::delay_scheduler});
  run();
  const auto refused = answer();
  EXPECT_EQ(refused.why.code, ec::topic_in_use);
  EXPECT_EQ(refused.why.detail, "'orders' has 3 delayed messages");
}

TEST_F(TopicRegistry, TakesNoAnswerForThatOfAnother) {
  const auto id = make_topic("orders").topic.id;
  send_as(asker, registry, delete_topic{correlation{4}, "orders"});
  send(registry, topic_usage{id, 0});
  send(registry, topic_usage{id, 0}); // of a HALF STORE that was asked again after its restart
  run();
  EXPECT_EQ(log->count<append_records>(), 0U);
}

TEST_F(TopicRegistry, RefusesToDeleteSystemTopics) {
  send_as(asker, registry, delete_topic{correlation{4}, std::string{give_up_topic_name}});
  run();
  EXPECT_EQ(answer().why.code, ec::read_only_topic);
}

TEST_F(TopicRegistry, MakesGroupsDurableAtTheirFirstUse) {
  send_as(asker, registry, resolve_group{correlation{7}, "billing"});
  send_as(other, registry, resolve_group{correlation{8}, "billing"});
  run();
  EXPECT_EQ(log->count<append_records>(), 1U);
  EXPECT_EQ(asker->count<group_resolved>(), 0U);
  make_durable();
  const auto found = asker->take_last<group_resolved>();
  EXPECT_EQ(found.group, group_id{1});
  EXPECT_EQ(found.name, "billing");
  EXPECT_EQ(other->take_last<group_resolved>().group, group_id{1});
}

TEST_F(TopicRegistry, LooksUpAGroupWithoutMakingIt) {
  send_as(asker, registry, resolve_group{correlation{7}, "billing", false});
  run();
  EXPECT_EQ(asker->take_last<group_resolved>().why.code, ec::unknown_group);
  EXPECT_EQ(log->count<append_records>(), 0U);
}

TEST_F(TopicRegistry, NamesIds) {
  const auto id = make_topic("orders").topic.id;
  send_as(asker, registry, name_ids{correlation{1}, {id, topic_id{99}}, {group_id{5}}});
  run();
  const auto named = asker->take_last<ids_named>();
  ASSERT_EQ(named.topics.size(), 2U);
  EXPECT_EQ(named.topics[0].second, "orders");
  EXPECT_EQ(named.topics[1].second, "");
  EXPECT_EQ(named.groups.size(), 1U);
}

TEST_F(TopicRegistry, PassesARefusalOfTheLogOn) {
  resolve(asker, "orders");
  const auto cookie = log->take_last<append_records>().records[0].cookie;
  send(registry, append_refused{{cookie}, {ec::disk_full, "full"}});
  run();
  EXPECT_EQ(answer().why.code, ec::disk_full);
  EXPECT_EQ(make_topic("orders").why.code, ec::ok);
}

TEST_F(TopicRegistry, SaysRecoveringUntilItsReplayIsDone) {
  make_topic("orders");
  const auto slices = ask<slices_taken>(registry, take_slices{}).slices;
  kill(registry);
  registry = start({}, false);
  send(registry, appender_registered{position{at}, position{at}, {}});
  resolve(asker, "orders");
  EXPECT_EQ(answer().why.code, ec::recovering);
  send_as(asker, registry, list_topics{correlation{9}, "", 100});
  run();
  send(registry, slices_loaded{reader->take_last<load_slices>().id, ec::ok, position{at}, slices});
  run();
  send(registry,
       log_replayed{reader->take_last<replay_log>().id, ec::ok, position{at}, nullptr, {}});
  run();
  EXPECT_EQ(asker->take_last<topics_listed>().page.size(), 4U) << "held back, not half an answer";
  resolve(asker, "orders");
  EXPECT_EQ(answer().topic.id, first_user_topic);
}

TEST_F(TopicRegistry, StopsBehindItsOwnRecords) {
  resolve(asker, "orders");
  send_as(supervisor, registry, stop{});
  run();
  EXPECT_EQ(supervisor->count<stopped>(), 0U);
  make_durable();
  EXPECT_EQ(supervisor->count<stopped>(), 1U);
  EXPECT_TRUE(alive(registry));
}

} // namespace
} // namespace handfast
