/// When, whom and how often producers are asked, and what follows. Names are those of the behaviour
/// reference and the field cases.

#include "tests/unit/actors/transaction_fixture.hpp"

namespace handfast {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Checks : public transaction_fixture {
public:
  void quick(std::uint32_t check_max = 3) {
    settings.transaction.checks.timeout = 2s;
    settings.transaction.checks.check_interval = 1s;
    settings.transaction.checks.check_max = check_max;
  }
};

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

// -- how often: the end -------------------------------------------------------------------------

TEST_F(Checks, Scenario15FifteenChecksThenGivenUpByReference) {
  start();
  auto m = join(habit::unknown);
  const auto id = open();
  advance(460s, 250ms);
  ASSERT_THAT(m->asks, SizeIs(15));
  for (std::size_t i = 0; i < 15; ++i)
    EXPECT_EQ(m->asks[i].attempt, i + 1);
  const auto life = show(id).life;
  EXPECT_EQ(life.state, transaction_state::given_up);
  EXPECT_EQ(life.decided_by, origin::policy);
  ASSERT_THAT(entries(give_up_topic), SizeIs(1));
  EXPECT_EQ(entries(give_up_topic)[0].at, id.opened_at);
  EXPECT_THAT(entries(orders), IsEmpty());
  advance(100s, 1s);
  EXPECT_THAT(m->asks, SizeIs(15));
  EXPECT_EQ(pending(), 0u);
}

TEST_F(Checks, Scenario18WithOneCheckItsAnswerStillCounts) {
  quick(1);
  start();
  auto m = join(habit::receives);
  const auto id = open();
  advance(2'100ms);
  ASSERT_THAT(m->asks, SizeIs(1));
  auto answer = decision_of(id, outcome::committed);
  answer.by = origin::check;
  EXPECT_EQ(decide_now(answer).code, ec::ok);
  advance(5s);
  EXPECT_THAT(entries(orders), SizeIs(1));
  EXPECT_THAT(entries(give_up_topic), IsEmpty());
}

TEST_F(Checks, F02ALateCommitAfterARollbackByCheckIsAConflict) {
  quick();
  start();
  join(habit::rolls_back);
  const auto id = open();
  advance(4s);
  const auto result = commit(id);
  EXPECT_EQ(result.code, ec::conflict_rolled_back);
  EXPECT_EQ(result.by, origin::check);
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(Checks, F03NoCheckFollowsALateCommit) {
  quick(15);
  start();
  auto m = join(habit::unknown);
  const auto id = open();
  advance(3'500ms);
  EXPECT_THAT(m->asks, SizeIs(2));
  m->answers = habit::commits;
  EXPECT_EQ(commit(id).code, ec::ok);
  advance(5s);
  EXPECT_THAT(m->asks, SizeIs(2));
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(Checks, F04GivenUpIsAStateThatRefusesALateCommit) {
  quick();
  start();
  join(habit::unknown);
  const auto id = open();
  advance(7s);
  const auto result = commit(id);
  EXPECT_EQ(result.code, ec::conflict_given_up);
  EXPECT_EQ(result.recorded, outcome::given_up);
  EXPECT_THAT(entries(orders), IsEmpty());
  EXPECT_EQ(roll_back(id).code, ec::ok);
}

// A commit around the moment of giving up: delivered or given up, never both, never neither.
TEST_F(Checks, F14ACommitAtTheLastDeadlineIsEitherDeliveredOrGivenUp) {
  quick(1);
  settings.transaction.checks_per_second = 1'000'000;
  start();
  join(habit::unknown);
  const auto ids = open_many(200);
  std::size_t delivered = 0;
  advance(2'980ms);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i % 8 == 0)
      advance(2ms, 2ms);
    auto from = make_probe();
    send_decision(from, decision_of(ids[i], outcome::committed));
    const auto result = answer_to(from);
    ASSERT_TRUE(result.code == ec::ok || result.code == ec::conflict_given_up);
    delivered += result.code == ec::ok ? 1 : 0;
  }
  advance(5s);
  EXPECT_EQ(entries(orders).size(), delivered);
  EXPECT_EQ(entries(give_up_topic).size(), ids.size() - delivered);
  EXPECT_GT(delivered, 0u);
  EXPECT_LT(delivered, ids.size());
}

TEST_F(Checks, TheListenerMayCommit) {
  quick();
  settings.transaction.give_up = config::give_up_action::commit;
  start();
  join(habit::unknown);
  const auto id = open();
  advance(7s);
  EXPECT_EQ(show(id).life.state, transaction_state::committed);
  EXPECT_EQ(show(id).life.decided_by, origin::policy);
  EXPECT_THAT(entries(orders), SizeIs(1));
}

TEST_F(Checks, TheListenerMayKeepAsking) {
  quick();
  settings.transaction.give_up = config::give_up_action::keep;
  start();
  auto m = join(habit::unknown);
  open();
  advance(20s, 50ms);
  EXPECT_GE(m->asks.size(), 17u);
  EXPECT_EQ(pending(), 1u);
}

TEST_F(Checks, TheListenerMayPark) {
  quick();
  settings.transaction.give_up = config::give_up_action::park;
  start();
  auto m = join(habit::unknown);
  const auto id = open();
  advance(20s, 50ms);
  EXPECT_THAT(m->asks, SizeIs(3));
  EXPECT_EQ(show(id).life.state, transaction_state::parked);
  EXPECT_EQ(commit(id).code, ec::ok);
}

TEST_F(Checks, AListenerThatDoesNotAnswerIsAskedAgain) {
  quick(1);
  listener = make_probe();
  start();
  join(habit::unknown);
  const auto id = open();
  advance(4s);
  ASSERT_EQ(listener->count<checks_exhausted>(), 1u);
  advance(11s, 50ms);
  EXPECT_EQ(listener->count<checks_exhausted>(), 2u);
  EXPECT_EQ(listener->take_last<checks_exhausted>().life.attempts, 1u);
  send(half(), exhausted_judged{id, config::give_up_action::roll_back});
  send(half(), exhausted_judged{id, config::give_up_action::commit});
  run();
  EXPECT_EQ(show(id).life.state, transaction_state::given_up);
}

TEST_F(Checks, AThrowingListenerCostsOnlyItsOwnAnswer) {
  auto throwing =
      system.spawn(check_listener, config::give_up_action::park,
                   give_up_choice{[](const transaction_life&) -> config::give_up_action {
                     throw std::runtime_error("no");
                   }});
  auto asker = make_probe();
  send_as(asker, throwing, checks_exhausted{});
  run();
  EXPECT_EQ(asker->take_last<exhausted_judged>().action, config::give_up_action::park);
  caf::anon_send_exit(throwing, caf::exit_reason::user_shutdown);
}

TEST_F(Checks, TotalAgeEndsTheAskingEarlier) {
  quick(100);
  settings.transaction.checks.check_total_age = 5s;
  start();
  auto m = join(habit::unknown);
  const auto id = open();
  advance(5'100ms);
  EXPECT_EQ(show(id).life.state, transaction_state::given_up);
  EXPECT_THAT(m->asks, SizeIs(3));
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

// -- restarts ----------------------------------------------------------------------------------

TEST_F(Checks, AttemptsGoToTheLogTogetherOnceASecond) {
  quick(15);
  start();
  join(habit::receives);
  open_many(50);
  advance(2'100ms);
  EXPECT_EQ(count_of(record_type::checked), 0u);
  advance(1s);
  EXPECT_EQ(count_of(record_type::checked), 1u);
}

TEST_F(Checks, AttemptsGoOnAfterARestart) {
  quick(4);
  settings.transaction.checks.check_interval = 3s;
  start();
  join(habit::unknown);
  const auto id = open();
  advance(6'500ms);
  EXPECT_EQ(show(id).life.attempts, 2u);
  restart_node();
  EXPECT_EQ(show(id).life.attempts, 2u);
  auto m = join(habit::unknown);
  advance(3'500ms);
  ASSERT_FALSE(m->asks.empty());
  EXPECT_EQ(m->asks[0].attempt, 3);
}

TEST_F(Checks, AnOrderlyStopLosesNoCount) {
  quick(4);
  start();
  join(habit::receives);
  const auto id = open();
  advance(2'100ms);
  send_as(supervisor, half(), stop{});
  run();
  EXPECT_EQ(supervisor->count<stopped>(), 1u);
  EXPECT_EQ(count_of(record_type::checked), 1u);
  restart_node();
  EXPECT_EQ(show(id).life.attempts, 1u);
}

TEST_F(Checks, Scenario29AfterACrashEveryPendingOneIsAsked) {
  settings.transaction.checks_per_second = 100'000;
  start();
  open_many(1'000);
  advance(3s);
  restart_node();
  auto m = join(habit::commits);
  advance(2'900ms);
  EXPECT_THAT(m->asks, IsEmpty()); // their age goes on
  advance(300ms);
  EXPECT_THAT(m->asks, SizeIs(1'000));
  EXPECT_THAT(entries(), SizeIs(1'000));
}

TEST_F(Checks, NothingIsGivenUpBeforeAMemberHasBeenThereForAWhileAfterARestart) {
  quick(1);
  start();
  auto before = join(habit::unknown);
  const auto id = open();
  advance(2'900ms);
  before->answers = habit::silent;
  restart_node();
  advance(60s, 50ms);
  EXPECT_EQ(show(id).life.state, transaction_state::pending);
  EXPECT_TRUE(show(id).life.waiting_for_producer);
  join(habit::unknown);
  advance(1'900ms);
  EXPECT_EQ(show(id).life.state, transaction_state::pending);
  advance(300ms);
  EXPECT_EQ(show(id).life.state, transaction_state::given_up);
}

TEST_F(Checks, ARestartedSchedulerIsArmedAnew) {
  start();
  auto m = join(habit::receives);
  open_many(10);
  advance(3s);
  restart_scheduler();
  advance(2'900ms);
  EXPECT_THAT(m->asks, IsEmpty());
  advance(200ms);
  EXPECT_THAT(m->asks, SizeIs(10));
}

// -- opening again -----------------------------------------------------------------------------

class Reopening : public Checks {
public:
  transaction_id given_up(const half_options& o = {}) {
    const auto id = open(o);
    advance(7s);
    EXPECT_EQ(show(id).life.state, transaction_state::given_up);
    return id;
  }
  Reopening() {
    quick();
    start();
    member_ = join(habit::unknown);
  }
  std::shared_ptr<member> member_;
};

TEST_F(Reopening, Scenario39ANewTransactionStandsOnTheSameBody) {
  const auto old = given_up({.topic = payments, .queue = queue_no{2}});
  const auto again = reopen(old);
  ASSERT_EQ(again.code, ec::ok);
  EXPECT_NE(again.reopened_as, old);
  EXPECT_EQ(show(again.reopened_as).life.reopened_from, old);
  EXPECT_EQ(show(old).life.reopened_as, again.reopened_as);
  member_->answers = habit::commits;
  member_->asks.clear();
  advance(2'100ms);
  ASSERT_THAT(member_->asks, SizeIs(1));
  EXPECT_EQ(member_->asks[0].attempt, 1);
  EXPECT_EQ(member_->asks[0].body_at, old.opened_at);
  ASSERT_THAT(entries(payments), SizeIs(1));
  EXPECT_EQ(entries(payments)[0].at, old.opened_at);
  EXPECT_EQ(entries(payments)[0].queue, queue_no{2});
  EXPECT_EQ(commit(old).code, ec::conflict_given_up);
}

TEST_F(Reopening, TwiceGivesTheSameId) {
  const auto old = given_up();
  const auto first = reopen(old);
  EXPECT_EQ(reopen(old).reopened_as, first.reopened_as);
  restart_node();
  EXPECT_EQ(reopen(old).reopened_as, first.reopened_as);
  EXPECT_EQ(count_of(record_type::reopen), 1u);
}

TEST_F(Reopening, TwoAtOnceGetTheSameId) {
  const auto old = given_up();
  auto a = make_probe();
  auto b = make_probe();
  send_as(a, half(), reopen_transaction{{}, old});
  send_as(b, half(), reopen_transaction{{}, old});
  run();
  EXPECT_EQ(a->take_last<transaction_reopened>().reopened_as,
            b->take_last<transaction_reopened>().reopened_as);
  EXPECT_EQ(count_of(record_type::reopen), 1u);
}

TEST_F(Reopening, OnlyWhatWasGivenUp) {
  const auto open_one = open();
  EXPECT_EQ(reopen(open_one).code, ec::not_reopenable);
  commit(open_one);
  EXPECT_EQ(reopen(open_one).code, ec::not_reopenable);
  EXPECT_EQ(reopen({position{8}, 1}).code, ec::unknown_transaction);
}

TEST_F(Reopening, KeepsAllMessages) {
  const auto id = open();
  open({.topic = payments, .joins = id});
  advance(7s);
  const auto again = reopen(id);
  EXPECT_EQ(commit(again.reopened_as, 2).code, ec::ok);
  EXPECT_THAT(entries(orders), SizeIs(1));
  EXPECT_THAT(entries(payments), SizeIs(1));
}

} // namespace
} // namespace handfast
