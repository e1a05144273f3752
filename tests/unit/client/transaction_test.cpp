#include "actors/client/transaction_producer.hpp"
#include "tests/unit/client/client_fixture.hpp"

#include <latch>

namespace handfast::client::test {

namespace {

/// A listener made of two functions; notes what it was asked.
class scripted_listener : public transaction_listener {
public:
  std::function<local_state(const message&, transaction_context&)> on_execute =
      [](const message&, transaction_context&) { return local_state::commit; };
  std::function<local_state(const message&, const check_context&)> on_check =
      [](const message&, const check_context&) { return local_state::unknown; };

  local_state execute(const message& first, transaction_context& context) override {
    {
      std::lock_guard lock{mutex};
      executed.push_back(first);
    }
    return on_execute(first, context);
  }
  local_state check(const message& first, const check_context& context) override {
    {
      std::lock_guard lock{mutex};
      checks.push_back(first);
      contexts.push_back(context);
    }
    return on_check(first, context);
  }
  void checked(const message&, const check_context&, local_state,
               const answer<decision>& result) override {
    std::lock_guard lock{mutex};
    words.push_back(told(result));
  }

  std::mutex mutex;
  std::vector<message> executed;
  std::vector<message> checks;
  std::vector<check_context> contexts;
  std::vector<std::string> words;
};

} // namespace

class ClientTransaction : public ClientTest {
protected:
  std::shared_ptr<scripted_listener> listener = std::make_shared<scripted_listener>();
  transaction_producer sender{connection, {.group = "billing", .topics = {}}, listener};

  outcome recorded(const transaction_id& id) {
    outcome found = outcome::pending;
    EXPECT_TRUE(node.eventually([&] {
      found = node.transactions.at(id).recorded;
      return true;
    }));
    return found;
  }

  /// Whether a decision by check came for `id`.
  bool check_answered(const transaction_id& id) {
    return node.eventually([&] {
      return std::any_of(node.decides.begin(), node.decides.end(), [&](const auto& d) {
        return d.transaction == id && d.by == origin::check;
      });
    });
  }

