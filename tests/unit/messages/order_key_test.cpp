#include "messages/order_key.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace handfast {
namespace {

TEST(OrderKey, HasTheHashThatJavaGivesIt) {
  EXPECT_EQ(order_hash("order-1"), static_cast<std::uint32_t>(-1207111310));
  EXPECT_EQ(order_hash("hello"), 99162322u);
  EXPECT_EQ(order_hash(""), 0u);
}

TEST(OrderKey, GoesToTheQueueThatRocketMqChooses) {
  EXPECT_EQ(queue_of_order(99162322, 4), queue_no{2});
  EXPECT_EQ(queue_of_order(static_cast<std::uint32_t>(-1207111310), 4), queue_no{2});
  EXPECT_EQ(queue_of_order(static_cast<std::uint32_t>(-7), 4), queue_no{3});
  EXPECT_EQ(queue_of_order(0x80000000, 3), queue_no{2});
  EXPECT_EQ(queue_of_order(0x80000000, 1), queue_no{0});
}

TEST(OrderKey, UsesEveryQueue) {
  std::set<queue_no> used;
  for (int i = 0; i < 1'000; ++i) {
    const auto queue = queue_of_order(order_hash("key-" + std::to_string(i)), 16);
    ASSERT_LT(queue.value, 16);
    used.insert(queue);
  }
  EXPECT_EQ(used.size(), 16u);
}

TEST(OrderKey, NeedsAQueue) {
  EXPECT_THROW(queue_of_order(1, 0), invariant_broken);
}

} // namespace
} // namespace handfast
