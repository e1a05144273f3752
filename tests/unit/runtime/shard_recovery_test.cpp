#include "messages/place_or_due.hpp"
#include "runtime/shard_recovery.hpp"
#include "storage/run_writer.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast::runtime {
namespace {

using storage::a_decision;
using storage::a_half;
using storage::a_message;
using storage::live_store;
using storage::record_of;

class ShardRecovery : public ::testing::Test {
protected:
  ShardRecovery() {
    settings_.store.dir = storage::test_root;
    settings_.store.segment_size = storage::small_segments().segment_bytes;
  }

  std::unique_ptr<recovered_shard> recover() {
    auto shard = recover_shard(disk_, settings_, {1'700'000'000'000, storage::test_store_id, {}});
    if (!shard) {
      ADD_FAILURE() << to_string(shard.error());
      return nullptr;
    }
    return std::move(*shard);
  }

  static log_record a_topic(std::string name, std::uint32_t id) {
    meta_record meta;
    meta.change = meta_change::topic_put;
    meta.id = id;
    meta.name = std::move(name);
    meta.queues = 4;
    return record_of(record_type::meta, std::move(meta));
  }

  static log_record progress_of(std::uint32_t group, std::uint64_t base) {
    progress_record progress;
    progress.groups.push_back({{group}, {17}, {2}, {base}, {}, {}});
    return record_of(record_type::progress, std::move(progress));
  }

