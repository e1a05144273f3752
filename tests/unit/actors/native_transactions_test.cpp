#include "tests/unit/actors/native_client.hpp"

namespace handfast {
namespace {

class NativeTransactions : public test::native_client {
protected:
  transaction_id tx(std::uint64_t at) { return environment.ids.at(position{at}); }

  native::decide_item decision(std::uint64_t id, std::uint64_t at) {
    native::decide_item item;
    item.id = correlation{id};
    item.transaction = tx(at);
    item.group = billing;
    item.wanted = outcome::committed;
    return item;
  }

  check_order order(std::uint64_t at) {
    check_order made;
    made.transaction = tx(at);
    made.group = billing;
    made.topic = orders;
    made.attempt = 1;
    made.attempts_max = 15;
    made.body_at = position{at};
    made.body_length = 100;
    return made;
  }

  /// OP STORE's summaries of decided ones.
  void answer_page(correlation id, const std::vector<transaction_id>& ids, bool more) {
    transactions_listed page;
    page.id = id;
    page.more = more;
    for (const auto& one : ids) {
      page.page.emplace_back().id = one;
      page.page.back().state = transaction_state::committed;
    }
    send(connection, page);
    run();
  }

  /// HALF STORE tells the lives that it was asked for so far, of two messages to `topic` each.
  void answer_lives(topic_id topic) {
    for (const auto& asked : half_store->take<find_transaction>()) {
      transaction_found found;
      found.id = asked.id;
      found.life.id = asked.transaction;
      found.life.state = transaction_state::committed;
      found.life.messages = {{position{8}, topic, {}, {}, 0, 0},
                             {position{16}, topic, {}, {}, 0, 0}};
      send(connection, found);
    }
    run();
  }

