#include "tests/unit/actors/native_client.hpp"

namespace handfast {
namespace {

class NativeSubscribe : public test::native_client {
protected:
  fetch_messages subscribe(std::uint32_t credit, std::uint64_t id = 3) {
    open();
    resolve_orders();
    give(native::subscribe{correlation{id}, "readers", orders, credit, {}, {}});
    const auto begun = only<native::delivered>();
    EXPECT_EQ(begun.group, billing);
    EXPECT_TRUE(begun.items.empty());
    return fetch();
  }

  fetch_messages fetch() { return consumers->take_last<fetch_messages>(); }
  [[nodiscard]] std::size_t fetches() const { return consumers->count<fetch_messages>(); }

  /// The group hands out `count` messages.
  void hand_out(correlation id, std::size_t count) {
    std::vector<delivery> deliveries;
    for (std::size_t n = 0; n < count; ++n) {
      const auto at = next_at += 100;
      records.cached[at] = test::message_record_at(at, "m");
      deliveries.push_back(
          {{orders, queue_no{1}}, {position{at}, 100, 0, queue_offset{at / 100}, 9}, at, 1});
    }
    send(connection, deliver{id, ec::ok, deliveries});
    run();
  }

  std::uint64_t next_at = 4'000;
};

TEST_F(NativeSubscribe, PushesAsLongAsThereIsCredit) {
  const auto first = subscribe(5);
  EXPECT_EQ(first.max, 5U);
  hand_out(first.id, 3);
  const auto got = only<native::delivered>();
  EXPECT_EQ(got.id, correlation{3});
  EXPECT_EQ(got.items.size(), 3U);
  EXPECT_GT(got.lease_ms, 0U);
  const auto second = fetch();
  EXPECT_EQ(second.max, 2U);
  hand_out(second.id, 2);
  EXPECT_EQ(only<native::delivered>().items.size(), 2U);
  EXPECT_EQ(fetches(), 0U) << "no credit is left";
}

TEST_F(NativeSubscribe, GoesOnWithNewCredit) {
  hand_out(subscribe(1).id, 1);
  EXPECT_EQ(fetches(), 0U);
  give(native::credit{correlation{3}, 7});
  EXPECT_EQ(fetch().max, 7U);
}

TEST_F(NativeSubscribe, AcknowledgementsGiveCreditBack) {
  hand_out(subscribe(2).id, 2);
  native::acknowledge ack;
  ack.id = correlation{8};
  ack.group = billing;
  ack.items = {{orders, queue_no{1}, queue_offset{41}, 0, handling::done, queue_offset{43}}};
  ack.subscription = correlation{3};
  ack.credit = 2;
  give(ack);
  const auto& received = consumers->received();
  ASSERT_GE(received.size(), 2U);
  EXPECT_TRUE(received[received.size() - 2].match_elements<acknowledge>())
      << "the acknowledgement comes first, so that what it sets free may come with the fetch";
  EXPECT_EQ(fetch().max, 2U);
}

TEST_F(NativeSubscribe, CreditIsBounded) {
  subscribe(1);
  give(native::credit{correlation{3}, UINT32_MAX}, native::credit{correlation{3}, UINT32_MAX});
  hand_out(fetch().id, 0);
  EXPECT_LE(fetch().max, consume_part::credit_max);
}

TEST_F(NativeSubscribe, CreditForWhatHasEndedIsIgnored) {
  open();
  resolve_orders();
  give(native::credit{correlation{77}, 5});
  EXPECT_FALSE(wire->closed);
  EXPECT_EQ(fetches(), 0U);
}

TEST_F(NativeSubscribe, FetchesAgainWhenNothingCame) {
  hand_out(subscribe(5).id, 0);
  EXPECT_TRUE(taken<native::delivered>().empty());
  EXPECT_EQ(fetches(), 1U);
}

TEST_F(NativeSubscribe, WaitsForAReaderThatIsBehind) {
  const auto first = subscribe(10);
  wire->unsent_bytes = 64 * limits::mib;
  hand_out(first.id, 1);
  EXPECT_EQ(fetches(), 0U);
  wire->unsent_bytes = 0;
  send(connection, bytes_written{1'000});
  run();
  EXPECT_EQ(fetch().max, 9U);
}

TEST_F(NativeSubscribe, EndsWithTheGroupsCode) {
  send(connection, deliver{subscribe(5).id, ec::subscription_differs, {}});
  run();
  EXPECT_EQ(only<native::delivered>().code, ec::subscription_differs);
  EXPECT_EQ(fetches(), 0U);
}

TEST_F(NativeSubscribe, GoesOnWithARestartedGroup) {
  subscribe(5);
  auto next = make_probe();
  send(connection, consumer_group_found{billing, next->as<consumer_group_actor>(), incarnation{2}});
  run();
  EXPECT_EQ(next->take_last<fetch_messages>().max, 5U);
}

TEST_F(NativeSubscribe, LeavesTheGroupWhenItEnds) {
  const auto waiting = subscribe(5);
  give(native::unsubscribe{correlation{4}, correlation{3}});
  EXPECT_EQ(only<native::done>().id, correlation{4});
  EXPECT_EQ(consumers->count<member_left>(), 1U);
  hand_out(waiting.id, 1);
  EXPECT_TRUE(taken<native::delivered>().empty());
}

/// A member that leaves has failed with what it holds, so it may settle that first.
TEST_F(NativeSubscribe, LeavesTheGroupWhenWhatItHeldIsSettled) {
  hand_out(subscribe(5).id, 2);
  give(native::unsubscribe{correlation{4}, correlation{3}});
  EXPECT_EQ(only<native::done>().id, correlation{4});
  EXPECT_EQ(consumers->count<member_left>(), 0U);
  native::acknowledge ack;
  ack.id = correlation{8};
  ack.group = billing;
  ack.items = {{orders, queue_no{1}, queue_offset{41}, 4'100, handling::done},
               {orders, queue_no{1}, queue_offset{42}, 4'200, handling::returned}};
  ack.subscription = correlation{3};
  ack.credit = 2;
  give(ack);
  EXPECT_EQ(consumers->count<member_left>(), 1U);
  EXPECT_TRUE(consumers->received().back().match_elements<member_left>());
}

TEST_F(NativeSubscribe, StaysAMemberForAnotherOne) {
  const auto first = subscribe(5);
  give(native::subscribe{correlation{4}, "readers", orders, 5, {}, {}});
  (void)taken<native::delivered>();
  give(native::unsubscribe{correlation{5}, correlation{3}});
  EXPECT_EQ(consumers->count<member_left>(), 0U);
  consumers->forget_all();
  hand_out(first.id, 1);
  EXPECT_TRUE(taken<native::delivered>().empty());
  const auto back = consumers->take_last<acknowledge>();
  ASSERT_EQ(back.items.size(), 1U);
  EXPECT_EQ(back.items[0].what, handling::returned);
}

TEST_F(NativeSubscribe, NeedsACorrelationOfItsOwn) {
  subscribe(5);
  give(native::subscribe{correlation{3}, "readers", orders, 5, {}, {}});
  EXPECT_EQ(only<native::refused>().code, ec::bad_request);
}

TEST_F(NativeSubscribe, RefusesAFilterThatCannotBeRead) {
  open();
  resolve_orders();
  native::subscribe wrong{correlation{3}, "readers", orders, 5, {}, {}};
  wrong.terms = {delivery_mode::concurrent, filter_kind::tags, "||"};
  give(wrong);
  EXPECT_EQ(only<native::refused>().code, ec::bad_filter);
}

} // namespace
} // namespace handfast
