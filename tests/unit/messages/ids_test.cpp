#include "messages/ids.hpp"

#include <gtest/gtest.h>

using namespace handfast;

TEST(Positions, NameTheirShardInTheTopByte) {
  position p{(std::uint64_t{3} << shard_shift) + 4096};
  EXPECT_EQ(shard_of(p), 3);
  EXPECT_EQ(byte_of(p), 4096U);
  EXPECT_EQ(shard_of(p + 8), 3);
  EXPECT_EQ(byte_of(p + 8), 4104U);
}

TEST(TransactionIds, AreReadBackAsPrinted) {
  transaction_ids ours{0x1234'5678'9abc'def0};
  for (std::uint64_t at : {1ULL, 4096ULL, 1ULL << 52, ~0ULL}) {
    auto id = ours.at(position{at});
    EXPECT_EQ(to_string(id).size(), 24U);
    EXPECT_EQ(parse_transaction_id(to_string(id)), id);
  }
}

TEST(TransactionIds, OutsideThePrintedFormAreNotRead) {
  for (auto text : {"", "0000000000001000", "00000000000010001234567", "0000000000001000123456789",
                    "000000000000100g12345678", "0000000000001000-1234567",
                    " 00000000000100012345678", "+00000000000100012345678"})
    EXPECT_FALSE(parse_transaction_id(text)) << text;
}

TEST(TransactionIds, AreReadInLowerCaseToo) {
  EXPECT_EQ(parse_transaction_id("00000000000abcde0000beef"),
            (transaction_id{position{0xabcde}, 0xbeef}));
}

TEST(TransactionIds, OfThisStoreAreRecognised) {
  transaction_ids ours{7};
  EXPECT_TRUE(ours.is_ours(ours.at(position{4096})));
}

TEST(TransactionIds, OfAnotherStoreAreForeign) {
  transaction_ids ours{7};
  transaction_ids other{8};
  for (std::uint64_t at = 8; at < 8'000; at += 8)
    ASSERT_FALSE(ours.is_ours(other.at(position{at}))) << at;
}

TEST(TransactionIds, ThatWereGuessedAreForeign) {
  transaction_ids ours{7};
  auto id = ours.at(position{4096});
  EXPECT_FALSE(ours.is_ours({position{4104}, id.check}));
  EXPECT_FALSE(ours.is_ours({id.opened_at, id.check + 1}));
}