  native::decide_item answer_to_check(const transaction_id& id) {
    native::decide_item found;
    EXPECT_TRUE(check_answered(id));
    EXPECT_TRUE(node.eventually([&] {
      for (const auto& d : node.decides)
        if (d.transaction == id && d.by == origin::check)
          found = d;
      return true;
    }));
    return found;
  }
};

TEST_F(ClientTransaction, CommitsWhatTheListenerCommits) {
  auto result = sender.send_in_transaction({"orders", "o-1"});
  ASSERT_DONE(result.stored);
  ASSERT_DONE(result.decided);
  EXPECT_EQ(result.state, local_state::commit);
  EXPECT_EQ(result.decided->recorded, outcome::committed);
  EXPECT_EQ(recorded(result.id()), outcome::committed);
}

TEST_F(ClientTransaction, RollsBackWhatTheListenerRollsBack) {
  listener->on_execute = [](auto&&...) { return local_state::rollback; };
  auto result = sender.send_in_transaction({"orders", "o-1"});
  EXPECT_EQ(result.decided->recorded, outcome::rolled_back);
  EXPECT_EQ(recorded(result.id()), outcome::rolled_back);
}

TEST_F(ClientTransaction, LeavesAnUnknownStateUndecided) {
  listener->on_execute = [](auto&&...) { return local_state::unknown; };
  auto result = sender.send_in_transaction({"orders", "o-1"});
  EXPECT_DONE(result.decided);
  EXPECT_EQ(result.decided->recorded, outcome::pending);
  EXPECT_TRUE(node.decides.empty());
}

TEST_F(ClientTransaction, TakesAnExceptionForUnknown) {
  listener->on_execute = [](auto&&...) -> local_state { throw std::runtime_error{"db"}; };
  EXPECT_EQ(sender.send_in_transaction({"orders", "o-1"}).state, local_state::unknown);
}

TEST_F(ClientTransaction, PassesTheArgumentAndTheIdToTheListener) {
  transaction_id seen;
  int argument = 0;
  listener->on_execute = [&](const message&, transaction_context& context) {
    seen = context.id();
    argument = std::any_cast<int>(context.argument());
    return local_state::commit;
  };
  auto result = sender.send_in_transaction({"orders", "o-1"}, 42);
  EXPECT_EQ(seen, result.id());
  EXPECT_EQ(argument, 42);
}

TEST_F(ClientTransaction, DoesNotRunTheListenerWhenTheHalfIsRefused) {
  node.refuse(frame_kind::send_half, ec::too_many_pending, "1,000,000");
  auto result = sender.send_in_transaction({"orders", "o-1"});
  ASSERT_TRUE(result.stored.is_refused());
  EXPECT_EQ(result.stored.why().code, ec::too_many_pending);
  EXPECT_TRUE(listener->executed.empty());
  EXPECT_EQ(result.decided.why(), result.stored.why());
}

TEST_F(ClientTransaction, CommitsSeveralMessagesOfSeveralTopicsWithTheirNumber) {
  auto result =
      sender.send_all_in_transaction({{"orders", "a"}, {"invoices", "b"}, {"orders", "c"}});
  ASSERT_DONE(result.decided);
  EXPECT_EQ(result.stored->messages, 3);
  EXPECT_EQ(node.decides.at(0).messages, 3);
  EXPECT_EQ(node.transactions.size(), 1u);
}

TEST_F(ClientTransaction, RollsBackWhenOneOfSeveralIsRefused) {
  listener->on_execute = [](auto&&...) { return local_state::commit; };
  message too_big{"orders", std::string(2'000'000, 'x')};
  auto result = sender.send_all_in_transaction({{"orders", "a"}, too_big});
  EXPECT_EQ(result.stored.why().code, ec::body_too_large);
  EXPECT_EQ(recorded(result.id()), outcome::rolled_back);
  EXPECT_TRUE(listener->executed.empty());
}

TEST_F(ClientTransaction, LetsTheListenerAddMessages) {
  listener->on_execute = [](const message&, transaction_context& context) {
    EXPECT_DONE(context.join({"invoices", "i-1"}));
    EXPECT_EQ(context.messages().size(), 2u);
    return local_state::commit;
  };
  auto result = sender.send_in_transaction({"orders", "o-1"});
  EXPECT_EQ(result.decided->messages, 2);
}

TEST_F(ClientTransaction, StoresAHalfOnceWhenItsAnswerIsLost_F77) {
  node.misbehave(frame_kind::send_half, misbehaviour::close_after);
  auto result = sender.send_in_transaction({"orders", "o-1"});
  ASSERT_DONE(result.decided);
  EXPECT_EQ(node.transactions.size(), 1u);
  EXPECT_EQ(node.halves.size(), 2u);
  EXPECT_EQ(node.halves[0].sequence, node.halves[1].sequence);
}

TEST_F(ClientTransaction, RepeatsADecisionWhoseAnswerIsLost) {
  node.misbehave(frame_kind::decide, misbehaviour::close_after);
  auto result = sender.send_in_transaction({"orders", "o-1"});
  ASSERT_DONE(result.decided);
  EXPECT_EQ(node.decides.size(), 2u);
}

TEST_F(ClientTransaction, SaysThatTheDecisionIsUnknownAndGivesTheId_F09) {
  auto options = quick(node.server());
  options.total_timeout = 400ms;
  client impatient{options};
  transaction_producer p{impatient, {.group = "billing", .topics = {}}, listener};
  node.misbehave(frame_kind::decide, misbehaviour::drop_request, 1'000);
  auto result = p.send_in_transaction({"orders", "o-1"});
  EXPECT_TRUE(result.decided.is_unknown());
  EXPECT_EQ(result.state, local_state::commit);
  EXPECT_NE(result.id(), transaction_id{});
}

TEST_F(ClientTransaction, ReportsAConflict) {
  auto t = sender.begin({"orders", "o-1"});
  ASSERT_DONE(t);
  ASSERT_DONE(sender.rollback(*t.operator->()));
  auto late = sender.commit(t.value());
  ASSERT_TRUE(late.is_refused());
  EXPECT_EQ(late.why().code, ec::conflict_rolled_back);
}

TEST_F(ClientTransaction, BeginsJoinsAndCommitsByHand) {
  auto begun = sender.begin({"orders", "o-1"});
  ASSERT_DONE(begun);
  auto t = begun.value();
  ASSERT_DONE(sender.join(t, {"invoices", "i-1"}));
  EXPECT_EQ(t.messages, 2);
  auto committed = sender.commit(t);
  ASSERT_DONE(committed);
  EXPECT_EQ(committed->messages, 2);
  EXPECT_EQ(sender.status(t.id)->state, transaction_state::committed);
}

TEST_F(ClientTransaction, CommittingTheWrongNumberIsIncomplete) {
  auto t = sender.begin({"orders", "o-1"}).value();
  t.messages = 2;
  EXPECT_EQ(sender.commit(t).why().code, ec::incomplete);
}

TEST_F(ClientTransaction, DeclaresThatALocalTransactionRuns) {
  ASSERT_DONE(sender.begin({"orders", "o-1"}));
  ASSERT_DONE(sender.begin({"orders", "o-2"}, false));
  EXPECT_TRUE(node.halves.at(0).flags & message_flags::local_transaction);
  EXPECT_FALSE(node.halves.at(1).flags & message_flags::local_transaction);
}

// -- checks --------------------------------------------------------------------

TEST_F(ClientTransaction, ShowsTheSameMessageToTheCheckAsToTheExecution_F26) {
  message m{"orders", std::string("bin\0ary", 7)};
  m.tag = "new";
  m.keys = "k";
  m.properties["colour"] = "red";
  listener->on_execute = [](auto&&...) { return local_state::unknown; };
  auto result = sender.send_in_transaction(m);
  node.push_check(result.id(), 3, 15);
  ASSERT_TRUE(check_answered(result.id()));
  std::lock_guard lock{listener->mutex};
  EXPECT_EQ(listener->checks.at(0), m);
  EXPECT_EQ(listener->executed.at(0), m);
  EXPECT_EQ(listener->contexts.at(0).id, result.id());
  EXPECT_EQ(listener->contexts.at(0).attempt, 3);
  EXPECT_EQ(listener->contexts.at(0).attempts_left, 12);
  EXPECT_EQ(listener->contexts.at(0).first_stored.time_since_epoch(), 1s);
}

TEST_F(ClientTransaction, SendsAReceiptForACheck) {
  auto t = sender.begin({"orders", "o-1"}, false).value();
  node.push_check(t.id);
  EXPECT_TRUE(node.eventually([&] { return node.receipts.size() == 1; }));
  EXPECT_EQ(node.receipts.at(0).transaction, t.id);
}

TEST_F(ClientTransaction, GivesNoReceiptWithoutAListener) {
  transaction_producer silent{connection, {.group = "silent"}};
  auto t = silent.begin({"orders", "o-1"}, false).value();
  node.push_check(t.id);
  // What follows on the same connection has come, so the check has been dealt with.
  auto heard = sender.begin({"orders", "o-2"}, false).value();
  node.push_check(heard.id);
  ASSERT_TRUE(node.eventually([&] { return node.receipts.size() == 1; }));
  EXPECT_EQ(node.receipts.at(0).transaction, heard.id);
  EXPECT_EQ(recorded(t.id), outcome::pending);
}

TEST_F(ClientTransaction, DecidesAsTheCheckSays) {
  listener->on_check = [](auto&&...) { return local_state::commit; };
  auto t = sender.begin({"orders", "o-1"}, false).value();
  node.push_check(t.id, 2);
  auto said = answer_to_check(t.id);
  EXPECT_EQ(said.wanted, outcome::committed);
  EXPECT_EQ(said.attempt, 2);
  EXPECT_EQ(recorded(t.id), outcome::committed);
}

TEST_F(ClientTransaction, AnswersUnknownWhenTheCheckThrows) {
  listener->on_check = [](auto&&...) -> local_state { throw 1; };
  auto t = sender.begin({"orders", "o-1"}, false).value();
  node.push_check(t.id);
  auto said = answer_to_check(t.id);
  EXPECT_EQ(said.wanted, outcome::pending);
  EXPECT_FALSE(said.in_progress);
}

TEST_F(ClientTransaction, AnswersInProgressWhileTheLocalTransactionRuns_F76) {
  listener->on_check = [](auto&&...) { return local_state::rollback; }; // the row is not there yet
  listener->on_execute = [&](const message&, transaction_context& context) {
    for (std::uint16_t attempt = 1; attempt <= 15; ++attempt)
      node.push_check(context.id(), attempt);
    EXPECT_TRUE(node.eventually([&] { return node.decides.size() == 15; }));
    return local_state::commit;
  };
  auto result = sender.send_in_transaction({"orders", "o-1"});
  ASSERT_DONE(result.decided);
  EXPECT_EQ(recorded(result.id()), outcome::committed);
  EXPECT_TRUE(listener->checks.empty());
  for (std::size_t i = 0; i < 15; ++i)
    EXPECT_TRUE(node.decides.at(i).in_progress);
}

TEST_F(ClientTransaction, AnnouncesWhatRunsAfterAReconnect_F76) {
  listener->on_check = [](auto&&...) { return local_state::rollback; };
  listener->on_execute = [&](const message&, transaction_context& context) {
    node.disconnect_all();
    EXPECT_TRUE(node.eventually([&] { return node.running.size() == 1; }));
    node.push_check(context.id());
    EXPECT_TRUE(answer_to_check(context.id()).in_progress);
    return local_state::commit;
  };
  auto result = sender.send_in_transaction({"orders", "o-1"});
  ASSERT_DONE(result.decided);
  EXPECT_EQ(node.running.at(0).transaction, result.id());
  EXPECT_EQ(recorded(result.id()), outcome::committed);
}

TEST_F(ClientTransaction, AsksTheListenerOnceTheLocalTransactionIsReleased) {
  auto t = sender.begin({"orders", "o-1"}).value();
  sender.release(t.id);
  node.push_check(t.id);
  EXPECT_FALSE(answer_to_check(t.id).in_progress);
}

TEST_F(ClientTransaction, AsksTheListenerOfTheTopic_F56) {
  auto invoices = std::make_shared<scripted_listener>();
  sender.set_listener("invoices", invoices);
  listener->on_execute = invoices->on_execute = [](auto&&...) { return local_state::unknown; };
  auto order = sender.send_in_transaction({"orders", "o"});
  auto invoice = sender.send_in_transaction({"invoices", "i"});
  node.push_check(order.id());
  node.push_check(invoice.id());
  ASSERT_TRUE(check_answered(order.id()));
  ASSERT_TRUE(check_answered(invoice.id()));
  EXPECT_EQ(listener->executed.size(), 1u);
  EXPECT_EQ(invoices->executed.size(), 1u);
  EXPECT_EQ(listener->checks.at(0).topic, "orders");
  EXPECT_EQ(invoices->checks.at(0).topic, "invoices");
}

TEST_F(ClientTransaction, TellsTheListenerTheNodesWordOnACheck) {
  listener->on_check = [](auto&&...) { return local_state::commit; };
  std::latch heard{1};
  struct hearing : scripted_listener {
    std::latch* heard = nullptr;
    void checked(const message&, const check_context&, local_state,
                 const answer<decision>& result) override {
      words.push_back(told(result));
      heard->count_down();
    }
  };
  auto hears = std::make_shared<hearing>();
  hears->heard = &heard;
  hears->on_check = listener->on_check;
  sender.set_listener("orders", hears);
  auto t = sender.begin({"orders", "o-1"}, false).value();
  node.push_check(t.id);
  heard.wait();
  EXPECT_EQ(hears->words.at(0), "done");
}

TEST_F(ClientTransaction, BecomesAMemberAgainAfterAReconnect) {
  ASSERT_DONE(sender.wait_until_member());
  node.disconnect_all();
  EXPECT_TRUE(node.eventually([&] { return node.joins.size() == 2; }));
  EXPECT_EQ(node.joins[0].session, node.joins[1].session);
}

TEST(ClientMember, IsToldWhenNoNodeCanBeReached) {
  client nowhere{{.servers = {"127.0.0.1:1"}, .connect_patience = 0ms}};
  transaction_producer lonely{nowhere, {.group = "billing"}};
  EXPECT_EQ(lonely.wait_until_member().why().code, ec::unreachable);
}

TEST_F(ClientTransaction, DeclaresTheTopicsItHasListenersFor) {
  transaction_producer bare{connection, {.group = "shipping", .topics = {"parcels"}}};
  bare.set_listener("letters", listener);
  EXPECT_TRUE(node.eventually([&] {
    return !node.joins.empty() &&
           node.joins.back().topics == std::vector<std::string>{"parcels", "letters"};
  }));
}

TEST_F(ClientTransaction, LeavesTheGroupWhenDestroyed) {
  {
    transaction_producer short_lived{connection, {.group = "g2", .topics = {}}, listener};
    ASSERT_DONE(short_lived.wait_until_member());
  }
  EXPECT_TRUE(node.eventually([&] { return node.leaves == 1; }));
}

TEST_F(ClientTransaction, RefusesABadGroupName) {
  transaction_producer bad{connection, {.group = "a/b", .topics = {}}, listener};
  EXPECT_EQ(bad.begin({"orders", "x"}).why().code, ec::bad_name);
  EXPECT_EQ(bad.send_in_transaction({"orders", "x"}).stored.why().code, ec::bad_name);
}

} // namespace handfast::client::test