  testing::sim_disk disk_;
  config::settings settings_;
};

TEST_F(ShardRecovery, MakesANewStoreWithNothingInIt) {
  const auto shard = recover();
  EXPECT_TRUE(shard->store.report.created);
  EXPECT_EQ(shard->epoch, 1u);
  EXPECT_EQ(shard->topics.user_topics(), 0u);
  EXPECT_TRUE(shard->groups.empty());
}

TEST_F(ShardRecovery, FoldsTopicsAndProgressOfEveryGroup) {
  {
    live_store live{disk_};
    live.append(a_topic("orders", 16));
    live.append(progress_of(7, 5));
    live.append(progress_of(8, 6));
    live.append(progress_of(7, 9));
  }
  const auto shard = recover();
  ASSERT_TRUE(shard->topics.find("orders"));
  EXPECT_EQ(shard->topics.find("orders")->queues, 4u);
  ASSERT_EQ(shard->groups.size(), 2u);
  EXPECT_EQ(shard->groups.at(group_id{7}).find({{17}, {2}})->base(), 9u) << "the newest counts";
}

TEST_F(ShardRecovery, FoldsPendingAndDecidedTransactions) {
  position pending;
  position decided;
  {
    live_store live{disk_};
    pending = live.append(a_half("waits"));
    decided = live.append(a_half("goes"));
    live.append(a_decision(decided));
  }
  const auto shard = recover();
  EXPECT_EQ(shard->half.pending.size(), 1u);
  EXPECT_NE(shard->half.pending.find(pending), pending_table::none);
  ASSERT_TRUE(shard->outcomes.find(decided));
  EXPECT_EQ(shard->outcomes.find(decided)->result, outcome::committed);
}

TEST_F(ShardRecovery, GoesOnWithAHigherEpoch) {
  {
    live_store live{disk_};
    live.append(a_message("x"));
  }
  const auto shard = recover();
  EXPECT_GT(shard->epoch, shard->store.report.last_epoch);
}

TEST_F(ShardRecovery, SetsARecordAsideThatNoFoldCanTakeAndGoesOn) {
  {
    live_store live{disk_};
    live.append(a_topic("orders", 16));
    live.append(a_topic("orders", 17)); // a taken name with another id
    live.append(a_topic("payments", 18));
  }
  const auto shard = recover();
  ASSERT_EQ(shard->tail.quarantined.size(), 1u);
  EXPECT_EQ(shard->tail.quarantined[0].what, name_of(record_type::meta));
  EXPECT_EQ(shard->tail.quarantined[0].why, "it makes a topic whose name another topic has");
  EXPECT_TRUE(shard->topics.find("payments"));
}

TEST_F(ShardRecovery, MissesNothingWhereOneRecordHoldsSeveralEntriesOfAQueue) {
  {
    live_store live{disk_};
    auto record = a_decision(live.append(a_half("x")));
    auto& decide = std::get<decide_record>(record.content);
    decide.decisions.front().messages = 3;
    decide.entries.resize(3, decide.entries.front());
    for (std::uint64_t n = 0; n < 3; ++n)
      decide.entries[n].offset = queue_offset{n};
    live.append(record);
  }
  EXPECT_TRUE(recover()->tail.quarantined.empty());
}

TEST_F(ShardRecovery, GivesNoIdAgainWhoseMetaRecordWasLost) {
  {
    live_store live{disk_};
    live.append(a_topic("orders", 16));
    auto half = a_half("of a lost topic and group");
    std::get<message_record>(half.content).topic = topic_id{20};
    std::get<message_record>(half.content).group = group_id{9};
    live.append(half);
    std::get<message_record>(half.content).topic = topic_id{0xffff'fff0};
    live.append(half);
  }
  const auto shard = recover();
  EXPECT_EQ(shard->topics.next_group(), group_id{10});
  EXPECT_EQ(shard->topics.next_topic(), topic_id{21});
}

TEST_F(ShardRecovery, ListsOffsetsThatWereLostWithTheirRecord) {
  position behind;
  {
    live_store live{disk_};
    for (const std::uint64_t offset : {0, 1, 4}) {
      auto message = a_message("x");
      std::get<message_record>(message.content).offset = queue_offset{offset};
      behind = live.append(message);
    }
  }
  const auto shard = recover();
  ASSERT_EQ(shard->tail.quarantined.size(), 1u);
  EXPECT_EQ(shard->tail.quarantined[0].at, behind);
  EXPECT_NE(shard->tail.quarantined[0].why.find("offsets 2 to 3"), std::string::npos);
}

TEST_F(ShardRecovery, FoldsWhatWaitsForItsTimeFromCheckpointAndLog) {
  position released;
  position plain;
  position committed;
  {
    live_store live{disk_};
    auto message = a_message("later");
    std::get<message_record>(message.content).delay_ms = 60'000;
    std::get<message_record>(message.content).offset = place_or_due({}, 60'500);
    const auto first = live.append(message);
    delay_fold fold;
    fold.waiting.insert({9'000, first, {}, {17}, 100, 0, {2}});
    std::string cursor = "0";
    const auto [name, bytes] = fold.save_slice(cursor);
    released = live.append(message);
    auto writer = storage::must(storage::checkpoint_writer::begin(
        disk_, live.store.directory.paths().checkpoints(),
        {storage::test_store_id, 0, released, released, 1'700'000'000'000}));
    storage::must(writer.add_slice(name, std::as_bytes(std::span{bytes})));
    storage::must(writer.commit());
    plain = first;
    release_record release;
    release.entries.push_back({released, {17}, {2}, {41}, 200, 9});
    live.append(record_of(record_type::release, release));
    auto decision = a_decision(position{4'096});
    committed = position{4'096};
    auto& entry = std::get<decide_record>(decision.content).entries.front();
    entry.due_ms = 70'000;
    entry.offset = {};
    live.append(decision);
  }
  const auto shard = recover();
  const auto& waiting = shard->delays.waiting;
  EXPECT_EQ(waiting.size(), 2u);
  ASSERT_NE(waiting.find(plain), nullptr) << "only the checkpoint had it";
  EXPECT_EQ(waiting.find(plain)->due, 9'000u);
  EXPECT_EQ(waiting.find(released), nullptr);
  ASSERT_NE(waiting.find(committed), nullptr);
  EXPECT_EQ(waiting.find(committed)->due, 70'000u);
}

TEST_F(ShardRecovery, SaysWhyTheStoreCannotBeUsed) {
  const auto held = recover(); // keeps the folder locked
  const auto second = recover_shard(disk_, settings_, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ec::directory_in_use);
}

TEST_F(ShardRecovery, ReplaysTheWholeLogWhenTheCheckpointMakesNoSense) {
  {
    live_store live{disk_};
    live.append(a_topic("orders", 16));
    const auto end = live.append(a_topic("payments", 17));
    auto writer = storage::must(storage::checkpoint_writer::begin(
        disk_, live.store.directory.paths().checkpoints(),
        {storage::test_store_id, 0, end, end, 1'700'000'000'000}));
    const std::string nonsense = "\xff not a slice of topics";
    storage::must(writer.add_slice(topic_table::slice_name, std::as_bytes(std::span{nonsense})));
    storage::must(writer.commit());
  }
  const auto shard = recover();
  EXPECT_FALSE(shard->checkpoint_refused.empty());
  EXPECT_TRUE(shard->topics.find("orders"));
  EXPECT_TRUE(shard->topics.find("payments"));
}

/// A store with a checkpoint and the run of all that was before it.
class DamagedRunAtAStart : public ShardRecovery {
protected:
  position decided_;
  std::string path_;

  void SetUp() override {
    live_store live{disk_};
    for (std::uint64_t offset = 0; offset < 3; ++offset) {
      auto message = a_message("x");
      std::get<message_record>(message.content).offset = queue_offset{offset};
      live.append(message);
    }
    decided_ = live.append(a_half("goes"));
    auto decide = a_decision(decided_);
    std::get<decide_record>(decide.content).entries[0].offset = queue_offset{3};
    live.append(decide);
    const auto end = live.builder.tail();
    const auto& paths = live.store.directory.paths();
    auto run = storage::must(storage::run_writer::begin(disk_, paths.runs(), storage::test_store_id,
                                                        {storage::segment_header_bytes}, end, 0));
    path_ = storage::must(run.commit()); // empty: what is made from the log is not
    auto writer = storage::must(storage::checkpoint_writer::begin(
        disk_, paths.checkpoints(), {storage::test_store_id, 0, end, end, 0}));
    storage::must(writer.commit());
    disk_.flip_bit(path_, 50, 1);
    disk_.process_killed();
  }
};

TEST_F(DamagedRunAtAStart, IsMadeAgainFromTheLogWithoutReplayingIt) {
  const auto shard = recover();
  EXPECT_EQ(shard->store.report.records, 0u);
  EXPECT_EQ(shard->store.report.remade_runs, 1u);
  EXPECT_NE(shard->store.report.text().find("Made 1 derived run again"), std::string::npos);
  EXPECT_TRUE(storage::must(disk_.exists(path_ + ".damaged")));
  const auto run = storage::must(storage::run_reader::open(disk_, path_, storage::test_store_id));
  storage::must(run->verify());
  EXPECT_EQ(storage::must(run->find_entries({{17}, {2}}, {0}, {10}, 10)).found.size(), 4u);
  const auto outcome = storage::must(run->find_outcome(decided_));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->result, outcome::committed);
  EXPECT_EQ(storage::must(run->find_view_sample(storage::view::half, {41})), std::nullopt)
      << "41 is no multiple of 64";
}

TEST_F(DamagedRunAtAStart, StaysAsItIsWhileTheStoreIsRefused) {
  disk_.flip_bit(storage::segment_path(0), decided_.value + 20, 1);
  settings_.store.ignore_checkpoint = true;
  EXPECT_FALSE(recover_shard(disk_, settings_, {1, storage::test_store_id, {}}));
  EXPECT_FALSE(storage::must(disk_.exists(path_ + ".damaged")));
}

TEST_F(DamagedRunAtAStart, IsListedWhereTheLogIsUnreadable) {
  disk_.flip_bit(storage::segment_path(0), decided_.value + 20, 1);
  const auto shard = recover();
  ASSERT_EQ(shard->tail.quarantined.size(), 1u);
  EXPECT_EQ(shard->tail.quarantined[0].at, decided_);
  EXPECT_EQ(shard->tail.quarantined[0].what, "derived run");
  EXPECT_NE(shard->tail.quarantined[0].why.find("but not what positions"), std::string::npos);
}

} // namespace
} // namespace handfast::runtime
