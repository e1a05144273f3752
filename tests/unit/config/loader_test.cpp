#include "config/loader.hpp"
#include "tests/support/own_folder.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>

using namespace handfast;
using namespace handfast::config;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

configuration good(const loader& from) {
  auto read = from.finish();
  EXPECT_TRUE(read) << (read ? "" : read.error().detail);
  return read.value_or(configuration{});
}

std::string problems(const loader& from) {
  auto read = from.finish();
  if (read)
    return "accepted";
  EXPECT_EQ(read.error().code, ec::config_invalid);
  return read.error().detail;
}

std::string problems_of_text(std::string_view toml) {
  return problems(loader{}.text(toml, "handfast.toml"));
}

effective_value find(const configuration& in, std::string_view key) {
  for (auto& entry : in.effective()) {
    if (entry.key == key)
      return entry;
  }
  ADD_FAILURE() << key;
  return {};
}

} // namespace

TEST(Loader, GivesTheDefaultsOfNothing) {
  auto read = good(loader{});
  EXPECT_EQ(read.values.listen.native, (address{"127.0.0.1", 7310}));
  EXPECT_EQ(find(read, "topic.max").source, "default");
  EXPECT_EQ(read.effective().size(), options().size());
}

TEST(Loader, ReadsSectionsAndDottedKeysAlike) {
  auto dotted = good(loader{}.text("topic.max = 3\n", "a"));
  auto section = good(loader{}.text("[topic]\nmax = 3\n", "a"));
  EXPECT_EQ(dotted.values.topic.max, 3U);
  EXPECT_EQ(section.values.topic.max, 3U);
}

TEST(Loader, ReadsEveryKindOfValue) {
  auto read = good(loader{}.text(R"(
insecure = true
transaction.check_max = 3
transaction.check_backoff = 2
limits.body = 1024
limits.frame = "1MiB"
[topic]
auto_create = false
[listen]
native = "0.0.0.0:9000"
http = ""
)",
                                 "handfast.toml"));
  EXPECT_TRUE(read.values.insecure);
  EXPECT_EQ(read.values.transaction.checks.check_max, 3U);
  EXPECT_EQ(read.values.transaction.checks.check_backoff, 2.0);
  EXPECT_EQ(read.values.limits.body, 1024U);
  EXPECT_EQ(read.values.limits.frame, 1U << 20);
  EXPECT_FALSE(read.values.topic.auto_create);
  EXPECT_EQ(read.values.listen.native, (address{"0.0.0.0", 9000}));
  EXPECT_TRUE(read.values.listen.http.is_off());
}

TEST(Loader, LetsTheLaterValueWinAndSaysWhereItCameFrom) {
  auto read = good(loader{}
                       .text("topic.max = 1\ntopic.default_queues = 2\n", "handfast.toml")
                       .set("store.dir", "/data", "--data")
                       .set("topic.max=9"));
  EXPECT_EQ(read.values.topic.max, 9U);
  EXPECT_EQ(find(read, "topic.max"), (effective_value{"topic.max", "9", "--set", false}));
  EXPECT_EQ(find(read, "topic.default_queues").source, "handfast.toml:2");
  EXPECT_EQ(find(read, "store.dir"), (effective_value{"store.dir", "/data", "--data", true}));
}

TEST(Loader, KeepsAnEqualsSignInAValue) {
  EXPECT_EQ(good(loader{}.set("store.dir=/a=b")).values.store.dir, "/a=b");
}

TEST(Loader, SuggestsTheNearestKey) {
  EXPECT_EQ(
      problems_of_text("\n[transaction]\ntimeot = \"6s\"\n"),
      "handfast.toml:3: unknown key 'transaction.timeot'; did you mean `transaction.timeout`?");
  EXPECT_THAT(
      problems(loader{}.set("topic.autocreate=true")),
      HasSubstr("--set: unknown key 'topic.autocreate'; did you mean `topic.auto_create`?"));
}

TEST(Loader, RefusesASectionNobodyKnowsAlsoWhenEmpty) {
  EXPECT_THAT(problems_of_text("[transactoin]\n"), HasSubstr("unknown key 'transactoin'"));
  EXPECT_EQ(problems_of_text("[transaction]\n"), "accepted");
}

