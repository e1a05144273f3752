#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>

#include "cli_fixture.hpp"

namespace handfast::cli::test {
namespace {

using ::testing::HasSubstr;

TEST(Docs, ListEveryCommandWithItsOptions) {
  auto page = run_cli({"docs", "cli"}).out;
  EXPECT_THAT(page, HasSubstr("### `handfast tx send TOPIC BODY --group GROUP`\n"));
  EXPECT_THAT(page, HasSubstr("| `--join ID` |"));
  EXPECT_THAT(page, HasSubstr("### `handfast produce TOPIC [BODY]`\n"));
  EXPECT_THAT(page, HasSubstr("```\nhandfast produce orders 'order 1 packed' --tag packed\n"));
}

/// The file also describes `node`, which the whole program adds; here all the others are compared.
TEST(Docs, AreCheckedInAsTheProgramPrintsThem) {
  std::ifstream file{HANDFAST_SOURCE_DIR "/docs/cli.md"};
  std::string checked_in{std::istreambuf_iterator<char>{file}, {}};
  auto node = checked_in.find("## node\n");
  if (node != std::string::npos)
    checked_in.erase(node, checked_in.find("\n## ", node) + 1 - node);
  EXPECT_EQ(run_cli({"docs", "cli"}).out, checked_in)
      << "write it anew with: handfast docs cli > docs/cli.md";
}

} // namespace
} // namespace handfast::cli::test
