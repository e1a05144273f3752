#include "messages/place_or_due.hpp"
#include "storage/log_rules.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast::storage {
namespace {

using ::testing::HasSubstr;

/// Records one behind the other, each 200 bytes long.
class LogRules : public ::testing::Test {
protected:
  static constexpr std::uint32_t length = 200;
  log_rules rules{position{}};
  position next{64};
  std::uint64_t halves = 0;
  std::uint64_t decisions = 0;

  position add(log_record record, std::uint32_t lag = 8) {
    record.at = next;
    record.length = length;
    record.epoch = 1;
    record_header header;
    header.type = record.type;
    header.epoch = record.epoch;
    header.at = record.at;
    header.durable_lag = lag;
    rules.check(header, record);
    next = next + length;
    return record.at;
  }
  position half(position joined = {}) {
    auto record = a_half("x");
    auto& message = std::get<message_record>(record.content);
    message.offset = {halves++};
    message.transaction = joined;
    return add(record);
  }
  position message(std::uint64_t offset) {
    auto record = a_message("x");
    std::get<message_record>(record.content).offset = {offset};
    return add(record);
  }
  position delayed(wall_ms due = 77'000) {
    auto record = a_message("x");
    auto& m = std::get<message_record>(record.content);
    m.delay_ms = 1'000;
    m.offset = place_or_due({}, due);
    return add(record);
  }
  void release(position body, std::uint64_t offset) {
    add(record_of(record_type::release,
                  release_record{{{body, {17}, {2}, {offset}, length, 9}}, {}}));
  }
  void cancel(position body) { add(record_of(record_type::release, release_record{{}, {body}})); }
  position decide(position transaction, std::uint64_t offset, outcome result = outcome::committed) {
    auto record = a_decision(transaction);
    auto& d = std::get<decide_record>(record.content);
    d.op_offset = {decisions++};
    d.decisions[0].result = result;
    d.entries[0].offset = {offset};
    d.entries[0].length = length;
    return add(record);
  }
  std::string said() const {
    std::string all;
    for (const auto& one : rules.found())
      all += std::to_string(one.at.value) + ": " + one.what + "\n";
    return all;
  }
};

TEST_F(LogRules, HaveNothingAgainstAnOrdinaryLog) {
  add(record_of(record_type::epoch, epoch_record{1, "start"}));
  const auto one = half();
  const auto two = half();
  half(two);
  message(0);
  decide(one, 1);
  message(2);
  const auto again = decide(two, 3, outcome::given_up);
  reopen_record reopen;
  reopen.old_transaction = two;
  reopen.messages.push_back({two, {17}, {2}, {}, length, 0});
  const auto reopened = add(record_of(record_type::reopen, reopen));
  checked_record checked;
  checked.attempts.push_back({reopened, 1, 7});
  add(record_of(record_type::checked, checked));
  EXPECT_GT(again, two);
  EXPECT_EQ(said(), "");
}

TEST_F(LogRules, HaveNothingAgainstMessagesThatWait) {
  const auto first = delayed();
  const auto second = delayed();
  const auto opened = half();
  auto record = a_decision(opened);
  auto& d = std::get<decide_record>(record.content);
  d.op_offset = {decisions++};
  d.entries[0] = {opened, {17}, {2}, {}, length, 9, 77'000};
  add(record);
  message(0);
  release(second, 1);
  cancel(first);
  release(opened, 2);
  EXPECT_EQ(said(), "");
}

TEST_F(LogRules, NameADelayedMessageThatDoesNotSayWhen) {
  delayed(0);
  EXPECT_THAT(said(), HasSubstr("becomes visible later and does not say when"));
}

TEST_F(LogRules, NameAReleaseOfWhatDoesNotWait) {
  const auto at = delayed();
  release(at, 0);
  release(at, 1);
  EXPECT_THAT(said(), HasSubstr("the message at position " + std::to_string(at.value) +
                                ", which does not wait for its time"));
}

TEST_F(LogRules, NameACancellationOfWhatDoesNotWait) {
  cancel(message(0));
  EXPECT_EQ(rules.found().size(), 1u);
}

TEST_F(LogRules, NameAHoleInAQueue) {
  message(0);
  const auto at = message(2);
  ASSERT_EQ(rules.found().size(), 1u);
  EXPECT_EQ(rules.found()[0].at, at);
  EXPECT_EQ(rules.found()[0].what, "it gives offset 2 of queue 17/2, where 1 comes next");
}

TEST_F(LogRules, NameAnOffsetThatIsGivenTwice) {
  message(0);
  message(0);
  EXPECT_THAT(said(), HasSubstr("gives offset 0 of queue 17/2 again"));
}

TEST_F(LogRules, NameAHoleInTheHalfView) {
  half();
  ++halves;
  half();
  EXPECT_THAT(said(), HasSubstr("offset 2 of the half view"));
}

TEST_F(LogRules, NameADecisionOfWhatNoRecordOpens) {
  half();
  decide({72}, 0);
  EXPECT_THAT(said(),
              HasSubstr("it decides the transaction at position 72, which no record opens"));
}

TEST_F(LogRules, NameABodyThatIsNotThere) {
  const auto at = half();
  auto record = a_decision(at);
  auto& d = std::get<decide_record>(record.content);
  d.op_offset = {0};
  d.entries[0] = {at + 8, {17}, {2}, {0}, length, 9};
  add(record);
  EXPECT_THAT(said(), HasSubstr("position 72, where no message begins"));
}

TEST_F(LogRules, NameABodyOfAnotherLength) {
  const auto at = half();
  auto record = a_decision(at);
  auto& d = std::get<decide_record>(record.content);
  d.op_offset = {0};
  d.entries[0] = {at, {17}, {2}, {0}, length + 8, 9};
  add(record);
  EXPECT_THAT(said(), HasSubstr("where a record of 200 stands"));
}

TEST_F(LogRules, NameAHalfThatJoinsADecidedTransaction) {
  const auto one = half();
  decide(one, 0);
  half(one);
  EXPECT_THAT(said(), HasSubstr("which was decided before"));
}

TEST_F(LogRules, NameAReopeningOfWhatWasNotGivenUp) {
  const auto one = half();
  decide(one, 0);
  reopen_record reopen;
  reopen.old_transaction = one;
  reopen.messages.push_back({one, {17}, {2}, {}, length, 0});
  add(record_of(record_type::reopen, reopen));
  EXPECT_THAT(said(), HasSubstr("which was not given up"));
}

TEST_F(LogRules, NameAnAttemptForNoTransaction) {
  checked_record checked;
  checked.attempts.push_back({{4'096}, 1, 7});
  add(record_of(record_type::checked, checked));
  EXPECT_THAT(said(), HasSubstr("4096, which no record opens"));
}

TEST_F(LogRules, NameADurableMarkThatGoesBack) {
  add(a_mark(), 0);
  add(a_mark(), 200);
  EXPECT_EQ(said(), "");
  add(a_mark(), 408);
  EXPECT_THAT(said(), HasSubstr("was durable, but a record before it says"));
}

TEST_F(LogRules, NameProgressBeyondTheQueuesEnd) {
  message(0);
  progress_record progress;
  progress.groups.push_back({{7}, {17}, {2}, {5}, {{9, 9}}, {}});
  add(record_of(record_type::progress, progress));
  EXPECT_THAT(said(), HasSubstr("is at offset 5, but the queue has only 1"));
  EXPECT_THAT(said(), HasSubstr("a stretch from 9 to 9"));
}

TEST_F(LogRules, NameTopicsThatCannotBe) {
  const auto topic = [&](std::string name, std::uint32_t id, std::uint32_t queues) {
    meta_record meta;
    meta.id = id;
    meta.name = std::move(name);
    meta.queues = queues;
    add(record_of(record_type::meta, meta));
  };
  topic("orders", 16, 4);
  topic("orders", 16, 8);
  EXPECT_EQ(said(), "");
  topic("orders", 17, 4);
  topic("bills", 2, 4);
  topic("empty", 18, 0);
  EXPECT_THAT(said(), HasSubstr("gives the name of topic 16 to 17"));
  EXPECT_THAT(said(), HasSubstr("the id 2, which none can have"));
  EXPECT_THAT(said(), HasSubstr("without queues"));
}

TEST_F(LogRules, GiveWhatWasLostTheBenefitOfTheDoubt) {
  message(0);
  rules.pass_over(next, next + 400);
  const auto lost = next;
  next = next + 400;
  message(5);
  decide(lost + 200, 6);
  EXPECT_EQ(said(), "");
  message(9);
  EXPECT_THAT(said(), HasSubstr("offset 9")) << "only right behind the loss";
}

TEST_F(LogRules, AskNothingOfWhatWasRetired) {
  rules = log_rules{position{1 << 20}};
  next = {(1 << 20) + 64};
  message(1'000);
  decide({640}, 1'001);
  release({720}, 1'002);
  EXPECT_EQ(said().find("640"), std::string::npos) << said();
  EXPECT_EQ(said().find("720"), std::string::npos) << said();
  message(1'004);
  EXPECT_THAT(said(), HasSubstr("1004"));
}

TEST_F(LogRules, ListABoundedNumber) {
  for (int i = 0; i < 1'200; ++i)
    message(0);
  EXPECT_EQ(rules.found().size(), 1'000u);
  EXPECT_EQ(rules.not_listed(), 199u);
}

} // namespace
} // namespace handfast::storage
