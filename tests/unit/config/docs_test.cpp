#include "config/help.hpp"
#include "config/options.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

using namespace handfast::config;
using testing::HasSubstr;

TEST(ConfigurationPage, IsTheOneThatTheTableRenders) {
  std::ifstream in{HANDFAST_SOURCE_DIR "/docs/configuration.md"};
  std::ostringstream checked_in;
  checked_in << in.rdbuf();
  EXPECT_TRUE(checked_in.str() == render_markdown())
      << "docs/configuration.md differs from the option table. Render it again:\n"
         "  build/release/handfast config docs > docs/configuration.md";
}

TEST(ConfigurationPage, NamesEveryKey) {
  auto page = render_markdown();
  for (const auto& row : options())
    EXPECT_THAT(page, HasSubstr("| `" + std::string{row.key} + "` | "));
}

TEST(ConfigurationHelp, NamesEveryKeyWithItsDefault) {
  auto help = render_help();
  for (const auto& row : options())
    EXPECT_THAT(help, HasSubstr(std::string{row.key} + " = " + default_of(row)));
}
