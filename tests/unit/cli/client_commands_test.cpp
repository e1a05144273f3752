#include "messages/order_key.hpp"
#include "runtime/cli/progress.hpp"
#include "runtime/cli/values.hpp"
#include "tests/support/fake_node.hpp"
#include "tests/support/own_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>
#include <thread>

#include "cli_fixture.hpp"

namespace handfast::cli::test {
namespace {

using native::frame_kind;
using native::test::fake_node;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Command lines against a node in this process.
class ClientCommands : public ::testing::Test {
protected:
  ended run(std::vector<std::string> arguments, std::string input = {}) {
    return cli{}
        .environment("HANDFAST_SERVER", node.server())
        .input(std::move(input))
        .run(std::move(arguments));
  }
  /// The id of a new pending transaction.
  std::string opened() {
    auto sent = run({"tx", "send", "orders", "paid", "--group", "shop"});
    EXPECT_EQ(sent.code, exit_done) << sent.err;
    return sent.out.substr(0, sent.out.find('\n'));
  }
  /// Done, with nothing to complain about.
  static std::string done(const ended& run) {
    EXPECT_EQ(run.code, exit_done);
    EXPECT_EQ(run.err, "");
    return run.out;
  }

  fake_node node;
};

// -- where the node is -------------------------------------------------------

TEST_F(ClientCommands, TakeTheServerBeforeOrAfterTheCommand) {
  auto elsewhere = cli{}.environment("HANDFAST_SERVER", nobody);
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--server", node.server(), "topic", "list"},
                                             {"topic", "--server", node.server(), "list"},
                                             {"topic", "list", "--server", node.server()},
                                             {"topic", "list", "--server=" + node.server()}})
    EXPECT_EQ(elsewhere.run(arguments).code, exit_done);
}

TEST_F(ClientCommands, SayWhatIsWrongWithTheVariable) {
  auto wrong = cli{}.environment("HANDFAST_SERVER", "over there").run({"status"});
  EXPECT_EQ(wrong.code, exit_usage);
  EXPECT_THAT(wrong.err, StartsWith("handfast: $HANDFAST_SERVER takes HOST:PORT"));
}

TEST(Unreachable, IsSaidAtOnceByEveryClientCommand) {
  const std::string id(24, '1');
  for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
           {"status"},
           {"topic", "create", "orders"},
           {"topic", "list"},
           {"topic", "show", "orders"},
           {"topic", "delete", "orders"},
           {"produce", "orders", "x"},
           {"consume", "orders", "--group", "g"},
           {"browse", "orders"},
           {"tx", "send", "orders", "x", "--group", "g"},
           {"tx", "send", "orders", "x", "--group", "g", "--join", id},
           {"tx", "listen", "--group", "g", "--answer", "commit"},
           {"tx", "list"},
           {"tx", "show", id},
           {"tx", "commit", id},
           {"tx", "rollback", id},
           {"tx", "reopen", id},
           {"delay", "list"},
           {"delay", "cancel", "4096"},
           {"group", "list"},
           {"group", "show", "g"},
           {"group", "set", "g", "--delivery-max", "5"},
           {"group", "reset", "g", "orders", "--to", "latest"},
           {"group", "delete", "g"},
           {"dlq", "list"},
           {"dlq", "list", "g"},
           {"dlq", "resend", "g"},
           {"consume", "orders", "--broadcast"},
           {"quarantine", "list"}}) {
    auto name = ::testing::PrintToString(arguments);
    arguments.insert(arguments.end(), {"--server", nobody});
    auto run = run_cli(arguments);
    EXPECT_EQ(run.code, exit_unknown) << name;
    EXPECT_EQ(run.out, "") << name;
    EXPECT_THAT(run.err, HasSubstr("no node can be reached at 127.0.0.1:1")) << name;
    EXPECT_THAT(run.err, HasSubstr("Start one with `handfast node`")) << name;
  }
}

// -- produce -----------------------------------------------------------------

TEST_F(ClientCommands, ProduceSaysWhereTheMessageIs) {
  EXPECT_EQ(done(run({"produce", "orders", "hello"})), "stored in orders, queue 0, offset 0\n");
  auto value = json::parse(done(run({"produce", "orders", "again", "--json"})));
  EXPECT_EQ(value["topic"], "orders");
  EXPECT_EQ(value["offset"], 1);
}

TEST_F(ClientCommands, ProduceReadsAllOfStandardInputAsOneBody) {
  const std::string body{"two\nlines\n\0and a zero", 22};
  done(run({"produce", "orders", "-"}, body));
  done(run({"produce", "orders"}, body));
  ASSERT_EQ(node.visible.size(), 2u);
  for (const auto& item : node.visible)
    EXPECT_EQ(item.payload.text().substr(item.properties_size), body);
}

