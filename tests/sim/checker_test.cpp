#include "tests/support/checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace handfast::proof {
namespace {

using namespace std::chrono_literals;

/// Tells a story about clients, one call an event. Each event happens one millisecond after the one
/// before.
class story {
public:
  story& subscribed(std::string group = "g", std::string topic = "orders") {
    return put(
        {.kind = event_kind::subscribed, .group = std::move(group), .topic = std::move(topic)});
  }
  story& half(std::string key, transaction_id tx) {
    put({.kind = event_kind::half_sent, .key = key, .topic = "orders", .body = body_hash(key)});
    return put({.kind = event_kind::half_answered, .key = std::move(key), .tx = tx});
  }
  story& plain(std::string key, std::uint64_t offset) {
    put({.kind = event_kind::plain_sent, .key = key, .topic = "orders", .body = body_hash(key)});
    return put({.kind = event_kind::plain_answered,
                .key = std::move(key),
                .topic = "orders",
                .offset = offset});
  }
  story& asks(transaction_id tx, outcome wanted) {
    return put({.kind = event_kind::decision_sent, .tx = tx, .wanted = wanted});
  }
  story& told(transaction_id tx, outcome wanted, outcome recorded, ec code = ec::ok) {
    return put({.kind = event_kind::decision_answered,
                .tx = tx,
                .wanted = wanted,
                .recorded = recorded,
                .code = code});
  }
  story& commits(transaction_id tx) {
    return asks(tx, outcome::committed).told(tx, outcome::committed, outcome::committed);
  }
  story& rolls_back(transaction_id tx) {
    return asks(tx, outcome::rolled_back).told(tx, outcome::rolled_back, outcome::rolled_back);
  }
  story& checked(transaction_id tx) { return put({.kind = event_kind::check_asked, .tx = tx}); }
  story& answers_check(transaction_id tx, outcome wanted) {
    return put({.kind = event_kind::check_answered, .tx = tx, .wanted = wanted});
  }
  story& queried(transaction_id tx, outcome recorded, ec code = ec::ok,
                 transaction_id reopened_as = {}) {
    const auto asked = journal_.size();
    put({.kind = event_kind::query_sent, .tx = tx});
    return put({.kind = event_kind::query_answered,
                .tx = tx,
                .other = reopened_as,
                .recorded = recorded,
                .code = code,
                .since = asked});
  }
  story& reopened(transaction_id old_id, transaction_id new_id) {
    return put({.kind = event_kind::reopened, .tx = old_id, .other = new_id});
  }
  story& delivered(std::string key, std::uint64_t offset, transaction_id tx = {},
                   std::string group = "g") {
    return delivered_since(journal_.size(), std::move(key), offset, tx, std::move(group));
  }
  story& delivered_since(std::uint64_t since, std::string key, std::uint64_t offset,
                         transaction_id tx = {}, std::string group = "g") {
    return put({.kind = event_kind::delivered,
                .key = key,
                .tx = tx,
                .group = std::move(group),
                .topic = "orders",
                .offset = offset,
                .body = body_hash(key),
                .since = since});
  }
  story& acknowledged(std::uint64_t offset, ec code = ec::ok) {
    put({.kind = event_kind::ack_sent, .group = "g", .topic = "orders", .offset = offset});
    return put({.kind = event_kind::ack_answered,
                .code = code,
                .group = "g",
                .topic = "orders",
                .offset = offset});
  }
  story& listed(std::string key, std::uint64_t offset) {
    return put({.kind = event_kind::listed,
                .key = key,
                .topic = "orders",
                .offset = offset,
                .body = body_hash(key)});
  }
  story& progress(std::uint64_t done) {
    return put({.kind = event_kind::progress,
                .group = "g",
                .topic = "orders",
                .offset = done,
                .since = journal_.size()});
  }
  story& calm() { return put({.kind = event_kind::calm}); }
  story& trouble() { return put({.kind = event_kind::trouble}); }
  story& drained() { return put({.kind = event_kind::drained}); }
  story& passes(std::chrono::milliseconds time) {
    now_ += static_cast<std::uint64_t>(time.count());
    return *this;
  }
  story& put(event e) {
    e.at_ms = ++now_;
    journal_.add(std::move(e));
    return *this;
  }

