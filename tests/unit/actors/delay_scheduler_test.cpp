#include "actors/delay_scheduler.hpp"
#include "tests/support/checkpoint_fixture.hpp"

#include <gmock/gmock.h>

namespace handfast {
namespace {

using namespace std::chrono_literals;
using test::checkpoint_fixture;
using test::probe;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;

/// The real one over a real COMMIT LOG and LOG READER; both queues are stand-ins.
class DelayScheduler : public checkpoint_fixture {
protected:
  void SetUp() override {
    start();
    settings.delay.max = 1'000'000;
    begin_scheduler(true, durable_end());
    registry_life = {appender_role::topic_registry, 0, incarnation{++lives}};
    enroll(topics, registry_life);
    put_topic(orders.topic);
    put_topic(bills.topic);
  }

  void begin_scheduler(bool whole, position applied = {}) {
    const incarnation life{++lives};
    scheduler =
        spawn(delay_scheduler, &environment, fold_start<delay_fold>{{}, whole, applied, life});
    peers = std::make_shared<shard_peers>(*peers);
    peers->delay_scheduler = {scheduler, life};
    send(scheduler, peers_changed{peers});
    run();
  }
  void restart_scheduler() {
    kill(scheduler);
    begin_scheduler(false);
  }

  void put_topic(topic_id topic, meta_change change = meta_change::topic_put) {
    append(
        topics, registry_life,
        record_of(record_type::meta,
                  meta_record{change, topic.value, "topic-" + std::to_string(topic.value), 4, {}},
                  ++cookies));
    run();
  }

  static message_record delayed_to(queue_key queue, std::chrono::milliseconds delay) {
    auto m = message_to(queue);
    m.delay_ms = static_cast<std::uint64_t>(delay.count());
    return m;
  }
  /// A plain message; where it stands.
  message_stored store(std::chrono::milliseconds delay, queue_key queue = orders) {
    append(client, {delayed_to(queue, delay)});
    run();
    const auto found = results(client);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? message_stored{} : found.front();
  }
  void store_many(std::size_t count, std::chrono::milliseconds delay) {
    std::vector<message_record> all(count, delayed_to(orders, delay));
    append(client, std::move(all));
    run();
    results(client);
  }

  std::vector<position> visible(queue_key queue = orders) {
    std::vector<position> found;
    for (const auto& e : indexes.at(queue).index.read({}, 1'000'000))
      found.push_back(e.at);
    return found;
  }

  ec cancel(position at) {
    send_as(client, scheduler, cancel_delayed{correlation{9}, at});
    run();
    const auto answer = client->take_last<delayed_cancelled>();
    EXPECT_EQ(answer.id, correlation{9});
    return answer.code;
  }
  delayed_listed list(list_delayed what = {}) {
    send_as(client, scheduler, what);
    advance(20ms);
    return client->take_last<delayed_listed>();
  }
  static std::vector<position> positions(const delayed_listed& page) {
    std::vector<position> all;
    for (const auto& m : page.page)
      all.push_back(m.entry.at);
    return all;
  }
  double sample(const std::string& name) {
    double sum = 0;
    for (const auto& s : ask<status_report>(scheduler, status_request{}).samples)
      sum += s.name == name ? s.value : 0;
    return sum;
  }
  /// All RELEASE records of the log.
  std::vector<release_record> releases() {
    std::vector<release_record> found;
    power_cut();
    boot();
    run();
    for (const auto& r : replayed)
      if (r.type == record_type::release)
        found.push_back(std::get<release_record>(r.content));
    return found;
  }

