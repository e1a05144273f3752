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
  const auto other_number = answer();
  EXPECT_EQ(other_number.why.code, ec::topic_exists);
  EXPECT_NE(other_number.why.detail.find("number of queues"), std::string::npos);
  send_as(asker, registry, put_topic{correlation{5}, "orders", 0, {.buffered = true}});
  run();
  EXPECT_NE(answer().why.detail.find("other options"), std::string::npos);
}

TEST_F(TopicRegistry, BoundsQueues) {
  send_as(asker, registry, put_topic{correlation{4}, "orders", 100'000, {}});
  run();
  EXPECT_EQ(answer().why.code, ec::bad_request);
}

TEST_F(TopicRegistry, BoundsTheQueuesOfAllTopicsTogether) {
  settings.topic.queues_max = 10;
  EXPECT_EQ(make_topic("a").why.code, ec::ok);
  send_as(asker, registry, put_topic{correlation{4}, "b", 4, {}});
  send_as(asker, registry, put_topic{correlation{4}, "c", 4, {}});
  run();
  EXPECT_EQ(answer().why.code, ec::too_many_queues) << "those under way count, too";
  make_durable();
  resolve(asker, "d");
  const auto refused = answer().why;
  EXPECT_EQ(refused.code, ec::too_many_queues);
  EXPECT_NE(refused.detail.find("topic.queues_max is 10"), std::string::npos) << refused.detail;
  send_as(asker, registry, put_topic{correlation{4}, "e", 2, {}});
  run();
  make_durable();
  EXPECT_EQ(answer().why.code, ec::ok);
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
  send(registry, topic_usage{id, 0, {}, 0, appender_role::delay_scheduler});
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
  send(registry, topic_usage{id, 0, {}, 3, appender_role::delay_scheduler});
  run();
  const auto refused = answer();
  EXPECT_EQ(refused.why.code, ec::topic_in_use);
  EXPECT_EQ(refused.why.detail, "'orders' has 3 messages to become visible later");
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

// -- groups ---------------------------------------------------------------------------

class GroupRegistry : public TopicRegistry {
protected:
  GroupRegistry() {
    send_as(asker, registry, resolve_group{correlation{4}, "billing", true});
    run();
    make_durable();
    billing = group_answer().group;
    supervisor->on<find_consumer_group>([this](const find_consumer_group& x) {
      send(registry, consumer_group_found{x.group, group->as<consumer_group_actor>(), {}});
    });
    half_store->on<ask_topic_usage>([this](const ask_topic_usage& x) {
      send(registry, topic_usage{x.topic, pending, x.group});
    });
    group->on<end_group>([this](const end_group&) {
      if (answers_end)
        send(registry, group_ended{billing, end_code});
    });
  }

  group_resolved group_answer() { return asker->take_last<group_resolved>(); }

  void delete_billing() {
    send_as(asker, registry, delete_group{correlation{6}, "billing"});
    run();
  }

  void ask_box() {
    send_as(group, registry, open_dead_letters{billing, {topic_id{77}}});
    run();
  }

  std::shared_ptr<probe> group = make_probe();
  group_id billing;
  std::uint64_t pending = 0;
  bool answers_end = true;
  ec end_code = ec::ok;
};

TEST_F(GroupRegistry, TellsAGroupItsRulesNowAndWhenTheyChange) {
  send_as(group, registry, ask_group_rules{billing});
  run();
  auto told = group->take_last<group_rules>();
  EXPECT_EQ(told.name, "billing");
  EXPECT_EQ(told.delivery_max, 0U);
  attributes options;
  options.delivery_max = 5;
  send_as(asker, registry, put_group{correlation{5}, "billing", options});
  run();
  make_durable();
  EXPECT_EQ(group_answer().group, billing);
  EXPECT_EQ(group->take_last<group_rules>().delivery_max, 5U);
}

TEST_F(GroupRegistry, TellsThatAGroupIsNot) {
  send_as(group, registry, ask_group_rules{group_id{99}});
  run();
  EXPECT_TRUE(group->take_last<group_rules>().name.empty());
}

TEST_F(GroupRegistry, MakesADeadLetterTopicWhateverTheLimits) {
  settings.topic.auto_create = false;
  settings.topic.max = 0;
  settings.topic.queues_max = 0;
  ask_box();
  EXPECT_EQ(group->count<dead_letters_open>(), 0U);
  make_durable();
  EXPECT_EQ(last_meta.name, "%DLQ%billing");
  EXPECT_EQ(last_meta.queues, 1U);
  const auto open = group->take_last<dead_letters_open>();
  EXPECT_EQ(open.why.code, ec::ok);
  EXPECT_EQ(open.topic.value, last_meta.id);
  EXPECT_EQ(open.origins.at(0).second, "77") << "a topic that is gone has only its number";
  ask_box();
  EXPECT_EQ(group->take_last<dead_letters_open>().topic, open.topic);
  EXPECT_EQ(log->count<append_records>(), 0U);
}

TEST_F(GroupRegistry, TellsTheGroupWhenTheTopicCannotBeMade) {
  ask_box();
  const auto cookie = log->take_last<append_records>().records[0].cookie;
  send(registry, append_refused{{cookie}, {ec::disk_full, {}}});
  run();
  EXPECT_EQ(group->take_last<dead_letters_open>().why.code, ec::disk_full);
}

TEST_F(GroupRegistry, LetsNoClientMakeOrWriteADeadLetterTopic) {
  resolve(asker, "%DLQ%billing");
  EXPECT_EQ(answer().why.code, ec::unknown_topic);
  send_as(asker, registry, put_topic{correlation{3}, "%DLQ%billing", 4, {}});
  run();
  EXPECT_EQ(answer().why.code, ec::read_only_topic);
  ask_box();
  make_durable();
  resolve(asker, "%DLQ%billing");
  EXPECT_TRUE(answer().topic.read_only);
}

TEST_F(GroupRegistry, DeletesAGroupAndGivesItsNameANewId) {
  delete_billing();
  EXPECT_EQ(group->count<end_group>(), 1U);
  EXPECT_EQ(asker->count<group_resolved>(), 0U);
  make_durable();
  EXPECT_EQ(last_meta.change, meta_change::group_deleted);
  EXPECT_EQ(group_answer().why.code, ec::ok);
  EXPECT_EQ(supervisor->take_last<group_gone>().group, billing);
  send_as(asker, registry, resolve_group{correlation{4}, "billing", true});
  run();
  make_durable();
  EXPECT_GT(group_answer().group, billing);
}

TEST_F(GroupRegistry, DoesNotDeleteAGroupWithMembersOrPendingTransactions) {
  end_code = ec::group_in_use;
  delete_billing();
  EXPECT_EQ(group_answer().why.code, ec::group_in_use);
  pending = 2;
  delete_billing();
  const auto refused = group_answer();
  EXPECT_EQ(refused.why.code, ec::group_in_use);
  EXPECT_NE(refused.why.detail.find("2 pending"), std::string::npos);
  EXPECT_EQ(log->count<append_records>(), 0U);
}

TEST_F(GroupRegistry, RefusesTheNameWhileItsGroupIsBeingDeleted) {
  answers_end = false;
  delete_billing();
  send_as(other, registry, resolve_group{correlation{4}, "billing", true});
  run();
  EXPECT_EQ(other->take_last<group_resolved>().why.code, ec::recovering);
  send(registry, group_ended{billing, ec::ok});
  run();
  send_as(other, registry, resolve_group{correlation{4}, "billing", true});
  run();
  EXPECT_EQ(other->take_last<group_resolved>().why.code, ec::recovering);
  make_durable();
  EXPECT_EQ(group_answer().why.code, ec::ok);
}

TEST_F(GroupRegistry, LetsTheGroupLiveOnWhenTheLogRefuses) {
  send_as(group, registry, ask_group_rules{billing});
  delete_billing();
  group->forget_all();
  const auto cookie = log->take_last<append_records>().records[0].cookie;
  send(registry, append_refused{{cookie}, {ec::disk_full, {}}});
  run();
  EXPECT_EQ(group_answer().why.code, ec::disk_full);
  EXPECT_EQ(group->take_last<group_rules>().name, "billing");
}

TEST_F(GroupRegistry, DeletesNoGroupThatIsNot) {
  send_as(asker, registry, delete_group{correlation{6}, "nobody"});
  run();
  EXPECT_EQ(group_answer().why.code, ec::unknown_group);
}

} // namespace
} // namespace handfast
