#include "messages/record_rule.hpp"

#include <gtest/gtest.h>

namespace handfast {
namespace {

template <class F>
std::string said_by(F&& what) {
  try {
    what();
  } catch (const std::exception& e) {
    return sentence_of(e);
  }
  return {};
}

TEST(RecordRule, SaysItsSentence) {
  EXPECT_EQ(said_by([] { require_of_record(false, "it makes a topic without queues"); }),
            "it makes a topic without queues");
  EXPECT_EQ(said_by([] { require_of_record(true, "never said"); }), "");
}

TEST(RecordRule, NamesABrokenInvariantWithoutItsPlaceInTheProgram) {
  const auto said = said_by([] { HANDFAST_ASSERT(1 + 1 == 3); });
  EXPECT_EQ(said,
            "it can't be true together with the records before it (1 + 1 == 3 does not hold)");
}

TEST(RecordRule, LeavesOtherReasonsAsTheyAre) {
  EXPECT_EQ(said_by([] { throw std::runtime_error{"arrived at noon"}; }), "arrived at noon");
}

} // namespace
} // namespace handfast
