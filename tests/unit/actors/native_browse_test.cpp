#include "tests/unit/actors/native_client.hpp"

namespace handfast {
namespace {

class NativeBrowse : public test::native_client {
protected:
  void open_orders() {
    open();
    resolve_orders();
  }

  static queue_key queue(std::uint16_t n) { return {orders, queue_no{n}}; }

  visible_entry entry(std::uint64_t offset, std::uint32_t tag = 0) {
    const auto at = 4'000 + offset * 100;
    records.cached[at] = test::message_record_at(at, "m" + std::to_string(offset));
    return {position{at}, 100, tag, queue_offset{offset}, 9};
  }

  /// What the queue says to a fetch: `entries` of it, which ends at `end`.
  void answer(const fetch_entries& asked, std::vector<visible_entry> entries, std::uint64_t end,
              std::uint64_t first = 0) {
    send(connection, entries_fetched{asked.id, asked.queue, ec::ok, queue_offset{first},
                                     queue_offset{end}, std::move(entries)});
    run();
  }

  void read(std::vector<native::queue_position> places, std::uint32_t wait_ms = 500,
            std::string tags = {}) {
    native::read_queues frame;
    frame.id = correlation{9};
    frame.topic = orders;
    frame.wait_ms = wait_ms;
    frame.filter = tags.empty() ? filter_kind::all : filter_kind::tags;
    frame.expression = std::move(tags);
    frame.places = std::move(places);
    give(frame);
  }

