#include "runtime/http_server.hpp"

#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

namespace handfast::runtime {
namespace {

using testing::HasSubstr;

node_status some_status() {
  node_status status;
  status.actors.push_back({"half_store",
                           {{"rocketmq_half_messages", R"(topic="orders",group="pay\"ing")", 3}},
                           {{position{4'096}, "half", "bad payload", {}}}});
  status.actors.push_back({"commit_log", {{"handfast_syncs_total", "", 12}}, {}});
  status.not_answering = {"queue 16/1"};
  status.restarts = {{"op_store", 2}};
  return status;
}

class HttpServer : public testing::Test {
protected:
  httplib::Result get(const std::string& path) {
    http_sources sources;
    sources.version = "1.2.3";
    sources.status = [this]() -> result<node_status> {
      if (silent_)
        return fail(ec::timed_out, "the shard does not answer");
      return some_status();
    };
    sources.not_ready = [this] { return not_ready_; };
    auto started = http_server::start({"127.0.0.1", 0}, std::move(sources));
    EXPECT_TRUE(started);
    return httplib::Client{"127.0.0.1", (*started)->where().port}.Get(path.c_str());
  }

  bool silent_ = false;
  std::string not_ready_;
};

TEST(PrometheusText, KeepsNamesAndLabels) {
  const auto text = prometheus_text(some_status());
  EXPECT_THAT(text, HasSubstr("rocketmq_half_messages{topic=\"orders\",group=\"pay\\\"ing\"} 3"));
}

TEST(PrometheusText, CallsWhatEndsInTotalACounter) {
  const auto text = prometheus_text(some_status());
  EXPECT_THAT(text, HasSubstr("# TYPE handfast_syncs_total counter"));
  EXPECT_THAT(text, HasSubstr("# TYPE rocketmq_half_messages gauge"));
}

TEST(PrometheusText, CountsActorsThatDoNotAnswer) {
  EXPECT_THAT(prometheus_text(some_status()), HasSubstr("handfast_actors_not_answering 1"));
}

TEST_F(HttpServer, GivesMetrics) {
  const auto answer = get("/metrics");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(answer->body, HasSubstr("handfast_syncs_total 12"));
}

TEST_F(HttpServer, GivesTheStatusAsJson) {
  const auto answer = get("/status");
  ASSERT_TRUE(answer);
  const auto all = nlohmann::json::parse(answer->body);
  EXPECT_EQ(all["version"], "1.2.3");
  EXPECT_EQ(all["quarantined"][0]["why"], "bad payload");
  EXPECT_EQ(all["not_answering"][0], "queue 16/1");
  EXPECT_EQ(all["restarts"]["op_store"], 2);
}

TEST_F(HttpServer, SaysWhyItIsNotReady) {
  not_ready_ = "stopping";
  const auto answer = get("/readyz");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body, "stopping\n");
}

TEST_F(HttpServer, IsReady) {
  EXPECT_EQ(get("/readyz")->status, 200);
}

TEST_F(HttpServer, IsNotAliveWhenTheShardIsSilent) {
  silent_ = true;
  EXPECT_EQ(get("/livez")->status, 503);
}

TEST_F(HttpServer, KnowsNoOtherPath) {
  EXPECT_EQ(get("/../etc/passwd")->status, 404);
}

TEST(HttpServerStart, NamesTheAddressAndTheRemedyWhenThePortIsTaken) {
  const auto first = http_server::start({"127.0.0.1", 0}, {});
  ASSERT_TRUE(first);
  const auto second = http_server::start((*first)->where(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ec::address_in_use);
  EXPECT_THAT(second.error().detail, HasSubstr(config::to_string((*first)->where())));
  EXPECT_THAT(second.error().detail, HasSubstr("`--set listen.http=HOST:PORT`"));
}

} // namespace
} // namespace handfast::runtime