TEST_F(ClientCommands, ProduceTakesABodyThatBeginsWithADash) {
  done(run({"produce", "orders", "--", "-5"}));
  EXPECT_EQ(node.visible.at(0).payload.text(), "-5");
}

TEST_F(ClientCommands, ProduceSendsTagAndKey) {
  done(run({"produce", "orders", "x", "--tag", "paid", "--key", "o1"}));
  const auto& item = node.visible.at(0);
  EXPECT_THAT(std::string{item.payload.text().substr(0, item.properties_size)},
              ::testing::AllOf(HasSubstr("TAGS\x01paid\x02"), HasSubstr("KEYS\x01o1\x02")));
}

TEST_F(ClientCommands, ProduceSendsProperties) {
  done(run({"produce", "orders", "--property", "amount=150", "--property", "note=a=b", "x"}));
  const auto& item = node.visible.at(0);
  EXPECT_THAT(std::string{item.payload.text().substr(0, item.properties_size)},
              ::testing::AllOf(HasSubstr("amount\x01"
                                         "150\x02"),
                               HasSubstr("note\x01"
                                         "a=b\x02")));
  EXPECT_EQ(item.payload.text().substr(item.properties_size), "x");
  auto wrong = run({"produce", "orders", "x", "--property", "amount"});
  EXPECT_EQ(wrong.code, exit_usage);
  EXPECT_THAT(wrong.err, HasSubstr("--property takes a name and a value such as amount=150"));
}

TEST_F(ClientCommands, ProduceNamesTopicAndRemedyWhenRefused) {
  node.refuse(frame_kind::resolve_topic, ec::unknown_topic, "");
  auto refused = run({"produce", "nowhere", "x"});
  EXPECT_EQ(refused.code, exit_refused);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err, "handfast: topic 'nowhere' does not exist. Create it with `handfast topic "
                         "create nowhere`, or set `topic.auto_create = true`.\n");
}

TEST_F(ClientCommands, ProduceRefusesABodyOverTheLimit) {
  auto refused = run({"produce", "orders", "-"}, std::string(1'000'001, 'x'));
  EXPECT_EQ(refused.code, exit_refused);
  EXPECT_THAT(refused.err, HasSubstr("1,000,001 bytes"));
  EXPECT_THAT(refused.err, HasSubstr("raise `limits.body`"));
}

TEST_F(ClientCommands, BadNamesAreRefusedWithTheGrammar) {
  for (const auto& name :
       std::vector<std::string>{"no/slash", "../up", "gr\xc3\xbc\xc3\x9f", std::string(128, 'x')}) {
    auto refused = run({"produce", name, "x"});
    EXPECT_EQ(refused.code, exit_refused) << name;
    EXPECT_THAT(refused.err, HasSubstr("1 to 127 characters")) << name;
  }
}

// -- transactions ------------------------------------------------------------

TEST_F(ClientCommands, SendPrintsNothingButTheId) {
  auto sent = done(run({"tx", "send", "orders", "paid", "--group", "shop"}));
  EXPECT_THAT(sent, ::testing::MatchesRegex("[0-9A-F]{24}\n"));
  auto value = json::parse(done(run({"tx", "send", "orders", "x", "--group", "shop", "--json"})));
  EXPECT_THAT(value["id"].get<std::string>(), ::testing::MatchesRegex("[0-9A-F]{24}"));
  EXPECT_TRUE(node.running.empty());
}

TEST_F(ClientCommands, SendJoinsATransaction) {
  auto id = opened();
  EXPECT_EQ(done(run({"tx", "send", "stock", "reserve 3", "--group", "shop", "--join", id})),
            id + "\n");
  EXPECT_EQ(node.transactions.at(*parse_transaction_id(id)).messages, 2);
}

TEST_F(ClientCommands, CommitDecidesAsOperator) {
  auto id = opened();
  EXPECT_THAT(done(run({"tx", "commit", id})), StartsWith("committed"));
  EXPECT_EQ(node.decides.at(0).by, origin::admin);
}

TEST_F(ClientCommands, RollbackTellsTheOutcomeAsJson) {
  auto id = opened();
  auto value = json::parse(done(run({"tx", "rollback", id, "--json"})));
  EXPECT_EQ(value["id"], id);
  EXPECT_EQ(value["outcome"], "rolled_back");
}