  void ask_for(std::uint64_t at, std::uint16_t attempt = 1) {
    records.cached[at] = test::message_record_at(at, "half body", record_type::half);
    auto one = order(at);
    one.attempt = attempt;
    send(connection, ask_producers{{one}});
    run();
  }
};

TEST_F(NativeTransactions, PassesDecisionsOnAndAnswers) {
  open_and_join();
  give(native::decide{{decision(1, 4096)}}, native::decide{{decision(2, 8192)}});
  const auto asked = half_store->take<decide>();
  ASSERT_EQ(asked.size(), 1U) << "one message for one read";
  ASSERT_EQ(asked[0].requests.size(), 2U);
  decision_result done;
  done.id = asked[0].requests[1].id;
  done.transaction = tx(8192);
  done.recorded = outcome::committed;
  done.queue = {orders, queue_no{1}};
  done.offset = queue_offset{3};
  send(connection, decided{{done}});
  run();
  const auto answer = only<native::decided>();
  ASSERT_EQ(answer.items.size(), 1U);
  EXPECT_EQ(answer.items[0].id, correlation{2});
  EXPECT_EQ(answer.items[0].queue, queue_no{1});
}

TEST_F(NativeTransactions, SaysWhenACommittedMessageBecomesVisible) {
  open_and_join();
  give(native::decide{{decision(3, 4096)}});
  decision_result known;
  known.id = half_store->take_last<decide>().requests.at(0).id;
  known.recorded = outcome::committed;
  known.due_ms = 77'000;
  send(connection, decided{{known}});
  run();
  EXPECT_EQ(only<native::decided>().items.at(0).due_ms, 77'000U);
}

TEST_F(NativeTransactions, TakesDecisionsOfJoinedGroupsOnly) {
  open();
  give(native::decide{{decision(1, 4096)}});
  EXPECT_EQ(only<native::refused>().code, ec::unknown_group);
}

TEST_F(NativeTransactions, TakesDecisionsOfAnOperatorForAnyGroup) {
  open();
  auto item = decision(1, 4096);
  item.by = origin::admin;
  give(native::decide{{item}});
  EXPECT_EQ(half_store->take_last<decide>().requests[0].by, origin::admin);
}

TEST_F(NativeTransactions, LetsNoClientSpeakForThePolicy) {
  open_and_join();
  auto item = decision(1, 4096);
  item.by = origin::policy;
  give(native::decide{{item}});
  EXPECT_EQ(only<native::refused>().code, ec::bad_request);
}

TEST_F(NativeTransactions, SaysUnknownWhenTheHalfStoreWasRestarted) {
  open_and_join();
  give(native::decide{{decision(1, 4096)}});
  half_life = incarnation{2};
  tell_peers();
  const auto refused = only<native::refused>();
  EXPECT_EQ(refused.id, correlation{1});
  EXPECT_EQ(refused.code, ec::outcome_unknown);
}

TEST_F(NativeTransactions, HandsACheckToTheClientAndCountsItByItsReceipt) {
  open_and_join();
  ask_for(4096);
  const auto check = only<native::check>();
  ASSERT_EQ(check.items.size(), 1U);
  EXPECT_EQ(check.items[0].payload.text(), "half body");
  EXPECT_EQ(check.items[0].attempt, 1U);
  ASSERT_EQ(check.topics.size(), 1U);
  EXPECT_EQ(check.topics[0].name, "orders");
  EXPECT_EQ(producers->count<checks_handled>(), 0U);
  give(native::check_received{{{tx(4096), billing}}});
  const auto handled = producers->take_last<checks_handled>();
  ASSERT_EQ(handled.results.size(), 1U);
  EXPECT_TRUE(handled.results[0].handed_over);
  EXPECT_EQ(handled.results[0].member, producer_id{99});
  EXPECT_EQ(handled.results[0].member_name, "tester");
}

TEST_F(NativeTransactions, TakesAnAnswerAsAReceipt) {
  open_and_join();
  ask_for(4096);
  auto item = decision(1, 4096);
  item.by = origin::check;
  give(native::decide{{item}});
  EXPECT_TRUE(producers->take_last<checks_handled>().results.at(0).handed_over);
}

TEST_F(NativeTransactions, TakesALateAnswerNotAsAReceiptOfTheNextQuestion) {
  open_and_join();
  ask_for(4096, 2);
  auto item = decision(1, 4096);
  item.by = origin::check;
  item.attempt = 1;
  give(native::decide{{item}});
  EXPECT_EQ(producers->count<checks_handled>(), 0U);
  EXPECT_EQ(half_store->take_last<decide>().requests.at(0).attempt, 1U);
  item.attempt = 2;
  give(native::decide{{item}});
  EXPECT_TRUE(producers->take_last<checks_handled>().results.at(0).handed_over);
}

TEST_F(NativeTransactions, CountsAReceiptOnce) {
  open_and_join();
  ask_for(4096);
  give(native::check_received{{{tx(4096), billing}, {tx(4096), billing}, {tx(77), billing}}});
  EXPECT_EQ(producers->count<checks_handled>(), 1U);
}

TEST_F(NativeTransactions, GivesChecksWithoutReceiptBackWhenTheClientIsGone) {
  open_and_join();
  ask_for(4096);
  ask_for(8192);
  give(native::check_received{{{tx(4096), billing}}});
  producers->forget_all();
  send(connection, transport_closed{});
  run();
  const auto handled = producers->take_last<checks_handled>();
  ASSERT_EQ(handled.results.size(), 1U);
  EXPECT_EQ(handled.results[0].transaction, tx(8192));
  EXPECT_FALSE(handled.results[0].handed_over);
}

TEST_F(NativeTransactions, LetsTheReaderReadBodiesThatAreNotInMemory) {
  open_and_join();
  send(connection, ask_producers{{order(4096), order(8192)}});
  run();
  EXPECT_TRUE(taken<native::check>().empty());
  const auto read = reader->take_last<read_records>();
  ASSERT_EQ(read.places.size(), 2U);
  records_read answer{read.id, {}};
  answer.records.push_back({ec::ok, test::message_record_at(4096, "a", record_type::half)});
  answer.records.push_back({ec::corrupt, {}});
  send(connection, answer);
  run();
  EXPECT_EQ(only<native::check>().items.size(), 1U);
  const auto handled = producers->take_last<checks_handled>();
  EXPECT_EQ(handled.results.at(0).transaction, tx(8192));
  EXPECT_FALSE(handled.results.at(0).handed_over);
}

TEST_F(NativeTransactions, NamesTopicsThatTheClientDidNotResolve) {
  open();
  give(native::join_producer_group{correlation{2}, "billing", {}, 5});
  ask_for(4096);
  EXPECT_EQ(registry->count<name_ids>(), 1U);
  EXPECT_EQ(only<native::check>().topics.at(0).name, "orders");
}

TEST_F(NativeTransactions, LetsAnotherMemberBeAskedWhenTheReaderWasRestarted) {
  open_and_join();
  send(connection, ask_producers{{order(4096)}});
  run();
  reader_life = incarnation{2};
  tell_peers();
  EXPECT_FALSE(producers->take_last<checks_handled>().results.at(0).handed_over);
}

TEST_F(NativeTransactions, AnnouncesWhatStillRuns) {
  open_and_join();
  give(native::running{{{tx(4096), billing}, {tx(8192), group_id{55}}}});
  const auto running = half_store->take_last<producer_running>();
  EXPECT_TRUE(running.online);
  EXPECT_EQ(running.transactions, std::vector{tx(4096)});
}

TEST_F(NativeTransactions, ShowsOneTransactionWithNames) {
  open();
  give(native::query_transaction{correlation{4}, tx(4096)});
  const auto asked = half_store->take_last<find_transaction>();
  EXPECT_EQ(asked.transaction, tx(4096));
  transaction_found found;
  found.id = asked.id;
  found.life.id = tx(4096);
  found.life.group = billing;
  found.life.messages.push_back({position{4096}, orders, queue_no{0}, {}, 100, 0});
  send(connection, found);
  run();
  const auto answer = only<native::transactions>();
  EXPECT_EQ(answer.id, correlation{4});
  ASSERT_EQ(answer.items.size(), 1U);
  EXPECT_EQ(answer.items[0].group, "billing");
  EXPECT_EQ(answer.items[0].topics, std::vector<std::string>{"orders"});
}

TEST_F(NativeTransactions, SaysThatItDoesNotKnowATransaction) {
  open();
  give(native::query_transaction{correlation{4}, tx(4096)});
  transaction_found found;
  found.id = half_store->take_last<find_transaction>().id;
  found.code = ec::unknown_transaction;
  send(connection, found);
  run();
  EXPECT_EQ(only<native::refused>().code, ec::unknown_transaction);
}

TEST_F(NativeTransactions, ListsWhatIsPendingAndThenWhatIsDecided) {
  open();
  native::list_transactions list;
  list.id = correlation{4};
  list.group = "billing";
  list.topic = "orders";
  list.items_max = 10;
  give(list);
  const auto pending = half_store->take_last<list_transactions>();
  EXPECT_EQ(pending.group, billing);
  EXPECT_EQ(pending.topic, orders);
  transactions_listed page;
  page.id = pending.id;
  page.page.resize(1);
  page.page[0].id = tx(4096);
  send(connection, page);
  run();
  const auto decided = op_store->take_last<list_transactions>();
  EXPECT_EQ(decided.max, 9U);
  answer_page(decided.id, {tx(8192)}, false);
  answer_lives(orders);
  const auto answer = only<native::transactions>();
  ASSERT_EQ(answer.items.size(), 2U);
  EXPECT_EQ(answer.items[1].life.id, tx(8192));
  EXPECT_FALSE(answer.more);
}

TEST_F(NativeTransactions, ListsWholeLivesOfDecidedOnes) {
  open();
  native::list_transactions list;
  list.id = correlation{4};
  list.state = transaction_state::committed;
  list.items_max = 200;
  give(list);
  std::vector<transaction_id> ids;
  for (std::uint64_t i = 1; i <= 100; ++i)
    ids.push_back(tx(4096 * i));
  answer_page(op_store->take_last<list_transactions>().id, ids, false);
  while (const auto asked = half_store->count<find_transaction>()) {
    EXPECT_LE(asked, 2U) << "others wait for the same disk";
    answer_lives(orders);
  }
  const auto answer = only<native::transactions>();
  ASSERT_EQ(answer.items.size(), 100U);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(answer.items[i].life.id, ids[i]);
    EXPECT_EQ(answer.items[i].life.messages.size(), 2U);
  }
}

TEST_F(NativeTransactions, ListsTheSummaryOfOneThatCannotBeRead) {
  open();
  native::list_transactions list;
  list.id = correlation{4};
  list.state = transaction_state::committed;
  give(list);
  answer_page(op_store->take_last<list_transactions>().id, {tx(4096)}, false);
  transaction_found lost;
  const auto asked = half_store->take_last<find_transaction>();
  lost.id = asked.id;
  lost.life.id = asked.transaction;
  lost.code = ec::transaction_quarantined;
  send(connection, lost);
  run();
  EXPECT_EQ(only<native::transactions>().items.at(0).life.id, tx(4096));
}

TEST_F(NativeTransactions, LooksFurtherForDecidedOnesOfATopic) {
  open();
  native::list_transactions list;
  list.id = correlation{4};
  list.state = transaction_state::rolled_back;
  list.topic = "orders";
  list.items_max = 1;
  give(list);
  answer_page(op_store->take_last<list_transactions>().id, {tx(8192)}, true);
  answer_lives(topic_id{77});
  const auto next = op_store->take_last<list_transactions>();
  EXPECT_EQ(next.after, position{8192});
  answer_page(next.id, {tx(4096)}, false);
  answer_lives(orders);
  const auto answer = only<native::transactions>();
  ASSERT_EQ(answer.items.size(), 1U);
  EXPECT_EQ(answer.items[0].life.id, tx(4096));
  EXPECT_FALSE(answer.more);
}

TEST_F(NativeTransactions, ListsDecidedOnesByState) {
  open();
  native::list_transactions list;
  list.id = correlation{4};
  list.state = transaction_state::given_up;
  give(list);
  EXPECT_EQ(half_store->count<list_transactions>(), 0U);
  EXPECT_EQ(op_store->take_last<list_transactions>().state, transaction_state::given_up);
}

TEST_F(NativeTransactions, ReopensAndNamesBothIds) {
  open();
  give(native::reopen{correlation{4}, tx(4096)});
  const auto asked = half_store->take_last<reopen_transaction>();
  send(connection, transaction_reopened{asked.id, ec::ok, tx(8192)});
  run();
  const auto answer = only<native::reopened>();
  EXPECT_EQ(answer.old_id, tx(4096));
  EXPECT_EQ(answer.new_id, tx(8192));
}

} // namespace
} // namespace handfast
