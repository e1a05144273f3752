#include "messages/assert.hpp"
#include "storage/run_reader.hpp"
#include "storage/run_writer.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast::storage {
namespace {

constexpr const char* folder = "/data/runs";

queue_entry entry(std::uint64_t n) {
  return {{n * 64}, static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n * 3), n + 1000};
}

std::vector<queue_entry> entries(std::uint64_t from, std::uint64_t count) {
  std::vector<queue_entry> all;
  for (std::uint64_t i = 0; i < count; ++i)
    all.push_back(entry(from + i));
  return all;
}

stored_outcome an_outcome(std::uint64_t transaction) {
  return {{transaction},
          {3},
          outcome::committed,
          origin::check,
          2,
          {transaction + 640},
          1'700'000'000'000,
          {transaction % 128 == 0 ? transaction + 1 : 0}};
}

class DerivedRun : public ::testing::Test {
protected:
  testing::sim_disk disk;

  run_writer begin(std::uint64_t from = 64, std::uint64_t to = 1 << 20) {
    return must(run_writer::begin(disk, folder, test_store_id, {from}, {to}, 99));
  }
  std::shared_ptr<const run_reader> finish(run_writer& writer) {
    return must(run_reader::open(disk, must(writer.commit()), test_store_id));
  }
};

