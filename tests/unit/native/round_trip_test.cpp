#include "messages/native/codec_support.hpp"
#include "tests/unit/native/frame_bytes.hpp"

namespace handfast::native::test {

#define EXPECT_COMES_BACK(message) EXPECT_EQ(round_trip(message), message)

TEST(NativeSession, HelloComesBack) {
  hello h;
  h.library_version = "0.1.0";
  h.client = "orders-7";
  h.mechanism = "plain";
  h.credentials = std::string{"a\0b", 3};
  h.producer = {0xfeedfacecafebeef};
  h.credit = 64;
  EXPECT_COMES_BACK(h);
}

TEST(NativeSession, WelcomeComesBack) {
  EXPECT_COMES_BACK((welcome{1, "node-1", "0.1.0", 99, 4096, 1u << 25, 1u << 23, 1u << 22}));
}

TEST(NativeSession, NoticesComeBack) {
  EXPECT_COMES_BACK((closing{ec::stopping, "in order"}));
  EXPECT_COMES_BACK(goodbye{});
  EXPECT_COMES_BACK((refused{{7}, ec::bad_name, "'a/b'"}));
  EXPECT_COMES_BACK(done{{8}});
}

TEST(NativeSession, ResolvingATopicComesBack) {
  EXPECT_COMES_BACK((resolve_topic{{1}, "orders", false}));
  EXPECT_COMES_BACK((topic_resolved{{1}, ec::unknown_topic, {0}, 0, "'orders'"}));
  EXPECT_COMES_BACK((topic_resolved{{1}, ec::ok, {17}, 4, ""}));
}

TEST(NativeSession, JoiningAndLeavingAGroupComesBack) {
  EXPECT_COMES_BACK((join_producer_group{{1}, "billing", {"orders", "invoices"}, 0xabcdef}));
  EXPECT_COMES_BACK((join_producer_group{{1}, "billing", {}, 0}));
  EXPECT_COMES_BACK((group_joined{{1}, ec::ok, {5}, ""}));
  EXPECT_COMES_BACK((leave_producer_group{{2}, {5}}));
}

TEST(NativeProduce, MessagesComeBackWithTheirBodies) {
  send s;
  s.items = {some_item(1, "", "hello"), some_item(2, "KEYS\x01k\x02", ""),
             some_item(3, "TAGS\x01t\x02", std::string(10'000, 'x'))};
  EXPECT_COMES_BACK(s);
}

TEST(NativeProduce, HalvesComeBackWithTheirBodies) {
  send_half s;
  s.items = {some_item(1, "TAGS\x01t\x02", std::string(1024, 'b'))};
  EXPECT_COMES_BACK(s);
  EXPECT_EQ(round_trip(s).items[0].body_size(), 1024u);
}

/// The same frame in a form that no `encode` makes: with a word behind the last entry.
template <class Message>
frame with_a_word_more(const Message& message) {
  auto bytes = encoded(message);
  auto plain = split(bytes, bytes.size()).at(0);
  std::string rest{plain.rest.text()};
  rest.insert(plain.header.meta_bytes, 8, '\0');
  plain.header.meta_bytes += 8;
  return {plain.header, shared_bytes::copy_of(rest)};
}

TEST(NativeProduce, HalvesAndDecisionsAreReadInAnyForm) {
  send_half s;
  s.items = {some_item(1, "TAGS\x01t\x02", "one"), some_item(2, "", "other")};
  send_half halves;
  EXPECT_TRUE(decode(with_a_word_more(s), halves));
  EXPECT_EQ(halves, s);
  decide d;
  d.items.resize(2);
  d.items[0] = {{1}, some_transaction(1), {5}, outcome::committed, origin::check, false, 3, 2};
  d.items[1] = {{2}, some_transaction(2), {6}, outcome::pending, origin::producer, true, 0, 7};
  decide decisions;
  EXPECT_TRUE(decode(with_a_word_more(d), decisions));
  EXPECT_EQ(decisions, d);
  EXPECT_COMES_BACK(d);
}

TEST(NativeProduce, AnEmptyBatchComesBack) {
  EXPECT_COMES_BACK(send{});
}

TEST(NativeProduce, AnswersComeBackWithAndWithoutDetails) {
  sent s;
  s.items = {{{1}, ec::ok, {4096}, {17}, {2}, {9}},
             {{2}, ec::body_too_large, {}, {}, {}, {}},
             {{3}, ec::ok, {8192}, {17}, {2}, {}, 77'000}};
  EXPECT_COMES_BACK(s);
  s.details = {{{2}, "5 MiB, limit 4 MiB"}};
  EXPECT_COMES_BACK(s);

  half_stored h;
  h.items = {{{1}, ec::ok, some_transaction(1), {8}, {0}}};
  EXPECT_COMES_BACK(h);
  h.details = {{{1}, "why"}};
  EXPECT_COMES_BACK(h);
}

TEST(NativeTransactions, DecisionsComeBack) {
  decide d;
  d.items = {{{1}, some_transaction(1), {5}, outcome::committed, origin::producer, false, 3, 0},
             {{0}, some_transaction(2), {5}, outcome::pending, origin::check, true, 0, 4}};
  EXPECT_COMES_BACK(d);

  decided answer;
  answer.items = {{{1},
                   ec::conflict_rolled_back,
                   some_transaction(1),
                   outcome::rolled_back,
                   origin::admin,
                   3,
                   {17},
                   {1},
                   {44}},
                  {{2},
                   ec::ok,
                   some_transaction(2),
                   outcome::committed,
                   origin::producer,
                   1,
                   {17},
                   {1},
                   {},
                   77'000}};
  EXPECT_COMES_BACK(answer);
  answer.details = {{{1}, "rolled back by an operator"}};
  EXPECT_COMES_BACK(answer);
}

TEST(NativeTransactions, ChecksAndReceiptsComeBack) {
  check c;
  auto body = shared_bytes::copy_of("KEYS\x01k\x02the body");
  c.items = {{some_transaction(1),
              {5},
              {17},
              {2},
              1,
              15,
              2,
              1'700'000'000'000,
              1'699'999'999'999,
              4,
              7,
              body}};
  c.topics = {{{17}, "orders"}};
  EXPECT_COMES_BACK(c);
  EXPECT_COMES_BACK((check_received{{{some_transaction(1), {5}}}}));
  EXPECT_COMES_BACK((running{{{some_transaction(1), {5}}, {some_transaction(2), {6}}}}));
}

TEST(NativeTransactions, QuestionsComeBack) {
  EXPECT_COMES_BACK((query_transaction{{1}, some_transaction(1)}));
  EXPECT_COMES_BACK((reopen{{1}, some_transaction(1)}));
  EXPECT_COMES_BACK((reopened{{1}, some_transaction(1), some_transaction(2)}));
  EXPECT_COMES_BACK((list_transactions{{1}, transaction_state::given_up, "g", "t", {4096}, 10}));
  EXPECT_COMES_BACK((list_transactions{{1}, std::nullopt, "", "", {}, 100}));
}

TEST(NativeTransactions, ALifeComesBackWhole) {
  transaction_info info;
  info.group = "billing";
  info.topics = {"orders"};
  auto& life = info.life;
  life.id = some_transaction(1);
  life.state = transaction_state::given_up;
  life.group = {5};
  life.messages = {{{4096}, {17}, {2}, {9}, 1200, 3}};
  life.producer = {77};
  life.stored_ms = 1;
  life.age_ms = 2;
  life.next_check_in_ms = 3;
  life.timeout_ms = 4;
  life.check_interval_ms = 5;
  life.attempts = 6;
  life.attempts_max = 7;
  life.waiting_for_producer = true;
  life.asks = {{8, 1, 9, "orders-7", "unknown"}};
  life.decided_by = origin::policy;
  life.decided_ms = 10;
  life.reopened_as = some_transaction(2);
  life.reopened_from = some_transaction(3);
  life.note = "damaged";
  transactions page{{1}, true, {info}};

  auto back = round_trip(page);
  ASSERT_EQ(back.items.size(), 1u);
  EXPECT_TRUE(back.more);
  EXPECT_EQ(back.items[0].group, "billing");
  EXPECT_EQ(back.items[0].topics, info.topics);
  const auto& got = back.items[0].life;
  EXPECT_EQ(got.id, life.id);
  EXPECT_EQ(got.state, life.state);
  EXPECT_EQ(got.messages, life.messages);
  EXPECT_EQ(got.reopened_as, life.reopened_as);
  EXPECT_EQ(got.reopened_from, life.reopened_from);
  EXPECT_EQ(got.asks[0].member_name, "orders-7");
  EXPECT_EQ(got.asks[0].answer, "unknown");
  EXPECT_EQ(got.note, life.note);
  EXPECT_EQ(encoded(back), encoded(page)) << "some field is lost on the way";
}

TEST(NativeConsume, FetchAndAcknowledgeComeBack) {
  EXPECT_COMES_BACK((fetch{{1},
                           "readers",
                           {0},
                           {17},
                           any_queue,
                           10,
                           1024,
                           500,
                           {start_from::time, 1'700'000'000'000},
                           {delivery_mode::ordered, filter_kind::sql, "color = 'red'"}}));
  EXPECT_COMES_BACK((read_view{{1}, half_view_topic, {0}, {12}, 5}));
  EXPECT_COMES_BACK((acknowledge{{1},
                                 {5},
                                 {{{17}, {2}, {9}, 33},
                                  {{17}, {2}, {10}, 34, handling::failed, {}, 500},
                                  {{17}, {2}, {11}, 35, handling::dead_letter},
                                  {{17}, {2}, {12}, 0, handling::done, {40}}},
                                 {8},
                                 31}));
  EXPECT_COMES_BACK((acknowledged{{1}, ec::ok, "", 2, 1}));
}

TEST(NativeConsume, SubscriptionsComeBack) {
  EXPECT_COMES_BACK((subscribe{{1},
                               "readers",
                               {17},
                               100,
                               {start_from::offset, 9},
                               {delivery_mode::concurrent, filter_kind::tags, "a || b"}}));
  EXPECT_COMES_BACK((credit{{1}, 20}));
  EXPECT_COMES_BACK((unsubscribe{{2}, {1}}));
}

TEST(NativeConsume, BroadcastingComesBack) {
  EXPECT_COMES_BACK(
      (read_queues{{1}, {17}, 10, 4096, 500, filter_kind::tags, "a", {{{0}, {5}}, {{3}, {7}}}}));
  EXPECT_COMES_BACK((find_offsets{{1}, {17}, true, {3}, {start_from::latest, 0}}));
  EXPECT_COMES_BACK((offsets{{1}, {{{0}, {5}, {1}, {9}}, {{1}, {6}, {0}, {6}}}}));
  delivered d;
  d.id = {1};
  d.lease_ms = 30'000;
  d.next = {{{0}, {6}}, {{2}, {1}}};
  EXPECT_COMES_BACK(d);
}

TEST(NativeConsume, WhoOnlySaysThatItIsNotDoneHandsItBack) {
  acknowledge a;
  a.items = {{{17}, {2}, {9}, 33}};
  frame_writer to;
  codec::write_any<native_schema::Acknowledge>(
      to, acknowledge::kind,
      [](native_schema::Acknowledge::Builder root) { root.initEntries(1)[0].setDone(false); });
  const auto bytes = bytes_of(to);
  ASSERT_TRUE(decode(split(bytes, bytes.size()).at(0), a));
  EXPECT_EQ(a.items.at(0).what, handling::returned);
}

TEST(NativeConsume, WhatOnlyTheNodeSaysOfAMessageIsRefused) {
  acknowledge a;
  a.items = {{{17}, {2}, {9}, 33, handling::filtered}};
  const auto bytes = encoded(a);
  EXPECT_FALSE(decode(split(bytes, bytes.size()).at(0), a));
}

TEST(NativeAdmin, GroupsComeBack) {
  EXPECT_COMES_BACK((group_show{{1}, "readers"}));
  EXPECT_COMES_BACK((group_set{{1}, "readers", 5}));
  EXPECT_COMES_BACK((group_delete{{1}, "readers"}));
  EXPECT_COMES_BACK(
      (reset_progress{{1}, "readers", {17}, true, {3}, {start_from::time, 1'700'000'000'000}}));
  EXPECT_COMES_BACK(
      (group_description{{1},
                         {5},
                         "readers",
                         2,
                         {{"alice", 3, 1}},
                         {{"orders", {0}, {5}, {9}, 1, 2, true}},
                         {{"orders", {delivery_mode::ordered, filter_kind::tags, "a"}}}}));
}

TEST(NativeConsume, DeliveriesComeBackWithTheirBodies) {
  delivered d;
  d.id = {1};
  d.group = {5};
  d.items = {{{4096},
              {17},
              {2},
              {9},
              33,
              1,
              100,
              200,
              some_transaction(1),
              8,
              0,
              7,
              shared_bytes::copy_of("KEYS\x01k\x02the body")},
             {{5096},
              {17},
              {2},
              {10},
              34,
              2,
              100,
              200,
              {},
              0,
              6,
              0,
              shared_bytes::copy_of(std::string(9'001, 'z'))}};
  EXPECT_COMES_BACK(d);
  d.items.clear();
  d.code = ec::unknown_topic;
  d.detail = "no such topic";
  EXPECT_COMES_BACK(d);
}

TEST(NativeAdmin, TopicRequestsComeBack) {
  attributes options{6'000, 30'000, 15, 86'400'000, 1u << 30, true};
  EXPECT_COMES_BACK((topic_create{{1}, "orders", 8, options}));
  EXPECT_COMES_BACK((topic_show{{1}, "orders"}));
  EXPECT_COMES_BACK((topic_delete{{1}, "orders", true}));
  EXPECT_COMES_BACK((topic_list{{1}, "after", 7}));
  EXPECT_COMES_BACK((group_list{{1}, "after", 7}));
  EXPECT_COMES_BACK(status{{1}});
  EXPECT_COMES_BACK((quarantine_list{{1}, 9}));
}

TEST(NativeAdmin, ListingsComeBackWhole) {
  topics t{{1}, true, {{{{17}, "orders", 4, true, {}}, {{{0}, {5}, {9}}}}}};
  auto back = round_trip(t);
  EXPECT_EQ(back.items.at(0).info.name, "orders");
  EXPECT_EQ(back.items.at(0).queues, t.items[0].queues);
  EXPECT_EQ(encoded(back), encoded(t));

  EXPECT_COMES_BACK((groups{{1}, false, {{{5}, "readers", 1, 2, {{"orders", {0}, {5}, {9}, 1}}}}}));
  EXPECT_COMES_BACK((status_report{{1}, R"({"state":"serving"})"}));

  quarantine_page q{{1}, {{{4096}, "HALF", "body damaged", some_transaction(1)}}};
  EXPECT_EQ(encoded(round_trip(q)), encoded(q));
}

TEST(NativeDelays, EverythingComesBack) {
  EXPECT_COMES_BACK((list_delayed{{1}, "orders", 1'700'000'000'000, {4096}, 7}));
  EXPECT_COMES_BACK((cancel_delayed{{1}, {4096}}));
  EXPECT_COMES_BACK(
      (delayed_page{{1},
                    true,
                    {{{4096}, some_transaction(3), 1'700'000'000'001, 99, {3}, "orders"},
                     {{8192}, {}, 5, 1, {0}, {}}}}));
}

TEST(NativeAdmin, ALongListingIsOneFlatSegment) {
  transactions page;
  page.items.resize(500);
  for (auto& item : page.items)
    item.group = std::string(100, 'g');
  EXPECT_EQ(round_trip(page).items.size(), 500u);
}

} // namespace handfast::native::test
