#include "runtime/cli/suggest.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace handfast::cli {
namespace {

using std::chrono::milliseconds;

TEST(Text, WritesTimesInUtc) {
  EXPECT_EQ(time_text(0), "-");
  EXPECT_EQ(time_text(1'700'000'000'007), "2023-11-14 22:13:20.007Z");
  EXPECT_FALSE(time_text(~std::uint64_t{0}).empty());
}

TEST(Text, WritesSpansInTwoUnits) {
  EXPECT_EQ(span_text(0), "0 ms");
  EXPECT_EQ(span_text(999), "999 ms");
  EXPECT_EQ(span_text(6'000), "6.0 s");
  EXPECT_EQ(span_text(59'999), "59.9 s");
  EXPECT_EQ(span_text(125'000), "2 min 5 s");
  EXPECT_EQ(span_text(3'600'000), "1 h");
  EXPECT_EQ(span_text(11'520'000), "3 h 12 min");
  EXPECT_EQ(span_text(367'200'000), "4 d 6 h");
}

TEST(Text, WritesSizes) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1'023), "1023 B");
  EXPECT_EQ(bytes_text(1'536), "1.5 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{64} << 20), "64 MiB");
  EXPECT_EQ(bytes_text(~std::uint64_t{0}), "16 EiB");
}

TEST(Text, CountsWithCommas) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
  EXPECT_EQ(counted(1, "message"), "1 message");
  EXPECT_EQ(counted(2'000, "message"), "2,000 messages");
  EXPECT_EQ(counted(2, "failed delivery"), "2 failed deliveries");
}

TEST(Text, KeepsForeignBytesFromTheTerminal) {
  EXPECT_EQ(one_line("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(one_line("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(one_line("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(one_line("\xc2\x9b"), "\\xc2\\x9b"); // a control character of its own: CSI
}

TEST(Text, CutsLongLines) {
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(one_line("abc", 3), "abc");
}

TEST(Text, KnowsUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("\xe2\x82\xac\xf0\x9f\x98\x80"));
  EXPECT_FALSE(is_utf8("\xc0\x80"));         // overlong
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));     // surrogate
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80")); // beyond Unicode
  EXPECT_FALSE(is_utf8("\xe2\x82"));         // cut
}

TEST(Text, EncodesBase64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("\xff\xfe\xfd\xfc"), "//79/A==");
}

TEST(Suggestion, FindsSwapsAndMissingLetters) {
  const std::vector<std::string> known{"commit", "rollback", "reopen", "list"};
  EXPECT_EQ(nearest("comit", known), "commit");
  EXPECT_EQ(nearest("commti", known), "commit");
  EXPECT_EQ(nearest("roll", known), "rollback");
  EXPECT_EQ(nearest("lsit", known), "list");
}

TEST(Suggestion, IsSilentWhenNothingIsNear) {
  const std::vector<std::string> known{"commit", "list"};
  EXPECT_EQ(nearest("xyz", known), std::nullopt);
  EXPECT_EQ(nearest("", known), std::nullopt);
  EXPECT_EQ(nearest(std::string(10'000, 'c'), known), std::nullopt);
}

TEST(Values, ReadSecondsWithAndWithoutUnit) {
  EXPECT_EQ(parse_seconds("5"), milliseconds{5'000});
  EXPECT_EQ(parse_seconds("0.25"), milliseconds{250});
  EXPECT_EQ(parse_seconds("0"), milliseconds{0});
  EXPECT_EQ(parse_seconds("500ms"), milliseconds{500});
  EXPECT_EQ(parse_seconds("2m"), milliseconds{120'000});
  EXPECT_FALSE(parse_seconds("99999999999"));
  EXPECT_FALSE(parse_seconds("0.0001")) << "would become 0, which means something else";
}

TEST(Table, AlignsColumns) {
  table rows{{{"NAME"}, {"COUNT", true}, {"KIND"}}};
  rows.add({"orders", "7", "x"});
  rows.add({"a", "1,000", ""});
  std::ostringstream out;
  rows.print(out, false);
  EXPECT_EQ(out.str(), "NAME    COUNT  KIND\n"
                       "orders      7  x\n"
                       "a       1,000  \n");
}

TEST(Text, IsShortenedByCharactersNotBytes) {
  EXPECT_EQ(shortened("orders", 6), "orders");
  EXPECT_EQ(shortened("orders", 5), "orde~");
  EXPECT_EQ(shortened("\xc3\xa4\xc3\xb6\xc3\xbc", 2), "\xc3\xa4~");
}

TEST(Text, IsWrappedAtBlanks) {
  const std::vector<std::string> three{"one two", "three", "a-very-long-word"};
  EXPECT_EQ(wrapped("one two three a-very-long-word", 9), three);
  EXPECT_EQ(wrapped("one  two", 0), std::vector<std::string>{"one  two"});
  EXPECT_EQ(wrapped("", 9), std::vector<std::string>{""});
}

TEST(Table, KeepsToTheWidthOfTheTerminal) {
  table rows{{{"NAME", false, true}, {"COUNT", true}, {"WHAT"}}};
  rows.add({"a-very-long-name", "7", "several words that go on below"});
  std::ostringstream out;
  rows.print(out, false, 34);
  EXPECT_EQ(out.str(), "NAME            COUNT  WHAT\n"
                       "a-very-long-n~      7  several\n"
                       "                       words that\n"
                       "                       go on below\n");
}

TEST(FactSheet, GoesOnInFurtherLines) {
  fact_sheet facts;
  facts.add("log", "2 KiB written, 1 KiB since the last checkpoint");
  std::ostringstream out;
  facts.print(out, false, 30);
  EXPECT_EQ(out.str(), "log   2 KiB written, 1 KiB\n"
                       "      since the last\n"
                       "      checkpoint\n");
}

TEST(Table, ColoursOnlyWhenAsked) {
  EXPECT_EQ(painted("x", look::bad, false), "x");
  EXPECT_EQ(painted("x", look::bad, true), "\x1b[31mx\x1b[0m");
}

TEST(FactSheet, PutsValuesUnderEachOther) {
  fact_sheet facts;
  facts.add("id", "1");
  facts.add("messages", "2");
  std::ostringstream out;
  facts.print(out, false);
  EXPECT_EQ(out.str(), "id         1\nmessages   2\n");
}

} // namespace
} // namespace handfast::cli
