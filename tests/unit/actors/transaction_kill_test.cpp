/// OP STORE and HALF STORE die at bad moments, with decisions and halves outstanding; and outcomes
/// that have left the memory.

#include "tests/unit/actors/transaction_fixture.hpp"

#include <random>

namespace handfast {
namespace {

using namespace test;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Kills : public transaction_fixture {
public:
  Kills() { start(); }
};

TEST_F(Kills, OpStoreDiesWithADecisionAppendedButNotDurableThenTheOppositeComes) {
  const auto id = open();
  auto_sync = false;
  auto a = make_probe();
  auto b = make_probe();
  send_decision(a, decision_of(id, outcome::committed));
  run();
  ASSERT_THAT(unsynced, SizeIs(1));
  restart_op_store();
  send_decision(b, decision_of(id, outcome::rolled_back));
  run();
  EXPECT_THAT(unsynced, SizeIs(1)) << "no second record";
  sync_and_run();
  EXPECT_EQ(answer_to(a).code, ec::ok);
  EXPECT_EQ(answer_to(b).code, ec::conflict_committed);
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(Kills, OpStoreDiesBeforeItAppendedAndTheOrderIsSentAgain) {
  const auto id = open();
  auto from = make_probe();
  const auto dead = op();
  kill(dead);
  send_decision(from, decision_of(id, outcome::committed));
  run();
  EXPECT_EQ(from->count<decided>(), 0u);
  restart_op_store();
  EXPECT_EQ(answer_to(from).code, ec::ok);
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(Kills, AQuestionSurvivesARestartOfOpStore) {
  const auto id = open();
  commit(id);
  kill(op());
  auto from = make_probe();
  send_decision(from, decision_of(id, outcome::rolled_back));
  send_as(from, half(), find_transaction{{}, id});
  run();
  restart_op_store();
  EXPECT_EQ(answer_to(from).code, ec::conflict_committed);
  EXPECT_EQ(from->take_last<transaction_found>().life.state, transaction_state::committed);
}

TEST_F(Kills, HalfStoreDiesWithADecisionAppendedButNotDurableThenTheOppositeComes) {
  const auto id = open();
  auto_sync = false;
  auto a = make_probe();
  auto b = make_probe();
  send_decision(a, decision_of(id, outcome::committed));
  run();
  restart_half_store();
  EXPECT_FALSE(half_state().serving()) << "the decision stands below the fence";
  send_decision(b, decision_of(id, outcome::rolled_back));
  EXPECT_EQ(answer_to(b).code, ec::recovering);
  sync_and_run();
  EXPECT_TRUE(half_state().serving());
  send_decision(b, decision_of(id, outcome::rolled_back));
  EXPECT_EQ(answer_to(b).code, ec::conflict_committed);
  EXPECT_THAT(entries(), SizeIs(1));
}

TEST_F(Kills, HalfStoreDiesWithHalvesUnderWayAndKnowsThemAfterwards) {
  auto_sync = false;
  auto from = make_probe();
  send_half(from);
  run();
  restart_half_store();
  sync_and_run();
  EXPECT_EQ(pending(), 1u);
  EXPECT_EQ(from->count<halves_stored>(), 0u); // its sender learns of the new life and sends again
  const auto id = list().page.at(0).id;
  auto_sync = true;
  EXPECT_EQ(commit(id).code, ec::ok);
}

TEST_F(Kills, WhileHalfStoreIsRebuiltRequestsAreTold) {
  auto_sync = false;
  auto from = make_probe();
  send_half(from);
  run();
  restart_half_store();
  EXPECT_EQ(store_half().code, ec::recovering);
  EXPECT_EQ(list().code, ec::recovering);
  EXPECT_EQ(ask<slices_taken>(half(), take_slices{}).code, ec::recovering);
  EXPECT_EQ(reopen(environment.ids.at(position{8})).code, ec::recovering);
}

TEST_F(Kills, ChecksGoOnAfterHalfStoreDied) {
  auto m = join(habit::commits);
  open_many(20);
  advance(3s);
  restart_half_store();
  advance(2'900ms);
  EXPECT_THAT(m->asks, IsEmpty());
  advance(300ms);
  EXPECT_THAT(m->asks, SizeIs(20));
}

// The model of decide-once in a few lines: the first durable outcome stands. Everything dies at
// random moments.
TEST_F(Kills, F68CountsAndOutcomesAgreeWithAModelWhateverDies) {
  for (unsigned seed = 1; seed <= 15; ++seed) {
    std::mt19937 random{seed};
    std::map<position, outcome> model; // pending ones too
    std::vector<transaction_id> ids;
    std::size_t committed = entries().size();
    for (int step = 0; step < 150; ++step) {
      auto_sync = random() % 4 != 0;
      switch (random() % 8) {
      case 0:
      case 1:
      case 2: {
        auto_sync = true;
        ids.push_back(open());
        model[ids.back().opened_at] = outcome::pending;
        break;
      }
      case 3:
        restart_half_store();
        sync_and_run();
        break;
      case 4:
        restart_op_store();
        sync_and_run();
        break;
      default: {
        if (ids.empty())
          break;
        const auto id = ids[random() % ids.size()];
        const auto wanted = random() % 2 ? outcome::committed : outcome::rolled_back;
        auto from = make_probe();
        send_decision(from, decision_of(id, wanted));
        run();
        if (random() % 3 == 0)
          random() % 2 ? restart_op_store() : restart_half_store();
        sync_and_run();
        sync_and_run();
        auto& known = model[id.opened_at];
        if (known == outcome::pending) {
          // What the log says is what happened; a request that died with its actor may not have
          // happened.
          const auto life = show(id).life;
          if (life.state != transaction_state::pending) {
            known = wanted;
            committed += wanted == outcome::committed ? 1 : 0;
          }
        }
        for (const auto& answer : from->take<decided>())
          for (const auto& r : answer.results)
            ASSERT_EQ(r.code == ec::ok, known == wanted) << name_of(r.code);
      }
      }
      sync_and_run();
      const auto still = static_cast<std::size_t>(
          std::ranges::count_if(model, [](const auto& m) { return m.second == outcome::pending; }));
      ASSERT_EQ(pending(), still) << "seed " << seed << " step " << step;
      ASSERT_EQ(entries().size(), committed);
    }
    auto_sync = true;
    for (const auto& id : ids)
      if (model[id.opened_at] == outcome::pending)
        roll_back(id);
  }
}

// -- outcomes beyond the memory -------------------------------------------------------------------

class Outcomes : public transaction_fixture {
public:
  Outcomes() {
    settings.transaction.outcomes_in_memory = 100;
    start();
  }
  /// A derived run takes what is not saved; some of it then leaves the memory.
  void save_run() {
    const auto taken = ask<unsaved_taken>(op(), take_unsaved{durable_end});
    run_outcomes.insert(run_outcomes.end(), taken.outcomes.begin(), taken.outcomes.end());
    send(op(), run_saved{durable_end});
    run();
  }
  std::size_t in_memory() { return state_of<op_store_state>(op()).outcomes().size(); }
};

TEST_F(Outcomes, NothingLeavesTheMemoryBeforeARunHasIt) {
  for (const auto& id : open_many(300))
    commit(id);
  EXPECT_EQ(in_memory(), 300u);
  save_run();
  EXPECT_LE(in_memory(), 101u);
}

TEST_F(Outcomes, RepeatsAndOppositesAreRightBeyondTheMemory) {
  const auto first = open({.queue = queue_no{2}});
  const auto told = commit(first);
  const auto undone = open();
  roll_back(undone);
  for (const auto& id : open_many(1'000))
    commit(id);
  save_run();
  commit(open());
  ASSERT_EQ(state_of<op_store_state>(op()).outcomes().find(first.opened_at), nullptr);
  const auto repeat = commit(first);
  EXPECT_EQ(repeat.code, ec::ok);
  EXPECT_EQ(repeat.queue, told.queue);
  EXPECT_EQ(repeat.offset, told.offset);
  EXPECT_EQ(repeat.by, origin::producer);
  EXPECT_EQ(roll_back(first).code, ec::conflict_committed);
  EXPECT_EQ(commit(undone).code, ec::conflict_rolled_back);
  EXPECT_EQ(decide_now(decision_of(first, outcome::committed, bank)).code, ec::wrong_group);
  EXPECT_EQ(show(first).life.state, transaction_state::committed);
}

TEST_F(Outcomes, WhatNobodyKeepsAnyMoreIsExpiredNotUnknown) {
  const auto id = open();
  commit(id);
  for (const auto& other : open_many(200))
    commit(other);
  save_run();
  commit(open());
  run_outcomes.clear();
  EXPECT_EQ(commit(id).code, ec::transaction_expired);
  EXPECT_EQ(show(id).code, ec::transaction_expired);
}

TEST_F(Outcomes, AQuestionSurvivesARestartOfTheReader) {
  const auto id = open();
  commit(id);
  for (const auto& other : open_many(200))
    commit(other);
  save_run();
  commit(open());
  auto deaf = make_probe();
  auto hearing = peers.log_reader;
  peers.log_reader = {deaf->as<log_reader_actor>(), next_life()};
  announce();
  auto from = make_probe();
  send_decision(from, decision_of(id, outcome::rolled_back));
  run();
  EXPECT_EQ(from->count<decided>(), 0u);
  peers.log_reader = {hearing.actor, next_life()};
  announce();
  EXPECT_EQ(answer_to(from).code, ec::conflict_committed);
}

TEST_F(Outcomes, ARestartedOneFindsWhatItsSlicesLeaveToRuns) {
  const auto id = open();
  commit(id);
  save_run();
  restart_op_store();
  EXPECT_EQ(commit(id).code, ec::ok);
}

TEST_F(Outcomes, EachRunGetsWhatIsNew) {
  commit(open());
  EXPECT_THAT(ask<unsaved_taken>(op(), take_unsaved{durable_end}).outcomes, SizeIs(1));
  send(op(), run_saved{durable_end});
  commit(open());
  commit(open());
  EXPECT_THAT(ask<unsaved_taken>(op(), take_unsaved{durable_end}).outcomes, SizeIs(2));
}

// -- quarantine ---------------------------------------------------------------------------------

class Quarantine : public transaction_fixture {};

TEST_F(Quarantine, ADamagedBodyIsListedAndNeverCommitted) {
  quarantine_next();
  start();
  auto m = join(habit::commits);
  const auto id = open();
  const auto fine = open();
  EXPECT_EQ(show(id).life.state, transaction_state::quarantined);
  EXPECT_EQ(commit(id).code, ec::transaction_quarantined);
  advance(10s, 50ms);
  EXPECT_THAT(m->asks, SizeIs(1));
  EXPECT_EQ(m->asks[0].transaction, fine);
  EXPECT_THAT(ask<status_report>(half(), status_request{}).quarantined, SizeIs(1));
  EXPECT_EQ(store_half({.joins = id}).code, ec::transaction_quarantined);
  EXPECT_EQ(roll_back(id).code, ec::ok);
  EXPECT_THAT(ask<status_report>(half(), status_request{}).quarantined, IsEmpty());
}

TEST_F(Quarantine, ABodyThatRecoveryDidNotReadIsLookedAtAfterTheStart) {
  start();
  const auto ids = open_many(200);
  const auto bad = ids[150];
  damaged.insert(bad.opened_at);
  restart_half_store();
  EXPECT_EQ(show(bad).life.state, transaction_state::pending);
  advance(200ms, 5ms);
  EXPECT_EQ(show(bad).life.state, transaction_state::quarantined);
  EXPECT_EQ(commit(bad).code, ec::transaction_quarantined);
  EXPECT_EQ(commit(ids[151]).code, ec::ok);
}

TEST_F(Quarantine, AReaderThatWasRestartedIsAskedForTheBodiesAgain) {
  start();
  const auto bad = open();
  damaged.insert(bad.opened_at);
  reader_answers = false;
  restart_half_store();
  advance(200ms, 5ms);
  EXPECT_EQ(show(bad).life.state, transaction_state::pending);
  reader_answers = true;
  peers.log_reader.life = next_life();
  announce();
  advance(20ms, 5ms);
  EXPECT_EQ(show(bad).life.state, transaction_state::quarantined);
}

TEST_F(Quarantine, OneWhoseOpeningRecordCannotBeReadIsNotCalledExpired) {
  start();
  const auto id = open();
  damaged.insert(id.opened_at);
  std::erase_if(history, [&](const log_record& r) { return r.at == id.opened_at; });
  restart_half_store();
  EXPECT_EQ(show(id).code, ec::transaction_quarantined);
  EXPECT_EQ(commit(id).code, ec::transaction_quarantined);
}

TEST_F(Quarantine, ADamagedBodyDoesNotHideARecordedOutcome) {
  start();
  const auto id = open();
  commit(id);
  damaged.insert(id.opened_at);
  first_fold.mark_damaged(id.opened_at, {});
  restart_half_store();
  restart_op_store();
  EXPECT_EQ(show(id).life.state, transaction_state::committed);
  EXPECT_EQ(commit(id).code, ec::ok);
  EXPECT_EQ(roll_back(id).code, ec::conflict_committed);
}

} // namespace
} // namespace handfast
