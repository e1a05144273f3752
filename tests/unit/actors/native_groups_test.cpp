#include "tests/unit/actors/native_client.hpp"

namespace handfast {
namespace {

class NativeGroups : public test::native_client {
protected:
  void open_orders() {
    open();
    resolve_orders();
  }

  describe_group show() {
    give(native::group_show{correlation{5}, "readers"});
    return consumers->take_last<describe_group>();
  }

  group_described description(correlation id) {
    group_described d;
    d.id = id;
    d.group = billing;
    d.members = {{"alice", 3, 1}};
    d.queues = {{{orders, queue_no{2}}, queue_offset{4}, queue_offset{9}, 1, 2, true}};
    d.terms = {{orders, {delivery_mode::ordered, filter_kind::tags, "a"}}};
    d.dead_letters = 7;
    return d;
  }

  handfast::reset_progress reset(std::uint64_t id = 6) {
    give(native::reset_progress{
        correlation{id}, "readers", orders, true, queue_no{2}, {start_from::time, 99}});
    return consumers->take_last<handfast::reset_progress>();
  }
};

TEST_F(NativeGroups, ShowsAGroupWithTheNamesOfItsTopics) {
  open_orders();
  send(connection, description(show().id));
  run();
  const auto got = only<native::group_description>();
  EXPECT_EQ(got.id, correlation{5});
  EXPECT_EQ(got.name, "readers");
  EXPECT_EQ(got.dead_letters, 7U);
  EXPECT_EQ(got.members, (std::vector<native::group_member>{{"alice", 3, 1}}));
  EXPECT_EQ(got.places, (std::vector<native::group_place>{{"orders", queue_no{2}, queue_offset{4},
                                                           queue_offset{9}, 1, 2, true}}));
  EXPECT_EQ(got.terms, (std::vector<native::group_terms>{
                           {"orders", {delivery_mode::ordered, filter_kind::tags, "a"}}}));
}

TEST_F(NativeGroups, RefusesAGroupThatIsNotThere) {
  registry->on<resolve_group>([this](const resolve_group& x) {
    EXPECT_FALSE(x.create);
    send(connection, group_resolved{x.id, {ec::unknown_group, "'readers'"}, {}, x.name});
  });
  open_orders();
  show();
  EXPECT_EQ(only<native::refused>().code, ec::unknown_group);
}

TEST_F(NativeGroups, AsksARestartedGroupAgain) {
  open_orders();
  const auto lost = show();
  auto next = make_probe();
  send(connection, consumer_group_found{billing, next->as<consumer_group_actor>(), incarnation{2}});
  run();
  send(connection, description(lost.id));
  run();
  EXPECT_TRUE(taken<native::group_description>().empty()) << "what the old one says is too late";
  send(connection, description(next->take_last<describe_group>().id));
  run();
  EXPECT_EQ(only<native::group_description>().dead_letters, 7U);
}

TEST_F(NativeGroups, SetsAGroupBack) {
  open_orders();
  const auto asked = reset();
  EXPECT_EQ(asked.topic, orders);
  EXPECT_EQ(asked.queues, 4U);
  EXPECT_TRUE(asked.one_queue);
  EXPECT_EQ(asked.queue, queue_no{2});
  EXPECT_EQ(asked.point, (start_point{start_from::time, 99}));
  send(connection, progress_reset{asked.id, ec::ok, {{{orders, queue_no{2}}, queue_offset{3}}}});
  run();
  const auto got = only<native::offsets>();
  EXPECT_EQ(got.id, correlation{6});
  EXPECT_EQ(got.items, (std::vector<native::found_offset>{{queue_no{2}, queue_offset{3}, {}, {}}}));
}

TEST_F(NativeGroups, PassesOnWhyAResetIsRefused) {
  open_orders();
  send(connection, progress_reset{reset().id, ec::recovering, {}});
  run();
  EXPECT_EQ(only<native::refused>().code, ec::recovering);
}

TEST_F(NativeGroups, RefusesAResetOfAQueueThatIsNotThere) {
  open_orders();
  give(native::reset_progress{correlation{6}, "readers", orders, true, queue_no{4}, {}});
  EXPECT_EQ(only<native::refused>().code, ec::unknown_queue);
}

TEST_F(NativeGroups, ChangesAndDeletesAGroup) {
  open();
  give(native::group_set{correlation{5}, "readers", 3});
  const auto put = registry->take_last<put_group>();
  EXPECT_EQ(put.options.delivery_max, 3U);
  send(connection, group_resolved{put.id, {}, billing, "readers"});
  run();
  EXPECT_EQ(only<native::done>().id, correlation{5});
  give(native::group_delete{correlation{6}, "readers"});
  send(connection,
       group_resolved{
           registry->take_last<delete_group>().id, {ec::group_in_use, "2 members"}, {}, "readers"});
  run();
  const auto refused = only<native::refused>();
  EXPECT_EQ(refused.id, correlation{6});
  EXPECT_EQ(refused.code, ec::group_in_use);
}

} // namespace
} // namespace handfast
