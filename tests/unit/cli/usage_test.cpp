#include <gtest/gtest.h>

#include <gmock/gmock.h>

#include "cli_fixture.hpp"

namespace handfast::cli::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Wrong usage: code 2, nothing on standard output, one message of the usual form.
void expect_usage(const ended& run, const std::string& what) {
  EXPECT_EQ(run.code, exit_usage);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("handfast: "));
  EXPECT_THAT(run.err, HasSubstr(what));
}

TEST(Usage, SuggestsTheNearestCommand) {
  expect_usage(run_cli({"topc", "list"}), "Did you mean `handfast topic`?");
  expect_usage(run_cli({"tx", "comit", "x"}), "Did you mean `handfast tx commit`?");
}

TEST(Usage, ListsTheCommandsWhenNoneIsNear) {
  expect_usage(run_cli({"tx", "frobnicate"}), "Its commands are send, listen, list, show");
}

TEST(Usage, SuggestsTheNearestOption) {
  expect_usage(run_cli({"tx", "send", "orders", "b", "--gruop", "shop"}),
               "has no option '--gruop'. Did you mean `--group`?");
}

TEST(Usage, SaysHowToPassATextWithADash) {
  expect_usage(run_cli({"produce", "orders", "--xyzzyx"}), "Put `--` before a text");
}

TEST(Usage, NamesTheWordThatIsTooMuch) {
  expect_usage(run_cli({"topic", "show", "orders", "of", "today"}),
               "takes no further argument 'of'");
}

TEST(Usage, NamesTheOptionThatIsMissing) {
  expect_usage(run_cli({"tx", "send", "orders", "body"}), "--group is required");
  expect_usage(run_cli({"topic", "show"}), "NAME is required");
}

TEST(Usage, FitsTheHelpToTheTerminal) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--help"}, {"topic", "create", "--help"}}) {
    auto narrow = cli{}.width(80).run(words);
    std::istringstream lines{narrow.out};
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 80u) << line;
    EXPECT_THAT(narrow.out, HasSubstr("HANDFAST_SERVER, else\n" + std::string(30, ' ')));
  }
}

TEST(Usage, WantsACommand) {
  expect_usage(run_cli({}), "wants a command: topic, produce, consume");
  expect_usage(run_cli({"tx"}), "`handfast tx` wants a command: send, listen");
}

TEST(Usage, DoesNotShowHiddenCommands) {
  EXPECT_THAT(run_cli({}).err, Not(HasSubstr("docs")));
}

TEST(Usage, RefusesGarbageForNumbers) {
  for (const std::string text : {"abc", "0", "1025", "-1", "1.5", "99999999999999999999", "3x"})
    expect_usage(run_cli({"topic", "create", "orders", "--queues=" + text}),
                 "takes a whole number from 1 to 1024, not '" + text + "'");
}

TEST(Usage, RefusesEmptyValues) {
  expect_usage(run_cli({"topic", "create", "orders", "--queues="}), "--queues wants a value: N");
  expect_usage(run_cli({"status", "--server="}), "--server wants a value: HOST:PORT");
}

TEST(Usage, RefusesGarbageForSeconds) {
  for (const std::string text : {"soon", "-1", "nan", "inf", "1e300", "5x"})
    expect_usage(run_cli({"consume", "orders", "--group", "g", "--wait=" + text}),
                 "takes seconds such as 5 or 0.5");
}

TEST(Usage, RefusesGarbageForChoices) {
  expect_usage(run_cli({"tx", "listen", "--group", "g", "--answer", "comit"}),
               "takes commit, rollback or unknown, not 'comit'; did you mean 'commit'?");
  expect_usage(run_cli({"consume", "orders", "--group", "g", "--from", "middle"}),
               "takes earliest, latest, offset:N");
  expect_usage(run_cli({"tx", "list", "--state", "undecided"}), "takes pending, deciding");
}

TEST(Usage, RefusesGarbageForSizes) {
  for (const std::string text : {"0", "5MiB", "big", "-1"})
    expect_usage(run_cli({"bench", "--body=" + text}), "takes a size from 1B to 4MiB");
}

TEST(Usage, RefusesWhatIsNoTransactionId) {
  for (const auto* command : {"show", "commit", "rollback", "reopen"})
    expect_usage(run_cli({"tx", command, "12345"}), "24 hex digits");
  expect_usage(run_cli({"tx", "send", "orders", "b", "--group", "g", "--join", "no\x1b[31m"}),
               "'no\\x1b[31m'");
  expect_usage(
      run_cli({"tx", "send", "orders", "b", "--group", "g", "--join", "000000000000000000000000"}),
      "all zeros stand for none");
}

TEST(Usage, RefusesWhatIsNoAddress) {
  for (const std::string text : {"7310", "host", "host:", "host:port", "host:0", "host:99999"})
    expect_usage(run_cli({"status", "--server=" + text}), "takes HOST:PORT such as 127.0.0.1:7310");
}

TEST(Usage, RefusesAServerForCommandsWithoutOne) {
  expect_usage(run_cli({"--server", nobody, "config", "show"}), "talks to no node");
}

TEST(Usage, ShowsAnExampleInTheHelpOfEachCommand) {
  const std::vector<std::vector<std::string>> all{
      {"topic", "create"}, {"topic", "list"},   {"topic", "show"},
      {"topic", "delete"}, {"produce"},         {"consume"},
      {"browse"},          {"tx", "send"},      {"tx", "listen"},
      {"tx", "list"},      {"tx", "show"},      {"tx", "commit"},
      {"tx", "rollback"},  {"tx", "reopen"},    {"group", "list"},
      {"status"},          {"bench"},           {"quarantine", "list"},
      {"config", "show"},  {"config", "check"}, {"config", "docs"},
      {"log", "verify"},   {"log", "dump"}};
  for (auto words : all) {
    words.emplace_back("--help");
    auto run = run_cli(words);
    EXPECT_EQ(run.code, exit_done);
    EXPECT_THAT(run.out, HasSubstr("Example:\n  "));
    EXPECT_THAT(run.out, HasSubstr("handfast " + words[0]));
    EXPECT_EQ(run.err, "");
  }
}

TEST(Usage, UnderstandsHelpAsAWord) {
  EXPECT_EQ(run_cli({"help", "tx", "send"}).out, run_cli({"tx", "send", "--help"}).out);
  EXPECT_EQ(run_cli({"help"}).out, run_cli({"--help"}).out);
}

TEST(Usage, ShowsVersionAndCommit) {
  auto run = run_cli({"--version"});
  EXPECT_EQ(run.code, exit_done);
  EXPECT_THAT(run.out, ::testing::MatchesRegex("handfast [0-9.]+ \\(.+\\)\n"));
}

} // namespace
} // namespace handfast::cli::test
