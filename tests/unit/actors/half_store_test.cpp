/// Storing and deciding, with the real HALF STORE and OP STORE. Scenario numbers are those of the
/// behaviour reference.

#include "tests/support/turns.hpp"
#include "tests/unit/actors/transaction_fixture.hpp"

namespace handfast {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HalfStore : public transaction_fixture {
public:
  HalfStore() { start(); }
};

// -- storing -------------------------------------------------------------------------------

TEST_F(HalfStore, Scenario01AHalfIsAnsweredWithItsIdQueueAndPlaceInTheHalfView) {
  open();
  const auto stored = store_half({.queue = queue_no{3}});
  EXPECT_EQ(stored.code, ec::ok);
  EXPECT_EQ(stored.queue, queue_no{3});
  EXPECT_EQ(stored.half_offset, queue_offset{1});
  EXPECT_TRUE(environment.ids.is_ours(stored.transaction));
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(HalfStore, AHalfIsAnsweredOnlyWhenDurable) {
  auto_sync = false;
  auto from = make_probe();
  send_half(from);
  run();
  EXPECT_EQ(from->count<halves_stored>(), 0u);
  sync_and_run();
  EXPECT_EQ(from->count<halves_stored>(), 1u);
}

TEST_F(HalfStore, HalvesOfOneReadAreAnsweredTogether) {
  auto from = make_probe();
  append_halves x;
  for (std::uint64_t i = 0; i < 10; ++i)
    x.requests.push_back(half_request_of({}, i));
  send_as(from, half(), x);
  run();
  const auto answers = from->take<halves_stored>();
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(answers[0].results, SizeIs(10));
}

TEST_F(HalfStore, HalvesAndDecisionsOfOneTurnGoOnTogether) {
  const auto one = open();
  const auto other = open();
  appends = 0;
  auto first = make_probe();
  auto second = make_probe();
  send_half(first, {}, 1);
  send_half(second, {}, 2);
  send_decision(first, decision_of(one, outcome::committed));
  send_decision(second, decision_of(other, outcome::rolled_back));
  while (run_turn(coordinator, 64)) {
  }
  run();
  EXPECT_EQ(appends, 2u); // the halves, and a record with both decisions
  EXPECT_EQ(count_of(record_type::decide), 1u);
  for (const auto& one_of_them : {first, second}) {
    EXPECT_EQ(one_of_them->take_last<halves_stored>().results.at(0).code, ec::ok);
    EXPECT_EQ(one_of_them->take_last<decided>().results.at(0).code, ec::ok);
  }
}

TEST_F(HalfStore, RefusesTopicsAndQueuesThatTakeNoHalves) {
  EXPECT_EQ(store_half({.topic = topic_id{99}}).code, ec::unknown_topic);
  EXPECT_EQ(store_half({.topic = give_up_topic}).code, ec::read_only_topic);
  EXPECT_EQ(store_half({.queue = queue_no{4}}).code, ec::unknown_queue);
  EXPECT_EQ(store_half({.group = group_id{0}}).code, ec::unknown_group);
  EXPECT_EQ(pending(), 0u);
}

TEST_F(HalfStore, RefusesMoreThanTheBoundAlsoOfWhatIsUnderWay) {
  settings.transaction.pending_max = 3;
  auto from = make_probe();
  append_halves x;
  for (std::uint64_t i = 0; i < 5; ++i)
    x.requests.push_back(half_request_of({}, i));
  send_as(from, half(), x);
  run();
  int refused = 0;
  for (const auto& answer : from->take<halves_stored>())
    for (const auto& r : answer.results)
      refused += r.code == ec::too_many_pending ? 1 : 0;
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(pending(), 3u);
}

TEST_F(HalfStore, RefusesMoreBytesThanTheBound) {
  settings.transaction.pending_bytes = 600;
  EXPECT_EQ(store_half().code, ec::ok);
  EXPECT_EQ(store_half().code, ec::ok);
  auto from = make_probe();
  append_halves x;
  x.requests.push_back(half_request_of({}));
  x.requests[0].message.payload = shared_bytes::copy_of(std::string(200, 'x'));
  send_as(from, half(), x);
  run();
  EXPECT_EQ(from->take_last<halves_stored>().results.at(0).code, ec::too_many_pending);
}

TEST_F(HalfStore, ADecisionMakesRoomAgain) {
  settings.transaction.pending_max = 1;
  const auto id = open();
  EXPECT_EQ(store_half().code, ec::too_many_pending);
  commit(id);
  EXPECT_EQ(store_half().code, ec::ok);
}

TEST_F(HalfStore, PassesOnWhatTheLogRefuses) {
  refuse = ec::disk_full;
  EXPECT_EQ(store_half().code, ec::disk_full);
  refuse = ec::ok;
  EXPECT_EQ(store_half().code, ec::ok);
}

TEST_F(HalfStore, F77ARepeatedHalfGetsTheTransactionThatTheFirstOpened) {
  const auto first = store_half();
  commit(first.transaction);
  auto_sync = false;
  auto from = make_probe();
  send_half(from, {}, 9);
  run();
  const auto cookie = unsynced.back().cookie;
  unsynced.clear(); // the log recognised it
  send_as(log, half(),
          append_repeated{
              {{cookie, first.transaction.opened_at, {orders, first.queue}, first.half_offset}}});
  run();
  const auto again = from->take_last<halves_stored>().results.at(0);
  EXPECT_EQ(again.code, ec::ok);
  EXPECT_EQ(again.id, correlation{9});
  EXPECT_EQ(again.transaction, first.transaction);
  EXPECT_EQ(pending(), 0u);
}

// -- several messages -------------------------------------------------------------------------

TEST_F(HalfStore, MessagesJoinAndAreCommittedTogether) {
  const auto id = open();
  EXPECT_EQ(open({.topic = payments, .joins = id}), id);
  EXPECT_EQ(open({.topic = payments, .joins = id}), id);
  const auto result = commit(id, 3);
  EXPECT_EQ(result.code, ec::ok);
  EXPECT_EQ(result.messages, 3);
  EXPECT_THAT(decide_records(), SizeIs(1));
  EXPECT_THAT(entries(orders), SizeIs(1));
  EXPECT_THAT(entries(payments), SizeIs(2));
}

TEST_F(HalfStore, RefusesToJoinWhatIsDecidedForeignOrOfAnotherGroup) {
  const auto id = open();
  EXPECT_EQ(store_half({.group = bank, .joins = id}).code, ec::wrong_group);
  auto forged = id;
  forged.check ^= 1;
  EXPECT_EQ(store_half({.joins = forged}).code, ec::unknown_transaction);
  roll_back(id);
  EXPECT_EQ(store_half({.joins = id}).code, ec::transaction_decided);
}

TEST_F(HalfStore, RefusesToJoinWhatIsBeingDecided) {
  const auto id = open();
  auto_sync = false;
  auto from = make_probe();
  send_decision(from, decision_of(id, outcome::committed));
  run();
  EXPECT_EQ(store_half({.joins = id}).code, ec::transaction_decided);
}

TEST_F(HalfStore, BoundsTheMessagesOfOneTransaction) {
  settings.transaction.messages_max = 2;
  const auto id = open();
  EXPECT_EQ(store_half({.joins = id}).code, ec::ok);
  EXPECT_EQ(store_half({.joins = id}).code, ec::too_many_messages);
}

TEST_F(HalfStore, ACommitThatNamesAnotherCountIsIncomplete) {
  const auto id = open();
  const auto result = commit(id, 2);
  EXPECT_EQ(result.code, ec::incomplete);
  EXPECT_EQ(result.messages, 1);
  EXPECT_EQ(pending(), 1u);
  EXPECT_EQ(commit(id, 1).code, ec::ok);
}

TEST_F(HalfStore, ADecisionWaitsForMessagesOnTheirWay) {
  const auto id = open();
  auto_sync = false;
  auto from = make_probe();
  send_half(from, {.joins = id});
  auto r = decision_of(id, outcome::committed);
  r.messages = 2;
  send_decision(from, r);
  run();
  EXPECT_EQ(from->count<decided>(), 0u);
  sync_and_run(); // the message
  sync_and_run(); // the decision
  EXPECT_EQ(from->take_last<decided>().results.at(0).code, ec::ok);
  EXPECT_THAT(entries(), SizeIs(2));
}

// -- deciding ---------------------------------------------------------------------------------

TEST_F(HalfStore, Scenario02ACommitMakesOneEntryAtTheChosenQueue) {
  const auto id = open({.queue = queue_no{3}});
  const auto result = commit(id);
  EXPECT_EQ(result.code, ec::ok);
  EXPECT_EQ(result.recorded, outcome::committed);
  EXPECT_EQ(result.queue, (queue_key{orders, queue_no{3}}));
  EXPECT_EQ(result.offset, queue_offset{0});
  ASSERT_THAT(entries(), SizeIs(1));
  EXPECT_EQ(entries()[0].at, id.opened_at);
  EXPECT_EQ(entries()[0].queue, queue_no{3});
  EXPECT_EQ(entries()[0].length, 256u);
}

TEST_F(HalfStore, Scenario03ARollbackMakesNoEntryAndNoCheckFollows) {
  auto m = join(habit::commits);
  const auto id = open();
  EXPECT_EQ(roll_back(id).recorded, outcome::rolled_back);
  EXPECT_THAT(entries(), IsEmpty());
  EXPECT_EQ(pending(), 0u);
  advance(70s, 1s);
  EXPECT_THAT(m->asks, IsEmpty());
}

TEST_F(HalfStore, Scenario04ADurableDecisionOutlivesARestart) {
  const auto id = open();
  commit(id);
  restart_node();
  EXPECT_EQ(pending(), 0u);
  EXPECT_EQ(commit(id).code, ec::ok);
  EXPECT_THAT(decide_records(), SizeIs(1));
}

TEST_F(HalfStore, Scenario05DecisionsOfOneReadShareARecord) {
  const auto ids = open_many(1'000);
  auto from = make_probe();
  decide all;
  for (const auto& id : ids)
    all.requests.push_back(decision_of(id, outcome::committed));
  send_as(from, half(), all);
  run();
  EXPECT_THAT(decide_records(), SizeIs(1));
  EXPECT_THAT(entries(), SizeIs(1'000));
  const auto answers = from->take<decided>();
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(answers[0].results, SizeIs(1'000));
  EXPECT_EQ(pending(), 0u);
}

TEST_F(HalfStore, Scenario06RefusesAnotherGroupAndIdsThatAreNotOurs) {
  const auto id = open();
  EXPECT_EQ(decide_now(decision_of(id, outcome::committed, bank)).code, ec::wrong_group);
  auto forged = id;
  forged.opened_at.value += 8;
  EXPECT_EQ(commit(forged).code, ec::unknown_transaction);
  EXPECT_EQ(pending(), 1u);
  EXPECT_THAT(decide_records(), IsEmpty());
}

TEST_F(HalfStore, AnOperatorDecidesForAnyGroup) {
  auto r = decision_of(open(), outcome::committed, group_id{});
  r.by = origin::admin;
  const auto result = decide_now(r);
  EXPECT_EQ(result.code, ec::ok);
  EXPECT_EQ(result.by, origin::admin);
}

TEST_F(HalfStore, Scenario07UnknownChangesNothingAndIsAnswered) {
  const auto id = open();
  const auto result = decide_now(decision_of(id, outcome::pending));
  EXPECT_EQ(result.code, ec::ok);
  EXPECT_EQ(result.recorded, outcome::pending);
  EXPECT_EQ(pending(), 1u);
  EXPECT_EQ(decide_now(decision_of(id, static_cast<outcome>(5))).code, ec::bad_request);
  EXPECT_EQ(decide_now(decision_of(id, outcome::given_up)).code, ec::bad_request);
}

TEST_F(HalfStore, ADecisionIsAnsweredOnlyWhenDurable) {
  const auto id = open();
  auto_sync = false;
  auto from = make_probe();
  send_decision(from, decision_of(id, outcome::committed));
  run();
  EXPECT_EQ(from->count<decided>(), 0u);
  EXPECT_EQ(show(id).life.state, transaction_state::deciding);
  sync_and_run();
  EXPECT_EQ(from->count<decided>(), 1u);
  EXPECT_EQ(show(id).life.state, transaction_state::committed);
}

TEST_F(HalfStore, F01TwoCommitsInParallelAreBothRightAndMakeOneEntry) {
  const auto ids = open_many(1'000);
  auto a = make_probe();
  auto b = make_probe();
  for (const auto& id : ids) {
    send_decision(a, decision_of(id, outcome::committed));
    send_decision(b, decision_of(id, outcome::committed));
  }
  run();
  EXPECT_THAT(entries(), SizeIs(1'000));
  for (const auto& from : {a, b}) {
    std::size_t ok = 0;
    for (const auto& answer : from->take<decided>())
      for (const auto& r : answer.results)
        ok += r.code == ec::ok && r.recorded == outcome::committed ? 1 : 0;
    EXPECT_EQ(ok, 1'000u);
  }
}

TEST_F(HalfStore, CountsADelayFromTheCommit) {
  const auto id = open({.delay_ms = 5'000});
  open({.joins = id});
  open({.joins = id, .delay_ms = 9'000});
  EXPECT_EQ(show(id).life.messages.at(0).due_ms, 5'000u);
  advance(1s);
  const auto answer = commit(id, 3);
  EXPECT_EQ(answer.code, ec::ok);
  EXPECT_EQ(answer.due_ms, time.wall() + 5'000);
  EXPECT_EQ(answer.offset, queue_offset{}) << "it has none yet";
  std::vector<wall_ms> dues;
  for (const auto& e : entries())
    dues.push_back(e.due_ms);
  EXPECT_THAT(dues, ElementsAre(time.wall() + 5'000, 0, time.wall() + 9'000));
}

TEST_F(HalfStore, KnowsADelayAlsoAfterARestart) {
  const auto id = open({.delay_ms = 5'000});
  restart_node();
  const auto first = commit(id);
  EXPECT_EQ(first.due_ms, time.wall() + 5'000);
  advance(1s);
  EXPECT_EQ(commit(id).due_ms, first.due_ms) << "a repeat gets the same answer";
  restart_op_store();
  EXPECT_EQ(commit(id).due_ms, first.due_ms);
  EXPECT_EQ(show(id).life.messages.at(0).due_ms, first.due_ms);
}

TEST_F(HalfStore, Scenario24ARepeatGetsTheSameAnswer) {
  const auto id = open({.queue = queue_no{2}});
  open();
  auto first = commit(id);
  auto second = commit(id);
  EXPECT_EQ(second.code, ec::ok);
  EXPECT_EQ(second.recorded, first.recorded);
  EXPECT_EQ(second.by, first.by);
  EXPECT_EQ(second.queue, first.queue);
  EXPECT_EQ(second.offset, first.offset);
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(HalfStore, Scenario24TheOppositeIsRefusedWithTheRecordedOutcome) {
  const auto id = open();
  roll_back(id);
  const auto result = commit(id);
  EXPECT_EQ(result.code, ec::conflict_rolled_back);
  EXPECT_EQ(result.recorded, outcome::rolled_back);
  EXPECT_THAT(entries(), IsEmpty());
  const auto other = open();
  commit(other);
  EXPECT_EQ(roll_back(other).code, ec::conflict_committed);
}

TEST_F(HalfStore, AnOppositeThatComesBeforeTheRecordIsDurableWaitsForIt) {
  const auto id = open();
  auto_sync = false;
  auto a = make_probe();
  auto b = make_probe();
  send_decision(a, decision_of(id, outcome::rolled_back));
  send_decision(b, decision_of(id, outcome::committed));
  run();
  EXPECT_EQ(b->count<decided>(), 0u);
  sync();
  EXPECT_EQ(answer_to(a).code, ec::ok);
  EXPECT_EQ(answer_to(b).code, ec::conflict_rolled_back);
  EXPECT_THAT(decide_records(), SizeIs(1));
}

TEST_F(HalfStore, F61OneThatIsNeverDecidedHoldsUpNobody) {
  const auto stuck = open();
  for (const auto& id : open_many(1'000))
    commit(id);
  EXPECT_THAT(entries(), SizeIs(1'000));
  EXPECT_EQ(show(stuck).life.state, transaction_state::pending);
}

TEST_F(HalfStore, ARefusedDecisionLeavesTheTransactionPending) {
  const auto id = open();
  refuse = ec::disk_full;
  EXPECT_EQ(commit(id).code, ec::disk_full);
  EXPECT_EQ(show(id).life.state, transaction_state::pending);
  refuse = ec::ok;
  EXPECT_EQ(commit(id).code, ec::ok);
}

// -- questions ---------------------------------------------------------------------------------

TEST_F(HalfStore, ShowsTheLifeOfAPendingOneWithItsEffectiveValues) {
  const auto id = open({.timeout_ms = 9'000, .producer = producer_id{5}});
  advance(2s);
  const auto found = show(id);
  EXPECT_EQ(found.code, ec::ok);
  EXPECT_EQ(found.life.id, id);
  EXPECT_EQ(found.life.group, shop);
  EXPECT_EQ(found.life.producer, producer_id{5});
  EXPECT_EQ(found.life.age_ms, 2'000u);
  EXPECT_EQ(found.life.timeout_ms, 9'000u);
  EXPECT_EQ(found.life.next_check_in_ms, 7'000u);
  EXPECT_EQ(found.life.attempts_max, 15u);
  EXPECT_THAT(found.life.messages, SizeIs(1));
}

TEST_F(HalfStore, ShowsTheLifeOfADecidedOne) {
  const auto id = open({.queue = queue_no{2}, .producer = producer_id{5}});
  const auto stored_ms = show(id).life.stored_ms;
  advance(1s);
  commit(id);
  const auto life = show(id).life;
  EXPECT_EQ(life.state, transaction_state::committed);
  EXPECT_EQ(life.decided_by, origin::producer);
  EXPECT_EQ(life.stored_ms, stored_ms);
  EXPECT_EQ(life.producer, producer_id{5});
  ASSERT_THAT(life.messages, SizeIs(1));
  EXPECT_EQ(life.messages[0].queue, queue_no{2});
}

TEST_F(HalfStore, ListsPendingOnesInPagesOldestFirst) {
  const auto ids = open_many(25);
  list_transactions want;
  want.max = 10;
  std::vector<transaction_id> seen;
  for (int pages = 0; pages < 3; ++pages) {
    const auto page = list(want);
    EXPECT_EQ(page.more, pages < 2);
    for (const auto& life : page.page)
      seen.push_back(life.id);
    want.after = page.page.back().id.opened_at;
  }
  EXPECT_EQ(seen, ids);
}

TEST_F(HalfStore, ListsByGroupTopicAndState) {
  open({.group = bank});
  const auto mixed = open();
  open({.topic = payments, .joins = mixed});
  open();
  list_transactions want;
  want.group = bank;
  EXPECT_THAT(list(want).page, SizeIs(1));
  want = {};
  want.topic = payments;
  EXPECT_THAT(list(want).page, SizeIs(1));
  want = {};
  want.any_state = false;
  want.state = transaction_state::parked;
  EXPECT_THAT(list(want).page, IsEmpty());
}

TEST_F(HalfStore, ListsDecidedOnesNewestFirst) {
  const auto ids = open_many(3);
  commit(ids[0]);
  roll_back(ids[1]);
  commit(ids[2]);
  auto from = make_probe();
  list_transactions want;
  want.max = 2;
  send_as(from, op(), want);
  run();
  const auto page = from->take_last<transactions_listed>();
  ASSERT_THAT(page.page, SizeIs(2));
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.page[0].id, ids[2]);
  EXPECT_EQ(page.page[1].state, transaction_state::rolled_back);
  want.after = ids[1].opened_at;
  send_as(from, op(), want);
  run();
  EXPECT_EQ(from->take_last<transactions_listed>().page.at(0).id, ids[0]);
}

TEST_F(HalfStore, ListsDecidedOnesWithoutFalseNumbers) {
  const auto ids = open_many(2);
  open({.topic = payments, .joins = ids[0]});
  commit(ids[0]);
  roll_back(ids[1]);
  auto from = make_probe();
  list_transactions want;
  want.topic = payments;
  send_as(from, op(), want);
  run();
  const auto page = from->take_last<transactions_listed>().page;
  ASSERT_THAT(page, SizeIs(2)) << "both may concern it: only their records tell";
  for (const auto& life : page) {
    EXPECT_TRUE(life.messages_partial);
    EXPECT_TRUE(life.attempts_unknown);
  }
  EXPECT_THAT(page[0].messages, IsEmpty());
  EXPECT_THAT(page[1].messages, SizeIs(1));
}

TEST_F(HalfStore, ShowsOfARollbackWhatOpenedIt) {
  const auto id = open({.topic = payments});
  roll_back(id);
  const auto life = show(id).life;
  EXPECT_EQ(life.state, transaction_state::rolled_back);
  ASSERT_THAT(life.messages, SizeIs(1));
  EXPECT_EQ(life.messages[0].topic, payments);
  EXPECT_TRUE(life.messages_partial);
  EXPECT_FALSE(life.attempts_unknown) << "this log was read from its beginning";
  EXPECT_EQ(life.attempts, 0u);
}

TEST_F(HalfStore, CountsPendingMessagesOfATopicAlsoThoseUnderWay) {
  open();
  open({.topic = payments});
  auto_sync = false;
  auto from = make_probe();
  send_half(from);
  auto registry = make_probe();
  send_as(registry, half(), ask_topic_usage{orders});
  run();
  EXPECT_EQ(registry->take_last<topic_usage>().pending, 2u);
}

TEST_F(HalfStore, TellsObserversWhatHappens) {
  auto observer = make_probe();
  peers.observers.push_back(observer->as<transaction_observer_actor>());
  announce();
  const auto id = open();
  commit(id);
  const auto events = observer->take<transaction_event>();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().transaction, id);
  EXPECT_EQ(events.back().state, transaction_state::committed);
  peers.observers.clear();
}

TEST_F(HalfStore, ReportsGaugesFromWhatIsThere) {
  open_many(3);
  open({.topic = payments, .group = bank});
  const auto report = ask<status_report>(half(), status_request{});
  std::map<std::string, double> values;
  for (const auto& s : report.samples)
    values[s.name + "{" + s.labels + "}"] = s.value;
  EXPECT_EQ(values.at("rocketmq_half_messages{topic=\"orders\"}"), 3);
  EXPECT_EQ(values.at("rocketmq_half_messages{topic=\"payments\"}"), 1);
  EXPECT_EQ(values.at("handfast_pending_transactions{group=\"8\"}"), 1);
}

// -- stop --------------------------------------------------------------------------------------

TEST_F(HalfStore, StopsWhenItsAppendsAreDurableAndTakesNothingNew) {
  auto_sync = false;
  auto from = make_probe();
  send_half(from);
  run();
  send_as(supervisor, half(), stop{});
  run();
  EXPECT_EQ(supervisor->count<stopped>(), 0u);
  EXPECT_EQ(store_half().code, ec::stopping);
  sync_and_run();
  EXPECT_EQ(supervisor->count<stopped>(), 1u);
  EXPECT_EQ(from->count<halves_stored>(), 1u);
  EXPECT_TRUE(alive(half()));
}

} // namespace
} // namespace handfast
