#include "actors/folds/topic_table.hpp"
#include "messages/record_rule.hpp"

#include <gtest/gtest.h>

namespace handfast {
namespace {

meta_record topic_put(std::uint32_t id, std::string name, std::uint32_t queues = 4) {
  meta_record record;
  record.id = id;
  record.name = std::move(name);
  record.queues = queues;
  return record;
}

meta_record change(meta_change what, std::uint32_t id, std::string name) {
  auto record = topic_put(id, std::move(name), 0);
  record.change = what;
  return record;
}

topic_table saved_and_loaded(const topic_table& from) {
  auto to = from.emptied();
  std::string cursor;
  do {
    to.load(std::string{topic_table::slice_name}, from.save(cursor));
  } while (!cursor.empty());
  return to;
}

TEST(TopicTable, CountsTheQueuesOfAllUserTopics) {
  topic_table table;
  EXPECT_EQ(table.user_queues(), 0U);
  table.apply(topic_put(16, "a", 4));
  table.apply(topic_put(17, "b", 8));
  table.apply(topic_put(17, "b", 8));
  EXPECT_EQ(table.user_queues(), 12U);
  EXPECT_EQ(saved_and_loaded(table).user_queues(), 12U);
  table.apply(change(meta_change::topic_deleted, 16, "a"));
  table.apply(change(meta_change::topic_deleted, 16, "a"));
  EXPECT_EQ(table.user_queues(), 8U);
}

TEST(TopicTable, HasTheSystemTopicsFromTheStart) {
  const topic_table table;
  ASSERT_NE(table.find(half_view_topic_name), nullptr);
  EXPECT_EQ(table.find(op_view_topic_name)->id, op_view_topic);
  EXPECT_TRUE(table.find(give_up_topic)->read_only);
  EXPECT_EQ(table.find(give_up_topic)->queues, 1U);
  EXPECT_EQ(table.user_topics(), 0U);
  EXPECT_EQ(table.next_topic(), first_user_topic);
}

TEST(TopicTable, FindsATopicByNameAndId) {
  topic_table table;
  table.apply(topic_put(16, "orders"));
  EXPECT_EQ(table.find("orders")->id, topic_id{16});
  EXPECT_EQ(table.find(topic_id{16})->name, "orders");
  EXPECT_EQ(table.find("other"), nullptr);
  EXPECT_EQ(table.next_topic(), topic_id{17});
}

TEST(TopicTable, AppliesARecordTwiceLikeOnce) {
  topic_table table;
  table.apply(topic_put(16, "orders"));
  table.apply(topic_put(16, "orders"));
  EXPECT_EQ(table.user_topics(), 1U);
}

TEST(TopicTable, NeverUsesAnIdTwice) {
  topic_table table;
  table.apply(topic_put(16, "orders"));
  table.apply(change(meta_change::topic_deleted, 16, "orders"));
  EXPECT_EQ(table.find("orders"), nullptr);
  EXPECT_EQ(table.next_topic(), topic_id{17});
  EXPECT_EQ(saved_and_loaded(table).next_topic(), topic_id{17});
}

TEST(TopicTable, RefusesASecondIdForATakenName) {
  topic_table table;
  table.apply(topic_put(16, "orders"));
  EXPECT_THROW(table.apply(topic_put(17, "orders")), rule_broken);
}

TEST(TopicTable, KeepsQueuesThatItOnceHad) {
  topic_table table;
  table.apply(topic_put(16, "orders", 8));
  table.apply(topic_put(16, "orders", 4));
  EXPECT_EQ(table.find("orders")->queues, 8U);
}

TEST(TopicTable, ListsByNameInPages) {
  topic_table table;
  table.apply(topic_put(16, "b"));
  table.apply(topic_put(17, "a"));
  table.apply(topic_put(18, "c"));
  const auto first = table.list("RMQ_SYS_TRANS_OP_HALF_TOPIC", 3);
  ASSERT_EQ(first.page.size(), 3U);
  EXPECT_EQ(first.page[0].name, give_up_topic_name);
  EXPECT_EQ(first.page[2].name, "b");
  EXPECT_TRUE(first.more);
  EXPECT_EQ(table.list("b", 3).page.size(), 1U);
  EXPECT_FALSE(table.list("b", 3).more);
}

TEST(TopicTable, KnowsGroups) {
  topic_table table;
  table.apply(change(meta_change::group_put, 1, "billing"));
  EXPECT_EQ(table.find_group("billing"), group_id{1});
  EXPECT_EQ(table.group_name(group_id{1}), "billing");
  EXPECT_EQ(table.find_group("nobody"), group_id{});
  EXPECT_EQ(table.list_groups("", 10).page.size(), 1U);
  EXPECT_EQ(table.next_group(), group_id{2});
}

TEST(TopicTable, ComesBackFromItsSlices) {
  topic_table table;
  for (std::uint32_t n = 0; n < 4'500; ++n)
    table.apply(topic_put(16 + n, "t" + std::to_string(n), 1 + n % 7));
  table.apply(change(meta_change::group_put, 9, "billing"));
  const auto back = saved_and_loaded(table);
  EXPECT_EQ(back.user_topics(), 4'500U);
  EXPECT_EQ(back.find("t4321")->queues, 1U + 4321 % 7);
  EXPECT_EQ(back.find_group("billing"), group_id{9});
}

TEST(TopicTable, ReplaysOverASliceTakenLater) {
  topic_table later;
  later.apply(topic_put(16, "orders"));
  later.apply(change(meta_change::topic_deleted, 16, "orders"));
  later.apply(topic_put(17, "orders"));
  auto table = saved_and_loaded(later);
  table.apply(topic_put(16, "orders"));
  table.apply(change(meta_change::topic_deleted, 16, "orders"));
  table.apply(topic_put(17, "orders"));
  EXPECT_EQ(table.find("orders")->id, topic_id{17});
  EXPECT_EQ(table.user_topics(), 1U);
}

} // namespace
} // namespace handfast
