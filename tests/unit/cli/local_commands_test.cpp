#include "runtime/cli/record_view.hpp"
#include "runtime/cli/status_view.hpp"
#include "tests/support/own_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "cli_fixture.hpp"

namespace handfast::cli::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Folder : public ::testing::Test {
protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{path / name} << text;
    return path / name;
  }

  const handfast::test::own_folder own;
  const std::filesystem::path path = own.path();
};

using ConfigCommands = Folder;
using LogCommands = Folder;

TEST_F(ConfigCommands, ShowWhereEachValueComesFrom) {
  auto file = write("node.toml", "[transaction]\ntimeout = \"9s\"\n");
  auto run = run_cli({"config", "show", "--config", file, "--set", "log.level=debug", "--data",
                      "/var/x", "--json"});
  EXPECT_EQ(run.code, exit_done);
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (const auto& one : nlohmann::json::parse(run.out))
    values[one["key"]] = {one["value"].dump(), one["source"]};
  EXPECT_EQ(values["transaction.timeout"].first, "\"9s\"");
  EXPECT_THAT(values["transaction.timeout"].second, HasSubstr("node.toml:2"));
  EXPECT_EQ(values["log.level"], (std::pair<std::string, std::string>{"\"debug\"", "--set"}));
  EXPECT_EQ(values["store.dir"], (std::pair<std::string, std::string>{"\"/var/x\"", "--data"}));
  EXPECT_EQ(values["transaction.check_max"].second, "default");
}

TEST_F(ConfigCommands, LetSetWinOverFlags) {
  auto run = run_cli({"config", "show", "--set", "listen.native=127.0.0.1:2", "--listen",
                      "127.0.0.1:1", "--set", "store.dir=/b", "--data", "/a"});
  EXPECT_THAT(run.out, HasSubstr("listen.native = \"127.0.0.1:2\""));
  EXPECT_THAT(run.out, HasSubstr("store.dir = \"/b\""));
}

TEST_F(ConfigCommands, NameEveryProblemAtOnce) {
  auto file =
      write("node.toml", "[transaction]\ntimeuot = \"9s\"\ncheck_interval = \"9 parsecs\"\n");
  auto run = run_cli({"config", "check", "--config", file});
  EXPECT_EQ(run.code, exit_refused);
  EXPECT_THAT(run.err, HasSubstr("did you mean `transaction.timeout`?"));
  EXPECT_THAT(run.err, HasSubstr("transaction.check_interval"));
  EXPECT_THAT(run.err, StartsWith("handfast: "));
}

TEST_F(ConfigCommands, AcceptAValidOne) {
  auto file = write("node.toml", "[transaction]\ntimeout = \"9s\"\n");
  auto run = run_cli({"config", "check", "--config", file});
  EXPECT_EQ(run.code, exit_done);
  EXPECT_EQ(run.out, "valid: 1 key is set, the others have their defaults\n");
}

TEST_F(ConfigCommands, RefuseAMissingFile) {
  auto run = run_cli({"config", "show", "--config", path / "none.toml"});
  EXPECT_EQ(run.code, exit_refused);
  EXPECT_THAT(run.err, HasSubstr("none.toml"));
}

TEST_F(LogCommands, RefuseAFolderThatIsNoStore) {
  for (const auto* command : {"verify", "dump"}) {
    auto run = run_cli({"log", command, path});
    EXPECT_EQ(run.code, exit_refused);
    EXPECT_THAT(run.err, HasSubstr(path.string()));
    EXPECT_THAT(run.err, HasSubstr("Name the data folder of a node"));
  }
}

TEST_F(LogCommands, RefuseAFolderThatIsNotThere) {
  auto run = run_cli({"log", "verify", path / "none"});
  EXPECT_EQ(run.code, exit_refused);
  EXPECT_THAT(run.err, HasSubstr("there is no folder"));
}

TEST_F(LogCommands, RefuseARangeThatIsEmpty) {
  auto run = run_cli({"log", "dump", path, "--from", "800", "--to", "800"});
  EXPECT_EQ(run.code, exit_usage);
  EXPECT_THAT(run.err, HasSubstr("does not lie behind --from"));
}

