#pragma once

/// Builders for records and logs on a simulated disk.

#include "storage/batch_builder.hpp"
#include "storage/crc32c.hpp"
#include "storage/recovery.hpp"
#include "tests/support/sim_disk.hpp"

#include <gtest/gtest.h>

namespace handfast::storage {

constexpr std::uint64_t test_store_id = 0x1122334455667788;
constexpr const char* test_root = "/data";

/// The value, or a failed test that shows the error.
template <class T>
T must(result<T> outcome) {
  if (!outcome)
    throw std::runtime_error(to_string(outcome.error()));
  if constexpr (!std::is_void_v<T>)
    return std::move(*outcome);
}

template <class T>
ec code_of(const result<T>& outcome) {
  return outcome ? ec::ok : outcome.error().code;
}

inline message_record message_with(std::string_view properties, std::string_view body) {
  message_record message;
  message.topic = {17};
  message.group = {3};
  message.queue = {2};
  message.born_ms = 1'700'000'000'000;
  message.offset = {41};
  message.properties_size = static_cast<std::uint32_t>(properties.size());
  message.payload = shared_bytes::copy_of(std::string{properties} + std::string{body});
  message.payload_crc = crc32c(message.payload.span());
  return message;
}

inline log_record record_of(record_type type, record_content content) {
  log_record record;
  record.type = type;
  record.time_ms = 1'700'000'000'123;
  record.content = std::move(content);
  return record;
}

inline log_record a_message(std::string_view body) {
  return record_of(record_type::message, message_with("", body));
}

inline log_record a_half(std::string_view body) {
  return record_of(record_type::half, message_with("KEYS\1k1\2", body));
}

inline log_record a_mark() {
  return record_of(record_type::mark, mark_record{});
}

inline log_record a_decision(position transaction) {
  decide_record decide;
  decide.op_offset = {5};
  decide.decisions.push_back({transaction, outcome::committed, origin::producer, 1, {3}});
  decide.entries.push_back({transaction, {17}, {2}, {41}, 200, 9});
  return record_of(record_type::decide, std::move(decide));
}

inline std::string body_of(const log_record& record) {
  return std::string{std::get<message_record>(record.content).body()};
}

inline segment_options small_segments() {
  segment_options options;
  options.segment_bytes = segment_bytes_min;
  options.first_prepared_bytes = segment_bytes_min;
  return options;
}

/// Keeps all that recovery hands over.
class collector : public recovery_visitor {
public:
  result<void> on_checkpoint(const checkpoint& found) override {
    for (const auto& slice : found.slices)
      slices.emplace_back(slice.name, slice.bytes.text());
    return {};
  }
  result<void> on_batch(std::shared_ptr<const record_batch> batch) override {
    EXPECT_TRUE(batch->replay);
    EXPECT_FALSE(batch->records.empty());
    batches.push_back(batch);
    records.insert(records.end(), batch->records.begin(), batch->records.end());
    return {};
  }
  void on_damaged(const damaged_record& one) override {
    damaged.push_back(one);
    damaged.back().record = nullptr;
    if (one.record)
      damaged_records.push_back(*one.record);
  }
  void on_lost(const lost_range& one) override { lost.push_back(one); }

  [[nodiscard]] std::vector<std::string> bodies() const {
    std::vector<std::string> all;
    for (const auto& record : records)
      if (const auto* message = std::get_if<message_record>(&record.content))
        all.emplace_back(message->body());
    return all;
  }

  std::vector<std::pair<std::string, std::string>> slices;
  std::vector<std::shared_ptr<const record_batch>> batches;
  std::vector<log_record> records;
  std::vector<damaged_record> damaged;
  std::vector<log_record> damaged_records;
  std::vector<lost_range> lost;
};

/// A store on a simulated disk that was recovered and goes on writing.
class live_store {
public:
  explicit live_store(testing::sim_disk& disk, recovery_options options = default_options())
      : store{must(recover(disk, test_root, options, found))},
        codec{store.directory.identity().store_id}, builder{codec, store.log->layout(),
                                                            store.report.end} {
    builder.set_epoch(store.report.last_epoch + 1);
    builder.set_durable(store.report.end);
  }

  static recovery_options default_options() {
    recovery_options options;
    options.segments = small_segments();
    options.new_store_id = test_store_id;
    options.now_ms = 1'700'000'000'000;
    return options;
  }

  /// Adds a record to the batch that is being formed.
  position add(log_record record) { return must(builder.add(std::move(record))); }
  /// Writes the batch without syncing it.
  write_batch write() {
    auto batch = builder.take();
    must(batch.write(*store.log));
    return batch;
  }
  /// Writes and syncs the batch; later headers tell that it is durable.
  void commit() {
    const auto batch = write();
    must(batch.sync(*store.log));
    builder.set_durable(batch.to());
  }
  position append(log_record record) {
    const auto at = add(std::move(record));
    commit();
    return at;
  }

  collector found;
  recovered_store store;
  record_codec codec;
  batch_builder builder;
};

/// Path of the segment with the given base.
inline std::string segment_path(std::uint64_t base) {
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx.seg", static_cast<unsigned long long>(base));
  return store_paths{test_root}.log() + name;
}

} // namespace handfast::storage
