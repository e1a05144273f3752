/// When, whom and how often producers are asked, and what follows. Names are those of the behaviour
/// reference and the field cases.

#include "tests/unit/actors/transaction_fixture.hpp"

namespace handfast {
namespace {

using namespace test;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Checks : public transaction_fixture {};

// -- when ---------------------------------------------------------------------------------------

TEST_F(Checks, Scenario10TheFirstCheckComesAtTheTimeoutAndNotBefore) {
  start();
  auto m = join(habit::receives);
  const auto id = open({.producer = producer_id{9}});
  advance(5'990ms);
  EXPECT_THAT(m->asks, IsEmpty());
  advance(30ms);
  ASSERT_THAT(m->asks, SizeIs(1));
  const auto& order = m->asks[0];
  EXPECT_EQ(order.transaction, id);
  EXPECT_EQ(order.topic, orders);
  EXPECT_EQ(order.attempt, 1);
  EXPECT_EQ(order.attempts_max, 15);
  EXPECT_EQ(order.body_at, id.opened_at);
  EXPECT_EQ(order.original, producer_id{9});
}

TEST_F(Checks, Scenario11ACheckAnsweredCommitIsTheLast) {
  start();
  auto m = join(habit::commits);
  const auto id = open();
  advance(100s, 100ms);
  EXPECT_THAT(m->asks, SizeIs(1));
  EXPECT_THAT(entries(), SizeIs(1));
  const auto life = show(id).life;
  EXPECT_EQ(life.state, transaction_state::committed);
  EXPECT_EQ(life.decided_by, origin::check);
  ASSERT_THAT(life.asks, SizeIs(1));
  EXPECT_EQ(life.asks[0].member_name, "member-1");
}

TEST_F(Checks, Scenario11ACheckAnsweredRollbackIsTheLast) {
  start();
  auto m = join(habit::rolls_back);
  open();
  advance(100s, 100ms);
  EXPECT_THAT(m->asks, SizeIs(1));
  EXPECT_THAT(entries(), IsEmpty());
  EXPECT_EQ(pending(), 0u);
}

TEST_F(Checks, Scenario11UnknownIsAskedAgainOneIntervalLater) {
  start();
  auto m = join(habit::unknown);
  const auto id = open();
  advance(7s);
  EXPECT_THAT(m->asks, SizeIs(1));
  advance(28s, 50ms);
  EXPECT_THAT(m->asks, SizeIs(1));
  advance(2s, 50ms);
  EXPECT_THAT(m->asks, SizeIs(2));
  const auto asks = show(id).life.asks;
  ASSERT_THAT(asks, SizeIs(2));
  EXPECT_EQ(asks[0].answer, "unknown");
}

TEST_F(Checks, Scenario12AMemberThatNeverAnswersIsAskedAgain) {
  quick(3);
  start();
  auto m = join(habit::receives);
  open();
  advance(4'500ms);
  EXPECT_THAT(m->asks, SizeIs(3));
}

TEST_F(Checks, Scenario19AMessageHasItsOwnTimeout) {
  start();
  auto m = join(habit::receives);
  open({.timeout_ms = 60'000});
  advance(59s, 100ms);
  EXPECT_THAT(m->asks, IsEmpty());
  advance(2s, 100ms);
  EXPECT_THAT(m->asks, SizeIs(1));
}

TEST_F(Checks, Scenario20ACommitLaterThanTheTimeoutIsAccepted) {
  start();
  auto m = join(habit::receives);
  const auto id = open({.timeout_ms = 1'000});
  advance(3s);
  EXPECT_EQ(commit(id).code, ec::ok);
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(Checks, F12TimeoutsAreKeptToTheTick) {
  start();
  auto m = join(habit::receives);
  for (const std::uint32_t timeout : {300u, 1'000u, 3'000u, 10'000u}) {
    m->asks.clear();
    const auto begun = time.now();
    const auto id = open({.timeout_ms = timeout});
    while (m->asks.empty() && time.now() - begun < 20s)
      advance(2ms, 2ms);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(time.now() - begun);
    EXPECT_GE(waited.count(), timeout);
    EXPECT_LE(waited.count(), timeout + 14);
    EXPECT_EQ(show(id).life.timeout_ms, timeout);
    commit(id);
  }
}

TEST_F(Checks, AttributesOfTopicAndGroupSetTheRules) {
  attributes options;
  options.transaction_timeout_ms = 1'500;
  options.check_max = 4;
  declare_topic(payments, options);
  start();
  auto m = join(habit::receives);
  const auto id = open({.topic = payments});
  advance(1'600ms);
  ASSERT_THAT(m->asks, SizeIs(1));
  EXPECT_EQ(m->asks[0].attempts_max, 4);
  EXPECT_EQ(show(id).life.timeout_ms, 1'500u);
}

TEST_F(Checks, BackOffStretchesTheIntervals) {
  quick(10);
  settings.transaction.checks.check_backoff = 2.0;
  start();
  auto m = join(habit::receives);
  open();
  advance(9'100ms); // 2, then 1, 2, 4 seconds later
  EXPECT_THAT(m->asks, SizeIs(4));
  advance(7s);
  EXPECT_THAT(m->asks, SizeIs(4));
}

TEST_F(Checks, F11OnlyTheMonotonicClockCounts) {
  start();
  auto m = join(habit::receives);
  open();
  time.jump_wall(120'000);
  advance(3s);
  EXPECT_THAT(m->asks, IsEmpty());
  time.jump_wall(-500'000);
  advance(2'900ms);
  EXPECT_THAT(m->asks, IsEmpty());
  advance(200ms);
  EXPECT_THAT(m->asks, SizeIs(1));
}

TEST_F(Checks, F10WhatIsDecidedIsNeverAsked) {
  settings.transaction.checks_per_second = 1'000'000;
  start();
  auto m = join(habit::unknown);
  const auto ids = open_many(10'000);
  auto from = make_probe();
  decide half_of_them;
  for (std::size_t i = 0; i < ids.size(); i += 2)
    half_of_them.requests.push_back(decision_of(ids[i], outcome::committed));
  send_as(from, half(), half_of_them);
  advance(10s, 50ms);
  EXPECT_THAT(m->asks, SizeIs(5'000));
  for (const auto& order : m->asks)
    ASSERT_EQ((order.transaction.opened_at.value - ids[0].opened_at.value) / 256 % 2, 1u);
}

TEST_F(Checks, LoadThatCommitsAtOnceArmsNoDeadline) {
  start();
  for (const auto& id : open_many(100))
    commit(id);
  advance(1s);
  const auto report = ask<status_report>(peers.check_scheduler.actor, status_request{});
  EXPECT_EQ(report.samples.at(0).value, 0);
}

TEST_F(Checks, ChecksArePaced) {
  quick(15);
  settings.transaction.checks_per_second = 100;
  start();
  auto m = join(habit::receives);
  open_many(500);
  advance(2'100ms);
  EXPECT_LE(m->asks.size(), 40u);
  advance(5s);
  EXPECT_GE(m->asks.size(), 450u);
  EXPECT_LE(m->asks.size(), 560u);
}

// -- whom --------------------------------------------------------------------------------------

TEST_F(Checks, Scenario16AndF23WithNobodyOnlineNothingIsCounted) {
  quick();
  start();
  const auto id = open();
  advance(30s, 50ms);
  const auto life = show(id).life;
  EXPECT_EQ(life.state, transaction_state::pending);
  EXPECT_EQ(life.attempts, 0u);
  EXPECT_TRUE(life.waiting_for_producer);
  const auto report = ask<status_report>(half(), status_request{});
  EXPECT_TRUE(std::ranges::any_of(report.samples, [](const sample& s) {
    return s.name == "handfast_transactions_without_producer" && s.value == 1;
  }));
  auto m = join(habit::commits);
  advance(100ms);
  EXPECT_THAT(m->asks, SizeIs(1)); // promptly, not an interval later
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(Checks, ThoseThatWaitedForAMemberAreTakenUpAtThePace) {
  quick();
  settings.transaction.checks_per_second = 100;
  start();
  const auto ids = open_many(300);
  advance(6s, 50ms);
  auto m = join(habit::receives);
  advance(1s);
  EXPECT_LE(m->asks.size(), 125u);
  EXPECT_GE(m->asks.size(), 90u);
  advance(3s);
  EXPECT_THAT(show(ids.back()).life.asks, SizeIs(testing::Ge(1)));
}

// F17: a handler that never answers, and far more pending than can be asked about in time.
TEST_F(Checks, F17ManyThatNobodyAnswersCostOneRecordASecondAndKeepThePace) {
  quick(1'000);
  settings.transaction.checks_per_second = 100;
  start();
  auto m = join(habit::receives);
  open_many(500);
  advance(3s, 50ms);
  const auto asks = m->asks.size();
  const auto records = count_of(record_type::checked);
  advance(20s, 50ms);
  EXPECT_LE(m->asks.size() - asks, 2'100u) << "100 a second";
  EXPECT_GE(m->asks.size() - asks, 1'900u);
  EXPECT_LE(count_of(record_type::checked) - records, 21u);
  EXPECT_EQ(pending(), 500u);
}

TEST_F(Checks, F19AMemberThatSendsNothingIsAskedToo) {
  quick();
  start();
  auto first = join(habit::receives);
  open();
  leave(first);
  auto second = join(habit::commits);
  advance(2'100ms);
  EXPECT_THAT(second->asks, SizeIs(1));
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(Checks, F20AnIdleMemberKeepsBeingAsked) {
  quick(1'000);
  start();
  auto m = join(habit::unknown);
  open();
  advance(60s, 50ms);
  const auto before = m->asks.size();
  advance(60s, 50ms);
  EXPECT_GE(m->asks.size(), before + 55);
}

TEST_F(Checks, F22AMemberThatTakesNothingIsPassedOverAndNotCounted) {
  quick();
  start();
  auto a = join(habit::silent, shop, producer_id{1});
  auto b = join(habit::receives, shop, producer_id{2});
  const auto id = open({.producer = producer_id{1}});
  advance(3'200ms);
  EXPECT_THAT(a->asks, SizeIs(1));
  EXPECT_THAT(b->asks, SizeIs(1));
  EXPECT_EQ(show(id).life.attempts, 1u);
}

TEST_F(Checks, F26TheOrderTellsTheAttempt) {
  quick(3);
  start();
  auto m = join(habit::unknown);
  open();
  advance(4'500ms);
  ASSERT_THAT(m->asks, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(m->asks[i].attempt, i + 1);
    EXPECT_EQ(m->asks[i].attempts_max, 3);
    EXPECT_NE(m->asks[i].stored_ms, 0u);
    EXPECT_EQ(m->asks[i].body_length, 256u);
  }
}

TEST_F(Checks, ALostAskIsMadeAgainAndNotCountedTwice) {
  start();
  auto m = join(habit::receives);
  const auto id = open();
  advance(5'900ms);
  kill(group(shop)); // with everything that it was told
  advance(500ms);
  EXPECT_EQ(show(id).life.attempts, 0u);
}

// -- in progress -------------------------------------------------------------------------------

// F76: the local transaction takes longer than all checks together.
TEST_F(Checks, F76InProgressUsesUpNoAttempt) {
  quick(3);
  start();
  auto m = join(habit::in_progress, shop, producer_id{1});
  const auto id = open({.producer = producer_id{1}, .local_transaction = true});
  advance(30s, 50ms);
  EXPECT_GE(m->asks.size(), 10u);
  EXPECT_EQ(show(id).life.attempts, 0u);
  EXPECT_EQ(commit(id).code, ec::ok);
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(Checks, F76WhileTheOriginalIsAwayNobodyElseIsAsked) {
  quick(3);
  start();
  auto original = join(habit::in_progress, shop, producer_id{1});
  auto other = join(habit::rolls_back, shop, producer_id{2});
  const auto id = open({.producer = producer_id{1}, .local_transaction = true});
  leave(original);
  send(half(), producer_running{producer_id{1}, false, {}});
  advance(9'900ms);
  EXPECT_THAT(other->asks, IsEmpty());
  // It comes back and says what still runs.
  auto again = join(habit::in_progress, shop, producer_id{1});
  send(half(), producer_running{producer_id{1}, true, {id}});
  advance(20s, 50ms);
  EXPECT_THAT(other->asks, IsEmpty());
  EXPECT_GE(again->asks.size(), 5u);
  EXPECT_EQ(commit(id).code, ec::ok);
}

TEST_F(Checks, F76AfterTheSessionTimeoutTheOthersAreAsked) {
  quick(3);
  start();
  auto original = join(habit::in_progress, shop, producer_id{1});
  auto other = join(habit::rolls_back, shop, producer_id{2});
  const auto id = open({.producer = producer_id{1}, .local_transaction = true});
  leave(original);
  send(half(), producer_running{producer_id{1}, false, {}});
  advance(13s, 50ms);
  EXPECT_THAT(other->asks, SizeIs(1));
  EXPECT_EQ(show(id).life.state, transaction_state::rolled_back);
}

TEST_F(Checks, ALostOriginalIsNoticedEvenIfNobodySaysSo) {
  quick(3);
  start();
  auto original = join(habit::in_progress, shop, producer_id{1});
  auto other = join(habit::rolls_back, shop, producer_id{2});
  open({.producer = producer_id{1}, .local_transaction = true});
  leave(original);
  advance(16s, 50ms);
  EXPECT_THAT(other->asks, SizeIs(1));
}

TEST_F(Checks, WithoutALocalTransactionAnyoneIsAskedAtOnce) {
  quick(3);
  start();
  auto original = join(habit::receives, shop, producer_id{1});
  auto other = join(habit::commits, shop, producer_id{2});
  open({.producer = producer_id{1}});
  leave(original);
  advance(2'100ms);
  EXPECT_THAT(other->asks, SizeIs(1));
}

TEST_F(Checks, InProgressBeforeTheReceiptCountsNothingEither) {
  quick(3);
  start();
  auto m = join(habit::silent);
  const auto id = open();
  advance(2'050ms);
  ASSERT_THAT(m->asks, SizeIs(1));
  auto answer = decision_of(id, outcome::pending);
  answer.by = origin::check;
  answer.in_progress = true;
  decide_now(answer);
  check_result receipt;
  receipt.transaction = id;
  receipt.handed_over = true;
  send_as(m->connection, group(shop), checks_handled{{receipt}});
  run();
  EXPECT_EQ(show(id).life.attempts, 0u);
}

TEST_F(Checks, ALateAnswerIsNoReceiptForTheNextAsk) {
  quick(5);
  start();
  auto m = join(habit::receives);
  const auto id = open();
  advance(2'050ms);
  ASSERT_THAT(m->asks, SizeIs(1));
  m->answers = habit::silent;
  advance(1'050ms);
  ASSERT_THAT(m->asks, SizeIs(2));
  auto answer = decision_of(id, outcome::pending);
  answer.by = origin::check;
  answer.attempt = 1;
  decide_now(answer);
  EXPECT_EQ(show(id).life.attempts, 1u);
  answer.attempt = 2;
  decide_now(answer);
  EXPECT_EQ(show(id).life.attempts, 2u);
}

TEST_F(Checks, RepeatedInProgressAnswersUndoOneAttemptOnly) {
  quick(5);
  start();
  auto m = join(habit::receives);
  const auto id = open();
  advance(3'100ms);
  EXPECT_EQ(show(id).life.attempts, 2u);
  auto answer = decision_of(id, outcome::pending);
  answer.by = origin::check;
  answer.in_progress = true;
  for (int i = 0; i < 3; ++i)
    decide_now(answer);
  EXPECT_EQ(show(id).life.attempts, 1u);
}

} // namespace
} // namespace handfast
