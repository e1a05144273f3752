#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>

#include "cli_fixture.hpp"

namespace handfast::cli::test {
namespace {

using ::testing::HasSubstr;

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Docs, ListEveryCommandWithItsOptions) {
  auto page = run_cli({"docs", "cli"}).out;
  EXPECT_THAT(page, HasSubstr("### `handfast tx send TOPIC BODY --group GROUP`\n"));
  EXPECT_THAT(page, HasSubstr("| `--join ID` |"));
  EXPECT_THAT(page, HasSubstr("### `handfast produce TOPIC [BODY]`\n"));
  EXPECT_THAT(page, HasSubstr("```\nhandfast produce orders 'order 1 packed' --tag packed\n"));
}

/// The file also describes `node`, which the whole program adds; here all the others are compared.
TEST(Docs, AreCheckedInAsTheProgramPrintsThem) {
  auto checked_in = content_of(HANDFAST_SOURCE_DIR "/docs/cli.md");
  auto node = checked_in.find("## node\n");
  if (node != std::string::npos)
    checked_in.erase(node, checked_in.find("\n## ", node) + 1 - node);
  EXPECT_EQ(run_cli({"docs", "cli"}).out, checked_in)
      << "write it anew with: handfast docs cli > docs/cli.md";
}

/// Whether a command line asks for what is there; it is not run.
ended parsed(std::string line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool inside = false;
  for (const char c : line + " ") {
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      inside = true;
    } else if (quote == 0 && c == ' ') {
      if (inside)
        words.push_back(word);
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  words.erase(words.begin());
  words.insert(words.end(), {"--server", nobody});
  return run_cli(words);
}

TEST(Docs, ShowCommandLinesThatTheProgramTakes) {
  const auto page = content_of(HANDFAST_SOURCE_DIR "/docs/consuming.md");
  constexpr std::string_view opening = "```sh\n";
  auto lines = 0;
  for (std::size_t at = 0; (at = page.find(opening, at)) != std::string::npos;) {
    at += opening.size();
    std::istringstream block{page.substr(at, page.find("```", at) - at)};
    for (std::string line; std::getline(block, line); ++lines) {
      if (line.find("--offsets") != std::string::npos)
        continue; // would make the file
      const auto run = parsed(line);
      EXPECT_EQ(run.code, exit_unknown) << line << '\n' << run.err; // no node is there
    }
  }
  EXPECT_GE(lines, 15);
}

TEST(Readme, ShowsCodeOfTheExampleThatIsBuilt) {
  auto readme = content_of(HANDFAST_SOURCE_DIR "/README.md");
  auto example = content_of(HANDFAST_SOURCE_DIR "/examples/order_payment.cpp");
  constexpr std::string_view opening = "```cpp\n";
  auto blocks = 0;
  for (std::size_t at = 0; (at = readme.find(opening, at)) != std::string::npos; ++blocks) {
    at += opening.size();
    EXPECT_THAT(example, HasSubstr(readme.substr(at, readme.find("```", at) - at)));
  }
  EXPECT_GT(blocks, 0);
}

} // namespace
} // namespace handfast::cli::test
