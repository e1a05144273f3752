#include "actors/folds/queue_owners.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace handfast {
namespace {

const queue_owners::in_flight nothing = [](std::uint32_t) { return false; };

queue_owners with(std::uint32_t queues, std::initializer_list<member_no> members) {
  queue_owners owners;
  owners.set_queues(queues);
  for (const auto m : members)
    owners.join(m);
  owners.settle(nothing);
  return owners;
}

TEST(QueueOwners, GivesASingleMemberAll) {
  const auto owners = with(4, {1});
  EXPECT_EQ(owners.owned_by(1), 4U);
  EXPECT_TRUE(owners.may_take(3, 1));
}

TEST(QueueOwners, SharesFairly) {
  const auto owners = with(5, {1, 2});
  EXPECT_EQ(owners.owned_by(1) + owners.owned_by(2), 5U);
  EXPECT_GE(owners.owned_by(1), 2U);
  EXPECT_GE(owners.owned_by(2), 2U);
}

TEST(QueueOwners, LeavesSomeWithoutWhenThereAreMoreMembersThanQueues) {
  const auto owners = with(2, {1, 2, 3});
  EXPECT_EQ(owners.owned_by(1) + owners.owned_by(2) + owners.owned_by(3), 2U);
  EXPECT_LE(owners.owned_by(1), 1U);
}

TEST(QueueOwners, MovesOnlyWhatMust) {
  auto owners = with(6, {1, 2});
  std::vector<member_no> before;
  for (std::uint32_t n = 0; n < 6; ++n)
    before.push_back(owners.owner(n));
  owners.join(3);
  owners.settle(nothing);
  int moved = 0;
  for (std::uint32_t n = 0; n < 6; ++n)
    moved += owners.owner(n) != before[n] ? 1 : 0;
  EXPECT_EQ(moved, 2);
  EXPECT_EQ(owners.owned_by(3), 2U);
}

TEST(QueueOwners, MovesAQueueOnlyWhenNothingOfItIsInFlight) {
  auto owners = with(2, {1});
  owners.join(2);
  owners.settle([](std::uint32_t) { return true; });
  EXPECT_TRUE(owners.is_moving());
  EXPECT_EQ(owners.owned_by(2), 0U);
  const auto leaving = owners.may_take(0, 1) ? 1U : 0U;
  EXPECT_FALSE(owners.may_take(leaving, 1)) << "nothing new is handed out of it";
  owners.settle([&](std::uint32_t queue) { return queue != leaving; });
  EXPECT_EQ(owners.owner(leaving), 2U);
  EXPECT_FALSE(owners.is_moving());
}

TEST(QueueOwners, MovesWhatIsIdleFirst) {
  auto owners = with(2, {1});
  owners.join(2);
  owners.settle([](std::uint32_t queue) { return queue == 1; });
  EXPECT_EQ(owners.owner(0), 2U);
  EXPECT_TRUE(owners.may_take(1, 1));
}

TEST(QueueOwners, PassesOnWhatALostMemberHad) {
  auto owners = with(4, {1, 2});
  owners.leave(1);
  owners.settle(nothing);
  EXPECT_EQ(owners.owned_by(2), 4U);
  EXPECT_EQ(owners.members(), 1U);
}

TEST(QueueOwners, TakesAMoveBackWhenItIsNoLongerNeeded) {
  auto owners = with(2, {1});
  owners.join(2);
  owners.settle([](std::uint32_t) { return true; });
  owners.leave(2);
  owners.settle([](std::uint32_t) { return true; });
  EXPECT_FALSE(owners.is_moving());
  EXPECT_TRUE(owners.may_take(0, 1));
  EXPECT_TRUE(owners.may_take(1, 1));
}

TEST(QueueOwners, EndsInFairSharesWhateverHappened) {
  std::mt19937 random{3};
  queue_owners owners;
  std::set<member_no> present;
  member_no last = 0;
  for (int step = 0; step < 2'000; ++step) {
    if (random() % 10 == 0)
      owners.set_queues(static_cast<std::uint32_t>(random() % 40));
    if (present.empty() || random() % 2 == 0) {
      present.insert(++last);
      owners.join(last);
    } else {
      const auto gone = *present.begin();
      present.erase(gone);
      owners.leave(gone);
    }
    owners.settle([&](std::uint32_t) { return random() % 3 == 0; });
    owners.settle(nothing);
    owners.settle(nothing);
    std::uint32_t least = present.empty() ? 0 : 1'000;
    std::uint32_t most = 0;
    for (const auto m : present) {
      least = std::min(least, owners.owned_by(m));
      most = std::max(most, owners.owned_by(m));
    }
    EXPECT_LE(most, least + 1) << "with " << present.size() << " members";
  }
}

} // namespace
} // namespace handfast
