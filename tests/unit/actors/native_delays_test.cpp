#include "tests/unit/actors/native_client.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

class NativeDelays : public test::native_client {
protected:
  delayed_listed page_for(const list_delayed& asked) {
    delayed_listed page;
    page.id = asked.id;
    page.page.push_back({{position{4'096}, orders, queue_no{2}, {}, 200, 0, 77'000},
                         environment.ids.at(position{4'096})});
    page.page.push_back({{position{8'192}, topic_id{99}, queue_no{0}, {}, 300, 0, 78'000}, {}});
    return page;
  }
  /// Names for the ids that the connection asked about.
  void name_topics() {
    const auto asked = registry->take_last<name_ids>();
    send(connection, ids_named{asked.id, {{orders, "orders"}, {topic_id{99}, ""}}, {}});
    run();
  }
};

TEST_F(NativeDelays, ListsWhatWaitsWithTheNamesOfTopics) {
  open();
  give(native::list_delayed{correlation{3}, "", 76'000, position{8}, 10});
  const auto asked = delays->take_last<list_delayed>();
  EXPECT_EQ(asked.topic, topic_id{});
  EXPECT_EQ(asked.after_due_ms, 76'000U);
  EXPECT_EQ(asked.after_at, position{8});
  EXPECT_EQ(asked.max, 10U);
  auto page = page_for(asked);
  page.more = true;
  send(connection, page);
  run();
  name_topics();
  const auto answer = only<native::delayed_page>();
  EXPECT_EQ(answer.id, correlation{3});
  EXPECT_TRUE(answer.more);
  ASSERT_EQ(answer.items.size(), 2U);
  EXPECT_EQ(answer.items[0].topic, "orders");
  EXPECT_EQ(answer.items[0].due_ms, 77'000U);
  EXPECT_EQ(answer.items[0].transaction, environment.ids.at(position{4'096}));
  EXPECT_EQ(answer.items[1].topic, "") << "a topic that is gone";
}

TEST_F(NativeDelays, ListsThoseOfOneTopic) {
  open();
  give(native::list_delayed{correlation{3}, "orders", 0, {}, 100'000});
  const auto asked = delays->take_last<list_delayed>();
  EXPECT_EQ(asked.topic, orders);
  EXPECT_EQ(asked.max, limits::page_items_max);
}

TEST_F(NativeDelays, RefusesAListOfATopicThatThereIsNot) {
  open();
  give(native::list_delayed{correlation{3}, "unheard-of", 0, {}, 10});
  EXPECT_EQ(only<native::refused>().code, ec::unknown_topic);
  EXPECT_EQ(delays->count<list_delayed>(), 0U);
}

TEST_F(NativeDelays, PassesOnThatTheListIsNotThereNow) {
  open();
  give(native::list_delayed{correlation{3}, "", 0, {}, 10});
  send(connection, delayed_listed{delays->take_last<list_delayed>().id, ec::recovering, {}, false});
  run();
  EXPECT_EQ(only<native::refused>().code, ec::recovering);
}

TEST_F(NativeDelays, CancelsByPosition) {
  open();
  give(native::cancel_delayed{correlation{3}, position{4'096}});
  const auto asked = delays->take_last<cancel_delayed>();
  EXPECT_EQ(asked.at, position{4'096});
  send(connection, delayed_cancelled{asked.id, ec::ok});
  run();
  EXPECT_EQ(only<native::done>().id, correlation{3});
  give(native::cancel_delayed{correlation{4}, position{4'096}});
  send(connection, delayed_cancelled{delays->take_last<cancel_delayed>().id, ec::unknown_message});
  run();
  EXPECT_EQ(only<native::refused>().code, ec::unknown_message);
}

TEST_F(NativeDelays, FailsWhatADeadSchedulerHad) {
  open();
  give(native::cancel_delayed{correlation{3}, position{4'096}});
  give(native::list_delayed{correlation{4}, "", 0, {}, 10});
  ++delays_life.value;
  tell_peers();
  const auto refused = taken<native::refused>();
  ASSERT_EQ(refused.size(), 2U);
  for (const auto& r : refused)
    EXPECT_EQ(r.code, r.id == correlation{3} ? ec::outcome_unknown : ec::recovering);
}

} // namespace
} // namespace handfast
