#include "tests/unit/native/frame_bytes.hpp"

namespace handfast::native::test {

namespace {

send batch_of(std::size_t count, std::size_t body) {
  send s;
  for (std::size_t i = 0; i < count; ++i)
    s.items.push_back(some_item(i, "KEYS\x01k\x02", std::string(body, static_cast<char>('a' + i))));
  return s;
}

std::string two_frames() {
  return encoded(batch_of(3, 100)) + encoded(resolve_topic{{9}, "orders", true});
}

void expect_two_frames(const std::vector<frame>& frames) {
  ASSERT_EQ(frames.size(), 2u);
  send first;
  resolve_topic second;
  ASSERT_TRUE(decode(frames[0], first));
  ASSERT_TRUE(decode(frames[1], second));
  EXPECT_EQ(first, batch_of(3, 100));
  EXPECT_EQ(second.name, "orders");
}

} // namespace

TEST(FrameSplitter, FindsFramesHoweverTheStreamIsCut) {
  auto bytes = two_frames();
  for (std::size_t chunk = 1; chunk <= bytes.size(); ++chunk) {
    SCOPED_TRACE(chunk);
    expect_two_frames(split(bytes, chunk));
  }
}

TEST(FrameSplitter, GivesWindowsIntoTheChunkWithoutCopying) {
  auto chunk = shared_bytes::copy_of(two_frames());
  frame_splitter splitter;
  splitter.feed(chunk);
  auto first = splitter.next();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->rest.data(), chunk.data() + frame_header_bytes);
  send s;
  ASSERT_TRUE(decode(**first, s));
  EXPECT_GE(s.items[0].payload.data(), chunk.data());
  EXPECT_LT(s.items[0].payload.data(), chunk.data() + chunk.size());
}

TEST(FrameSplitter, LetsGoOfAChunkThatIsUsedUp) {
  auto buffer = std::make_shared<std::byte[]>(4096);
  auto bytes = two_frames();
  std::memcpy(buffer.get(), bytes.data(), bytes.size());
  std::weak_ptr<std::byte[]> watched = buffer;
  auto* raw = buffer.get();
  frame_splitter splitter;
  splitter.feed({std::shared_ptr<const std::byte>{std::move(buffer), raw}, bytes.size()});
  while (auto next = splitter.next())
    if (!*next)
      break;
  EXPECT_TRUE(watched.expired());
}

TEST(FrameSplitter, SaysWhetherTheStreamStandsInsideAFrame) {
  auto bytes = encoded(goodbye{});
  frame_splitter splitter;
  EXPECT_FALSE(splitter.inside_frame());
  splitter.feed(shared_bytes::copy_of(std::string_view{bytes}.substr(0, 3)));
  EXPECT_FALSE(*splitter.next());
  EXPECT_TRUE(splitter.inside_frame());
  splitter.feed(shared_bytes::copy_of(std::string_view{bytes}.substr(3)));
  EXPECT_TRUE(*splitter.next());
  EXPECT_FALSE(splitter.inside_frame());
}