  [[nodiscard]] const journal& told_journal() const { return journal_; }

private:
  journal journal_;
  std::uint64_t now_ = 0;
};

constexpr transaction_id t1{position{100}, 1};
constexpr transaction_id t2{position{200}, 2};

/// The invariants that the story breaks, each once, such as "I2 I4"; empty for a good one.
std::string broken_in(const story& s, const checker_options& options = {}) {
  std::string names;
  for (const auto& v : check(s.told_journal(), options))
    if (names.find(v.invariant) == std::string::npos)
      names += (names.empty() ? "" : " ") + v.invariant;
  return names;
}

story committed_and_delivered() {
  return story{}.subscribed().half("a", t1).commits(t1).delivered("a", 0, t1).acknowledged(0);
}

TEST(Checker, AcceptsACommittedMessageDeliveredOnce) {
  EXPECT_EQ(broken_in(committed_and_delivered().listed("a", 0).drained()), "");
}

TEST(Checker, AcceptsARolledBackMessageThatStaysInvisible) {
  EXPECT_EQ(broken_in(story{}.subscribed().half("a", t1).rolls_back(t1).drained()), "");
}

TEST(Checker, AcceptsAnythingForACommitWithAnUnknownOutcome) {
  const auto unknown = [] {
    return story{}
        .subscribed()
        .half("a", t1)
        .asks(t1, outcome::committed)
        .told(t1, outcome::committed, outcome::pending, ec::disconnected);
  };
  EXPECT_EQ(broken_in(unknown().drained()), "");
  EXPECT_EQ(broken_in(unknown().delivered("a", 0, t1).drained()), "");
}

TEST(CheckerI1, FindsACommittedMessageThatNeverReachedAGroup) {
  EXPECT_EQ(broken_in(story{}.subscribed().half("a", t1).commits(t1).drained()), "I1");
  EXPECT_EQ(broken_in(committed_and_delivered().subscribed("other").drained()), "I1");
}

TEST(CheckerI1, WaitsUntilEverythingHadTimeToCome) {
  EXPECT_EQ(broken_in(story{}.subscribed().half("a", t1).commits(t1)), "");
}

TEST(CheckerI1, FindsAPlainMessageThatWasLost) {
  EXPECT_EQ(broken_in(story{}.subscribed().plain("p", 0).delivered("p", 0).drained()), "");
  EXPECT_EQ(broken_in(story{}.subscribed().plain("p", 0).drained()), "I1");
}

TEST(CheckerI1, FindsAnAcknowledgedHalfThatNobodyKnowsAnyMore) {
  EXPECT_EQ(broken_in(story{}.half("a", t1).queried(t1, outcome::pending, ec::unknown_transaction)),
            "I1");
  EXPECT_EQ(broken_in(story{}.queried(t1, outcome::pending, ec::unknown_transaction)), "");
}

TEST(CheckerI2, FindsADeliveryThatNobodyAskedFor) {
  EXPECT_EQ(broken_in(story{}.half("a", t1).delivered("a", 0, t1)), "I2");
}

TEST(CheckerI2, FindsADeliveryOfWhatWasRolledBack) {
  EXPECT_EQ(
      broken_in(story{}
                    .half("a", t1)
                    .asks(t1, outcome::committed)
                    .told(t1, outcome::committed, outcome::rolled_back, ec::conflict_rolled_back)
                    .delivered("a", 0, t1)),
      "I2");
}

TEST(CheckerI2, AcceptsADeliveryByTheReopenedTransaction) {
  EXPECT_EQ(broken_in(story{}
                          .half("a", t1)
                          .queried(t1, outcome::given_up)
                          .reopened(t1, t2)
                          .commits(t2)
                          .delivered("a", 0, t2)),
            "");
}

TEST(CheckerI2, AcceptsACommitByThePolicyOnlyIfThatIsThePolicy) {
  const auto by_policy = story{}.half("a", t1).delivered("a", 0, t1);
  EXPECT_EQ(broken_in(by_policy, {.policy_commits = true}), "");
  EXPECT_EQ(broken_in(by_policy), "I2");
}

TEST(CheckerI3, FindsAChangedBody) {
  auto s = story{}.half("a", t1).commits(t1);
  EXPECT_EQ(broken_in(s.put({.kind = event_kind::delivered,
                             .key = "a",
                             .tx = t1,
                             .group = "g",
                             .topic = "orders",
                             .body = body_hash("b")})),
            "I3");
}

TEST(CheckerI3, FindsAMessageThatNobodySent) {
  EXPECT_NE(broken_in(story{}.delivered("ghost", 0)).find("I3"), std::string::npos);
}

TEST(CheckerI4, FindsOnePlaceWithTwoMessages) {
  EXPECT_EQ(broken_in(story{}.plain("p", 0).plain("q", 0)), "I4");
}

TEST(CheckerI4, FindsOneMessageAtTwoPlaces) {
  EXPECT_EQ(broken_in(committed_and_delivered().delivered("a", 1, t1)), "I4");
}

TEST(CheckerI4, FindsGapsAndLostEntriesInTheIndex) {
  EXPECT_EQ(broken_in(story{}.plain("p", 0).plain("q", 1).listed("p", 0).listed("q", 1).drained()),
            "");
  EXPECT_EQ(broken_in(story{}.plain("p", 0).plain("q", 2).listed("p", 0).listed("q", 2).drained()),
            "I4");
  EXPECT_EQ(broken_in(story{}.plain("p", 0).plain("q", 1).listed("p", 0).drained()), "I4");
}

TEST(CheckerI5, FindsTwoOutcomesOfOneTransaction) {
  EXPECT_EQ(broken_in(story{}.half("a", t1).commits(t1).rolls_back(t1)), "I5");
  EXPECT_EQ(broken_in(story{}.half("a", t1).rolls_back(t1).queried(t1, outcome::committed)), "I5");
}

TEST(CheckerI5, AcceptsAConflictThatNamesTheRecordedOutcome) {
  EXPECT_EQ(
      broken_in(story{}
                    .half("a", t1)
                    .commits(t1)
                    .asks(t1, outcome::rolled_back)
                    .told(t1, outcome::rolled_back, outcome::committed, ec::conflict_committed)),
      "");
}

TEST(CheckerI5, TakesGivingUpForRollingBack) {
  EXPECT_EQ(broken_in(story{}
                          .half("a", t1)
                          .asks(t1, outcome::rolled_back)
                          .told(t1, outcome::rolled_back, outcome::given_up)),
            "");
  EXPECT_EQ(broken_in(story{}
                          .half("a", t1)
                          .asks(t1, outcome::committed)
                          .told(t1, outcome::committed, outcome::given_up)),
            "I5");
}

TEST(CheckerI5, FindsADoneThatWasNotDone) {
  EXPECT_EQ(broken_in(story{}
                          .half("a", t1)
                          .asks(t1, outcome::rolled_back)
                          .told(t1, outcome::rolled_back, outcome::committed)),
            "I5");
}

TEST(CheckerI5, FindsAReopeningThatWasForgottenOrRepeated) {
  const auto begin = [] {
    return story{}.half("a", t1).queried(t1, outcome::given_up).reopened(t1, t2);
  };
  EXPECT_EQ(broken_in(begin().queried(t1, outcome::given_up, ec::ok, t2)), "");
  EXPECT_EQ(broken_in(begin().queried(t1, outcome::given_up)), "I5");
  EXPECT_EQ(broken_in(begin().reopened(t1, {position{300}, 3})), "I5");
}

TEST(CheckerI5, FindsAnOutcomeThatWasForgotten) {
  EXPECT_EQ(broken_in(story{}.half("a", t1).rolls_back(t1).queried(t1, outcome::pending)), "I5");
  EXPECT_EQ(broken_in(story{}.half("a", t1).queried(t1, outcome::pending).rolls_back(t1)), "");
}

TEST(CheckerI6, FindsADeliveryBeforeTheCommitWasAskedFor) {
  EXPECT_EQ(broken_in(story{}.half("a", t1).delivered("a", 0, t1).commits(t1)), "I6");
}

TEST(CheckerI6, TakesTheAnswerToACheckForARequest) {
  EXPECT_EQ(broken_in(story{}
                          .half("a", t1)
                          .checked(t1)
                          .answers_check(t1, outcome::committed)
                          .delivered("a", 0, t1)),
            "");
}

TEST(CheckerI7, FindsADeliveryAfterItsAcknowledgementWasAnswered) {
  EXPECT_EQ(
      broken_in(
          story{}.plain("o", 0).plain("p", 1).delivered("p", 1).acknowledged(1).delivered("p", 1)),
      "I7");
}

TEST(CheckerI7, AcceptsRepetitionsOfWhatWasNotAcknowledged) {
  EXPECT_EQ(broken_in(story{}
                          .plain("p", 0)
                          .delivered("p", 0)
                          .acknowledged(0, ec::disconnected)
                          .delivered("p", 0)),
            "");
}

TEST(CheckerI7, AcceptsADeliveryThatLeftBeforeTheAnswer) {
  auto s = story{}.plain("p", 0).delivered("p", 0);
  const auto left = s.told_journal().size();
  EXPECT_EQ(broken_in(s.acknowledged(0).delivered_since(left, "p", 0)), "");
}

TEST(CheckerI8, FindsAnUndecidedTransactionThatNobodyIsAskedAbout) {
  EXPECT_EQ(broken_in(story{}.half("a", t1).calm().passes(60s).drained()), "I8");
  EXPECT_EQ(broken_in(story{}.half("a", t1).calm().passes(40s).checked(t1).passes(5s).drained()),
            "");
}

TEST(CheckerI8, CountsOnlyTimeWithoutFaults) {
  EXPECT_EQ(broken_in(story{}.half("a", t1).passes(60s).calm().passes(9s).trouble().passes(60s)),
            "");
}

TEST(CheckerI8, ExpectsNoCheckOfWhatIsDecided) {
  EXPECT_EQ(broken_in(story{}.half("a", t1).calm().rolls_back(t1).passes(100s).drained()), "");
}

TEST(CheckerI8, FindsATransactionGivenUpBeforeAllItsChecks) {
  EXPECT_EQ(
      broken_in(story{}.half("a", t1).checked(t1).queried(t1, outcome::given_up), {.check_max = 2}),
      "I8");
  EXPECT_EQ(broken_in(story{}.half("a", t1).checked(t1).checked(t1).queried(t1, outcome::given_up),
                      {.check_max = 2}),
            "");
}

TEST(CheckerI9, FindsAGroupThatFellBehindItsAcknowledgedOffset) {
  auto s = story{}.plain("p", 0).plain("q", 1).delivered("p", 0).delivered("q", 1);
  s.acknowledged(0).acknowledged(1);
  EXPECT_EQ(broken_in(story{s}.delivered("p", 0)), "I9");
  EXPECT_EQ(broken_in(story{s}.progress(1)), "I9");
  EXPECT_EQ(broken_in(story{s}.progress(2)), "");
}

TEST(CheckerI9, LetsAnUnacknowledgedTailComeAgain) {
  EXPECT_EQ(broken_in(story{}
                          .plain("p", 0)
                          .plain("q", 1)
                          .delivered("p", 0)
                          .delivered("q", 1)
                          .acknowledged(0)
                          .progress(1)
                          .delivered("q", 1)),
            "");
}

/// A plain message stored at 2 ms that becomes visible at `due`.
story a_delayed(std::string key, std::uint64_t due) {
  return story{}
      .put({.kind = event_kind::plain_sent,
            .key = key,
            .topic = "orders",
            .body = body_hash(key),
            .when = due - 2})
      .put({.kind = event_kind::plain_answered, .key = key, .topic = "orders", .when = due});
}

event arrives(std::string key, std::uint64_t became_visible) {
  return {.kind = event_kind::delivered,
          .key = key,
          .group = "g",
          .topic = "orders",
          .body = body_hash(key),
          .when = became_visible};
}

TEST(CheckerI11, FindsAMessageThatCameBeforeItsTime) {
  EXPECT_EQ(broken_in(a_delayed("p", 1'000).passes(1s).put(arrives("p", 1'000))), "");
  EXPECT_EQ(broken_in(a_delayed("p", 1'000).passes(100ms).put(arrives("p", 1'000))), "I11");
  EXPECT_EQ(broken_in(a_delayed("p", 1'000).passes(1s).put(arrives("p", 999))), "I11");
}

TEST(CheckerI11, CountsTheDelayOfAHalfFromTheFirstWishToCommit) {
  const auto half = story{}
                        .put({.kind = event_kind::half_sent,
                              .key = "a",
                              .topic = "orders",
                              .body = body_hash("a"),
                              .when = 500})
                        .put({.kind = event_kind::half_answered, .key = "a", .tx = t1})
                        .passes(2s)
                        .commits(t1);
  EXPECT_EQ(broken_in(story{half}.passes(100ms).delivered("a", 0, t1)), "I11");
  EXPECT_EQ(broken_in(story{half}.passes(500ms).delivered("a", 0, t1)), "");
}

TEST(CheckerI11, FindsAMessageThatCameLateWithoutFaults) {
  const auto calm = a_delayed("p", 1'000).calm().passes(60s);
  EXPECT_EQ(broken_in(story{calm}.put(arrives("p", 50'000))), "I11");
  EXPECT_EQ(broken_in(story{calm}.put(arrives("p", 1'500))), "");
  EXPECT_EQ(broken_in(a_delayed("p", 1'000).passes(60s).put(arrives("p", 50'000))), "")
      << "nobody knows what went wrong meanwhile";
}

TEST(CheckerI11, FindsACancelledMessageThatCameAllTheSame) {
  const auto cancelled = [](ec code) {
    return a_delayed("p", 1'000)
        .subscribed()
        .put({.kind = event_kind::cancel_sent, .key = "p"})
        .put({.kind = event_kind::cancel_answered, .key = "p", .code = code})
        .passes(2s);
  };
  EXPECT_EQ(broken_in(cancelled(ec::ok).drained()), "");
  EXPECT_EQ(broken_in(cancelled(ec::ok).put(arrives("p", 1'000))), "I11");
  EXPECT_EQ(broken_in(cancelled(ec::unknown_message).put(arrives("p", 1'000)).drained()), "");
  EXPECT_EQ(broken_in(cancelled(ec::unknown_message).drained()), "I1") << "so it was to arrive";
  EXPECT_EQ(broken_in(cancelled(ec::outcome_unknown).drained()), "") << "nobody knows";
}

TEST(Checker, NamesTheTransactionAndShowsItsEvents) {
  const auto found = check(story{}.half("a", t1).commits(t1).rolls_back(t1).told_journal());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found.front().text.find(to_string(t1)), std::string::npos);
  EXPECT_NE(found.front().text.find("decision_answered"), std::string::npos);
}

/// A group that fails on the message at offset 0, and what stands among its dead letters.
journal failing(std::initializer_list<const char*> letters, const std::string& body = "a") {
  journal j;
  j.add({.kind = event_kind::plain_sent, .key = "a", .topic = "orders", .body = body_hash("a")});
  j.add({.kind = event_kind::plain_answered, .key = "a", .topic = "orders"});
  j.add({.kind = event_kind::delivered,
         .key = "a",
         .group = "g",
         .topic = "orders",
         .body = body_hash("a"),
         .since = j.size()});
  j.add({.kind = event_kind::rejected, .group = "g", .topic = "orders"});
  for (const auto* at : letters)
    j.add({.kind = event_kind::dead_letter,
           .key = "a",
           .group = "g",
           .topic = "orders",
           .body = body_hash(body),
           .attempts = 2,
           .text = at});
  j.add({.kind = event_kind::listed, .key = "a", .topic = "orders", .body = body_hash("a")});
  j.add({.kind = event_kind::drained});
  return j;
}

bool breaks_i10(const journal& j, const checker_options& options = {}) {
  const auto found = check(j, options);
  return std::any_of(found.begin(), found.end(),
                     [](const violation& v) { return v.invariant == "I10"; });
}

TEST(Checker, I10WantsADeadLetterOfWhatAlwaysFailed) {
  EXPECT_TRUE(breaks_i10(failing({})));
  EXPECT_FALSE(breaks_i10(failing({"0"})));
}

TEST(Checker, I10AllowsOneDeadLetterHoweverOftenItIsRead) {
  EXPECT_FALSE(breaks_i10(failing({"3", "3"})));
  EXPECT_TRUE(breaks_i10(failing({"3", "4"})));
}

TEST(Checker, I1AcceptsADeadLetterWhoseDeliveriesWereAllLost) {
  const auto stored = [] {
    journal j;
    j.add({.kind = event_kind::subscribed, .group = "g", .topic = "orders"});
    j.add({.kind = event_kind::plain_sent, .key = "a", .topic = "orders", .body = body_hash("a")});
    j.add({.kind = event_kind::plain_answered, .key = "a", .topic = "orders"});
    return j;
  };
  auto lost = stored();
  lost.add({.kind = event_kind::drained});
  ASSERT_FALSE(check(lost).empty());
  auto buried = stored();
  buried.add({.kind = event_kind::dead_letter,
              .key = "a",
              .group = "g",
              .topic = "orders",
              .body = body_hash("a"),
              .text = "0"});
  buried.add({.kind = event_kind::drained});
  EXPECT_TRUE(check(buried).empty());
}

TEST(Checker, I10FindsADeadLetterBeforeAllDeliveriesFailed) {
  EXPECT_FALSE(breaks_i10(failing({"0"}), {.delivery_max = 2}));
  EXPECT_TRUE(breaks_i10(failing({"0"}), {.delivery_max = 3}));
}

TEST(Checker, I10WantsTheMessagesOwnBody) {
  EXPECT_TRUE(breaks_i10(failing({"0"}, "another")));
}

} // namespace
} // namespace handfast::proof
