#include "tests/support/journal.hpp"

#include <gtest/gtest.h>

namespace handfast::proof {
namespace {

event full_event() {
  return {.kind = event_kind::delivered,
          .at_ms = 12,
          .who = "consumer 1",
          .key = "p1=7%",
          .tx = {position{0x0100000000000abcULL}, 77},
          .other = {position{8}, 9},
          .wanted = outcome::committed,
          .recorded = outcome::given_up,
          .code = ec::conflict_given_up,
          .group = "g",
          .topic = "orders",
          .queue = 3,
          .offset = 44,
          .body = 0xffffffffffffffffULL,
          .since = 5,
          .text = "two\nlines \xc3\xa4"};
}

TEST(Journal, EveryFieldSurvivesTheTextForm) {
  const auto read = event_of(line_of(full_event()));
  ASSERT_TRUE(read.has_value()) << read.error().detail;
  EXPECT_EQ(*read, full_event());
}

TEST(Journal, EveryKindSurvivesTheTextForm) {
  for (int kind = 0; kind <= static_cast<int>(event_kind::note); ++kind) {
    const event e{.kind = static_cast<event_kind>(kind)};
    const auto read = event_of(line_of(e));
    ASSERT_TRUE(read.has_value()) << name_of(e.kind);
    EXPECT_EQ(*read, e);
  }
}

TEST(Journal, AnUnfinishedLastLineIsDropped) {
  journal j;
  j.add(full_event());
  j.add({.kind = event_kind::calm});
  const auto whole = j.text();
  const auto read = journal::parse(whole.substr(0, whole.size() - 3));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->size(), 1U);
  EXPECT_EQ(journal::parse(whole)->hash(), j.hash());
}

TEST(Journal, ABadLineIsNamedByItsNumber) {
  for (const std::string bad :
       {"1 calm\nx calm\n", "1 calm\n2 sleep\n", "1 calm\n2 note color=red\n",
        "1 calm\n2 note text=%4\n", "1 calm\n2 note tx=12\n"}) {
    const auto read = journal::parse(bad);
    ASSERT_FALSE(read.has_value()) << bad;
    EXPECT_NE(read.error().detail.find("line 2"), std::string::npos) << read.error().detail;
  }
}

TEST(Journal, TheSinkHasAnEventBeforeAddReturns) {
  std::string seen;
  journal j{[&seen](const event& e) { seen += line_of(e); }};
  j.add({.kind = event_kind::calm});
  EXPECT_EQ(seen, "0 calm");
}

TEST(Journal, TheHashDependsOnContentAndOrder) {
  journal a;
  a.add({.kind = event_kind::calm});
  a.add({.kind = event_kind::trouble});
  journal b;
  b.add({.kind = event_kind::trouble});
  b.add({.kind = event_kind::calm});
  EXPECT_NE(a.hash(), b.hash());
}

} // namespace
} // namespace handfast::proof
