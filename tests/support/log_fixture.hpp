#pragma once

/// A COMMIT LOG on a simulated disk, with probes for everyone around it.

#include "actors/commit_log.hpp"
#include "storage/crc32c.hpp"
#include "storage/recovery.hpp"
#include "tests/support/actor_fixture.hpp"
#include "tests/support/inline_log_writer.hpp"
#include "tests/support/sim_disk.hpp"

#include <random>

namespace handfast::test {

class log_fixture : public actor_fixture {
public:
  static constexpr const char* root = "data";
  static constexpr queue_key orders{topic_id{20}, queue_no{0}};
  static constexpr queue_key bills{topic_id{21}, queue_no{3}};

  const appender half_life{appender_role::half_store, 0, incarnation{2}};
  const appender op_life{appender_role::op_store, 0, incarnation{3}};

  static std::vector<std::uint64_t> offsets(const std::vector<message_stored>& results) {
    std::vector<std::uint64_t> all;
    for (const auto& r : results)
      all.push_back(r.offset.value);
    return all;
  }
  static std::vector<ec> codes(const std::vector<message_stored>& results) {
    std::vector<ec> all;
    for (const auto& r : results)
      all.push_back(r.code);
    return all;
  }
  static log_record half(std::uint64_t cookie) { return half(cookie, message_to(orders, "body")); }
  static log_record half(std::uint64_t cookie, message_record m) {
    return record_of(record_type::half, std::move(m), cookie);
  }

  log_fixture() {
    segments.segment_bytes = 1 * limits::mib;
    segments.first_prepared_bytes = 64 * limits::kib;
  }

  /// Recovers the store and starts a COMMIT LOG on it.
  void boot() {
    settings.store.checkpoint_bytes = checkpoint_bytes;
    fold_everything folder;
    storage::recovery_options options;
    options.segments = segments;
    options.new_store_id = 4711;
    auto recovered = storage::recover(disk, root, options, folder);
    ASSERT_TRUE(recovered) << to_string(recovered.error());
    store.emplace(std::move(*recovered));
    replayed = std::move(folder.records);
    codec = std::make_unique<storage::record_codec>(store->directory.identity().store_id);
    writer = std::make_unique<inline_log_writer>(*store->log);
    environment.writer = writer.get();
    auto from = std::make_shared<commit_log_start>();
    from->life = incarnation{++lives};
    from->log = store->log.get();
    from->codec = codec.get();
    from->tail = std::move(folder.tail);
    from->end = store->report.end;
    from->epoch = store->report.last_epoch + 1;
    from->checkpoint_from = store->report.scan_from;
    log = spawn(commit_log, &environment, from);
    peers = std::make_shared<shard_peers>();
    peers->supervisor = {supervisor->as<node_supervisor_actor>(), {}};
    peers->commit_log = {log, from->life};
    peers->checkpointer = {checkpointer->as<checkpointer_actor>(), incarnation{1}};
    send(log, peers_changed{peers});
  }

  /// Boots, and lets everything settle.
  void SetUp() override {
    boot();
    run();
  }

  /// The power goes; everything in memory with it.
  void power_cut(unsigned seed = 1) {
    std::mt19937_64 random{seed};
    kill(log);
    idle.drop_all();
    writer.reset();
    store.reset();
    disk.power_cut(random);
  }

  static message_record message_to(queue_key queue, std::string_view body = "body") {
    message_record m;
    m.topic = queue.topic;
    m.queue = queue.queue;
    m.payload = shared_bytes::copy_of(body);
    m.payload_crc = storage::crc32c(m.payload.span());
    return m;
  }
  static message_record numbered(queue_key queue, std::uint64_t producer, std::uint64_t sequence) {
    auto m = message_to(queue);
    m.producer = producer_id{producer};
    m.sequence = sequence_no{sequence};
    return m;
  }
  static log_record record_of(record_type type, record_content content, std::uint64_t cookie) {
    log_record r;
    r.type = type;
    r.content = std::move(content);
    r.cookie = cookie;
    return r;
  }
  static log_record decide_of(std::vector<index_entry> entries, std::uint64_t cookie) {
    decide_record d;
    d.decisions.push_back({position{64}, outcome::committed, origin::producer,
                           static_cast<std::uint16_t>(entries.size()), group_id{5}});
    d.entries = std::move(entries);
    return record_of(record_type::decide, std::move(d), cookie);
  }

  /// Sends plain messages as `from`; correlations count from `first_id`.
  void append(const std::shared_ptr<probe>& from, std::vector<message_record> messages,
              std::uint64_t first_id = 1) {
    append_messages x;
    for (auto& m : messages)
      x.requests.push_back({correlation{first_id++}, std::move(m)});
    send_as(from, log, std::move(x));
  }
  void append(const std::shared_ptr<probe>& from, const appender& who, log_record record) {
    append_records x;
    x.who = who;
    x.records.push_back(std::move(record));
    send_as(from, log, std::move(x));
  }
  /// Registers `as` and lets it become durable.
  appender_registered enroll(const std::shared_ptr<probe>& as, const appender& who) {
    send_as(as, log, register_appender{who});
    run();
    return as->take_last<appender_registered>();
  }
  static std::vector<message_stored> results(const std::shared_ptr<probe>& of) {
    std::vector<message_stored> all;
    for (auto& m : of->take<messages_stored>())
      all.insert(all.end(), m.results.begin(), m.results.end());
    return all;
  }
  static std::vector<log_record> records(const std::shared_ptr<probe>& of) {
    std::vector<log_record> all;
    for (auto& m : of->take<records_durable>())
      all.insert(all.end(), m.batch->records.begin(), m.batch->records.end());
    return all;
  }

  struct fold_everything final : storage::recovery_visitor {
    log_tail tail;
    std::vector<log_record> records;

    result<void> on_checkpoint(const storage::checkpoint& found) override {
      for (const auto& slice : found.slices)
        tail.load(slice.name, slice.bytes.text());
      return {};
    }
    result<void> on_batch(std::shared_ptr<const record_batch> batch) override {
      for (const auto& r : batch->records) {
        tail.apply(r);
        records.push_back(r);
      }
      return {};
    }
    void on_damaged(const storage::damaged_record& d) override {
      ADD_FAILURE() << "damaged at " << d.at.value;
    }
    void on_lost(const storage::lost_range& l) override {
      ADD_FAILURE() << "lost at " << l.from.value;
    }
  };

  handfast::testing::sim_disk disk;
  storage::segment_options segments;
  std::uint64_t checkpoint_bytes = 64 * limits::mib;
  std::optional<storage::recovered_store> store;
  std::unique_ptr<storage::record_codec> codec;
  std::unique_ptr<inline_log_writer> writer;
  std::vector<log_record> replayed;
  std::uint64_t lives = 100;
  commit_log_actor log;
  std::shared_ptr<shard_peers> peers;
  std::shared_ptr<probe> supervisor = make_probe();
  std::shared_ptr<probe> checkpointer = make_probe();
  std::shared_ptr<probe> client = make_probe();
};

} // namespace handfast::test
