#include "tests/unit/actors/native_client.hpp"

namespace handfast {
namespace {

using namespace std::chrono_literals;

class NativeSession : public test::native_client {};

TEST_F(NativeSession, ReadsOnlyOnceThePeersAreKnown) {
  connection = spawn(native_connection, &environment, wire, door);
  run();
  EXPECT_EQ(wire->reads_asked, 0U);
  tell_peers();
  EXPECT_EQ(wire->reads_asked, 1U);
}

TEST_F(NativeSession, WelcomesAClient) {
  connect();
  native::hello hello;
  hello.credit = 100;
  give(hello);
  const auto welcome = only<native::welcome>();
  EXPECT_EQ(welcome.version, native::protocol_version);
  EXPECT_EQ(welcome.node, "test-node");
  EXPECT_EQ(welcome.store_id, 77U);
  EXPECT_EQ(welcome.credit, 100U);
  EXPECT_EQ(welcome.body_max, settings.limits.body);
  EXPECT_EQ(wire->reads_asked, 2U);
}

TEST_F(NativeSession, RefusesAnotherVersion) {
  connect();
  native::hello hello;
  hello.version = 9;
  give(hello);
  EXPECT_EQ(only<native::closing>().code, ec::unsupported_version);
  EXPECT_TRUE(wire->closed);
}

TEST_F(NativeSession, RefusesFramesBeforeTheHello) {
  connect();
  give(native::status{correlation{1}});
  EXPECT_EQ(only<native::closing>().code, ec::bad_frame);
  EXPECT_TRUE(wire->closed);
}

TEST_F(NativeSession, SaysWhyItClosesOnGarbage) {
  open();
  give_bytes("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  const auto closing = only<native::closing>();
  EXPECT_EQ(closing.code, ec::bad_frame);
  EXPECT_FALSE(closing.detail.empty());
  EXPECT_TRUE(wire->closed);
}

TEST_F(NativeSession, RefusesAFrameOverTheLimitBeforeItsBodyCame) {
  open();
  std::array<std::byte, native::frame_header_bytes> header{};
  native::put_frame_header({native::frame_kind::send, 0, 64, 512U * 1024 * 1024}, header);
  give_bytes({reinterpret_cast<const char*>(header.data()), header.size()});
  EXPECT_EQ(only<native::closing>().code, ec::frame_too_large);
}

TEST_F(NativeSession, AllowsOnlySmallFramesBeforeTheHello) {
  connect();
  std::array<std::byte, native::frame_header_bytes> header{};
  native::put_frame_header({native::frame_kind::hello, 0, 64, 1024U * 1024}, header);
  give_bytes({reinterpret_cast<const char*>(header.data()), header.size()});
  EXPECT_EQ(only<native::closing>().code, ec::frame_too_large);
}

TEST_F(NativeSession, TakesAFrameThatComesByteByByte) {
  connect();
  native::frame_writer to;
  native::encode(to, native::hello{});
  to.for_each_piece([&](std::span<const std::byte> piece) {
    for (const auto b : piece)
      give_bytes({reinterpret_cast<const char*>(&b), 1});
  });
  (void)only<native::welcome>();
}

TEST_F(NativeSession, DoesNotWaitLongForAHello) {
  connect();
  advance(9s, 500ms);
  EXPECT_FALSE(wire->closed);
  advance(2s, 500ms);
  EXPECT_TRUE(wire->closed);
  EXPECT_EQ(only<native::closing>().code, ec::timed_out);
}

TEST_F(NativeSession, ClosesOnAFrameThatNeverEnds) {
  open();
  const auto frame = bytes_of(native::resolve_topic{correlation{5}, "orders", true});
  give_bytes(frame.substr(0, 10));
  advance(29s, 1s);
  EXPECT_FALSE(wire->closed);
  give_bytes(frame.substr(10, 1));
  advance(2s, 1s);
  EXPECT_TRUE(wire->closed);
  EXPECT_EQ(only<native::closing>().code, ec::timed_out);
}

TEST_F(NativeSession, LeavesAClientAloneWhoseFramesEnd) {
  open();
  const auto frame = bytes_of(native::resolve_topic{correlation{5}, "orders", true});
  give_bytes(frame.substr(0, 10));
  for (int round = 0; round < 10; ++round) {
    advance(20s, 1s);
    give_bytes(frame.substr(10) + frame.substr(0, 10));
  }
  EXPECT_FALSE(wire->closed);
}

TEST_F(NativeSession, ClosesWhenBegunFramesOfAllClientsHoldTooMuch) {
  open();
  door->begun->fetch_add(limits::begun_frames_bytes_max - 20); // of others
  const auto frame = bytes_of(native::send{{message(1, std::string(1'000, 'x'))}});
  give_bytes(frame.substr(0, 30));
  EXPECT_FALSE(wire->closed);
  give_bytes(frame.substr(30, 10));
  EXPECT_TRUE(wire->closed);
  EXPECT_EQ(only<native::closing>().code, ec::busy);
  kill(connection);
  EXPECT_EQ(*door->begun, limits::begun_frames_bytes_max - 20) << "what it held is free again";
}

TEST_F(NativeSession, HoldsNothingBetweenFrames) {
  open();
  const auto frame = bytes_of(native::send{{message(1, std::string(1'000, 'x'))}});
  give_bytes(frame.substr(0, 500));
  EXPECT_EQ(*door->begun, 500u - native::frame_header_bytes);
  give_bytes(frame.substr(500));
  EXPECT_EQ(*door->begun, 0u);
}

TEST(LineLimiter, AdmitsAFewLinesASecondAndCountsTheOthers) {
  line_limiter limiter;
  const line_limiter::time_point now{std::chrono::hours{1}};
  for (std::uint32_t n = 0; n < line_limiter::lines_per_second; ++n)
    EXPECT_EQ(limiter.admit(now), 0u);
  EXPECT_FALSE(limiter.admit(now));
  EXPECT_FALSE(limiter.admit(now + 900ms));
  EXPECT_EQ(limiter.admit(now + 1s), 2u);
  EXPECT_EQ(limiter.admit(now + 1s), 0u);
}

TEST_F(NativeSession, LeavesAClientThatSaidHelloAlone) {
  open();
  advance(60s, 1s);
  EXPECT_FALSE(wire->closed);
}

TEST_F(NativeSession, ResolvesTopics) {
  open();
  give(native::resolve_topic{correlation{5}, "orders", true});
  const auto answer = only<native::topic_resolved>();
  EXPECT_EQ(answer.id, correlation{5});
  EXPECT_EQ(answer.topic, orders);
  EXPECT_EQ(answer.queues, 4U);
  give(native::resolve_topic{correlation{6}, "nothing", false});
  EXPECT_EQ(only<native::topic_resolved>().code, ec::unknown_topic);
}

TEST_F(NativeSession, JoinsAProducerGroup) {
  open();
  give(native::join_producer_group{correlation{5}, "billing", {"orders", "nothing"}, 5});
  EXPECT_EQ(only<native::group_joined>().group, billing);
  const auto joined = producers->take_last<producer_joined>();
  EXPECT_EQ(joined.producer, producer_id{99});
  EXPECT_EQ(joined.name, "tester");
  EXPECT_EQ(joined.topics, std::vector{orders});
}

TEST_F(NativeSession, JoinsARestartedProducerGroupAgain) {
  open_and_join();
  producers->forget_all();
  auto next = make_probe();
  send(connection, producer_group_found{billing, next->as<producer_group_actor>(), incarnation{2}});
  run();
  EXPECT_EQ(next->count<producer_joined>(), 1U);
  EXPECT_TRUE(taken<native::group_joined>().empty());
}

TEST_F(NativeSession, LeavesAProducerGroup) {
  open_and_join();
  give(native::leave_producer_group{correlation{8}, billing});
  EXPECT_EQ(only<native::done>().id, correlation{8});
  EXPECT_EQ(producers->count<producer_left>(), 1U);
}

TEST_F(NativeSession, TellsEveryoneWhenTheClientIsGone) {
  open_and_join();
  give(native::fetch{correlation{3}, "readers", {}, orders});
  send(connection, transport_closed{});
  run();
  EXPECT_EQ(producers->count<producer_left>(), 1U);
  EXPECT_EQ(consumers->count<member_left>(), 1U);
  const auto gone = half_store->take_last<producer_running>();
  EXPECT_EQ(gone.producer, producer_id{99});
  EXPECT_FALSE(gone.online);
  EXPECT_FALSE(alive(connection));
}

TEST_F(NativeSession, EndsInOrderOnGoodbye) {
  open_and_join();
  give(native::goodbye{});
  EXPECT_TRUE(wire->closed);
  EXPECT_EQ(producers->count<producer_left>(), 1U);
}

TEST_F(NativeSession, SaysThatTheNodeStops) {
  open();
  send_as(supervisor, connection, stop{});
  run();
  EXPECT_EQ(only<native::closing>().code, ec::stopping);
  EXPECT_EQ(supervisor->count<stopped>(), 1U);
}

TEST_F(NativeSession, FailsWhatARestartedRegistryWasAsked) {
  open();
  registry->on<resolve_topic>([](const resolve_topic&) {});
  give(native::resolve_topic{correlation{5}, "orders", true});
  registry_life = incarnation{2};
  tell_peers();
  const auto refused = only<native::refused>();
  EXPECT_EQ(refused.id, correlation{5});
  EXPECT_EQ(refused.code, ec::recovering);
}

TEST_F(NativeSession, RefusesFrameKindsThatOnlyTheNodeSends) {
  open();
  give(native::welcome{});
  EXPECT_EQ(only<native::closing>().code, ec::bad_frame);
}

} // namespace
} // namespace handfast