  static std::vector<std::string> bodies(const native::delivered& from) {
    std::vector<std::string> found;
    for (const auto& item : from.items)
      found.emplace_back(item.payload.text().substr(item.properties_size));
    return found;
  }
};

TEST_F(NativeBrowse, BrowsesAQueueWithoutAGroup) {
  open_orders();
  native::read_view view;
  view.id = correlation{9};
  view.topic = orders;
  view.queue = queue_no{1};
  view.offset = queue_offset{3};
  give(view);
  const auto asked = queue_probe->take_last<fetch_entries>();
  EXPECT_EQ(asked.from, queue_offset{3});
  records.cached[4000] = test::message_record_at(4000, "seen");
  send(connection, entries_fetched{asked.id,
                                   {orders, queue_no{1}},
                                   ec::ok,
                                   {},
                                   queue_offset{4},
                                   {{position{4000}, 100, 0, queue_offset{3}, 9}}});
  run();
  const auto got = only<native::delivered>();
  ASSERT_EQ(got.items.size(), 1U);
  EXPECT_EQ(got.items[0].lease, 0U);
  EXPECT_EQ(got.items[0].payload.text(), "seen");
  EXPECT_EQ(consumers->received().size(), 0U);
}

TEST_F(NativeBrowse, ReadsTheOpViewInItsForm) {
  open();
  native::read_view view;
  view.id = correlation{9};
  view.topic = op_view_topic;
  give(view);
  view_read answer;
  answer.id = reader->take_last<read_view>().id;
  log_record record;
  record.type = record_type::decide;
  decide_record content;
  content.op_offset = queue_offset{6};
  record.content = content;
  answer.records = {record};
  answer.op_bodies = {"3,4,"};
  send(connection, answer);
  run();
  const auto got = only<native::delivered>();
  ASSERT_EQ(got.items.size(), 1U);
  EXPECT_EQ(got.items[0].payload.text(), "3,4,");
  EXPECT_EQ(got.items[0].offset, queue_offset{6});
}

// -- broadcasting -------------------------------------------------------------------

TEST_F(NativeBrowse, BroadcastingReadsSeveralQueuesWithoutAGroup) {
  open_orders();
  read({{queue_no{0}, queue_offset{1}}, {queue_no{2}, queue_offset{5}}});
  const auto asked = queue_probe->take<fetch_entries>();
  ASSERT_EQ(asked.size(), 2U);
  answer(asked[0], {entry(1), entry(2)}, 3);
  EXPECT_TRUE(taken<native::delivered>().empty()) << "the other queue has not answered";
  answer(asked[1], {}, 5);
  const auto got = only<native::delivered>();
  EXPECT_EQ(bodies(got), (std::vector<std::string>{"m1", "m2"}));
  EXPECT_EQ(got.next, (std::vector<native::queue_position>{{queue_no{0}, queue_offset{3}}}));
  EXPECT_EQ(consumers->received().size(), 0U);
}

TEST_F(NativeBrowse, BroadcastingIsParkedUntilSomethingComes) {
  open_orders();
  read({{queue_no{0}, queue_offset{3}}});
  answer(queue_probe->take_last<fetch_entries>(), {}, 3);
  EXPECT_EQ(queue_probe->take_last<watch_queue>().from, queue_offset{3});
  EXPECT_TRUE(taken<native::delivered>().empty());
  send(connection, queue_grew{queue(0), queue_offset{4}});
  run();
  answer(queue_probe->take_last<fetch_entries>(), {entry(3)}, 4);
  EXPECT_EQ(bodies(only<native::delivered>()), std::vector<std::string>{"m3"});
}

TEST_F(NativeBrowse, BroadcastingEndsEmptyAfterItsWait) {
  open_orders();
  read({{queue_no{0}, queue_offset{3}}}, 500);
  answer(queue_probe->take_last<fetch_entries>(), {}, 3);
  advance(std::chrono::milliseconds{499});
  EXPECT_TRUE(taken<native::delivered>().empty());
  advance(std::chrono::milliseconds{2});
  EXPECT_TRUE(only<native::delivered>().items.empty());
}

TEST_F(NativeBrowse, AQueueThatIsKnownToBeEmptyIsNotAskedAgain) {
  open_orders();
  read({{queue_no{0}, queue_offset{3}}}, 10);
  answer(queue_probe->take_last<fetch_entries>(), {}, 3);
  advance(std::chrono::milliseconds{11});
  (void)only<native::delivered>();
  queue_probe->forget_all();
  read({{queue_no{0}, queue_offset{3}}}, 10);
  EXPECT_EQ(queue_probe->received().size(), 0U);
  send(connection, queue_grew{queue(0), queue_offset{4}});
  run();
  EXPECT_EQ(queue_probe->count<fetch_entries>(), 1U);
}

TEST_F(NativeBrowse, BroadcastingPassesOverWhatTheFilterDoesNotWant) {
  open_orders();
  read({{queue_no{0}, queue_offset{0}}}, 500, "paid");
  auto other = entry(0, tag_hash("other"));
  answer(queue_probe->take_last<fetch_entries>(), {other}, 2);
  // Nothing of that is wanted, and there is more: it reads on.
  const auto asked = queue_probe->take_last<fetch_entries>();
  EXPECT_EQ(asked.from, queue_offset{1});
  const std::string properties = "TAGS\x01"
                                 "paid\x02";
  auto wanted = entry(1, tag_hash("paid"));
  auto record = test::message_record_at(4'100, properties + "m1");
  std::get<message_record>(record.content).properties_size =
      static_cast<std::uint32_t>(properties.size());
  records.cached[4'100] = record;
  answer(asked, {wanted}, 2);
  const auto got = only<native::delivered>();
  EXPECT_EQ(bodies(got), std::vector<std::string>{"m1"});
  EXPECT_EQ(got.next.at(0).offset, queue_offset{2});
}

TEST_F(NativeBrowse, BroadcastingGoesOnWhereTheQueueBegins) {
  open_orders();
  read({{queue_no{0}, queue_offset{0}}});
  answer(queue_probe->take_last<fetch_entries>(), {entry(5)}, 6, 5);
  EXPECT_EQ(only<native::delivered>().next.at(0).offset, queue_offset{6});
}

TEST_F(NativeBrowse, BroadcastingAsksARestartedQueueAgain) {
  open_orders();
  read({{queue_no{0}, queue_offset{0}}});
  EXPECT_EQ(queue_probe->count<fetch_entries>(), 1U);
  auto next = make_probe();
  send(connection, queue_found{queue(0), next->as<queue_actor>(), incarnation{2}});
  run();
  answer(next->take_last<fetch_entries>(), {entry(0)}, 1);
  EXPECT_EQ(bodies(only<native::delivered>()), std::vector<std::string>{"m0"});
}

TEST_F(NativeBrowse, BroadcastingNamesEachQueueOnce) {
  open_orders();
  read({});
  EXPECT_EQ(only<native::refused>().code, ec::bad_request);
  read({{queue_no{0}, {}}, {queue_no{0}, {}}});
  EXPECT_EQ(only<native::refused>().code, ec::unknown_queue);
  read({{queue_no{4}, {}}});
  EXPECT_EQ(only<native::refused>().code, ec::unknown_queue);
}

TEST_F(NativeBrowse, FindsWhereAStartPointIs) {
  open_orders();
  give(native::find_offsets{correlation{9}, orders, false, {}, {start_from::latest, 0}});
  const auto asked = queue_probe->take<find_offset>();
  ASSERT_EQ(asked.size(), 4U);
  for (std::size_t n = 4; n-- > 0;) {
    EXPECT_EQ(asked[n].point.from, start_from::latest);
    send(connection, offset_found{asked[n].id, asked[n].queue, ec::ok, queue_offset{n * 10},
                                  queue_offset{n}, queue_offset{n * 10}});
    run();
  }
  const auto got = only<native::offsets>();
  ASSERT_EQ(got.items.size(), 4U);
  for (std::uint16_t n = 0; n < 4; ++n)
    EXPECT_EQ(got.items[n], (native::found_offset{queue_no{n}, queue_offset{n * 10U},
                                                  queue_offset{n}, queue_offset{n * 10U}}));
}

} // namespace
} // namespace handfast