TEST_F(ClientCommands, AConflictNamesTheRecordedOutcome) {
  auto id = opened();
  done(run({"tx", "commit", id}));
  auto refused = run({"tx", "rollback", id});
  EXPECT_EQ(refused.code, exit_refused);
  EXPECT_THAT(refused.err, HasSubstr("transaction " + id));
  EXPECT_THAT(refused.err, HasSubstr("it was committed before; that outcome stands"));
}

TEST_F(ClientCommands, AnUnknownIdIsRefused) {
  for (const auto* command : {"show", "commit", "rollback"}) {
    auto refused = run({"tx", command, std::string(24, 'A')});
    EXPECT_EQ(refused.code, exit_refused);
    EXPECT_THAT(refused.err, HasSubstr("this store never opened that transaction"));
  }
}

TEST_F(ClientCommands, ReopenPrintsTheNewId) {
  auto old = opened();
  auto reopened = done(run({"tx", "reopen", old}));
  EXPECT_THAT(reopened, ::testing::MatchesRegex("[0-9A-F]{24}\n"));
  EXPECT_NE(reopened, old + "\n");
}

TEST_F(ClientCommands, ListenAnswersChecksAndEndsAfterMax) {
  auto id = opened();
  std::thread asker{[&] {
    EXPECT_TRUE(node.eventually([&] { return node.joins.size() == 2; }));
    node.push_check(*parse_transaction_id(id), 3, 15);
  }};
  auto heard =
      run({"tx", "listen", "--group", "shop", "--answer", "commit", "--max", "1", "--json"});
  asker.join();
  EXPECT_EQ(heard.code, exit_done);
  auto value = json::parse(heard.out);
  EXPECT_EQ(value["id"], id);
  EXPECT_EQ(value["attempt"], 3);
  EXPECT_EQ(value["attempts_left"], 12);
  EXPECT_EQ(value["body"], "paid");
  EXPECT_EQ(value["answered"], "commit");
  EXPECT_EQ(value["outcome"], "committed");
}

// -- consume -----------------------------------------------------------------

TEST_F(ClientCommands, ConsumePrintsBodiesOnlyAndAcknowledgesThem) {
  done(run({"produce", "orders", "one"}));
  done(run({"produce", "orders", "two"}));
  EXPECT_EQ(done(run({"consume", "orders", "--group", "mail", "--max", "2"})), "one\ntwo\n");
  ASSERT_EQ(node.acknowledged.size(), 1u);
  EXPECT_EQ(node.acknowledged.at(0).to, queue_offset{2});
}

TEST_F(ClientCommands, ConsumeRefusesATopicThatIsNotThereAndMakesNone) {
  done(run({"produce", "orders", "one"}));
  auto refused = run({"consume", "ordes", "--group", "mail", "--wait", "0"});
  EXPECT_EQ(refused.code, exit_refused);
  EXPECT_EQ(refused.err,
            "handfast: topic 'ordes' does not exist. Did you mean 'orders'? Else create "
            "it with `handfast topic create ordes`.\n");
  EXPECT_EQ(json::parse(done(run({"topic", "list", "--json"}))).size(), 1u);
}

TEST_F(ClientCommands, ConsumeEndsWhenNothingComes) {
  done(run({"produce", "orders", "one"}));
  node.visible.clear();
  auto none = run({"consume", "orders", "--group", "mail", "--wait", "0"});
  EXPECT_EQ(none.code, exit_done);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err, "no message came\n");
}

TEST_F(ClientCommands, ConsumeTakesNoMoreThanMax) {
  for (const auto* body : {"one", "two", "three"})
    done(run({"produce", "orders", body}));
  EXPECT_EQ(done(run({"consume", "orders", "--group", "mail", "--max", "1", "--wait", "0"})),
            "one\n");
  EXPECT_EQ(done(run({"consume", "orders", "--group", "mail", "--wait", "0"})), "two\nthree\n");
}

TEST_F(ClientCommands, ConsumePrintsOneObjectALine) {
  done(run({"produce", "orders", "two\nlines", "--tag", "t"}));
  auto value =
      json::parse(done(run({"consume", "orders", "--group", "mail", "--wait", "0", "--json"})));
  EXPECT_EQ(value["body"], "two\nlines");
  EXPECT_EQ(value["tag"], "t");
  EXPECT_EQ(value["topic"], "orders");
}

TEST_F(ClientCommands, ConsumeVerboselyTellsWhereAMessageStands) {
  done(run({"produce", "orders", "x", "--key", "k1"}));
  EXPECT_THAT(done(run({"consume", "orders", "--group", "mail", "--wait", "0", "--verbose"})),
              ::testing::AllOf(StartsWith("queue 0  offset 0  "), HasSubstr("key k1  | x\n")));
}

