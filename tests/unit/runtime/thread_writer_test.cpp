#include "runtime/page_cache_source.hpp"
#include "runtime/thread_writer.hpp"
#include "storage/batch_builder.hpp"
#include "storage/crc32c.hpp"
#include "tests/support/sim_disk.hpp"

#include <gtest/gtest.h>

#include <future>

namespace handfast::runtime {
namespace {

using namespace std::chrono_literals;

class ThreadWriter : public ::testing::Test {
public:
  static constexpr std::uint64_t store_id = 99;

  ThreadWriter() {
    storage::segment_options options;
    options.segment_bytes = 256 * limits::kib;
    options.first_prepared_bytes = 128 * limits::kib;
    log = std::move(*storage::segment_set::open(disk, "log", store_id, options));
    const auto begin = log->begin() + storage::segment_header_bytes;
    EXPECT_TRUE(log->ensure(begin + 8));
    log->set_tail(begin);
    builder.emplace(codec, log->layout(), begin);
  }

  static log_record message(std::size_t bytes = 100) {
    message_record m;
    m.topic = topic_id{20};
    m.payload = shared_bytes::copy_of(std::string(bytes, 'x'));
    m.payload_crc = storage::crc32c(m.payload.span());
    return {record_type::message, {}, 0, 0, 1, std::move(m), 0};
  }

  storage::write_batch batch_of(std::size_t records, std::size_t bytes = 100) {
    for (std::size_t i = 0; i < records; ++i)
      EXPECT_TRUE(builder->add(message(bytes)));
    return builder->take();
  }

  std::future<error> submit(thread_writer& writer, storage::write_batch batch) {
    auto promise = std::make_shared<std::promise<error>>();
    auto answer = promise->get_future();
    const auto records = batch.records()->records.size();
    writer.submit(std::move(batch), records, [promise, this](error why, std::chrono::microseconds) {
      answered_on = std::this_thread::get_id();
      promise->set_value(std::move(why));
    });
    return answer;
  }

  handfast::testing::sim_disk disk;
  storage::record_codec codec{store_id};
  std::unique_ptr<storage::segment_set> log;
  std::optional<storage::batch_builder> builder;
  std::atomic<std::thread::id> answered_on;
};

/// So fast is every disk.
constexpr inline_rule always_inline{64, std::chrono::hours{1}};
constexpr inline_rule never_inline{64, 0us};

TEST_F(ThreadWriter, MakesABatchDurable) {
  thread_writer writer{*log, never_inline};
  auto batch = batch_of(3);
  const auto records = batch.records();
  EXPECT_EQ(submit(writer, std::move(batch)).get(), error{});
  std::mt19937_64 random{1};
  log.reset();
  disk.power_cut(random);
  log = std::move(*storage::segment_set::open(disk, "log", store_id, {}));
  page_cache_source source{*log, codec};
  for (const auto& r : records->records)
    EXPECT_TRUE(source.try_read(r.at, r.length));
}

TEST_F(ThreadWriter, WritesTheFirstBatchOnItsThreadAndSmallOnesInlineOnceSyncsAreFast) {
  thread_writer writer{*log, always_inline};
  EXPECT_EQ(submit(writer, batch_of(1)).get(), error{});
  EXPECT_NE(answered_on.load(), std::this_thread::get_id());
  EXPECT_EQ(submit(writer, batch_of(1)).get(), error{});
  EXPECT_EQ(answered_on.load(), std::this_thread::get_id());
  EXPECT_EQ(writer.written_inline(), 1u);
}

TEST_F(ThreadWriter, WritesLargeBatchesOnItsThread) {
  thread_writer writer{*log, always_inline};
  (void)submit(writer, batch_of(1)).get();
  EXPECT_EQ(submit(writer, batch_of(65)).get(), error{});
  EXPECT_EQ(writer.written_inline(), 0u);
}

TEST_F(ThreadWriter, NeverWritesInlineOnASlowDisk) {
  thread_writer writer{*log, never_inline};
  for (int i = 0; i < 5; ++i)
    (void)submit(writer, batch_of(1)).get();
  EXPECT_EQ(writer.written_inline(), 0u);
}

TEST_F(ThreadWriter, NeverWritesInlineWhereAFileHadToBeExtended) {
  thread_writer writer{*log, always_inline};
  (void)submit(writer, batch_of(1)).get();
  EXPECT_EQ(submit(writer, batch_of(1, 200 * limits::kib)).get(), error{});
  EXPECT_EQ(writer.written_inline(), 0u);
}

TEST_F(ThreadWriter, WritesNothingAfterAFailedSync) {
  thread_writer writer{*log, never_inline};
  disk.fail_at(disk.operations() + 2, handfast::testing::disk_fault::io_error);
  EXPECT_EQ(submit(writer, batch_of(1)).get().code, ec::io_error);
  const auto operations = disk.operations();
  EXPECT_EQ(submit(writer, batch_of(1)).get().code, ec::io_error);
  EXPECT_EQ(disk.operations(), operations);
}

TEST_F(ThreadWriter, WaitsForRoomOnAFullDiskAndGoesOnByItself) {
  thread_writer writer{*log, never_inline};
  disk.set_capacity(130 * limits::kib);
  auto answer = submit(writer, batch_of(1, 200 * limits::kib));
  EXPECT_EQ(answer.wait_for(0ms), std::future_status::timeout);
  disk.set_capacity(~std::uint64_t{0});
  EXPECT_EQ(answer.get(), error{});
}

TEST_F(ThreadWriter, GivesUpWaitingForRoomWhenItEnds) {
  std::future<error> answer;
  {
    thread_writer writer{*log, never_inline};
    disk.set_capacity(130 * limits::kib);
    answer = submit(writer, batch_of(1, 200 * limits::kib));
  }
  EXPECT_EQ(answer.get().code, ec::disk_full);
}

TEST_F(ThreadWriter, LeavesColdRecordsToTheReader) {
  thread_writer writer{*log, never_inline};
  auto batch = batch_of(1);
  const auto record = batch.records()->records[0];
  (void)submit(writer, std::move(batch)).get();
  page_cache_source source{*log, codec};
  EXPECT_TRUE(source.try_read(record.at, record.length));
  disk.set_cold(true);
  EXPECT_FALSE(source.try_read(record.at, record.length));
}

} // namespace
} // namespace handfast::runtime
