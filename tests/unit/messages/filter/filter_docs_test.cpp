#include "messages/filter/filter.hpp"
#include "messages/limits.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace handfast {
namespace {

using ::testing::HasSubstr;

/// The lines of the page's fenced blocks, by the word behind the fence.
std::map<std::string, std::vector<std::string>> examples() {
  std::ifstream page{HANDFAST_SOURCE_DIR "/docs/filters.md"};
  EXPECT_TRUE(page.is_open());
  std::map<std::string, std::vector<std::string>> found;
  std::string kind;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      kind = line.substr(3);
      inside = !inside;
    } else if (inside) {
      found[kind].push_back(line);
    }
  }
  EXPECT_FALSE(inside);
  return found;
}

std::string page() {
  std::ifstream in{HANDFAST_SOURCE_DIR "/docs/filters.md"};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(FilterDocs, HasExamplesThatAreAccepted) {
  auto all = examples();
  EXPECT_GE(all["tags"].size(), 3u);
  EXPECT_GE(all["sql"].size(), 10u);
  for (const auto& text : all["tags"])
    EXPECT_TRUE(parse_tag_filter(text)) << text;
  for (const auto& text : all["sql"]) {
    const auto made = parse_sql_filter(text);
    EXPECT_TRUE(made) << text << ": " << made.error().detail;
  }
}

TEST(FilterDocs, HasExamplesThatAreRefused) {
  auto all = examples();
  EXPECT_GE(all["refused"].size(), 5u);
  for (const auto& text : all["refused"])
    EXPECT_FALSE(parse_sql_filter(text)) << text;
}

TEST(FilterDocs, HasTheExamplesOfItsTableAccepted) {
  std::istringstream lines{page()};
  std::size_t tried = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    inside = inside ? line.starts_with("|") : line.starts_with("| written |");
    const auto cell = inside ? line.substr(1, line.find('|', 1) - 1) : std::string{};
    for (std::size_t at = 0; (at = cell.find('`', at)) != std::string::npos; ++tried) {
      const auto end = cell.find('`', at + 1);
      const auto text = cell.substr(at + 1, end - at - 1);
      EXPECT_TRUE(parse_sql_filter(text)) << text;
      at = end + 1;
    }
  }
  EXPECT_GE(tried, 20u);
}

TEST(FilterDocs, ShowsAFaultAsItIs) {
  EXPECT_THAT(page(), HasSubstr(parse_sql_filter("a == 1").error().detail));
}

TEST(FilterDocs, TellsEveryLimit) {
  for (const auto limit :
       {limits::filter_bytes_max, limits::filter_conditions_max, limits::filter_searches_max,
        limits::filter_properties_max, limits::filter_values_max, limits::filter_depth_max,
        limits::like_elements_max})
    EXPECT_THAT(page(), HasSubstr(" | " + std::to_string(limit)));
}

} // namespace
} // namespace handfast