TEST_F(DerivedRun, FindsEntriesOfAQueue) {
  auto writer = begin();
  must(writer.add_entries({{16}, {0}}, {100}, entries(100, 1000)));
  must(writer.add_entries({{16}, {1}}, {5}, entries(5, 3)));
  must(writer.add_entries({{17}, {0}}, {0}, entries(0, 700)));
  const auto run = finish(writer);
  const auto some = must(run->find_entries({{16}, {0}}, {500}, {10'000}, 32));
  EXPECT_EQ(some.first, queue_offset{500});
  EXPECT_EQ(some.found, entries(500, 32));
  EXPECT_EQ(must(run->find_entries({{16}, {1}}, {0}, {100}, 32)).found, entries(5, 3));
  EXPECT_EQ(must(run->find_entries({{16}, {1}}, {0}, {100}, 32)).first, queue_offset{5});
  EXPECT_EQ(must(run->find_entries({{17}, {0}}, {690}, {695}, 32)).found, entries(690, 5));
  EXPECT_EQ(must(run->find_entries({{17}, {0}}, {699}, {900}, 32)).found, entries(699, 1));
}

TEST_F(DerivedRun, FindsNothingWhereNothingIs) {
  auto writer = begin();
  must(writer.add_entries({{16}, {1}}, {5}, entries(5, 3)));
  const auto run = finish(writer);
  EXPECT_TRUE(must(run->find_entries({{16}, {1}}, {8}, {100}, 32)).found.empty());
  EXPECT_TRUE(must(run->find_entries({{16}, {1}}, {0}, {5}, 32)).found.empty());
  EXPECT_TRUE(must(run->find_entries({{16}, {0}}, {0}, {100}, 32)).found.empty());
  EXPECT_TRUE(must(run->find_entries({{99}, {0}}, {0}, {100}, 32)).found.empty());
  EXPECT_FALSE(must(run->find_outcome({64})).has_value());
  EXPECT_FALSE(must(run->find_view_sample(view::half, {5})).has_value());
}

TEST_F(DerivedRun, KeepsAQueueWithAHoleApart) {
  auto writer = begin();
  must(writer.add_entries({{16}, {0}}, {0}, entries(0, 10)));
  must(writer.add_entries({{16}, {0}}, {10}, entries(10, 10)));
  must(writer.add_entries({{16}, {0}}, {50}, entries(50, 10)));
  const auto run = finish(writer);
  EXPECT_EQ(run->count(run_section::extents), 2u);
  EXPECT_EQ(must(run->find_entries({{16}, {0}}, {5}, {100}, 99)).found, entries(5, 15));
  const auto behind = must(run->find_entries({{16}, {0}}, {20}, {100}, 99));
  EXPECT_EQ(behind.first, queue_offset{50});
  EXPECT_EQ(behind.found, entries(50, 10));
}

TEST_F(DerivedRun, HoldsTenThousandQueuesInOneFile) {
  auto writer = begin();
  for (std::uint32_t topic = 0; topic < 100; ++topic)
    for (std::uint16_t queue = 0; queue < 100; ++queue)
      must(writer.add_entries({{topic}, {queue}}, {topic}, entries(topic * 100 + queue, 1)));
  const auto run = finish(writer);
  EXPECT_LT(disk.content(run->path()).size(), 700'000u);
  EXPECT_EQ(must(run->find_entries({{57}, {31}}, {0}, {100}, 9)).found, entries(5731, 1));
  std::uint64_t queues = 0;
  must(run->for_each_extent([&](const queue_extent&) { ++queues; }));
  EXPECT_EQ(queues, 10'000u);
}

TEST_F(DerivedRun, FindsOutcomes) {
  auto writer = begin();
  for (std::uint64_t t = 64; t < 64'000; t += 64)
    must(writer.add_outcome(an_outcome(t)));
  const auto run = finish(writer);
  for (const std::uint64_t t : {64u, 6400u, 63'936u})
    EXPECT_EQ(must(run->find_outcome({t})), an_outcome(t));
  EXPECT_FALSE(must(run->find_outcome({65})).has_value());
  std::uint64_t count = 0;
  must(run->for_each_outcome([&](const stored_outcome&) { ++count; }));
  EXPECT_EQ(count, 999u);
}

TEST_F(DerivedRun, FindsTheSampleAtOrBelowAnOffset) {
  auto writer = begin();
  for (std::uint64_t i = 10; i < 2000; ++i)
    must(writer.add_view_sample(view::half, {{i * view_sample_stride}, {i * 1000}}));
  must(writer.add_view_sample(view::op, {{128}, {77'000}}));
  const auto run = finish(writer);
  EXPECT_EQ(must(run->find_view_sample(view::half, {64 * 20 + 63}))->at, position{20'000});
  EXPECT_EQ(must(run->find_view_sample(view::half, {64 * 20}))->at, position{20'000});
  EXPECT_FALSE(must(run->find_view_sample(view::half, {5})).has_value());
  EXPECT_EQ(must(run->find_view_sample(view::op, {1000}))->at, position{77'000});
}

TEST_F(DerivedRun, ReportsEveryDamagedByteOfABlock) {
  auto writer = begin();
  must(writer.add_entries({{16}, {0}}, {0}, entries(0, 400)));
  must(writer.add_outcome(an_outcome(64)));
  const auto path = must(writer.commit());
  const auto size = disk.content(path).size();
  for (std::uint64_t byte = 0; byte < size; byte += 97) {
    disk.flip_bit(path, byte, 2);
    const auto run = run_reader::open(disk, path, test_store_id);
    EXPECT_TRUE(!run || code_of((*run)->verify()) == ec::corrupt) << byte;
    disk.flip_bit(path, byte, 2);
  }
}

TEST_F(DerivedRun, ReportsAMissingEnd) {
  auto writer = begin();
  must(writer.add_entries({{16}, {0}}, {0}, entries(0, 400)));
  const auto path = must(writer.commit());
  const auto whole = disk.content(path);
  for (const auto n : {std::size_t{0}, std::size_t{20}, std::size_t{4000}, whole.size() - 1}) {
    disk.put_file(path, {reinterpret_cast<const char*>(whole.data()), n});
    EXPECT_EQ(code_of(run_reader::open(disk, path, test_store_id)), ec::corrupt) << n;
  }
}

TEST_F(DerivedRun, CatalogFindsTheFirstStretchThatIsNotCovered) {
  for (const auto& [from, to] : {std::pair{64, 1000}, {1000, 2000}, {3000, 4000}}) {
    auto writer = begin(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to));
    must(writer.commit());
  }
  const auto catalog = must(open_runs(disk, folder, test_store_id));
  EXPECT_EQ(catalog.runs.size(), 3u);
  EXPECT_EQ(catalog.first_uncovered({64}, {4000}), position{2000});
  EXPECT_EQ(catalog.first_uncovered({64}, {1500}), position{1500});
  EXPECT_EQ(catalog.first_uncovered({8}, {1500}), position{8});
}

TEST_F(DerivedRun, CatalogNamesDamagedRunsAndRemovesLeftovers) {
  auto writer = begin();
  const auto path = must(writer.commit());
  disk.flip_bit(path, 100, 1);
  disk.put_file("/data/runs/next.tmp", "...");
  const auto catalog = must(open_runs(disk, folder, test_store_id));
  EXPECT_TRUE(catalog.runs.empty());
  ASSERT_EQ(catalog.damaged.size(), 1u);
  EXPECT_EQ(catalog.damaged[0].path, path);
  EXPECT_EQ(must(disk.list(folder)).size(), 1u);
}

TEST_F(DerivedRun, RefusesUnsortedInput) {
  auto writer = begin();
  must(writer.add_outcome(an_outcome(128)));
  EXPECT_THROW((void)writer.add_outcome(an_outcome(64)), invariant_broken);
  EXPECT_THROW((void)writer.add_entries({{16}, {0}}, {0}, entries(0, 1)), invariant_broken);
}

} // namespace
} // namespace handfast::storage
