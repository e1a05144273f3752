// Cases from the field, with the client library against a real node. `docs/field-cases.md` lists
// all cases and where each is shown.

#include "actors/type_ids.hpp"
#include "tests/journeys/cut_wire.hpp"
#include "tests/journeys/node_fixture.hpp"

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <gmock/gmock.h>
#include <set>

namespace handfast::test {
namespace {

using client::local_state;
using client::message;
using client::transaction_producer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class FieldCases : public node_fixture {
protected:
  double handed_over() { return sample("handfast_checks_handed_over_total"); }

  /// Until the node has asked so many times more.
  void wait_for_checks(double more) {
    const auto before = handed_over();
    eventually([&] { return handed_over() >= before + more; });
  }

  /// Ends an actor of the shard as a crash would.
  template <class Handle>
  void kill(Handle shard_peers::*peer) {
    while (!try_kill(peer)) {
    }
  }

private:
  /// False when the connection that was to learn of the peers was ended, since the shard is just
  /// being rebuilt.
  template <class Handle>
  bool try_kill(Handle shard_peers::*peer) {
    auto told = std::make_shared<std::promise<bool>>();
    auto once = std::make_shared<std::once_flag>();
    const auto tell = [told, once](bool killed) {
      std::call_once(*once, [&] { told->set_value(killed); });
    };
    auto asker = node().system().spawn([=](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler(caf::drop);
      return {[=](const peers_changed& x) {
        caf::anon_send_exit(((*x.peers).*peer).actor, caf::exit_reason::kill);
        tell(true);
        self->quit();
      }};
    });
    asker->attach_functor([tell] { tell(false); });
    caf::anon_send(node().supervisor(), adopt_connection{caf::actor_cast<connection_actor>(asker)});
    return told->get_future().get();
  }
};

// F76: the row is not visible yet, the handler of every member says "roll back", the local
// transaction takes longer than all checks together, and its connection drops meanwhile.
TEST_F(FieldCases, ALocalTransactionLongerThanAllChecksIsStillCommitted) {
  quick_checks(3);
  start();
  cut_wire wire{port()};
  const auto others_link = connect();
  const auto hasty = answering(local_state::rollback);
  transaction_producer other{*others_link, {.group = "shop", .topics = {}}, hasty};
  ASSERT_TRUE(other.wait_until_member());

  client::client link{to(wire.address())};
  const auto slow = answering(local_state::rollback);
  slow->on_execute = [&](auto&&...) {
    wait_for_checks(6);
    wire.cut();
    wait_for_checks(6);
    wire.cut();
    wait_for_checks(6);
    return local_state::commit;
  };
  transaction_producer owner{link, {.group = "shop", .topics = {}}, slow};
  const auto result = owner.send_in_transaction({"orders", "paid"});
  ASSERT_TRUE(result.decided) << to_string(result.decided.why());
  EXPECT_EQ(result.decided->recorded, outcome::committed);
  EXPECT_EQ(slow->checks + hasty->checks, 0u) << "the library answered by itself";
  EXPECT_GE(wire.accepted(), 3u);
  EXPECT_THAT(bodies("orders"), ElementsAre("paid"));
  EXPECT_EQ(pending(), 0);
}

// F76, second run: the owner dies before its local transaction ends.
TEST_F(FieldCases, AnOwnerThatDiesIsAnsweredForByItsGroupOnce) {
  quick_checks(3);
  settings.producer.session_timeout = 300ms;
  start();
  const auto others_link = connect();
  const auto survivor = answering(local_state::rollback);
  transaction_producer other{*others_link, {.group = "shop", .topics = {}}, survivor};
  ASSERT_TRUE(other.wait_until_member());
  transaction_id id;
  {
    const auto link = connect();
    transaction_producer owner{*link, {.group = "shop", .topics = {}}};
    id = owner.begin({"orders", "never paid"}).value().id;
    wait_for_checks(3);
    EXPECT_EQ(survivor->checks, 0u);
  }
  eventually([&] { return state_of(id) == transaction_state::rolled_back; });
  EXPECT_EQ(survivor->checks, 1u);
  EXPECT_THAT(bodies("orders"), IsEmpty());
}

// F77: the answer to the half is lost; the library repeats it and gets the same half.
TEST_F(FieldCases, AHalfWhoseAnswerIsLostIsStoredOnce) {
  start();
  cut_wire wire{port()};
  auto options = to(wire.address());
  options.attempt_timeout = 200ms;
  client::client link{options};
  transaction_producer owner{link, {.group = "shop", .topics = {}}};
  ASSERT_TRUE(owner.wait_until_member());
  ASSERT_TRUE(owner.commit(owner.begin({"orders", "before"}).value())); // the topic is known
  wire.swallow_answers();
  auto opening = std::async(std::launch::async, [&] { return owner.begin({"orders", "paid"}); });
  eventually([&] { return pending() == 1; });
  wire.cut();
  const auto opened = opening.get();
  ASSERT_TRUE(opened);
  EXPECT_EQ(pending(), 1);
  ASSERT_TRUE(owner.commit(opened.value()));
  EXPECT_THAT(bodies("orders"), UnorderedElementsAre("before", "paid"));
}

// F77, second run: nobody repeats it, so nobody knows its id.
TEST_F(FieldCases, AnOrphanIsAskedAboutOnceAndRolledBack) {
  quick_checks(3);
  start();
  const auto others_link = connect();
  const auto survivor = answering(local_state::rollback);
  transaction_producer other{*others_link, {.group = "shop", .topics = {}}, survivor};
  ASSERT_TRUE(other.wait_until_member());
  {
    const auto link = connect();
    transaction_producer orphaned{*link, {.group = "shop", .topics = {}}};
    ASSERT_TRUE(orphaned.begin({"orders", "orphan"}, false));
  }
  eventually([&] { return pending() == 0; });
  EXPECT_EQ(survivor->checks, 1u);
  EXPECT_THAT(bodies("orders"), IsEmpty());
}

// F09: the answer to the commit never comes.
TEST_F(FieldCases, ACommitWithoutAnAnswerIsUnknownAndStillDeliveredOnce) {
  start();
  cut_wire wire{port()};
  auto options = to(wire.address());
  options.attempt_timeout = 100ms;
  options.total_timeout = 500ms;
  client::client link{options};
  transaction_producer owner{link, {.group = "shop", .topics = {}}};
  const auto opened = owner.begin({"orders", "paid"}).value();
  wire.swallow_answers();
  const auto committed = owner.commit(opened);
  EXPECT_TRUE(committed.is_unknown());
  wire.cut();
  eventually([&] { return state_of(opened.id) == transaction_state::committed; });
  EXPECT_TRUE(owner.commit(opened)) << "a repeat is right";
  EXPECT_THAT(bodies("orders"), ElementsAre("paid"));
}

// F18, F26: a compressible body, a large one, and properties are the same in the check and for the
// consumer.
TEST_F(FieldCases, TheCheckAndTheConsumerSeeTheMessageThatWasSent) {
  quick_checks(1'000);
  start();
  const std::string compressible(5'120, 'a');
  const std::string large(1'048'576, '\0');
  std::vector<message> sent{message{"orders", compressible}, message{"orders", large}};
  for (auto& one : sent) {
    one.tag = "paid";
    one.keys = "k1 k2";
    one.properties["colour"] = "red";
  }
  const auto link = connect();
  const auto listener = answering(local_state::commit);
  listener->on_execute = [](auto&&...) { return local_state::unknown; };
  std::mutex mutex;
  std::vector<message> asked;
  listener->on_check = [&](const message& first, const client::check_context& context) {
    std::lock_guard hold{mutex};
    asked.push_back(first);
    EXPECT_GE(context.attempt, 1);
    return context.attempt < 3 ? local_state::unknown : local_state::commit;
  };
  transaction_producer owner{*link, {.group = "shop", .topics = {}}, listener};
  for (const auto& one : sent) {
    const auto result = owner.send_in_transaction(one);
    eventually([&] { return state_of(result.id()) == transaction_state::committed; });
  }
  ASSERT_THAT(asked, SizeIs(6));
  for (std::size_t i = 0; i < asked.size(); ++i)
    EXPECT_EQ(asked[i], sent[i / 3]);
  client::subscription from{*link, "mail", "orders"};
  std::vector<message> got;
  while (got.size() < 2) {
    const auto some = from.fetch(10, 1s).value();
    for (const auto& one : some)
      got.push_back(one.content);
  }
  EXPECT_THAT(got, UnorderedElementsAre(sent[0], sent[1]));
}

// F73: one after another, without any check between commit and delivery.
TEST_F(FieldCases, OneAfterAnotherIsDeliveredWithoutAnyCheck) {
  start();
  const auto link = connect();
  transaction_producer owner{
      *link, {.group = "shop", .topics = {}}, answering(local_state::commit)};
  client::subscription from{*link, "mail", "orders"};
  for (int i = 0; i < 300; ++i) {
    const auto body = std::to_string(i);
    ASSERT_TRUE(owner.send_in_transaction({"orders", body}).decided);
    std::vector<client::received_message> got;
    while (got.empty())
      got = from.fetch(10, 10s).value();
    ASSERT_THAT(got, SizeIs(1));
    EXPECT_EQ(got[0].content.body.text(), body);
    ASSERT_TRUE(from.acknowledge({got[0].delivery}));
  }
  EXPECT_EQ(handed_over(), 0);
}

// F67, F61: plain messages and other transactions of the same queue do not wait for a pending one.
TEST_F(FieldCases, APendingTransactionHidesNothingElse) {
  for (const bool restarted : {false, true}) {
    start();
    const auto link = connect();
    const std::string group = restarted ? "later" : "mail";
    ASSERT_TRUE(client::admin{*link}.create_topic("orders", 1));
    transaction_producer owner{*link, {.group = "shop", .topics = {}}};
    ASSERT_TRUE(owner.begin({"orders", "pending"}, false));
    ASSERT_TRUE(client::producer{*link}.send({"orders", "plain"}));
    ASSERT_TRUE(owner.commit(owner.begin({"orders", "committed"}).value()));
    const auto found = bodies("orders", group);
    EXPECT_EQ(found.size(), restarted ? 4u : 2u);
    EXPECT_EQ(found.back(), "committed");
    stop();
  }
}

// F71: two handlers of one group never decide the same transaction twice.
TEST_F(FieldCases, TwoHandlersOfOneGroupMakeOneDecisionEach) {
  quick_checks(5);
  // A second ask would be right if an answer took longer than the interval: none comes so late.
  settings.transaction.checks.check_interval = 1h;
  start();
  const auto first_link = connect();
  const auto second_link = connect();
  const auto first = answering(local_state::commit);
  const auto second = answering(local_state::rollback);
  std::vector<transaction_id> ids;
  {
    const auto link = connect();
    transaction_producer owner{*link, {.group = "shop", .topics = {}}};
    for (int i = 0; i < 200; ++i)
      ids.push_back(owner.begin({"orders", std::to_string(i)}, false).value().id);
  }
  transaction_producer a{*first_link, {.group = "shop", .topics = {}}, first};
  transaction_producer b{*second_link, {.group = "shop", .topics = {}}, second};
  eventually([&] { return pending() == 0; });
  std::size_t committed = 0;
  for (const auto& id : ids)
    committed += state_of(id) == transaction_state::committed ? 1 : 0;
  EXPECT_EQ(first->checks + second->checks, ids.size());
  EXPECT_EQ(committed, first->checks);
  EXPECT_THAT(bodies("orders"), SizeIs(committed));
}

// F51: a server that accepts and says nothing costs one attempt, not the whole time.
TEST_F(FieldCases, ADeadServerInTheListCostsOneAttempt) {
  start();
  cut_wire dead{0};
  auto options = to(dead.address());
  options.servers.push_back(server());
  options.connect_timeout = 200ms;
  client::client link{options};
  transaction_producer owner{link, {.group = "shop", .topics = {}}};
  const auto opened = owner.begin({"orders", "paid"});
  ASSERT_TRUE(opened);
  EXPECT_GE(dead.accepted(), 1u);
  EXPECT_EQ(pending(), 1);
  EXPECT_TRUE(owner.commit(opened.value()));
}

// F69: all that is outstanding when the shard is rebuilt is answered, and the answers are true.
TEST_F(FieldCases, EveryRequestIsAnsweredWhenTheShardIsRebuilt) {
  start();
  auto options = to(server());
  options.attempt_timeout = 60s; // nothing is sent again because an answer is missing
  client::client link{options};
  transaction_producer owner{
      link, {.group = "shop", .topics = {}, .execute_threads = 16}, answering(local_state::commit)};
  std::vector<std::future<client::transaction_result>> under_way;
  for (std::size_t i = 0; i < 1'000; ++i) {
    under_way.push_back(owner.send_all_in_transaction_async({{"orders", std::to_string(i)}}));
    if (i % 125 != 124)
      continue;
    under_way[i - 62].wait();
    if (i % 250 == 124)
      kill(&shard_peers::commit_log);
    else
      kill(&shard_peers::half_store);
  }
  std::multiset<std::string> expected;
  for (std::size_t i = 0; i < under_way.size(); ++i) {
    const auto result = under_way[i].get();
    if (result.decided)
      expected.insert(std::to_string(i));
    else if (result.id() != transaction_id{} &&
             state_of(result.id()) == transaction_state::committed)
      expected.insert(std::to_string(i));
  }
  const auto found = bodies("orders");
  EXPECT_EQ((std::multiset<std::string>{found.begin(), found.end()}), expected);
  EXPECT_GT(expected.size(), 0u);
}

// F38: ordered stops under load lose nothing that was acknowledged.
TEST_F(FieldCases, StopsUnderLoadLoseNothing) {
  start();
  const auto link = connect();
  transaction_producer owner{
      *link, {.group = "shop", .topics = {}, .execute_threads = 8}, answering(local_state::commit)};
  std::atomic<bool> over{false};
  std::vector<std::future<std::vector<std::string>>> workers;
  for (int w = 0; w < 4; ++w)
    workers.push_back(std::async(std::launch::async, [&, w] {
      std::vector<std::string> acknowledged;
      for (int i = 0; !over; ++i) {
        auto body = std::to_string(w) + "/" + std::to_string(i);
        const auto result = owner.send_in_transaction({"orders", body});
        if (result.decided && result.decided->recorded == outcome::committed)
          acknowledged.push_back(std::move(body));
      }
      return acknowledged;
    }));
  for (int round = 0; round < 10; ++round) {
    const auto before = sample("rocketmq_commit_messages_total");
    eventually([&] { return sample("rocketmq_commit_messages_total") > before + 20; });
    const auto report = stop();
    EXPECT_EQ(report.failure.code, ec::ok);
    start();
    EXPECT_EQ(node().recovery().records, 0u) << "everything was in the last checkpoint";
  }
  over = true;
  std::multiset<std::string> expected;
  for (auto& worker : workers)
    for (auto& body : worker.get())
      expected.insert(body);
  const auto found = bodies("orders");
  const std::multiset<std::string> delivered{found.begin(), found.end()};
  for (const auto& body : expected)
    EXPECT_EQ(delivered.count(body), 1u) << body;
}

} // namespace
} // namespace handfast::test
