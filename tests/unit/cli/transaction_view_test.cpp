#include "runtime/cli/json.hpp"
#include "runtime/cli/transaction_view.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <sstream>

namespace handfast::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr wall_ms stored_at = 1'700'000'000'000;

/// A transaction of two messages that was stored and nothing more.
class a_life {
public:
  a_life() {
    info_.life.id = {position{4'160}, 0xABCDEF01};
    info_.life.stored_ms = stored_at;
    info_.life.timeout_ms = 6'000;
    info_.life.check_interval_ms = 30'000;
    info_.life.attempts_max = 15;
    info_.life.next_check_in_ms = 4'000;
    info_.life.age_ms = 2'000;
    info_.group = "shop";
    info_.topics = {"orders", "stock"};
    info_.life.messages.resize(2);
    info_.life.messages[0].queue = queue_no{3};
    info_.life.messages[0].offset = queue_offset{17};
  }
  a_life& asked(std::uint16_t attempt, wall_ms after, std::string member, std::string answer) {
    info_.life.asks.push_back(
        {stored_at + after, attempt, 0xBEEF, std::move(member), std::move(answer)});
    info_.life.attempts = attempt;
    return *this;
  }
  a_life& decided(transaction_state state, origin by, wall_ms after) {
    info_.life.state = state;
    info_.life.decided_by = by;
    info_.life.decided_ms = stored_at + after;
    return *this;
  }
  transaction_life& life() { return info_.life; }
  operator const native::transaction_info&() const { return info_; }

private:
  native::transaction_info info_;
};

std::vector<std::string> told(const native::transaction_info& transaction) {
  std::vector<std::string> lines;
  for (const auto& event : events_of(transaction))
    lines.push_back(event.what);
  return lines;
}

std::string shown(const native::transaction_info& transaction, bool colours = false) {
  std::ostringstream out;
  print_life(out, transaction, colours);
  return out.str();
}

TEST(LifeOfATransaction, TellsWhatComesNext) {
  EXPECT_THAT(told(a_life{}), ElementsAre("stored 2 messages", "is asked about in 4.0 s"));
}

TEST(LifeOfATransaction, TellsThatNobodyIsThereToAsk) {
  a_life waiting;
  waiting.life().waiting_for_producer = true;
  EXPECT_THAT(told(waiting).back(), HasSubstr("waits for a producer of group shop"));
}

TEST(LifeOfATransaction, TellsWhoWasAskedAndWhatTheySaid) {
  auto life = a_life{}
                  .asked(1, 6'000, "shop-1", "unknown")
                  .asked(2, 36'000, "", "")
                  .decided(transaction_state::rolled_back, origin::check, 36'100);
  EXPECT_THAT(told(life), ElementsAre("stored 2 messages", "asked shop-1 (1 of 15): unknown",
                                      "asked member 0000beef (2 of 15): no answer",
                                      "rolled back by an answer to a check"));
}

TEST(LifeOfATransaction, TellsWhereACommitPutTheMessages) {
  auto life = a_life{}.decided(transaction_state::committed, origin::producer, 12);
  EXPECT_THAT(told(life), ElementsAre("stored 2 messages", "committed by the producer",
                                      "visible in orders, queue 3, offset 17",
                                      "visible in stock, queue 0, offset 0"));
}

TEST(LifeOfATransaction, TellsOfAsksThatAreForgotten) {
  auto life = a_life{}.asked(12, 400'000, "m", "unknown");
  EXPECT_THAT(told(life)[1], HasSubstr("asked 11 times, of which no particulars"));
  a_life restarted;
  restarted.life().attempts = 1;
  EXPECT_THAT(told(restarted)[1], HasSubstr("asked 1 time, "));
}

TEST(LifeOfATransaction, TellsHowToReopenAGivenUpOne) {
  auto life = a_life{}.decided(transaction_state::given_up, origin::policy, 500'000);
  EXPECT_THAT(told(life).back(), HasSubstr("handfast tx reopen 0000000000001040ABCDEF01"));
  life.life().reopened_as = {position{9'000}, 1};
  EXPECT_THAT(told(life).back(), HasSubstr("opened again as 0000000000002328"));
}

TEST(LifeOfATransaction, IsATimelineFromWhenItWasStored) {
  auto page = shown(a_life{}
                        .asked(1, 6'000, "shop-1", "in_progress")
                        .decided(transaction_state::committed, origin::admin, 125'000));
  EXPECT_THAT(page, HasSubstr("state         committed\n"));
  EXPECT_THAT(
      page,
      HasSubstr("2023-11-14 22:13:26.000Z      +6.0 s  asked shop-1 (1 of 15): in progress\n"));
  EXPECT_THAT(page, HasSubstr("+2 min 5 s  committed by an operator\n"));
}

TEST(LifeOfATransaction, KeepsHostileNamesFromTheTerminal) {
  auto page = shown(a_life{}.asked(1, 6'000, "evil\x1b[2J", "unknown"));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(LifeOfATransaction, HasColoursOnATerminal) {
  EXPECT_THAT(shown(a_life{}, true), HasSubstr("\x1b[33mpending\x1b[0m"));
}

TEST(ListOfTransactions, HasARowForEach) {
  std::ostringstream out;
  auto committed = a_life{}.decided(transaction_state::committed, origin::producer, 12);
  print_lives(out, {a_life{}, committed}, false);
  EXPECT_THAT(out.str(), HasSubstr("0000000000001040ABCDEF01  pending    shop   orders +1"));
  EXPECT_THAT(out.str(), HasSubstr("asked in 4.0 s\n"));
  EXPECT_THAT(out.str(), HasSubstr("by producer\n"));
}

std::string row_of(const native::transaction_info& transaction, std::size_t width = 0) {
  std::ostringstream out;
  print_lives(out, {transaction}, false, width);
  auto page = out.str();
  return page.substr(page.find('\n') + 1);
}

TEST(ListOfTransactions, ShowsNoFalseNumbers) {
  auto life = a_life{}.decided(transaction_state::rolled_back, origin::admin, 13);
  life.life().messages.resize(1);
  life.life().messages_partial = true;
  life.life().attempts_unknown = true;
  EXPECT_THAT(row_of(life), HasSubstr("  1+  13 ms      -  by operator\n"));
  life.life().messages.clear();
  EXPECT_THAT(row_of(life), HasSubstr("   -  13 ms      -  by operator\n"));
  life.life().attempts_unknown = false;
  EXPECT_THAT(row_of(life), HasSubstr("   -  13 ms      0  by operator\n"));
  EXPECT_TRUE(json_of(life)["messages_partial"]);
}

TEST(ListOfTransactions, FitsA80ColumnTerminal) {
  native::transaction_info life =
      a_life{}.decided(transaction_state::rolled_back, origin::check, 1);
  life.topics = {std::string(40, 't')};
  life.group = std::string(127, 'g');
  std::istringstream lines{row_of(life, 80)};
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80u) << line;
}

TEST(LifeOfATransaction, FitsA80ColumnTerminalWithoutCuttingIds) {
  auto life = a_life{}.decided(transaction_state::given_up, origin::policy, 500'000);
  std::ostringstream out;
  print_life(out, life, false, 80);
  std::istringstream lines{out.str()};
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(out.str(), HasSubstr("0000000000001040ABCDEF01\n"));
}

TEST(LifeOfATransaction, SaysThatAsksAreNotKnownAnyMore) {
  auto life = a_life{}.decided(transaction_state::committed, origin::producer, 12);
  life.life().attempts_unknown = true;
  EXPECT_THAT(told(life)[1], HasSubstr("not known any more"));
  EXPECT_TRUE(json_of(life)["checks"]["asked"].is_null());
}

TEST(ListOfTransactions, SaysNothingOfATimeThatIsNotKnown) {
  std::ostringstream out;
  auto committed = a_life{}.decided(transaction_state::committed, origin::producer, 12);
  committed.life().stored_ms = 0;
  print_lives(out, {committed}, false);
  EXPECT_THAT(out.str(), Not(HasSubstr(" d ")));
  EXPECT_THAT(shown(committed), Not(HasSubstr(" d ")));
}

TEST(LifeOfATransaction, CountsNoMessagesOfARolledBackOne) {
  auto life = a_life{}.decided(transaction_state::rolled_back, origin::producer, 12);
  life.life().messages.clear();
  EXPECT_THAT(told(life), ElementsAre("stored", "rolled back by the producer"));
}

TEST(JsonOfATransaction, HasEverything) {
  auto value = json_of(a_life{}
                           .asked(1, 6'000, "shop-1", "")
                           .decided(transaction_state::committed, origin::admin, 7'000));
  EXPECT_EQ(value["id"], "0000000000001040ABCDEF01");
  EXPECT_EQ(value["state"], "committed");
  EXPECT_EQ(value["messages"][0]["topic"], "orders");
  EXPECT_EQ(value["messages"][0]["offset"], 17);
  EXPECT_EQ(value["checks"]["asked"], 1);
  EXPECT_TRUE(value["asks"][0]["answer"].is_null());
  EXPECT_EQ(value["decided"]["by"], "admin");
  EXPECT_EQ(value["decided"]["at_ms"], stored_at + 7'000);
}

TEST(JsonOfATransaction, HasNoOffsetsBeforeTheCommit) {
  auto value = json_of(a_life{});
  EXPECT_FALSE(value["messages"][0].contains("offset"));
  EXPECT_FALSE(value.contains("decided"));
}

TEST(JsonOfAMessage, CarriesBytesThatAreNoText) {
  client::received_message message;
  message.content = {"orders", "\xff\x01"};
  auto value = json_of(message);
  EXPECT_EQ(value["body_base64"], "/wE=");
  EXPECT_FALSE(value.contains("body"));
  message.content = {"orders", "text"};
  EXPECT_EQ(json_of(message)["body"], "text");
}

TEST(JsonOfAMessage, PrintsOneLineWhateverItHolds) {
  client::received_message message;
  message.content = {"orders", "two\nlines"};
  message.content.properties["k\xff"] = "v";
  EXPECT_EQ(line_of(json_of(message)).find('\n'), std::string::npos);
}

TEST(LifeOfATransaction, SaysWhenADelayedMessageBecomesVisible) {
  auto life = a_life{};
  life.life().messages[1].due_ms = 90'000;
  life.life().messages[1].at = position{8'192};
  std::ostringstream waiting;
  print_life(waiting, life, false);
  EXPECT_THAT(waiting.str(), HasSubstr("1 to stock 1 min 30 s after the commit"));
  EXPECT_THAT(json_of(life)["messages"][1].dump(), HasSubstr("\"delay_ms\":90000"));

  life.decided(transaction_state::committed, origin::producer, 1'000);
  life.life().messages[1].due_ms = stored_at + 91'000;
  EXPECT_THAT(told(life), ElementsAre("stored 2 messages", "committed by the producer",
                                      "visible in orders, queue 3, offset 17",
                                      "becomes visible in stock, queue 0, unless it is cancelled "
                                      "(id 8192)"));
  EXPECT_EQ(events_of(life).back().at, stored_at + 91'000);
  const auto message = json_of(life)["messages"][1];
  EXPECT_EQ(message["due_ms"], stored_at + 91'000);
  EXPECT_FALSE(message.contains("offset"));
}

} // namespace
} // namespace handfast::cli
