#include "config/address.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

using namespace handfast;
using namespace handfast::config;
using testing::HasSubstr;

TEST(Addresses, AreReadAsHostAndPort) {
  EXPECT_EQ(parse_address("127.0.0.1:7310"), (address{"127.0.0.1", 7310}));
  EXPECT_EQ(parse_address("broker-1.example:0"), (address{"broker-1.example", 0}));
  EXPECT_EQ(parse_address("[::1]:65535"), (address{"::1", 65535}));
}

TEST(Addresses, ThatAreEmptyTurnTheDoorOff) {
  auto off = parse_address("");
  ASSERT_TRUE(off);
  EXPECT_TRUE(off->is_off());
  EXPECT_EQ(to_string(*off), "");
}

TEST(Addresses, AreReadBackAsWritten) {
  for (auto text : {"127.0.0.1:7310", "localhost:1", "[::1]:7310", "[fe80::1%eth0]:80"}) {
    auto read = parse_address(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(to_string(*read), text);
  }
}

TEST(Addresses, OutsideTheFormSayWhatIsWrong) {
  struct row {
    const char* text;
    const char* why;
  };
  for (auto [text, why] :
       {row{"localhost", "port is missing"}, row{"localhost:", "port is not a number"},
        row{":7310", "host is missing"},
        row{"localhost:65536", "port is not a number from 0 to 65535"},
        row{"localhost:-1", "port is not a number"}, row{"localhost:73x", "port is not a number"},
        row{"::1:7310", "IPv6 host stands in brackets"}, row{"[::1:7310", "brackets"},
        row{"[]:7310", "brackets"}, row{"a b:7310", "other characters"},
        row{"../x:7310", "other characters"}}) {
    auto read = parse_address(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ec::config_invalid);
    EXPECT_THAT(read.error().detail, HasSubstr(why)) << text;
    EXPECT_THAT(read.error().detail, HasSubstr("HOST:PORT"));
  }
}

TEST(Addresses, OfThisMachineAloneAreLoopback) {
  for (auto host : {"localhost", "127.0.0.1", "127.8.9.254", "::1", "::ffff:127.0.0.1"})
    EXPECT_TRUE(is_loopback({host, 1})) << host;
}

TEST(Addresses, OfOtherMachinesAreNotLoopback) {
  for (auto host : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "127.0.0.1.example",
                    "127.evil.example", "127.0.0", "127.0.0.256", "example", "", "::ffff:10.0.0.1"})
    EXPECT_FALSE(is_loopback({host, 1})) << host;
}
