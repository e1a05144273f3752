#include "runtime/logging.hpp"
#include "tests/support/own_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

namespace handfast::runtime {
namespace {

namespace fs = std::filesystem;

class Logging : public testing::Test {
protected:
  Logging() { settings_.file = folder_ / "node.log"; }

  static std::vector<std::string> lines_of(const fs::path& file) {
    std::ifstream in{file};
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
      lines.push_back(line);
    return lines;
  }

  const handfast::test::own_folder own_;
  const fs::path folder_ = own_.path();
  config::log_settings settings_;
};

TEST_F(Logging, WritesJsonThatParsesWhateverTheTextHolds) {
  settings_.format = config::log_format::json;
  {
    auto log = logging::start(settings_);
    ASSERT_TRUE(log);
    spdlog::warn("a \"quoted\" \\ name\nwith a {} break", "line");
  }
  const auto lines = lines_of(settings_.file);
  ASSERT_EQ(lines.size(), 1u);
  const auto parsed = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(parsed["event"], "a \"quoted\" \\ name\nwith a line break");
  EXPECT_EQ(parsed["level"], "warning");
}

TEST_F(Logging, LeavesOutWhatIsBelowTheLevel) {
  settings_.level = config::log_level::warn;
  {
    auto log = logging::start(settings_);
    spdlog::info("quiet");
    spdlog::error("loud");
  }
  EXPECT_EQ(lines_of(settings_.file).size(), 1u);
}

TEST_F(Logging, OpensTheFileAgainByItsName) {
  {
    auto log = logging::start(settings_);
    ASSERT_TRUE(log);
    spdlog::info("before");
    fs::rename(settings_.file, folder_ / "node.log.1");
    (*log)->reopen();
    spdlog::info("after");
  }
  EXPECT_EQ(lines_of(folder_ / "node.log.1").size(), 1u);
  EXPECT_THAT(lines_of(settings_.file).back(), testing::HasSubstr("after"));
}

TEST_F(Logging, NamesAFileThatCannotBeOpened) {
  settings_.file = folder_ / "missing" / "node.log";
  const auto log = logging::start(settings_);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, ec::config_invalid);
  EXPECT_THAT(log.error().detail, testing::HasSubstr(settings_.file.string()));
}

} // namespace
} // namespace handfast::runtime
