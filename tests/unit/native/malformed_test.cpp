#include "tests/unit/native/frame_bytes.hpp"

#include <random>

namespace handfast::native::test {

namespace {

/// Decodes whatever kind the header names, as a door does. The verdict does not matter, only that
/// there is one.
bool decode_any(const frame& f) {
  auto decodes = [&](auto message) { return decode(f, message).has_value(); };
  switch (f.header.kind) {
  case frame_kind::hello:
    return decodes(hello{});
  case frame_kind::goodbye:
    return decodes(goodbye{});
  case frame_kind::resolve_topic:
    return decodes(resolve_topic{});
  case frame_kind::join_producer_group:
    return decodes(join_producer_group{});
  case frame_kind::leave_producer_group:
    return decodes(leave_producer_group{});
  case frame_kind::send:
    return decodes(send{});
  case frame_kind::send_half:
    return decodes(send_half{});
  case frame_kind::decide:
    return decodes(decide{});
  case frame_kind::running:
    return decodes(running{});
  case frame_kind::check_received:
    return decodes(check_received{});
  case frame_kind::query_transaction:
    return decodes(query_transaction{});
  case frame_kind::list_transactions:
    return decodes(list_transactions{});
  case frame_kind::reopen:
    return decodes(reopen{});
  case frame_kind::fetch:
    return decodes(fetch{});
  case frame_kind::acknowledge:
    return decodes(acknowledge{});
  case frame_kind::read_view:
    return decodes(read_view{});
  case frame_kind::topic_create:
    return decodes(topic_create{});
  case frame_kind::topic_list:
    return decodes(topic_list{});
  case frame_kind::topic_show:
    return decodes(topic_show{});
  case frame_kind::topic_delete:
    return decodes(topic_delete{});
  case frame_kind::group_list:
    return decodes(group_list{});
  case frame_kind::status:
    return decodes(status{});
  case frame_kind::quarantine_list:
    return decodes(quarantine_list{});
  case frame_kind::list_delayed:
    return decodes(list_delayed{});
  case frame_kind::cancel_delayed:
    return decodes(cancel_delayed{});
  case frame_kind::welcome:
    return decodes(welcome{});
  case frame_kind::closing:
    return decodes(closing{});
  case frame_kind::refused:
    return decodes(refused{});
  case frame_kind::done:
    return decodes(done{});
  case frame_kind::topic_resolved:
    return decodes(topic_resolved{});
  case frame_kind::group_joined:
    return decodes(group_joined{});
  case frame_kind::sent:
    return decodes(sent{});
  case frame_kind::half_stored:
    return decodes(half_stored{});
  case frame_kind::decided:
    return decodes(decided{});
  case frame_kind::check:
    return decodes(check{});
  case frame_kind::transactions:
    return decodes(transactions{});
  case frame_kind::reopened:
    return decodes(reopened{});
  case frame_kind::delivered:
    return decodes(delivered{});
  case frame_kind::acknowledged:
    return decodes(acknowledged{});
  case frame_kind::topics:
    return decodes(topics{});
  case frame_kind::groups:
    return decodes(groups{});
  case frame_kind::status_report:
    return decodes(status_report{});
  case frame_kind::quarantine_page:
    return decodes(quarantine_page{});
  case frame_kind::delayed_page:
    return decodes(delayed_page{});
  case frame_kind::subscribe:
    return decodes(subscribe{});
  case frame_kind::credit:
    return decodes(credit{});
  case frame_kind::unsubscribe:
    return decodes(unsubscribe{});
  case frame_kind::read_queues:
    return decodes(read_queues{});
  case frame_kind::find_offsets:
    return decodes(find_offsets{});
  case frame_kind::group_show:
    return decodes(group_show{});
  case frame_kind::group_set:
    return decodes(group_set{});
  case frame_kind::group_delete:
    return decodes(group_delete{});
  case frame_kind::reset_progress:
    return decodes(reset_progress{});
  case frame_kind::offsets:
    return decodes(offsets{});
  case frame_kind::group_description:
    return decodes(group_description{});
  }
  return false;
}

std::vector<std::string> samples() {
  send s{{some_item(1, "KEYS\x01k\x02", "body one"), some_item(2, "", "two")}};
  send_half h{{some_item(3, "TAGS\x01t\x02", std::string(200, 'h'))}};
  sent answer{{{{1}, ec::bad_name, {}, {}, {}, {}}}, {{{1}, "why"}}};
  decide d{{{{1}, some_transaction(1), {5}, outcome::committed, origin::producer, false, 1, 0}}};
  decided dd{
      {{{1}, ec::ok, some_transaction(1), outcome::committed, origin::check, 1, {1}, {1}, {1}}},
      {}};
  check c{{{some_transaction(1),
            {5},
            {17},
            {2},
            1,
            15,
            2,
            3,
            4,
            4,
            2,
            shared_bytes::copy_of("pqbody")}},
          {{{17}, "orders"}}};
  transactions page{{1}, true, std::vector<transaction_info>(3)};
  page.items[0].life.asks.resize(2);
  page.items[0].life.messages.resize(2);
  delivered del;
  del.items.resize(2);
  del.items[1].payload = shared_bytes::copy_of("body");
  topics t{{1}, false, std::vector<topic_item>(2)};
  groups g{{1}, false, {{{5}, "readers", 1, 2, {{"orders", {0}, {5}, {9}, 1}}}}};
  return {encoded(s),
          encoded(h),
          encoded(answer),
          encoded(d),
          encoded(dd),
          encoded(c),
          encoded(page),
          encoded(del),
          encoded(t),
          encoded(g),
          encoded(hello{}),
          encoded(join_producer_group{{1}, "g", {"a", "b"}, 1}),
          encoded(fetch{}),
          encoded(subscribe{}),
          encoded(read_queues{{1}, {17}, 10, 0, 0, filter_kind::tags, "a", {{{0}, {1}}}}),
          encoded(acknowledge{{1}, {5}, {{{17}, {2}, {9}, 33}}}),
          encoded(offsets{{1}, {{{0}, {5}, {1}, {9}}}}),
          encoded(group_description{{1}, {5}, "r", 0, {{"a", 1, 1}}, {}, {{"orders", {}}}}),
          encoded(list_transactions{}),
          encoded(topic_create{})};
}

void mutate(std::string& bytes, std::mt19937_64& random) {
  auto flips = 1 + random() % 4;
  for (std::uint64_t i = 0; i < flips; ++i) {
    auto at = random() % bytes.size();
    switch (random() % 3) {
    case 0:
      bytes[at] = static_cast<char>(random());
      break;
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
      break;
    default:
      bytes[at] = static_cast<char>(random() % 2 ? 0xff : 0);
      break;
    }
  }
}

} // namespace

TEST(MalformedFrames, NeverDoMoreThanBeingRefused) {
  std::mt19937_64 random{20240607};
  auto originals = samples();
  std::size_t accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    auto bytes = originals[random() % originals.size()];
    mutate(bytes, random);
    if (random() % 8 == 0)
      bytes.resize(random() % bytes.size());
    frame_splitter splitter;
    splitter.feed(shared_bytes::copy_of(bytes));
    for (;;) {
      auto next = splitter.next();
      if (!next || !*next)
        break;
      accepted += decode_any(**next);
    }
  }
  EXPECT_GT(accepted, 1'000u) << "the mutations are so coarse that nothing reaches the decoders";
}

TEST(MalformedFrames, EveryPrefixOfAFrameIsRefusedOrWaitedFor) {
  for (const auto& bytes : samples())
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      frame_splitter splitter;
      splitter.feed(shared_bytes::copy_of(std::string_view{bytes}.substr(0, size)));
      auto next = splitter.next();
      EXPECT_TRUE(next && !*next);
    }
}

