#include "actors/folds/slice_io.hpp"

#include <gtest/gtest.h>

namespace handfast {
namespace {

TEST(SliceIo, ReadsBackWhatWasPut) {
  slice_writer out;
  out.put(std::uint8_t{7}).put(std::uint64_t{1234567890123}).text("name");
  const auto bytes = out.take();
  slice_reader in{bytes};
  EXPECT_EQ(in.get<std::uint8_t>(), 7);
  EXPECT_EQ(in.get<std::uint64_t>(), 1234567890123u);
  EXPECT_EQ(in.text(), "name");
  EXPECT_TRUE(in.ok());
  EXPECT_TRUE(in.at_end());
}

TEST(SliceIo, ReadsZerosPastTheEndAndSaysSo) {
  slice_reader in{"abc"};
  EXPECT_EQ(in.get<std::uint32_t>(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.get<std::uint8_t>(), 0);
}

TEST(SliceIo, BelievesNoLengthThatGoesPastTheEnd) {
  slice_writer out;
  out.put(std::uint32_t{0xffffffff});
  const auto bytes = out.take();
  slice_reader in{bytes};
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.ok());
}

} // namespace
} // namespace handfast
