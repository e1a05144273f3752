#include "actors/connections/outstanding.hpp"

#include <gtest/gtest.h>

namespace handfast {
namespace {

TEST(OutstandingTable, GivesEachRequestBackOnce) {
  outstanding_table table;
  const auto id = table.add({correlation{5}, request_kind::half, peer_role::half_store, 10, 0});
  EXPECT_NE(id, correlation{});
  const auto taken = table.take(id);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->client, correlation{5});
  EXPECT_FALSE(table.take(id).has_value());
  EXPECT_EQ(table.size(), 0U);
}

TEST(OutstandingTable, DoesNotTakeAnOldAnswerForANewRequest) {
  outstanding_table table;
  const auto first = table.add({});
  (void)table.take(first);
  const auto second = table.add({});
  EXPECT_NE(first, second);
  EXPECT_FALSE(table.take(first).has_value());
  EXPECT_TRUE(table.take(second).has_value());
}

TEST(OutstandingTable, KnowsNothingOfForeignIds) {
  outstanding_table table;
  EXPECT_FALSE(table.take(correlation{}).has_value());
  EXPECT_FALSE(table.take(correlation{~std::uint64_t{0}}).has_value());
}

TEST(OutstandingTable, SelectsByRole) {
  outstanding_table table;
  (void)table.add({correlation{1}, request_kind::half, peer_role::half_store, 0, 0});
  const auto wanted = table.add({correlation{2}, request_kind::send, peer_role::commit_log, 0, 0});
  EXPECT_EQ(table.select([](const auto& r) { return r.role == peer_role::commit_log; }),
            std::vector{wanted});
}

} // namespace
} // namespace handfast