TEST(MalformedFrames, SizesThatExceedThePayloadAreRefused) {
  auto frames = split(encoded(send{{some_item(1, "", "12345678")}}), 1 << 20);
  frames[0].header.payload_bytes = 4;
  send s;
  auto decoded = decode(frames[0], s);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ec::bad_frame);
}

TEST(MalformedFrames, PayloadThatNoItemNamesIsRefused) {
  auto bytes = encoded(send{{some_item(1, "", "1234")}});
  bytes[12] = 8; // payload_bytes: the padding now counts as payload
  auto frames = split(bytes, bytes.size());
  ASSERT_EQ(frames.size(), 1u);
  send s;
  EXPECT_FALSE(decode(frames[0], s));
}

TEST(MalformedFrames, AnOutcomeOutOfRangeIsRefused) {
  decide d{
      {{{1}, some_transaction(1), {5}, static_cast<outcome>(9), origin::producer, false, 1, 0}}};
  auto frames = split(encoded(d), 1 << 20);
  decide back;
  EXPECT_FALSE(decode(frames[0], back));
}

TEST(MalformedFrames, AnUnknownCodeReadsAsInternal) {
  sent s{{{{1}, static_cast<ec>(60'000), {}, {}, {}, {}}}, {}};
  EXPECT_EQ(round_trip(s).items[0].code, ec::internal);
}

} // namespace handfast::native::test