TEST_F(ClientCommands, ConsumeSendsReadersOfViewsToBrowse) {
  auto refused = run({"consume", std::string{half_view_topic_name}, "--group", "g"});
  EXPECT_EQ(refused.code, exit_refused);
  EXPECT_THAT(refused.err, HasSubstr("handfast browse RMQ_SYS_TRANS_HALF_TOPIC"));
}

TEST_F(ClientCommands, ConsumeTellsTheNodeWhatIsWanted) {
  done(run({"produce", "orders", "x"}));
  done(run({"consume", "orders", "--group", "mail", "--wait", "0", "--tag", "a || b", "--ordered",
            "--from", "offset:7"}));
  const auto& asked = node.fetches.at(0);
  EXPECT_EQ(asked.start, (start_point{start_from::offset, 7}));
  EXPECT_EQ(asked.terms, (subscription_terms{delivery_mode::ordered, filter_kind::tags, "a || b"}));
}

TEST_F(ClientCommands, ConsumeReportsTheFirstOnesAsFailed) {
  for (const auto* body : {"one", "two", "three"})
    done(run({"produce", "orders", body}));
  done(run({"consume", "orders", "--group", "mail", "--max", "3", "--fail", "2", "--retry-after",
            "0.5"}));
  ASSERT_EQ(node.acknowledged.size(), 3u);
  for (const auto& item : node.acknowledged) {
    const bool failed = item.offset < queue_offset{2};
    EXPECT_EQ(item.what, failed ? handling::failed : handling::done);
    EXPECT_EQ(item.retry_ms, failed ? 500u : 0u);
  }
}

TEST_F(ClientCommands, ConsumeBroadcastingKeepsItsPlaceInAFile) {
  const handfast::test::own_folder folder;
  const auto file = (folder.path() / "offsets").string();
  done(run({"produce", "orders", "one"}));
  const std::vector<std::string> listen{"consume", "orders", "--broadcast", "--from", "earliest",
                                        "--wait",  "0",      "--offsets",   file};
  EXPECT_EQ(done(run(listen)), "one\n");
  done(run({"produce", "orders", "two"}));
  EXPECT_EQ(done(run(listen)), "two\n");
  EXPECT_TRUE(node.acknowledged.empty());
}

TEST_F(ClientCommands, ConsumeWantsAGroupOrNone) {
  auto neither = run({"consume", "orders"});
  EXPECT_EQ(neither.code, exit_usage);
  EXPECT_THAT(neither.err, HasSubstr("--group GROUP, or --broadcast"));
  EXPECT_EQ(run({"consume", "orders", "--group", "g", "--broadcast"}).code, exit_usage);
}

TEST_F(ClientCommands, ConsumeSaysWhatIsWrongWithAFilter) {
  auto wrong = run({"consume", "orders", "--group", "g", "--filter", "a == 1"});
  EXPECT_EQ(wrong.code, exit_usage);
  EXPECT_THAT(wrong.err, HasSubstr("at character 4"));
  EXPECT_EQ(run({"consume", "orders", "--group", "g", "--tag", "a", "--filter", "a = 1"}).code,
            exit_usage);
}

TEST_F(ClientCommands, ProduceSendsTheOrderKey) {
  done(run({"produce", "orders", "x", "--order-key", "order 1"}));
  EXPECT_EQ(node.visible.at(0).order_hash, order_hash("order 1"));
}

// -- groups --------------------------------------------------------------------

TEST_F(ClientCommands, GroupShowTellsMembersTermsAndProgress) {
  const auto page = done(run({"group", "show", "readers"}));
  EXPECT_THAT(page, HasSubstr("reads orders   in any order, tags paid\n"));
  EXPECT_THAT(page, HasSubstr("3 since the node's start: `handfast dlq list readers`"));
  EXPECT_THAT(page, HasSubstr("alice"));
  auto value = json::parse(done(run({"group", "show", "readers", "--json"})));
  EXPECT_EQ(value["progress"][0]["done"], 5);
  EXPECT_EQ(value["terms"][0]["tags"], "paid");
  auto nobody_there = run({"group", "show", "nobody"});
  EXPECT_EQ(nobody_there.code, exit_refused);
  EXPECT_THAT(nobody_there.err, HasSubstr("group 'nobody'"));
}

