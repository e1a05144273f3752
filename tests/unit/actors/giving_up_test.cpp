/// The end of asking, restarts in between, and opening again. Names are those of the behaviour
/// reference and the field cases.

#include "tests/unit/actors/transaction_fixture.hpp"

namespace handfast {
namespace {

using namespace test;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class GivingUp : public transaction_fixture {};

// -- how often: the end -------------------------------------------------------------------------

TEST_F(GivingUp, Scenario15FifteenChecksThenGivenUpByReference) {
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

TEST_F(GivingUp, Scenario18WithOneCheckItsAnswerStillCounts) {
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

TEST_F(GivingUp, F02ALateCommitAfterARollbackByCheckIsAConflict) {
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

TEST_F(GivingUp, F03NoCheckFollowsALateCommit) {
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

TEST_F(GivingUp, F04GivenUpIsAStateThatRefusesALateCommit) {
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
TEST_F(GivingUp, F14ACommitAtTheLastDeadlineIsEitherDeliveredOrGivenUp) {
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

TEST_F(GivingUp, TheListenerMayCommit) {
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

TEST_F(GivingUp, TheListenerMayKeepAsking) {
  quick();
  settings.transaction.give_up = config::give_up_action::keep;
  start();
  auto m = join(habit::unknown);
  open();
  advance(20s, 50ms);
  EXPECT_GE(m->asks.size(), 17u);
  EXPECT_EQ(pending(), 1u);
}

TEST_F(GivingUp, TheListenerMayPark) {
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

TEST_F(GivingUp, AListenerThatDoesNotAnswerIsAskedAgain) {
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

TEST_F(GivingUp, AThrowingListenerCostsOnlyItsOwnAnswer) {
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

TEST_F(GivingUp, TotalAgeEndsTheAskingEarlier) {
  quick(100);
  settings.transaction.checks.check_total_age = 5s;
  start();
  auto m = join(habit::unknown);
  const auto id = open();
  advance(5'100ms);
  EXPECT_EQ(show(id).life.state, transaction_state::given_up);
  EXPECT_THAT(m->asks, SizeIs(3));
}

// -- restarts ----------------------------------------------------------------------------------

TEST_F(GivingUp, AttemptsGoToTheLogTogetherOnceASecond) {
  quick(15);
  start();
  join(habit::receives);
  open_many(50);
  advance(2'100ms);
  EXPECT_EQ(count_of(record_type::checked), 0u);
  advance(1s);
  EXPECT_EQ(count_of(record_type::checked), 1u);
}

TEST_F(GivingUp, AttemptsGoOnAfterARestart) {
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

TEST_F(GivingUp, AnOrderlyStopLosesNoCount) {
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

TEST_F(GivingUp, Scenario29AfterACrashEveryPendingOneIsAsked) {
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

TEST_F(GivingUp, NothingIsGivenUpBeforeAMemberHasBeenThereForAWhileAfterARestart) {
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

TEST_F(GivingUp, ARestartedSchedulerIsArmedAnew) {
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

class Reopening : public GivingUp {
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

TEST_F(Reopening, KeepsTheDelayButTheCopyThatWasGivenUpHadNone) {
  const auto old = given_up({.topic = payments, .delay_ms = 5'000});
  ASSERT_THAT(entries(give_up_topic), SizeIs(1));
  EXPECT_FALSE(entries(give_up_topic)[0].is_delayed());
  EXPECT_EQ(show(old).life.messages.at(0).due_ms, 5'000u) << "a delay, as nothing is committed";
  const auto again = reopen(old);
  ASSERT_EQ(again.code, ec::ok);
  EXPECT_EQ(commit(again.reopened_as).due_ms, time.wall() + 5'000);
  ASSERT_THAT(entries(payments), SizeIs(1));
  EXPECT_EQ(entries(payments)[0].due_ms, time.wall() + 5'000);
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

TEST_F(Reopening, AnAnswerFromBeforeTheRecordOpensNoSecondOne) {
  const auto old = given_up();
  auto late = make_probe();
  reader_answers = false;
  send_as(late, half(), reopen_transaction{{}, old});
  run();
  const auto held = reader->take_last<read_records>();
  reader_answers = true;
  const auto first = reopen(old);
  records_read answer{held.id, {}};
  for (const auto& place : held.places)
    answer.records.push_back({ec::ok, *std::ranges::find(history, place.at, &log_record::at)});
  send_as(reader, op(), answer);
  run();
  EXPECT_EQ(late->take_last<transaction_reopened>().reopened_as, first.reopened_as);
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