  delay_scheduler_actor scheduler;
  appender registry_life;
  std::uint64_t cookies = 1'000;
};

// -- releasing ---------------------------------------------------------------------------

TEST_F(DelayScheduler, ReleasesAMessageOnceItIsDueAndNotBefore) {
  const auto stored = store(2s);
  EXPECT_EQ(stored.due_ms, time.wall() + 2'000);
  advance(1'990ms);
  EXPECT_THAT(visible(), IsEmpty());
  advance(20ms);
  EXPECT_THAT(visible(), ElementsAre(stored.at));
  advance(10s);
  EXPECT_THAT(visible(), ElementsAre(stored.at)) << "once";
}

TEST_F(DelayScheduler, GivesPlacesInTheOrderOfBecomingVisible) {
  const auto late = store(3s);
  const auto early = store(1s);
  const auto at_once = store(0s);
  EXPECT_EQ(at_once.due_ms, 0u);
  advance(4s);
  EXPECT_THAT(visible(), ElementsAre(at_once.at, early.at, late.at));
}

TEST_F(DelayScheduler, ReleasesACommittedMessageItsDelayAfterTheCommit) {
  auto op = make_probe();
  enroll(op, op_life);
  index_entry body{position{64}, orders.topic, orders.queue, {}, 256, 5, 2'000};
  advance(5s);
  append(op, op_life, decide_of({body}, 1));
  run();
  const auto due = time.wall() + 2'000;
  const auto waiting = list().page.at(0);
  EXPECT_EQ(waiting.entry.due_ms, due);
  EXPECT_EQ(waiting.transaction, environment.ids.at(position{64}));
  advance(1'900ms);
  EXPECT_THAT(visible(), IsEmpty());
  advance(100ms);
  EXPECT_THAT(visible(), ElementsAre(position{64}));
}

TEST_F(DelayScheduler, SeesACommitThatIsDueInTheSameMillisecondAsIfItHadNoDelay) {
  const auto stored = store(1ms);
  advance(10ms);
  EXPECT_THAT(visible(), ElementsAre(stored.at));
}

TEST_F(DelayScheduler, ReleasesManyThatAreDueTogetherInPieces) {
  store_many(3'000, 1s);
  advance(1'100ms);
  EXPECT_EQ(visible().size(), 3'000u);
  EXPECT_EQ(sample("handfast_delay_releases_under_way"), 0);
  std::vector<std::size_t> sizes;
  for (const auto& r : releases())
    sizes.push_back(r.entries.size());
  EXPECT_EQ(sizes.size(), 6u);
  EXPECT_THAT(sizes, Each(Le(delay_scheduler_state::release_batch)));
}

TEST_F(DelayScheduler, HasOnlySoManyReleasesOnTheirWayAndGoesOnWhenTheyAreDurable) {
  store_many(8'000, 1s);
  coordinator.advance_time(1'001ms);
  run_actors(); // without the idle hook, nothing becomes durable
  const auto& state = state_of<delay_scheduler_state>(scheduler);
  double under_way = 0;
  for (const auto& s : state.status().samples)
    under_way += s.name == "handfast_delay_releases_under_way" ? s.value : 0;
  EXPECT_EQ(under_way, delay_scheduler_state::releases_under_way_max);
  EXPECT_EQ(state.fold().waiting.size(), 8'000u) << "until it is durable";
  advance(10ms);
  EXPECT_EQ(visible().size(), 8'000u);
}

TEST_F(DelayScheduler, FollowsTheWallClockWhenItIsSet) {
  const auto stored = store(1h);
  advance(2s);
  time.jump_wall(3'600'000);
  advance(1s);
  EXPECT_THAT(visible(), ElementsAre(stored.at));
}

TEST_F(DelayScheduler, WaitsOnWhenTheWallClockIsSetBack) {
  const auto stored = store(2s);
  time.jump_wall(-10'000);
  advance(11s);
  EXPECT_THAT(visible(), IsEmpty());
  advance(2s);
  EXPECT_THAT(visible(), ElementsAre(stored.at));
}

TEST_F(DelayScheduler, CountsFromTheClockAsItIsThoughItWasFarAheadBefore) {
  time.jump_wall(3'600'000);
  const auto ahead = store(0s);
  time.jump_wall(-3'600'000);
  const auto stored = store(2s);
  EXPECT_EQ(stored.due_ms, time.wall() + 2'000);
  advance(3s);
  EXPECT_THAT(visible(), ElementsAre(ahead.at, stored.at));
}

TEST_F(DelayScheduler, CancelsWhatIsDueForATopicThatIsGone) {
  const auto gone = store(1s);
  const auto stays = store(1s, bills);
  put_topic(orders.topic, meta_change::topic_deleted);
  advance(2s);
  EXPECT_THAT(visible(), IsEmpty());
  EXPECT_THAT(visible(bills), ElementsAre(stays.at));
  const auto all = releases();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].cancelled, ElementsAre(gone.at));
}

// -- restarts ----------------------------------------------------------------------------

TEST_F(DelayScheduler, ReleasesSoonAfterARestartWhatWasDueMeanwhile) {
  const auto due = store(1s);
  const auto later = store(1min);
  kill(scheduler);
  advance(5s);
  EXPECT_THAT(visible(), IsEmpty());
  begin_scheduler(false);
  advance(50ms);
  EXPECT_THAT(visible(), ElementsAre(due.at));
  advance(1min);
  EXPECT_THAT(visible(), ElementsAre(due.at, later.at));
}

TEST_F(DelayScheduler, IsNotReleasedTwiceWhenItDiesWithAReleaseOnItsWay) {
  const auto stored = store(1s);
  coordinator.advance_time(1'001ms);
  run_actors(); // appended, not durable
  restart_scheduler();
  advance(5s);
  EXPECT_THAT(visible(), ElementsAre(stored.at));
  EXPECT_EQ(releases().size(), 1u);
}

TEST_F(DelayScheduler, KeepsWhatWaitsInACheckpointAlsoWhatIsOnItsWay) {
  store(1s);
  const auto stored = store(1min);
  coordinator.advance_time(1'001ms);
  run_actors();
  delay_fold copy;
  std::string cursor;
  auto& state = state_of<delay_scheduler_state>(scheduler);
  EXPECT_EQ(state.fold().waiting.size(), 2u);
  do {
    const auto part = state.slices({cursor});
    cursor = part.cursor;
    EXPECT_EQ(part.code, ec::ok);
    for (const auto& slice : part.slices)
      copy.load(slice.name, slice.bytes);
  } while (!cursor.empty());
  EXPECT_EQ(copy.waiting.size(), 2u) << "the RELEASE is not durable yet";
  EXPECT_NE(copy.waiting.find(stored.at), nullptr);
}

TEST_F(DelayScheduler, GivesNoSlicesWhileItIsBeingRebuilt) {
  auto fresh = spawn(delay_scheduler, &environment,
                     fold_start<delay_fold>{{}, false, {}, incarnation{++lives}});
  EXPECT_EQ(ask<slices_taken>(fresh, take_slices{}).code, ec::recovering);
}

// -- cancelling --------------------------------------------------------------------------

TEST_F(DelayScheduler, NeverDeliversWhatWasCancelled) {
  const auto stored = store(1s);
  EXPECT_EQ(cancel(stored.at), ec::ok);
  EXPECT_THAT(list().page, IsEmpty());
  advance(5s);
  restart_scheduler();
  advance(5s);
  EXPECT_THAT(visible(), IsEmpty());
}

TEST_F(DelayScheduler, AnswersACancellationOnlyOnceItIsDurable) {
  const auto stored = store(1s);
  send_as(client, scheduler, cancel_delayed{correlation{1}, stored.at});
  send_as(client, scheduler, cancel_delayed{correlation{2}, stored.at});
  run_actors();
  EXPECT_EQ(client->count<delayed_cancelled>(), 0u);
  run();
  const auto answers = client->take<delayed_cancelled>();
  ASSERT_EQ(answers.size(), 2u) << "both who asked for the same";
  EXPECT_EQ(answers[0].code, ec::ok);
  EXPECT_EQ(answers[1].code, ec::ok);
}

TEST_F(DelayScheduler, DoesNotReleaseWhatIsBeingCancelled) {
  const auto stored = store(1s);
  advance(900ms);
  send_as(client, scheduler, cancel_delayed{correlation{1}, stored.at});
  run_actors();
  coordinator.advance_time(500ms);
  advance(5s);
  EXPECT_EQ(client->take_last<delayed_cancelled>().code, ec::ok);
  EXPECT_THAT(visible(), IsEmpty());
}

TEST_F(DelayScheduler, RefusesToCancelWhatDoesNotWaitAnyMore) {
  const auto stored = store(1s);
  EXPECT_EQ(cancel(position{12'345}), ec::unknown_message) << "there is none";
  time.jump_wall(1'000);
  EXPECT_EQ(cancel(stored.at), ec::unknown_message) << "it is due";
  advance(2s);
  EXPECT_EQ(cancel(stored.at), ec::unknown_message) << "it is released";
  const auto other = store(1s);
  EXPECT_EQ(cancel(other.at), ec::ok);
  EXPECT_EQ(cancel(other.at), ec::unknown_message) << "it is cancelled";
}

// -- dropping ----------------------------------------------------------------------------

TEST_F(DelayScheduler, DropsAllThatWaitsForATopicAndNothingElse) {
  store_many(5'000, 1h);
  const auto kept = store(1h, bills);
  store_many(10, 2h);
  send_as(client, scheduler, drop_delayed{correlation{7}, orders.topic});
  run_actors();
  EXPECT_EQ(client->count<delayed_cancelled>(), 0u) << "not durable yet";
  advance(100ms);
  const auto answer = client->take_last<delayed_cancelled>();
  EXPECT_EQ(answer.id, correlation{7});
  EXPECT_EQ(answer.code, ec::ok);
  EXPECT_THAT(positions(list()), ElementsAre(kept.at));
  EXPECT_EQ(sample("handfast_delay_cancelled_total"), 5'010);
  advance(3h);
  EXPECT_THAT(visible(), IsEmpty());
}

TEST_F(DelayScheduler, WaitsForWhatIsBeingReleasedBeforeItSaysThatNothingIsLeft) {
  store(1s);
  coordinator.advance_time(1'001ms);
  run_actors(); // the RELEASE is on its way
  send_as(client, scheduler, drop_delayed{correlation{7}, orders.topic});
  run_actors();
  EXPECT_EQ(client->count<delayed_cancelled>(), 0u);
  advance(10ms);
  EXPECT_EQ(client->take_last<delayed_cancelled>().code, ec::ok);
  EXPECT_EQ(visible().size(), 1u);
}

TEST_F(DelayScheduler, DropsForOneAfterTheOther) {
  store(1h);
  store(1h, bills);
  send_as(client, scheduler, drop_delayed{correlation{7}, orders.topic});
  send_as(client, scheduler, drop_delayed{correlation{8}, bills.topic});
  advance(100ms);
  EXPECT_EQ(client->take<delayed_cancelled>().size(), 2u);
  EXPECT_THAT(list().page, IsEmpty());
}

// -- lists -------------------------------------------------------------------------------

TEST_F(DelayScheduler, ListsInPagesByDueTime) {
  std::vector<position> in_order;
  for (const auto delay : {50s, 40s, 30s, 20s, 10s})
    in_order.insert(in_order.begin(), store(delay).at);
  std::vector<position> found;
  list_delayed what;
  what.max = 2;
  for (int pages = 0; pages < 3; ++pages) {
    const auto page = list(what);
    EXPECT_EQ(page.more, pages < 2);
    for (const auto at : positions(page))
      found.push_back(at);
    what.after_due_ms = page.page.back().entry.due_ms;
    what.after_at = page.page.back().entry.at;
  }
  EXPECT_EQ(found, in_order);
}

TEST_F(DelayScheduler, ListsTheMessagesOfOneTopicAmongMany) {
  store_many(20'000, 1h);
  const auto first = store(2h, bills);
  const auto second = store(3h, bills);
  EXPECT_THAT(positions(list({{}, bills.topic, 0, {}, 100})), ElementsAre(first.at, second.at));
  const auto page = list({{}, bills.topic, 0, {}, 1});
  EXPECT_THAT(positions(page), ElementsAre(first.at));
  EXPECT_TRUE(page.more);
  EXPECT_THAT(list({{}, topic_id{99}, 0, {}, 100}).page, IsEmpty());
}

TEST_F(DelayScheduler, RefusesQuestionsUntilItServes) {
  auto fresh = spawn(delay_scheduler, &environment,
                     fold_start<delay_fold>{{}, false, {}, incarnation{++lives}});
  send_as(client, fresh, list_delayed{});
  send_as(client, fresh, cancel_delayed{{}, position{8}});
  run();
  EXPECT_EQ(client->take_last<delayed_listed>().code, ec::recovering);
  EXPECT_EQ(client->take_last<delayed_cancelled>().code, ec::recovering);
}

// -- the bound -----------------------------------------------------------------------------

TEST_F(DelayScheduler, BoundsHowManyWaitAndTakesMoreWhenThereIsRoom) {
  settings.delay.max = 2;
  store(1s);
  store(1min);
  EXPECT_EQ(store(1min).code, ec::too_many_delayed);
  EXPECT_EQ(store(0s).code, ec::ok) << "others are not held up";
  advance(2s);
  EXPECT_EQ(store(1min).code, ec::ok);
}

TEST_F(DelayScheduler, RefusesDelayedHalvesAtTheBoundToo) {
  settings.delay.max = 1;
  store(1min);
  auto half_probe = make_probe();
  enroll(half_probe, half_life);
  auto m = delayed_to(orders, 1min);
  append(half_probe, half_life, half(1, m));
  m.delay_ms = 0;
  append(half_probe, half_life, half(2, m));
  run();
  const auto refused = half_probe->take<append_refused>();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].why.code, ec::too_many_delayed);
  EXPECT_THAT(refused[0].cookies, ElementsAre(1));
}

// -- the rest ------------------------------------------------------------------------------

TEST_F(DelayScheduler, SaysHowManyMessagesOfATopicWait) {
  store(1min);
  store(1min);
  store(1min, bills);
  send_as(topics, scheduler, ask_topic_usage{orders.topic});
  run();
  const auto usage = topics->take_last<topic_usage>();
  EXPECT_EQ(usage.topic, orders.topic);
  EXPECT_EQ(usage.delayed, 2u);
  EXPECT_EQ(usage.of, appender_role::delay_scheduler);
}

TEST_F(DelayScheduler, CountsWhatWaitsWhatWentAndHowLateItIs) {
  store(1s);
  store(1min, bills);
  const auto cancelled = store(2min);
  cancel(cancelled.at);
  EXPECT_EQ(sample("rocketmq_timing_messages"), 2);
  EXPECT_EQ(sample("handfast_delayed_messages"), 2);
  advance(2s);
  EXPECT_EQ(sample("handfast_delayed_messages"), 1);
  EXPECT_EQ(sample("rocketmq_timer_enqueue_total"), 3);
  EXPECT_EQ(sample("rocketmq_timer_dequeue_total"), 1);
  EXPECT_EQ(sample("handfast_delay_cancelled_total"), 1);
  EXPECT_EQ(sample("rocketmq_timer_dequeue_latency"), 0);
  EXPECT_GT(sample("handfast_delay_next_due_seconds") * 1'000, time.wall());
  time.jump_wall(120'000);
  EXPECT_GT(sample("rocketmq_timer_dequeue_latency"), 60'000) << "until it looks at the clock";
}

TEST_F(DelayScheduler, StopsOnceItsReleasesAreDurableAndReleasesNothingMore) {
  store(1s);
  const auto later = store(2s);
  coordinator.advance_time(1'001ms);
  run_actors();
  send_as(supervisor, scheduler, stop{});
  run_actors();
  EXPECT_EQ(supervisor->count<stopped>(), 0u) << "a RELEASE is on its way";
  run();
  EXPECT_EQ(supervisor->take<stopped>().size(), 1u);
  advance(5s);
  EXPECT_EQ(visible().size(), 1u);
  EXPECT_EQ(cancel(later.at), ec::stopping);
}

/// With a log that refuses.
class DelaySchedulerRefused : public test::actor_fixture {
protected:
  DelaySchedulerRefused() {
    log->on<append_records>([this](const append_records& x) {
      for (const auto& r : x.records)
        appended.push_back(r);
      if (refuse)
        send(scheduler, append_refused{{x.records.front().cookie}, {ec::disk_full, {}}});
    });
    delay_fold fold;
    fold.rules.apply({meta_change::topic_put, 16, "orders", 4, {}});
    for (std::uint64_t at = 8; at <= 24; at += 8)
      fold.waiting.insert({time.wall() + at * 1'000, position{at}, {}, topic_id{16}, 100, 0, {}});
    scheduler = spawn(delay_scheduler, &environment,
                      fold_start<delay_fold>{std::move(fold), true, position{64}, incarnation{3}});
    auto peers = std::make_shared<shard_peers>();
    peers->commit_log = {log->as<commit_log_actor>(), incarnation{1}};
    send(scheduler, peers_changed{peers});
    run();
  }

  std::shared_ptr<probe> log = make_probe();
  std::shared_ptr<probe> client = make_probe();
  std::vector<log_record> appended;
  bool refuse = true;
  delay_scheduler_actor scheduler;
};

TEST_F(DelaySchedulerRefused, TriesAgainALittleLater) {
  advance(8'500ms);
  EXPECT_EQ(appended.size(), 1u);
  advance(1s);
  EXPECT_EQ(appended.size(), 2u) << "not all the time";
  refuse = false;
  advance(1s);
  ASSERT_EQ(appended.size(), 3u);
  EXPECT_EQ(std::get<release_record>(appended[2].content).entries.at(0).at, position{8});
}

TEST_F(DelaySchedulerRefused, LetsWaitOnWhatCouldNotBeCancelled) {
  send_as(client, scheduler, cancel_delayed{correlation{1}, position{16}});
  run();
  EXPECT_EQ(client->take_last<delayed_cancelled>().code, ec::disk_full);
  refuse = false;
  appended.clear();
  advance(17s);
  std::vector<std::uint64_t> released;
  for (const auto& r : appended)
    for (const auto& e : std::get<release_record>(r.content).entries)
      released.push_back(e.at.value);
  EXPECT_THAT(released, ElementsAre(8, 16));
}

TEST_F(DelaySchedulerRefused, LetsWaitOnWhatCouldNotBeDropped) {
  send_as(client, scheduler, drop_delayed{correlation{1}, topic_id{16}});
  run();
  EXPECT_EQ(client->take_last<delayed_cancelled>().code, ec::disk_full);
  refuse = false;
  appended.clear();
  advance(25s);
  std::size_t released = 0;
  for (const auto& r : appended)
    released += std::get<release_record>(r.content).entries.size();
  EXPECT_EQ(released, 3u);
}

} // namespace
} // namespace handfast
