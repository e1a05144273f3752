#include "tests/support/fake_node.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include "cli_fixture.hpp"

namespace handfast::cli::test {
namespace {

using native::test::fake_node;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// 2023-11-14T22:13:20Z.
constexpr wall_ms present = 1'700'000'000'000;

class DelayCommands : public ::testing::Test {
protected:
  ended run(std::vector<std::string> arguments) {
    return cli{}
        .environment("HANDFAST_SERVER", node.server())
        .wall(present)
        .run(std::move(arguments));
  }
  static std::string done(const ended& run) {
    EXPECT_EQ(run.code, exit_done);
    EXPECT_EQ(run.err, "");
    return run.out;
  }
  std::uint64_t sent_delay() { return node.sends.back().delay_ms; }

  fake_node node;
};

TEST_F(DelayCommands, ProduceTakesADurationALevelOrADate) {
  done(run({"produce", "orders", "x", "--delay", "2s"}));
  EXPECT_EQ(sent_delay(), 2'000u);
  done(run({"produce", "orders", "x", "--delay-level", "3"}));
  EXPECT_EQ(sent_delay(), 10'000u);
  done(run({"produce", "orders", "x", "--at", "2023-11-14T22:14:00Z"}));
  EXPECT_EQ(sent_delay(), 40'000u);
  done(run({"produce", "orders", "x", "--at", "2020-01-01T00:00:00Z"}));
  EXPECT_EQ(sent_delay(), 0u) << "a date in the past";
}

TEST_F(DelayCommands, ProduceSaysWhenTheMessageBecomesVisible) {
  auto out = done(run({"produce", "orders", "x", "--delay", "2s"}));
  EXPECT_THAT(out, StartsWith("stored for orders, queue 0; becomes visible at "));
  EXPECT_THAT(out, HasSubstr("; id " + std::to_string(node.delayed.at(0).at.value)));
  EXPECT_THAT(out, Not(HasSubstr("offset")));
  auto value = json::parse(done(run({"produce", "orders", "x", "--delay", "2s", "--json"})));
  EXPECT_EQ(value["due_ms"], node.delayed.at(1).due_ms);
  EXPECT_EQ(value["position"], node.delayed.at(1).at.value);
  EXPECT_FALSE(value.contains("offset"));
}

TEST_F(DelayCommands, ProduceRefusesWhatIsNoDelay) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--delay", "3"},
                                             {"--delay", "soon"},
                                             {"--delay-level", "19"},
                                             {"--delay-level", "2s"},
                                             {"--at", "tomorrow"},
                                             {"--at", "2023-13-01T00:00:00Z"},
                                             {"--delay", "2s", "--delay-level", "3"},
                                             {"--delay", "2s", "--at", "2031-05-01T08:30:00Z"}}) {
    std::vector<std::string> all{"produce", "orders", "x"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(run(all).code, exit_usage) << ::testing::PrintToString(arguments);
  }
  auto far = run({"produce", "orders", "x", "--at", "2031-05-01T08:30:00Z"});
  EXPECT_EQ(far.code, exit_refused);
  EXPECT_THAT(far.err, HasSubstr("three years"));
  EXPECT_TRUE(node.sends.empty());
}

TEST_F(DelayCommands, ATransactionsMessageWaitsFromItsCommitOnSoItTakesNoDate) {
  done(run({"tx", "send", "orders", "x", "--group", "shop", "--delay", "2s"}));
  EXPECT_EQ(node.halves.back().delay_ms, 2'000u);
  done(run({"tx", "send", "orders", "x", "--group", "shop", "--delay-level", "1"}));
  EXPECT_EQ(node.halves.back().delay_ms, 1'000u);
  EXPECT_EQ(
      run({"tx", "send", "orders", "x", "--group", "shop", "--at", "2024-01-01T00:00:00Z"}).code,
      exit_usage);
}

TEST_F(DelayCommands, ListShowsWhatWaits) {
  EXPECT_EQ(done(run({"delay", "list"})), "no message waits for its time\n");
  node.delayed = {
      {position{4'096}, {position{4'096}, 0xAB}, present + 65'000, 300, queue_no{2}, "orders"},
      {position{8'192}, {}, present - 10, 400, queue_no{0}, "stock"}};
  const auto out = done(run({"delay", "list"}));
  EXPECT_THAT(out, HasSubstr("4096"));
  EXPECT_THAT(out, HasSubstr("1 min 5 s"));
  EXPECT_THAT(out, HasSubstr("2023-11-14 22:14:25"));
  EXPECT_THAT(out, HasSubstr(to_string(transaction_id{position{4'096}, 0xAB})));
  EXPECT_THAT(out, HasSubstr("due"));
  const auto only = done(run({"delay", "list", "--topic", "stock"}));
  EXPECT_THAT(only, Not(HasSubstr("4096")));
  EXPECT_THAT(only, HasSubstr("8192"));
}

TEST_F(DelayCommands, ListGoesThroughAllPages) {
  for (std::uint64_t n = 1; n <= 2'500; ++n)
    node.delayed.push_back({position{n * 8}, {}, present + n, 100, queue_no{0}, "orders"});
  const auto all = json::parse(done(run({"delay", "list", "--json", "--max", "5000"})));
  ASSERT_EQ(all.size(), 2'500u);
  EXPECT_EQ(all[2'499]["id"], 20'000);
  EXPECT_EQ(all[0]["due_ms"], present + 1);
  const auto some = run({"delay", "list"});
  EXPECT_THAT(some.err, HasSubstr("ended after 100"));
}

TEST_F(DelayCommands, CancelEndsTheWaiting) {
  node.delayed = {{position{4'096}, {}, present + 1, 300, queue_no{2}, "orders"}};
  EXPECT_EQ(done(run({"delay", "cancel", "4096"})), "cancelled: it will not be delivered\n");
  EXPECT_TRUE(node.delayed.empty());
  const auto again = run({"delay", "cancel", "4096"});
  EXPECT_EQ(again.code, exit_refused);
  EXPECT_THAT(again.err, HasSubstr("delayed message 4096"));
  EXPECT_EQ(run({"delay", "cancel", "soon"}).code, exit_usage);
}

} // namespace
} // namespace handfast::cli::test
