#include "storage/log_scanner.hpp"
#include "storage/record_reader.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <map>

namespace handfast::storage {
namespace {

class LogScanner : public ::testing::Test {
protected:
  testing::sim_disk disk;
  live_store live{disk};

  [[nodiscard]] record_reader reader() const { return {*live.store.log, live.codec}; }
};

TEST_F(LogScanner, ReadsRecordsInOrderAcrossSegmentsAndChunks) {
  std::vector<position> at;
  for (int i = 0; i < 500; ++i)
    at.push_back(live.append(a_message(std::string(static_cast<std::size_t>(i * 7), 'x'))));
  log_scanner scanner{*live.store.log, live.codec, live.store.log->begin()};
  for (const auto expected : at) {
    log_record record;
    ASSERT_EQ(scanner.next(record), scan_status::record);
    EXPECT_EQ(record.at, expected);
  }
  EXPECT_EQ(scanner.at(), live.builder.tail());
}

TEST_F(LogScanner, ReadsARecordThatIsLargerThanItsChunk) {
  testing::sim_disk other;
  auto options = live_store::default_options();
  options.segments.segment_bytes = 8 * limits::mib;
  live_store big{other, options};
  big.append(a_message(std::string(3 * limits::mib, 'y')));
  log_scanner scanner{*big.store.log, big.codec, big.store.log->begin(), {.chunk_bytes = 1}};
  log_record record;
  ASSERT_EQ(scanner.next(record), scan_status::record);
  EXPECT_EQ(body_of(record).size(), 3 * limits::mib);
}

TEST_F(LogScanner, StopsAtItsEnd) {
  const auto one = live.append(a_message("one"));
  const auto two = live.append(a_message("two"));
  log_scanner scanner{*live.store.log, live.codec, one, {.to = two}};
  EXPECT_EQ(must(scanner.next_batch(limits::mib, false))->records.size(), 1u);
  EXPECT_EQ(must(scanner.next_batch(limits::mib, false)), nullptr);
}

TEST_F(LogScanner, HandsOutBatchesThatTile) {
  for (int i = 0; i < 100; ++i)
    live.append(a_message(std::string(2000, 'x')));
  log_scanner scanner{
      *live.store.log, live.codec, live.store.log->begin(), {.to = live.builder.tail()}};
  auto expected = live.store.log->begin();
  std::size_t records = 0;
  while (const auto batch = must(scanner.next_batch(10'000, false))) {
    EXPECT_EQ(batch->from, expected);
    expected = batch->to;
    records += batch->records.size();
  }
  EXPECT_EQ(records, 100u);
  EXPECT_EQ(expected, live.builder.tail());
}

TEST_F(LogScanner, KeepsPayloadsAliveBeyondItsChunk) {
  live.append(a_message(std::string(1000, 'a')));
  log_record record;
  {
    log_scanner scanner{*live.store.log, live.codec, live.store.log->begin()};
    ASSERT_EQ(scanner.next(record), scan_status::record);
  }
  EXPECT_EQ(body_of(record), std::string(1000, 'a'));
}

TEST_F(LogScanner, FirstGivesWhatIsWholeThenTheFault) {
  live.append(a_message("one"));
  const auto two = live.append(a_message("two"));
  disk.flip_bit(segment_path(0), two.value + 20, 0);
  log_scanner scanner{
      *live.store.log, live.codec, live.store.log->begin(), {.to = live.builder.tail()}};
  EXPECT_EQ(must(scanner.next_batch(limits::mib, true))->records.size(), 1u);
  EXPECT_EQ(code_of(scanner.next_batch(limits::mib, true)), ec::corrupt);
}

TEST_F(LogScanner, DeliversADamagedBodyEmptyIfAskedTo) {
  const auto one = live.append(a_message("a body"));
  disk.flip_bit(segment_path(0), one.value + 130, 0);
  log_scanner scanner{*live.store.log, live.codec, one, {.to = live.builder.tail()}};
  const auto batch = must(scanner.next_batch(limits::mib, true));
  ASSERT_EQ(batch->records.size(), 1u);
  EXPECT_EQ(body_of(batch->records[0]), "");
}

TEST_F(LogScanner, ReaderFindsARecordByItsPosition) {
  live.append(a_message("one"));
  const auto two = live.append(a_message(std::string(20'000, 'z')));
  EXPECT_EQ(body_of(must(reader().read(two))), std::string(20'000, 'z'));
  EXPECT_EQ(body_of(must(reader().read(two, 20'200))), std::string(20'000, 'z'));
  EXPECT_EQ(body_of(must(reader().read(two, 48))), std::string(20'000, 'z'));
}

TEST_F(LogScanner, ReaderSaysWhenNothingStandsThere) {
  const auto one = live.append(a_message("one"));
  EXPECT_EQ(code_of(reader().read({0})), ec::position_not_found);
  EXPECT_EQ(code_of(reader().read({one.value + 8})), ec::position_not_found);
  EXPECT_EQ(code_of(reader().read({one.value + 3})), ec::position_not_found);
  EXPECT_EQ(code_of(reader().read({std::uint64_t{1} << 40})), ec::position_not_found);
  EXPECT_EQ(code_of(reader().try_read({one.value}, 8)), ec::position_not_found);
}

TEST_F(LogScanner, ReaderReportsDamage) {
  const auto one = live.append(a_message("one"));
  disk.flip_bit(segment_path(0), one.value + 129, 0);
  EXPECT_EQ(code_of(reader().read(one)), ec::corrupt);
}

TEST_F(LogScanner, TryReadFindsOnlyWhatIsInMemory) {
  const auto one = live.append(a_message("one"));
  const auto length = must(record_codec::size_of(a_message("one"))).stored;
  EXPECT_EQ(body_of(*must(reader().try_read(one, length))), "one");
  disk.set_cold(true);
  EXPECT_EQ(must(reader().try_read(one, length)).has_value(), false);
}

class RecordReader : public LogScanner {
protected:
  std::vector<record_reader::spot> spots;

  void add(const std::string& body) {
    const auto at = live.append(a_message(body));
    spots.push_back({at, static_cast<std::uint32_t>(live.builder.tail().value - at.value)});
  }
  /// Bodies of what is found, by place in `spots`.
  std::map<std::size_t, std::string> bodies() {
    std::map<std::size_t, std::string> found;
    reader().try_read_all(spots, [&](std::size_t n, const log_record& record) {
      found[n] = std::string{body_of(record)};
    });
    return found;
  }
};

TEST_F(RecordReader, ReadsNeighboursTogetherInAnyOrder) {
  for (int n = 0; n < 300; ++n)
    add(std::string(static_cast<std::size_t>(n * 11), static_cast<char>('a' + n % 26)));
  std::reverse(spots.begin(), spots.end());
  const auto found = bodies();
  ASSERT_EQ(found.size(), spots.size());
  for (const auto& [n, body] : found) {
    const auto number = 299 - n;
    EXPECT_EQ(body, std::string(number * 11, static_cast<char>('a' + number % 26)));
  }
}

TEST_F(RecordReader, LeavesOutOnlyTheDamagedOneOfARun) {
  for (const auto* body : {"one", "two", "three"})
    add(body);
  disk.flip_bit(segment_path(0), spots[1].at.value + spots[1].length - 8, 0);
  EXPECT_EQ(bodies(), (std::map<std::size_t, std::string>{{0, "one"}, {2, "three"}}));
}

TEST_F(RecordReader, LeavesOutPlacesThatAreNotThere) {
  add("one");
  spots.push_back({position{spots[0].at.value + 8}, 64});
  spots.push_back({position{std::uint64_t{1} << 40}, 64});
  spots.push_back({position{0}, 64});
  EXPECT_EQ(bodies(), (std::map<std::size_t, std::string>{{0, "one"}}));
}

} // namespace
} // namespace handfast::storage
