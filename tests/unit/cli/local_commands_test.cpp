#include "runtime/cli/record_view.hpp"
#include "runtime/cli/status_command.hpp"

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
  Folder()
      : path{std::filesystem::temp_directory_path() /
             ("handfast-cli-test-" + std::to_string(::getpid()))} {
    std::filesystem::create_directories(path);
  }
  ~Folder() override { std::filesystem::remove_all(path); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{path / name} << text;
    return path / name;
  }

  const std::filesystem::path path;
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
    EXPECT_THAT(run.err, HasSubstr("Choose an empty folder or one that a node made"));
  }
}

TEST_F(LogCommands, RefuseAFolderThatIsNotThere) {
  EXPECT_EQ(run_cli({"log", "verify", path / "none"}).code, exit_refused);
}

TEST(RecordView, SummarisesDecisions) {
  log_record record;
  record.type = record_type::decide;
  decide_record decide;
  decide.op_offset = queue_offset{4};
  decide.decisions.push_back({position{4'160}, outcome::committed, origin::check, 1, group_id{9}});
  decide.entries.push_back({});
  record.content = decide;
  EXPECT_EQ(summary_of(record), "op 4: 4160 committed by check; topic 0/0@0");
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

TEST(StatusView, ReadsUnitsFromTheKeys) {
  auto status = nlohmann::ordered_json::parse(R"({
    "node": "n1", "uptime_ms": 125000, "started_at_ms": 1700000000007, "ready": true,
    "log": {"size_bytes": 1536, "records": 12345},
    "actors": [{"actor": "half-store", "restarts": 0}, {"actor": "queue", "restarts": 2}]})");
  std::ostringstream out;
  print_status(out, status, false);
  EXPECT_EQ(out.str(), "node      n1\n"
                       "uptime    2 min 5 s\n"
                       "started   2023-11-14 22:13:20.007Z\n"
                       "ready     yes\n"
                       "\nlog\n"
                       "size      1.5 KiB\n"
                       "records   12,345\n"
                       "\nactors\n"
                       "ACTOR       RESTARTS\n"
                       "half-store         0\n"
                       "queue              2\n");
}

} // namespace
} // namespace handfast::cli::test