TEST(Loader, TellsASectionFromAKey) {
  EXPECT_THAT(problems_of_text("transaction = 5\n"), HasSubstr("'transaction' is a section"));
  EXPECT_THAT(problems_of_text("[store.dir]\nx = 1\n"),
              HasSubstr("store.dir: a path in quotes is wanted, not a section"));
}

TEST(Loader, NamesAWrongType) {
  EXPECT_THAT(problems_of_text("transaction.check_max = \"3\"\n"),
              HasSubstr("handfast.toml:1: transaction.check_max: a whole number without a sign is "
                        "wanted, not a string"));
  EXPECT_THAT(problems_of_text("insecure = 1\n"), HasSubstr("not a whole number"));
  EXPECT_THAT(problems_of_text("store.dir = [\"a\"]\n"), HasSubstr("not an array"));
  EXPECT_THAT(problems_of_text("store.dir = 1979-05-27\n"), HasSubstr("not a date"));
  EXPECT_THAT(problems_of_text("transaction.check_max = 1.5\n"), HasSubstr("with a fraction"));
}

TEST(Loader, ListsTheUnitsForABareDuration) {
  EXPECT_THAT(problems_of_text("transaction.timeout = 6\n"),
              AllOf(HasSubstr("transaction.timeout: '6'"), HasSubstr("ms, s, m, h, d")));
}

TEST(Loader, NamesTheLineOfASyntaxError) {
  EXPECT_THAT(problems_of_text("insecure = true\ntopic.max = = 4\n"),
              HasSubstr("handfast.toml:2: TOML syntax:"));
  EXPECT_THAT(problems_of_text("a = 1\na = 2\n"), HasSubstr("handfast.toml:2: TOML syntax:"));
}

TEST(Loader, ReportsAllProblemsTogether) {
  auto text =
      problems(loader{}
                   .text("topic.max = -1\nstore.segment_size = \"1Mb\"\nnonsense = 1\n", "f")
                   .set("no equals sign")
                   .set("listen.native=0.0.0.0:7310"));
  EXPECT_THAT(text, AllOf(HasSubstr("f:1: topic.max"), HasSubstr("f:2: store.segment_size"),
                          HasSubstr("f:3: unknown key"), HasSubstr("--set: 'no equals sign'"),
                          HasSubstr("\nlisten.native: 0.0.0.0:7310")));
}

TEST(Loader, SaysThatAFileIsMissingOrNoFile) {
  EXPECT_THAT(problems(loader{}.file("/nowhere/handfast.toml")),
              HasSubstr("/nowhere/handfast.toml: No such file"));
  EXPECT_THAT(problems(loader{}.file("/")), HasSubstr("/: is not a file"));
  EXPECT_THAT(problems(loader{}.file("/dev/zero")), HasSubstr("is not a file"));
}

TEST(Loader, ReadsAFile) {
  const test::own_folder folder;
  auto path = folder.path() / "handfast.toml";
  std::ofstream{path} << "topic.max = 5\n";
  auto read = good(loader{}.file(path));
  EXPECT_EQ(read.values.topic.max, 5U);
  EXPECT_EQ(find(read, "topic.max").source, path.string() + ":1");
}

TEST(EffectiveValues, CanBeReadBackAsAConfiguration) {
  auto before = good(loader{}
                         .set("store.dir=a \"b\"\\c\td")
                         .set("transaction.timeout=1500ms")
                         .set("listen.http="));
  auto after = good(loader{}.text(render_text(before.effective()), "shown"));
  EXPECT_EQ(after.values.store.dir, before.values.store.dir);
  EXPECT_EQ(after.values.transaction.checks.timeout, 1500ms);
  EXPECT_TRUE(after.values.listen.http.is_off());
}

TEST(EffectiveValues, AreShownWithTheirSource) {
  auto text = render_text(good(loader{}.set("topic.max=5")).effective());
  EXPECT_THAT(text, AllOf(HasSubstr("topic.max = 5 "), HasSubstr("# --set\n"),
                          HasSubstr("transaction.timeout = \"6s\" "), HasSubstr("# default\n")));
}

TEST(EffectiveValues, AreShownAsJson) {
  auto text = render_json(good(loader{}.set("topic.max=5")).effective());
  EXPECT_THAT(text,
              AllOf(HasSubstr(R"({"key": "topic.max", "value": 5, "source": "--set"},)"),
                    HasSubstr(R"({"key": "log.level", "value": "info", "source": "default"})"),
                    Not(HasSubstr(",\n]"))));
}