TEST(RecordView, SummarisesDecisions) {
  log_record record;
  record.type = record_type::decide;
  decide_record decide;
  decide.op_offset = queue_offset{4};
  decide.decisions.push_back({position{4'160}, outcome::committed, origin::check, 1, group_id{9}});
  decide.entries.push_back({});
  record.content = decide;
  EXPECT_EQ(summary_of(record), "4160 committed by a check, visible: topic 0 queue 0 offset 0");
  auto value = json_of(record, false);
  EXPECT_EQ(value["op_offset"], 4);
  EXPECT_EQ(value["decisions"][0]["by"], "check");
  EXPECT_EQ(value["entries"].size(), 1u);
}

TEST(RecordView, NamesTopicsAndGroupsWhoseRecordsItRead) {
  known_names names;
  log_record made;
  made.type = record_type::meta;
  made.content = meta_record{meta_change::topic_put, 16, "orders", 4, {}};
  names.learn(made);
  made.content = meta_record{meta_change::group_put, 1, "shop", 0, {}};
  names.learn(made);
  log_record record;
  record.type = record_type::half;
  message_record half;
  half.topic = topic_id{16};
  half.group = group_id{1};
  record.content = half;
  EXPECT_THAT(summary_of(record, names), HasSubstr("orders queue 0 offset 0, of shop"));
  EXPECT_THAT(summary_of(record), HasSubstr("topic 16 queue 0 offset 0, of group 1"));
  EXPECT_EQ(json_of(record, false, names)["topic_name"], "orders");
}

TEST(RecordView, KeepsBodiesOutUnlessAsked) {
  log_record record;
  record.type = record_type::half;
  message_record half;
  half.payload = shared_bytes::copy_of(std::string_view{"k\1v\2body"});
  half.properties_size = 4;
  record.content = half;
  EXPECT_FALSE(json_of(record, false).contains("body"));
  EXPECT_EQ(json_of(record, true)["body"], "body");
  EXPECT_EQ(json_of(record, true)["body_bytes"], 4);
}

const auto a_status = nlohmann::ordered_json::parse(R"({
    "actors": [
      {"actor": "half-store", "quarantined": 0, "samples": [
        {"name": "handfast_pending_transactions_all", "labels": "", "value": 3.0},
        {"name": "rocketmq_half_messages", "labels": "topic=\"a\"", "value": 1.0}]},
      {"actor": "commit-log", "quarantined": 2, "samples": [
        {"name": "rocketmq_storage_size", "labels": "", "value": 1536.0}]},
      {"actor": "consumer-group/1", "samples": [
        {"name": "rocketmq_consumer_lag_messages", "labels": "queue=\"0\"", "value": 4.0},
        {"name": "rocketmq_consumer_lag_messages", "labels": "queue=\"1\"", "value": 1000.0}]}],
    "not_answering": ["log_reader", "queue/16/3"],
    "restarts": {"half_store": 2, "queue": 0}})");

std::string summary_of_status(const nlohmann::ordered_json& status) {
  std::ostringstream out;
  print_summary(out, status, false);
  return out.str();
}

TEST(StatusView, SumsUpWhatTheActorsSay) {
  EXPECT_EQ(summary_of_status(a_status), "transactions    3 pending\n"
                                         "consumers       1,004 messages behind\n"
                                         "log             1.5 KiB written\n"
                                         "not answering   log_reader, queue/16/3\n"
                                         "restarts        2 of half store\n"
                                         "quarantine      2: see `handfast quarantine list`\n");
}

TEST(StatusView, TakesAnyObject) {
  for (const auto* text : {"{}", R"({"actors": 5, "restarts": []})",
                           R"({"actors": [1, {"samples": [null, {"value": "x"}]}]})"})
    EXPECT_THAT(summary_of_status(nlohmann::ordered_json::parse(text)),
                HasSubstr("quarantine   empty\n"));
}

TEST(StatusView, ListsEverySampleWhenAsked) {
  std::ostringstream out;
  print_samples(out, a_status, false);
  EXPECT_THAT(out.str(), HasSubstr("half-store        rocketmq_half_messages  "));
  EXPECT_THAT(out.str(), HasSubstr("  topic=\"a\" "));
}

TEST(Complaint, NamesInputReasonAndRemedyOnce) {
  EXPECT_EQ(sentence_of("topic 'x'", {ec::unknown_topic, "'x'"}),
            "topic 'x': unknown topic. Create it with `handfast topic create NAME`, or set "
            "`topic.auto_create = true`.");
  EXPECT_EQ(sentence_of("topic 'x'", {ec::topic_exists, "it has 4 queues"}),
            "topic 'x': it has 4 queues. Use the existing topic or another name.");
  EXPECT_EQ(sentence_of("transaction 7", {ec::conflict_committed, {}}),
            "transaction 7: it was committed before; that outcome stands.");
  EXPECT_EQ(sentence_of("topic 'a/b'", {ec::bad_name, "topic name 'a/b' has '/' as character 2"}),
            "topic name 'a/b' has '/' as character 2. Names have 1 to 127 characters out of "
            "letters, digits, '_', '-', '%' and '|'.");
}

} // namespace
} // namespace handfast::cli::test