TEST_F(ClientCommands, AGroupWithoutDeadLettersHasNone) {
  auto listed = run({"dlq", "list", "readers"});
  EXPECT_EQ(listed.code, exit_done);
  EXPECT_EQ(listed.err, "'readers' has no dead letters\n");
  EXPECT_EQ(done(run({"dlq", "list", "readers", "--json"})), "[]\n");
  EXPECT_EQ(done(run({"dlq", "resend", "readers"})), "resent 0 dead letters of readers\n");
  for (const auto* command : {"list", "resend"}) {
    auto nobody_there = run({"dlq", command, "nobody"});
    EXPECT_EQ(nobody_there.code, exit_refused);
    EXPECT_THAT(nobody_there.err, HasSubstr("no group 'nobody' is known"));
  }
}

TEST_F(ClientCommands, GroupResetTellsWhereTheGroupGoesOn) {
  done(run({"produce", "orders", "x"}));
  EXPECT_EQ(done(run({"group", "reset", "mail", "orders", "--to", "offset:5", "--queue", "0"})),
            "mail goes on in orders, queue 0, at offset 5\n");
  const auto& asked = node.resets.at(0);
  EXPECT_EQ(asked.point, (start_point{start_from::offset, 5}));
  EXPECT_TRUE(asked.one_queue);
  auto wrong = run({"group", "reset", "mail", "orders", "--to", "yesterday"});
  EXPECT_EQ(wrong.code, exit_usage);
  EXPECT_THAT(wrong.err, HasSubstr("how long ago such as 30m, not 'yesterday'"));
}

TEST(StartPoints, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(parse_start("earliest", 0), (start_point{start_from::earliest, 0}));
  EXPECT_EQ(parse_start("latest", 0), (start_point{start_from::latest, 0}));
  EXPECT_EQ(parse_start("offset:12", 0), (start_point{start_from::offset, 12}));
  EXPECT_EQ(parse_start("1970-01-01T00:00:05Z", 0), (start_point{start_from::time, 5'000}));
  EXPECT_EQ(parse_start("2s", 10'000), (start_point{start_from::time, 8'000}));
  EXPECT_EQ(parse_start("3h", 10'000), (start_point{start_from::time, 0}));
  for (const auto* wrong : {"", "offset:", "offset:-1", "offset:1x", "12", "1970-13-01T00:00Z"})
    EXPECT_FALSE(parse_start(wrong, 0)) << wrong;
}

TEST(Progress, ShowsABarIfTheEndIsKnown) {
  EXPECT_EQ(progress_line("resending", 1'000, 2'000),
            "resending  [##########..........]  50 %  1,000 of 2,000");
  EXPECT_EQ(progress_line("looking", 7, 0), "looking  7");
  EXPECT_EQ(progress_line("resending", 5, 4), "resending  [####################]  100 %  5 of 4");
}

// -- topics and status -------------------------------------------------------

TEST_F(ClientCommands, TopicsAreListedPageByPage) {
  for (const auto* topic : {"a", "b", "c"})
    done(run({"produce", topic, "x"}));
  EXPECT_EQ(json::parse(done(run({"topic", "list", "--json"}))).size(), 3u);
  EXPECT_THAT(done(run({"topic", "list"})), StartsWith("TOPIC  QUEUES  KIND\na "));
}

TEST_F(ClientCommands, DeletingAnUnknownTopicIsRefused) {
  auto refused = run({"topic", "delete", "nowhere"});
  EXPECT_EQ(refused.code, exit_refused);
  EXPECT_THAT(refused.err, HasSubstr("topic 'nowhere' does not exist"));
}

TEST_F(ClientCommands, DeletingATopicInUseNamesTheRemedies) {
  node.refuse(frame_kind::topic_delete, ec::topic_in_use,
              "'orders' has 1 message of pending transactions");
  auto refused = run({"topic", "delete", "orders"});
  EXPECT_EQ(refused.code, exit_refused);
  EXPECT_THAT(refused.err, HasSubstr("topic 'orders' has 1 message of pending transactions. "));
  EXPECT_THAT(refused.err, HasSubstr("`handfast tx list --state pending --topic orders`"));
  EXPECT_THAT(refused.err, HasSubstr("`handfast delay list --topic orders`"));
  EXPECT_THAT(refused.err, HasSubstr("`handfast topic delete orders --force`"));
}

TEST_F(ClientCommands, StatusPrintsWhatTheNodeSays) {
  EXPECT_EQ(done(run({"status"})), "restarts     none\nquarantine   empty\n");
  EXPECT_EQ(json::parse(done(run({"status", "--json"})))["state"], "serving");
}

} // namespace
} // namespace handfast::cli::test
