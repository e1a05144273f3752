#include "actors/folds/order_lanes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace handfast {
namespace {

TEST(OrderLanes, GivesTheLowestFirstOfAFreeLane) {
  order_lanes lanes;
  lanes.add(7, 1);
  lanes.add(8, 2);
  lanes.add(7, 3);
  EXPECT_EQ(lanes.next(), 1U);
  lanes.block(7);
  EXPECT_EQ(lanes.next(), 2U);
  lanes.block(8);
  EXPECT_EQ(lanes.next(), std::nullopt);
  EXPECT_EQ(lanes.blocked(), 2U);
}

TEST(OrderLanes, GoesOnBehindWhatLeaves) {
  order_lanes lanes;
  lanes.add(7, 1);
  lanes.add(7, 3);
  lanes.block(7);
  lanes.remove(7, 1);
  EXPECT_EQ(lanes.next(), 3U);
  lanes.remove(7, 3);
  EXPECT_EQ(lanes.next(), std::nullopt);
  EXPECT_EQ(lanes.lanes(), 0U) << "an empty lane costs nothing";
}

TEST(OrderLanes, GivesTheFirstAgainWhenItIsUnblocked) {
  order_lanes lanes;
  lanes.add(7, 1);
  lanes.add(7, 2);
  lanes.block(7);
  lanes.unblock(7);
  EXPECT_EQ(lanes.next(), 1U);
}

TEST(OrderLanes, TakesOneOutOfTheMiddle) {
  order_lanes lanes;
  for (const std::uint64_t offset : {1U, 2U, 3U})
    lanes.add(7, offset);
  lanes.remove(7, 2);
  lanes.block(7);
  lanes.remove(7, 1);
  EXPECT_EQ(lanes.next(), 3U);
}

TEST(OrderLanes, TellsNoKeyFromAKeyWithHashZero) {
  EXPECT_NE(order_lanes::key_of(true, 0), order_lanes::key_of(false, 0));
  EXPECT_EQ(order_lanes::key_of(false, 5), order_lanes::no_key);
}

TEST(OrderLanes, KeepsTheOrderOfEachKeyWhateverHappens) {
  std::mt19937 random{5};
  order_lanes lanes;
  std::map<std::uint64_t, order_lanes::key> key_of;
  std::map<order_lanes::key, std::uint64_t> last;
  std::vector<std::uint64_t> out;
  std::uint64_t next = 1;
  for (int step = 0; step < 20'000; ++step) {
    const auto what = random() % 4;
    if (what == 0) {
      key_of[next] = random() % 20;
      lanes.add(key_of[next], next);
      ++next;
    } else if (what == 1) {
      if (const auto offset = lanes.next()) {
        EXPECT_GT(*offset, last[key_of[*offset]]);
        lanes.block(key_of[*offset]);
        out.push_back(*offset);
      }
    } else if (!out.empty()) {
      const auto at = random() % out.size();
      const auto offset = out[at];
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
      if (what == 2) {
        last[key_of[offset]] = offset;
        lanes.remove(key_of[offset], offset);
      } else {
        lanes.unblock(key_of[offset]);
      }
    }
    EXPECT_EQ(lanes.blocked(), out.size());
  }
}

} // namespace
} // namespace handfast
