#include "bench/load/load.hpp"
#include "tests/support/fake_node.hpp"
#include "tests/support/own_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace handfast::bench::test {

using native::frame_kind;
using native::test::fake_node;
using native::test::misbehaviour;

class Load : public testing::Test {
protected:
  fake_node node;
  load_options options = [this] {
    load_options o;
    auto server = node.server();
    o.port = static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1)));
    o.connections = 2;
    o.window = 3;
    o.body_bytes = 100;
    o.warm_up = std::chrono::milliseconds{0};
    o.measured = std::chrono::milliseconds{50};
    return o;
  }();
};

TEST_F(Load, CommitsTransactions) {
  auto report = run_load(options);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_GT(report->committed, 0u);
  EXPECT_EQ(report->unanswered, 0u);
  EXPECT_TRUE(report->errors.empty());
  EXPECT_GE(report->whole.p99, report->whole.p50);
  for (const auto& [id, t] : node.transactions)
    EXPECT_EQ(t.recorded, outcome::committed);
}

TEST_F(Load, SendsPlainMessages) {
  options.plain = true;
  auto report = run_load(options);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_GT(report->committed, 0u);
  EXPECT_TRUE(node.transactions.empty());
}

TEST_F(Load, KeepsWithinItsWindow) {
  ASSERT_TRUE(run_load(options));
  EXPECT_LE(node.most_in_one_frame, options.window);
}

TEST_F(Load, NumbersItsSendsPerConnection) {
  options.plain = true;
  ASSERT_TRUE(run_load(options));
  EXPECT_EQ(node.visible.size(), node.sends.size()) << "a send was taken for a repeat";
}

TEST_F(Load, CountsRefusalsByCodeAndGoesOn) {
  node.refuse(frame_kind::send_half, ec::too_many_pending, "", 4);
  auto report = run_load(options);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->errors[ec::too_many_pending], 4u);
  EXPECT_GT(report->committed, 0u);
}

TEST_F(Load, SaysWhyItCannotConnect) {
  {
    fake_node gone;
    auto server = gone.server();
    options.port = static_cast<std::uint16_t>(std::stoi(server.substr(server.rfind(':') + 1)));
  }
  auto report = run_load(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ec::unreachable);
}

TEST_F(Load, SaysWhyTheTopicWasRefused) {
  node.refuse(frame_kind::resolve_topic, ec::too_many_topics, "limit 10");
  auto report = run_load(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error(), (error{ec::too_many_topics, "limit 10"}));
}

TEST_F(Load, FailsWhenTheConnectionIsLost) {
  node.misbehave(frame_kind::decide, misbehaviour::close_before);
  auto report = run_load(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ec::disconnected);
}

TEST_F(Load, RefusesAnEmptyWindow) {
  options.window = 0;
  EXPECT_EQ(run_load(options).error().code, ec::bad_request);
}

TEST(SyncProbe, MeasuresAndLeavesNothingBehind) {
  const handfast::test::own_folder folder;
  auto probe = fdatasync_probe(folder.path().string(), 5);
  ASSERT_TRUE(probe) << to_string(probe.error());
  EXPECT_GE(probe->p99_us, probe->p50_us);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SyncProbe, SaysWhereItCouldNotWrite) {
  auto probe = fdatasync_probe("/nowhere/at/all");
  ASSERT_FALSE(probe);
  EXPECT_NE(probe.error().detail.find("/nowhere/at/all"), std::string::npos);
}

} // namespace handfast::bench::test
