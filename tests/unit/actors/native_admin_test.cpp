#include "tests/unit/actors/native_client.hpp"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

namespace handfast {
namespace {

class NativeAdmin : public test::native_client {};

TEST_F(NativeAdmin, CreatesATopic) {
  open();
  give(native::topic_create{correlation{3}, "orders", 8, {}});
  const auto asked = registry->take_last<put_topic>();
  EXPECT_EQ(asked.queues, 8U);
  send(connection, topic_resolved{asked.id, {}, {orders, "orders", 8, false, {}}});
  run();
  const auto answer = only<native::topics>();
  EXPECT_EQ(answer.id, correlation{3});
  EXPECT_EQ(answer.items.at(0).info.queues, 8U);
}

TEST_F(NativeAdmin, PassesARefusalOn) {
  open();
  give(native::topic_create{correlation{3}, "orders", 8, {}});
  send(connection,
       topic_resolved{registry->take_last<put_topic>().id, {ec::topic_exists, "has 4 queues"}, {}});
  run();
  const auto refused = only<native::refused>();
  EXPECT_EQ(refused.code, ec::topic_exists);
  EXPECT_EQ(refused.detail, "has 4 queues");
}

TEST_F(NativeAdmin, ShowsATopicWithTheExtentOfItsQueues) {
  open();
  queue_probe->on<fetch_entries>([this](const fetch_entries& x) {
    send(connection,
         entries_fetched{x.id, x.queue, ec::ok, {}, queue_offset{x.queue.queue.value + 10U}, {}});
  });
  give(native::topic_show{correlation{3}, "orders"});
  const auto answer = only<native::topics>();
  ASSERT_EQ(answer.items.size(), 1U);
  ASSERT_EQ(answer.items[0].queues.size(), 4U);
  EXPECT_EQ(answer.items[0].queues[3].end, queue_offset{13});
}

TEST_F(NativeAdmin, ListsTopics) {
  open();
  give(native::topic_list{correlation{3}, "a", 10});
  const auto asked = registry->take_last<list_topics>();
  EXPECT_EQ(asked.after, "a");
  send(connection, topics_listed{asked.id, {{orders, "orders", 4, false, {}}}, true});
  run();
  const auto answer = only<native::topics>();
  EXPECT_TRUE(answer.more);
  EXPECT_EQ(answer.items.size(), 1U);
}

TEST_F(NativeAdmin, DeletesATopic) {
  open();
  give(native::topic_delete{correlation{3}, "orders", false});
  send(
      connection,
      topic_resolved{registry->take_last<delete_topic>().id, {}, {orders, "orders", 4, false, {}}});
  run();
  EXPECT_EQ(only<native::done>().id, correlation{3});
}

TEST_F(NativeAdmin, RollsBackWhatIsPendingAndCancelsWhatIsDelayedBeforeAForcedDeletion) {
  open();
  give(native::topic_delete{correlation{3}, "orders", true});
  auto listed = half_store->take_last<list_transactions>();
  EXPECT_EQ(listed.topic, orders);
  transactions_listed page;
  page.id = listed.id;
  page.page.resize(2);
  page.page[1].id = environment.ids.at(position{8192});
  send(connection, page);
  run();
  const auto rolled_back = half_store->take_last<decide>();
  ASSERT_EQ(rolled_back.requests.size(), 2U);
  EXPECT_EQ(rolled_back.requests[1].wanted, outcome::rolled_back);
  EXPECT_EQ(rolled_back.requests[1].by, origin::admin);
  decided done;
  for (const auto& r : rolled_back.requests) {
    done.results.emplace_back();
    done.results.back().id = r.id;
  }
  send(connection, done);
  run();
  EXPECT_EQ(registry->count<delete_topic>(), 0U);
  page = {};
  page.id = half_store->take_last<list_transactions>().id;
  send(connection, page);
  run();
  const auto dropped = delays->take_last<drop_delayed>();
  EXPECT_EQ(dropped.topic, orders);
  EXPECT_EQ(registry->count<delete_topic>(), 0U);
  send(connection, delayed_cancelled{dropped.id, ec::ok});
  run();
  send(
      connection,
      topic_resolved{registry->take_last<delete_topic>().id, {}, {orders, "orders", 4, false, {}}});
  run();
  EXPECT_EQ(only<native::done>().id, correlation{3});
}

TEST_F(NativeAdmin, DeletesNothingWhenDelayedMessagesCannotBeCancelled) {
  open();
  give(native::topic_delete{correlation{3}, "orders", true});
  transactions_listed none;
  none.id = half_store->take_last<list_transactions>().id;
  send(connection, none);
  run();
  send(connection, delayed_cancelled{delays->take_last<drop_delayed>().id, ec::disk_full});
  run();
  const auto refused = only<native::refused>();
  EXPECT_EQ(refused.id, correlation{3});
  EXPECT_EQ(refused.code, ec::disk_full);
  EXPECT_EQ(registry->count<delete_topic>(), 0U);
}

TEST_F(NativeAdmin, ListsGroupsWithTheirProgress) {
  open();
  supervisor->on<ask_node_status>([this](const ask_node_status& x) {
    node_status status;
    status.id = x.id;
    const std::string at = R"(group="7",topic="16",queue="2")";
    status.actors = {{"consumer_group/7",
                      {{"rocketmq_consumer_connections", R"(group="7")", 2},
                       {"handfast_consumer_done_offset", at, 5},
                       {"handfast_consumer_end_offset", at, 9}},
                      {}}};
    send(connection, status);
  });
  give(native::group_list{correlation{3}, "", 10});
  send(connection,
       groups_listed{registry->take_last<list_groups>().id, {{billing, "billing"}}, false});
  run();
  const auto answer = only<native::groups>();
  ASSERT_EQ(answer.items.size(), 1U);
  EXPECT_EQ(answer.items[0].consumers, 2U);
  ASSERT_EQ(answer.items[0].progress.size(), 1U);
  EXPECT_EQ(answer.items[0].progress[0].topic, "orders");
  EXPECT_EQ(answer.items[0].progress[0].done, queue_offset{5});
  EXPECT_EQ(answer.items[0].progress[0].end, queue_offset{9});
}

TEST_F(NativeAdmin, ReportsTheStatusAsJson) {
  open();
  supervisor->on<ask_node_status>([this](const ask_node_status& x) {
    node_status status;
    status.id = x.id;
    status.actors = {{"half_store", {{"rocketmq_half_messages", "", 4}}, {}}};
    status.not_answering = {"log_reader"};
    send(connection, status);
  });
  give(native::status{correlation{3}});
  const auto json = only<native::status_report>().json;
  EXPECT_THAT(json, ::testing::HasSubstr("rocketmq_half_messages"));
  EXPECT_THAT(json, ::testing::HasSubstr("log_reader"));
}

TEST_F(NativeAdmin, AddsUpTheStatusOfThousandsOfQueues) {
  open();
  supervisor->on<ask_node_status>([this](const ask_node_status& x) {
    node_status status;
    status.id = x.id;
    for (int n = 0; n < 100'000; ++n) {
      const auto label = "queue=\"" + std::to_string(n) + "\"";
      status.actors.push_back({"queue/16/" + std::to_string(n), {{"entries", label, 2}}, {}});
      status.not_answering.push_back("queue/17/" + std::to_string(n));
    }
    status.actors.push_back({"half_store", {{"halves", "", 4}}, {}});
    send(connection, status);
  });
  give(native::status{correlation{3}});
  const auto json = nlohmann::json::parse(only<native::status_report>().json);
  ASSERT_EQ(json["actors"].size(), 2U);
  EXPECT_EQ(json["actors"][0]["actor"], "half_store");
  EXPECT_EQ(json["actors"][1]["samples"][0]["value"], 200'000);
  EXPECT_EQ(json["not_answering"].size(), 101U);
  EXPECT_EQ(json["not_answering"].back(), "and 99900 more");
}

TEST_F(NativeAdmin, ListsTheQuarantineOfAllActors) {
  open();
  supervisor->on<ask_node_status>([this](const ask_node_status& x) {
    node_status status;
    status.id = x.id;
    status.actors = {{"a", {}, {{position{1}, "HALF", "bad", {}}}},
                     {"b", {}, {{position{2}, "DECIDE", "worse", {}}}}};
    send(connection, status);
  });
  give(native::quarantine_list{correlation{3}, 10});
  EXPECT_EQ(only<native::quarantine_page>().items.size(), 2U);
}

} // namespace
} // namespace handfast
