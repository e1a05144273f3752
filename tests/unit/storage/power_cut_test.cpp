/// Power cuts at every step of a seeded workload: what was synced comes back, what was not is there
/// whole or not at all.

#include "storage/run_writer.hpp"
#include "storage/verify_log.hpp"
#include "tests/unit/storage/store_fixture.hpp"

namespace handfast::storage {
namespace {

/// Seeds are run in groups, so that a runner can spread them.
constexpr std::uint64_t groups = 8;
constexpr std::uint64_t seeds_per_group = 50;

std::string body_for(std::uint64_t number, std::size_t size) {
  auto text = "#" + std::to_string(number) + "#";
  while (text.size() < size)
    text += static_cast<char>('a' + (number + text.size()) % 26);
  return text;
}

/// Writes until the power goes; knows what was acknowledged as durable and what was sent at all.
class workload {
public:
  workload(testing::sim_disk& disk, std::mt19937_64& random) : disk_{disk}, random_{random} {}

  std::vector<std::string> synced;
  std::vector<std::string> written; ///< behind the synced ones, in order

  /// One life of the process: recovery, then batches until the power goes.
  void live(std::uint64_t power_off_after) {
    disk_.fail_at(disk_.operations() + power_off_after, testing::disk_fault::power_off);
    collector found;
    auto options = live_store::default_options();
    auto store = recover(disk_, test_root, options, found);
    if (!store)
      return; // the power went during recovery
    expect_recovered(found);
    const record_codec codec{test_store_id};
    batch_builder builder{codec, store->log->layout(), store->report.end};
    builder.set_epoch(store->report.last_epoch + 1);
    while (write_some(*store, builder)) {
    }
  }

  /// What recovery found must be all that was synced, then a beginning of what was only written.
  void expect_recovered(const collector& found) {
    const auto bodies = found.bodies();
    EXPECT_TRUE(found.damaged.empty());
    ASSERT_GE(bodies.size(), synced.size()) << "synced records are lost";
    ASSERT_LE(bodies.size(), synced.size() + written.size());
    for (std::size_t i = 0; i < bodies.size(); ++i)
      ASSERT_EQ(bodies[i], i < synced.size() ? synced[i] : written[i - synced.size()]) << i;
    // Recovery syncs before it trusts, and cuts durably: from now on this is the truth.
    synced = bodies;
    written.clear();
  }

private:
  bool write_some(recovered_store& store, batch_builder& builder) {
    const auto records = 1 + random_() % 6;
    std::vector<std::string> bodies;
    for (std::uint64_t i = 0; i < records; ++i) {
      bodies.push_back(body_for(++number_, random_() % (random_() % 8 == 0 ? 20'000 : 900)));
      must(builder.add(random_() % 2 == 0 ? a_half(bodies.back()) : a_message(bodies.back())));
    }
    const auto batch = builder.take();
    written.insert(written.end(), bodies.begin(), bodies.end());
    if (!batch.write(*store.log))
      return false;
    if (random_() % 4 == 0)
      return true; // a batch that is only written: the next sync takes it along
    if (!batch.sync(*store.log) || !store.log->sync(unsynced_from_, batch.to()))
      return false;
    unsynced_from_ = batch.to();
    synced.insert(synced.end(), written.begin(), written.end());
    written.clear();
    builder.set_durable(batch.to());
    if (random_() % 3 == 0)
      return store.log->prepare_step(64 * limits::kib).has_value();
    return true;
  }

  testing::sim_disk& disk_;
  std::mt19937_64& random_;
  std::uint64_t number_ = 0;
  position unsynced_from_;
};

/// Several lives of a process, each ended by a power cut, then a last recovery.
void expect_nothing_lost(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  testing::sim_disk disk;
  workload work{disk, random};
  for (int life = 0; life < 6 && !::testing::Test::HasFailure(); ++life) {
    work.live(1 + random() % (life == 0 ? 60 : 30));
    disk.power_cut(random);
  }
  collector found;
  const auto last = must(recover(disk, test_root, live_store::default_options(), found));
  work.expect_recovered(found);
}

/// A power cut right after recovery must change nothing.
void expect_stable_recovery(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  testing::sim_disk disk;
  workload work{disk, random};
  work.live(20 + random() % 60);
  disk.power_cut(random);
  position end;
  std::vector<std::string> bodies;
  {
    collector found;
    end = must(recover(disk, test_root, live_store::default_options(), found)).report.end;
    bodies = found.bodies();
  }
  disk.power_cut(random);
  collector found;
  const auto again = must(recover(disk, test_root, live_store::default_options(), found));
  EXPECT_EQ(again.report.end, end);
  EXPECT_EQ(again.report.cut_from, position{}) << "the cut was not durable";
  EXPECT_EQ(found.bodies(), bodies);
  EXPECT_TRUE(must(verify_log(disk, test_root)).whole());
}

class PowerCut : public ::testing::TestWithParam<std::uint64_t> {
protected:
  template <class Check>
  void for_each_seed(Check check) {
    for (std::uint64_t i = 0; i < seeds_per_group && !HasFailure(); ++i) {
      const auto seed = GetParam() * seeds_per_group + i;
      SCOPED_TRACE("seed " + std::to_string(seed));
      check(seed);
    }
  }
};

TEST_P(PowerCut, LosesNothingSyncedAndAppliesNothingByHalf) {
  for_each_seed(expect_nothing_lost);
}

TEST_P(PowerCut, ASecondRecoveryFindsTheSame) {
  for_each_seed(expect_stable_recovery);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PowerCut, ::testing::Range<std::uint64_t>(0, groups));

/// The same workload with a disk that lies about syncs must fail, or the tests above prove nothing.
TEST(PowerCutHarness, NoticesASyncThatDoesNothing) {
  std::uint64_t losses = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random{seed};
    testing::sim_disk disk;
    {
      live_store live{disk};
      for (int i = 0; i < 20; ++i) {
        live.add(a_message(body_for(static_cast<std::uint64_t>(i), 700)));
        live.write(); // and no sync
      }
    }
    disk.power_cut(random);
    collector found;
    must(recover(disk, test_root, live_store::default_options(), found));
    losses += found.records.size() < 20 ? 1 : 0;
  }
  EXPECT_GT(losses, 10u);
}

} // namespace
} // namespace handfast::storage