TEST(FrameSplitter, RefusesAnotherProtocol) {
  frame_splitter splitter;
  splitter.feed(shared_bytes::copy_of("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  auto next = splitter.next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ec::bad_frame);
  EXPECT_EQ(splitter.next().error().code, ec::bad_frame) << "a broken stream stays broken";
}

TEST(FrameSplitter, RefusesAFrameOverTheLimitByItsHeaderAlone) {
  auto bytes = encoded(batch_of(3, 1000)).substr(0, frame_header_bytes);
  frame_splitter splitter{{4096, 2000}};
  splitter.feed(shared_bytes::copy_of(bytes));
  auto next = splitter.next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ec::frame_too_large);
  EXPECT_NE(next.error().detail.find("limit 2000"), std::string::npos) << next.error().detail;
}

TEST(FrameSplitter, RefusesAnOversizedCapnpPartByItsHeaderAlone) {
  auto bytes = encoded(batch_of(20, 1)).substr(0, frame_header_bytes);
  frame_splitter splitter{{512, 1 << 20}};
  splitter.feed(shared_bytes::copy_of(bytes));
  EXPECT_EQ(splitter.next().error().code, ec::frame_too_large);
}

TEST(FrameSplitter, RefusesACapnpPartThatIsNotWholeWords) {
  auto bytes = encoded(goodbye{});
  bytes[8] = 9;
  frame_splitter splitter;
  splitter.feed(shared_bytes::copy_of(bytes));
  EXPECT_EQ(splitter.next().error().code, ec::bad_frame);
}

TEST(FrameSplitter, AcceptsTheLargestMessage) {
  send s;
  s.items = {some_item(1, std::string(limits::properties_bytes_max, 'p'),
                       std::string(limits::body_bytes_max, 'b'))};
  auto frames = split(encoded(s), 32 * 1024);
  ASSERT_EQ(frames.size(), 1u);
  send back;
  ASSERT_TRUE(decode(frames[0], back));
  EXPECT_EQ(back, s);
}

TEST(FrameWriter, SharesLargeBodiesAndCopiesSmallOnes) {
  frame_writer writer;
  send s;
  s.items = {some_item(1, "", std::string(100, 'a')), some_item(2, "", std::string(50'001, 'b')),
             some_item(3, "", std::string(3, 'c'))};
  encode(writer, s);
  encode(writer, goodbye{});
  bool shared = false;
  std::size_t total = 0;
  writer.for_each_piece([&](std::span<const std::byte> piece) {
    shared = shared || piece.data() == s.items[1].payload.data();
    total += piece.size();
  });
  EXPECT_TRUE(shared);
  EXPECT_EQ(total, writer.size());
  auto frames = split(bytes_of(writer), writer.size());
  ASSERT_EQ(frames.size(), 2u);
  send back;
  ASSERT_TRUE(decode(frames[0], back));
  EXPECT_EQ(back, s);
}

TEST(FrameWriter, IsEmptyAfterClear) {
  frame_writer writer;
  encode(writer, batch_of(2, 9000));
  writer.clear();
  EXPECT_TRUE(writer.empty());
  EXPECT_EQ(writer.size(), 0u);
  encode(writer, goodbye{});
  EXPECT_EQ(bytes_of(writer), encoded(goodbye{})) << "old bytes shine through";
}

TEST(NativeCodec, ReusesTheVectorsThatItDecodesInto) {
  auto frames = split(encoded(batch_of(8, 10)), 1 << 20);
  send s;
  ASSERT_TRUE(decode(frames[0], s));
  auto* before = s.items.data();
  ASSERT_TRUE(decode(frames[0], s));
  EXPECT_EQ(s.items.data(), before);
}

TEST(NativeCodec, RefusesAFrameOfAnotherKind) {
  auto frames = split(encoded(goodbye{}), 1 << 20);
  send s;
  EXPECT_EQ(decode(frames[0], s).error().code, ec::bad_frame);
}

TEST(FrameWriter, GivesAwayWhatItHolds) {
  for (const std::size_t size : {10U, 5'000U, 400'000U}) {
    frame_writer to;
    send s{{some_item(1, "KEYS\x01k\x02", std::string(size, 'x')), some_item(2, "", "y")}};
    encode(to, s);
    const auto expected = bytes_of(to);
    EXPECT_EQ(to.take().text(), expected) << size;
    EXPECT_TRUE(to.empty());
    encode(to, s);
    EXPECT_EQ(bytes_of(to), expected) << "it can be used again";
  }
}

TEST(FrameWriter, GivesAwayManySmallBodies) {
  frame_writer to;
  send s;
  for (std::uint64_t n = 0; n < 500; ++n)
    s.items.push_back(some_item(n, "", std::string(1024, static_cast<char>('a' + n % 26))));
  encode(to, s);
  const auto expected = bytes_of(to);
  EXPECT_EQ(to.take().text(), expected);
}

} // namespace handfast::native::test
