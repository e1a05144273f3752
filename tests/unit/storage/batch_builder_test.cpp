#include "storage/batch_builder.hpp"
#include "storage/record_reader.hpp"
#include "tests/unit/storage/store_fixture.hpp"

namespace handfast::storage {
namespace {

class BatchBuilder : public ::testing::Test {
protected:
  testing::sim_disk disk;
  live_store live{disk};

  std::string read_body(position at) {
    return body_of(must(record_reader{*live.store.log, live.codec}.read(at)));
  }
};

TEST_F(BatchBuilder, NamesThePositionBeforeAdding) {
  const auto size = must(record_codec::size_of(a_message("one")));
  const auto named = must(live.builder.next_position(size.stored));
  EXPECT_EQ(live.add(a_message("one")), named);
}

TEST_F(BatchBuilder, WritesWhatReadsBack) {
  const auto one = live.add(a_message("one"));
  const auto two = live.add(a_message(std::string(5000, 'b')));
  const auto three = live.add(a_message(std::string(1001, 'c')));
  const auto four = live.add(a_message(""));
  live.commit();
  EXPECT_EQ(read_body(one), "one");
  EXPECT_EQ(read_body(two), std::string(5000, 'b'));
  EXPECT_EQ(read_body(three), std::string(1001, 'c'));
  EXPECT_EQ(read_body(four), "");
}

TEST_F(BatchBuilder, BatchesTile) {
  live.add(a_message("one"));
  const auto first = live.write();
  live.add(a_message("two"));
  const auto second = live.write();
  EXPECT_EQ(first.to(), second.from());
  EXPECT_EQ(second.records()->from, second.from());
  EXPECT_EQ(second.records()->to, second.to());
  EXPECT_EQ(second.records()->records.size(), 1u);
}

TEST_F(BatchBuilder, StampsPositionLengthAndEpoch) {
  const auto at = live.add(a_message("one"));
  const auto batch = live.write();
  const auto& record = batch.records()->records.front();
  EXPECT_EQ(record.at, at);
  EXPECT_EQ(record.length, must(record_codec::size_of(record)).stored);
  EXPECT_EQ(record.epoch, 1u);
}

TEST_F(BatchBuilder, PadsASegmentRatherThanStraddle) {
  live.append(a_message(std::string(40'000, 'a')));
  const auto at = live.append(a_message(std::string(40'000, 'b')));
  EXPECT_EQ(at, position{segment_bytes_min + segment_header_bytes});
  EXPECT_EQ(read_body(at), std::string(40'000, 'b'));
  log_scanner scanner{*live.store.log, live.codec, live.store.log->begin()};
  const auto all = must(scanner.next_batch(limits::mib, false));
  EXPECT_EQ(all->records.size(), 2u) << "the PAD between them is not shown";
}

TEST_F(BatchBuilder, PadsInsideOneBatchToo) {
  std::vector<position> at;
  for (int i = 0; i < 30; ++i)
    at.push_back(live.add(a_message(std::string(10'000, static_cast<char>('a' + i % 26)))));
  live.commit();
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(read_body(at[static_cast<std::size_t>(i)]),
              std::string(10'000, static_cast<char>('a' + i % 26)));
}

TEST_F(BatchBuilder, FillsASegmentToTheLastByte) {
  const auto head = must(record_codec::size_of(a_message("x"))).head;
  const auto room = segment_bytes_min - segment_header_bytes - head;
  const auto first = live.append(a_message(std::string(room, 'f')));
  EXPECT_EQ(first, position{segment_header_bytes});
  const auto second = live.append(a_message("next"));
  EXPECT_EQ(second, position{segment_bytes_min + segment_header_bytes});
  EXPECT_EQ(read_body(second), "next");
}

TEST_F(BatchBuilder, PassesOverARestTooShortForAHeader) {
  const auto head = must(record_codec::size_of(a_message("x"))).head;
  for (const std::uint64_t rest : {8u, 32u, 40u, 48u}) {
    const auto base = live.builder.tail().value / segment_bytes_min * segment_bytes_min;
    const auto first = std::max(live.builder.tail().value, base + segment_header_bytes);
    const auto room = base + segment_bytes_min - first - head - rest;
    live.append(a_message(std::string(room, 'f')));
    const auto next = live.append(a_message("next"));
    EXPECT_EQ(read_body(next), "next");
  }
  log_scanner scanner{*live.store.log, live.codec, live.store.log->begin()};
  EXPECT_EQ(must(scanner.next_batch(limits::mib, false))->records.size(), 8u);
}

TEST_F(BatchBuilder, RefusesARecordThatNoSegmentHolds) {
  const auto refused = live.builder.add(a_message(std::string(segment_bytes_min, 'x')));
  EXPECT_EQ(code_of(refused), ec::body_too_large);
  EXPECT_TRUE(live.builder.empty());
}

TEST_F(BatchBuilder, IsFullAtItsLimits) {
  batch_builder few{live.codec, live.store.log->layout(), live.store.report.end, {1 << 20, 2}};
  must(few.add(a_message("1")));
  EXPECT_FALSE(few.full());
  must(few.add(a_message("2")));
  EXPECT_TRUE(few.full());
}

TEST_F(BatchBuilder, TellsHowFarBehindTheDurableEndIs) {
  live.append(a_message("durable"));
  const auto durable = live.builder.tail();
  live.add(a_message("one"));
  live.add(a_message("two"));
  live.commit();
  log_scanner scanner{*live.store.log, live.codec, durable};
  log_record record;
  ASSERT_EQ(scanner.next(record), scan_status::record);
  EXPECT_EQ(scanner.header().durable(), durable);
  ASSERT_EQ(scanner.next(record), scan_status::record);
  EXPECT_EQ(scanner.header().durable(), durable);
}

TEST_F(BatchBuilder, ReusesTheMemoryOfAFinishedBatch) {
  for (int i = 0; i < 5; ++i) {
    const auto body = "body " + std::to_string(i);
    const auto at = live.add(a_message(body));
    auto batch = live.write();
    live.builder.recycle(std::move(batch));
    EXPECT_EQ(read_body(at), body);
  }
}

TEST_F(BatchBuilder, ChangesTheSegmentSizeBetweenRuns) {
  const auto first = live.append(a_message("in a small segment"));
  disk.process_killed();
  auto options = live_store::default_options();
  options.segments.segment_bytes = 4 * segment_bytes_min;
  live_store again{disk, options};
  for (int i = 0; i < 4; ++i)
    again.append(a_message(std::string(60'000, 'x')));
  disk.process_killed();
  live_store third{disk};
  EXPECT_EQ(third.found.records.size(), 5u);
  EXPECT_EQ(third.found.records.front().at, first);
}

TEST_F(BatchBuilder, WritesNothingWhenTheDiskIsFull) {
  live.append(a_message("before"));
  const auto space = must(disk.space("/"));
  disk.set_capacity(space.capacity - space.available);
  live.add(a_message(std::string(30'000, 'a')));
  live.add(a_message(std::string(40'000, 'b'))); // needs a new segment
  const auto batch = live.builder.take();
  EXPECT_EQ(code_of(batch.write(*live.store.log)), ec::disk_full);
  disk.set_capacity(1 << 30);
  must(batch.write(*live.store.log));
  must(batch.sync(*live.store.log));
  EXPECT_EQ(read_body(batch.records()->records.back().at), std::string(40'000, 'b'));
}

} // namespace
} // namespace handfast::storage
