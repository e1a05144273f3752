#include "actors/fold_member.hpp"
#include "tests/support/checkpoint_fixture.hpp"

#include <algorithm>
#include <gmock/gmock.h>

namespace handfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// Sequence numbers of halves.
struct number_list {
  std::vector<std::uint64_t> numbers;

  void load(const std::string&, std::string_view bytes) {
    for (slice_reader in{bytes}; in.more();)
      add(in.get<std::uint64_t>());
  }
  void add(std::uint64_t n) {
    if (std::find(numbers.begin(), numbers.end(), n) == numbers.end())
      numbers.push_back(n);
  }
  [[nodiscard]] number_list emptied() const { return {}; }
};

class folder_state;
/// The checkpointer's interface with the parts of a fold.
using folder_actor = fold_actor;
using folder_pointer = loop_pointer<folder_actor, folder_state>;

class folder_state {
public:
  static inline const char* name = "folder";
  explicit folder_state(folder_pointer self) : self_{self} {}

  void start(incarnation life) {
    fold_start<number_list> from;
    from.life = life;
    member.emplace(self_, appender{appender_role::half_store, 0, life}, "numbers", std::move(from));
  }
  void apply(const log_record& record) {
    if (record.type != record_type::half)
      return;
    const auto n = std::get<message_record>(record.content).sequence.value;
    if (n == 13)
      throw std::runtime_error("can't take a 13");
    member->fold.add(n);
  }
  slices_taken slices() const {
    slices_taken answer;
    if (!member->serving()) {
      answer.code = ec::recovering;
      return answer;
    }
    slice_writer out;
    for (const auto n : member->fold.numbers)
      out.put(n);
    answer.slices.push_back({"numbers", out.take()});
    return answer;
  }

  std::optional<fold_member<folder_pointer, number_list>> member;

private:
  folder_pointer self_;
};

folder_actor::behavior_type folder(folder_pointer self, incarnation life) {
  auto& s = self->state;
  s.start(life);
  const auto apply = [&s](const log_record& r, bool) { s.apply(r); };
  return {
      [&s](const peers_changed& x) { s.member->connect(*x.peers); },
      [](const stop&) {},
      [](const status_request&) { return status_report{}; },
      [&s](const appender_registered& x) { s.member->on_registered(x); },
      [&s](const slices_loaded& x) { s.member->on_slices(x); },
      [&s, apply](const log_replayed& x) { s.member->on_replayed(x, apply); },
      [&s, apply](const records_durable& x) { s.member->on_durable(x, apply); },
      [](const append_refused&) {},
      [&s](const take_slices&) { return s.slices(); },
  };
}

class FoldMember : public test::checkpoint_fixture {
public:
  void SetUp() override {
    start();
    fold = launch();
  }

  folder_actor launch() {
    auto made = spawn(folder, incarnation{++life});
    half_store->on<take_slices>([this](const take_slices&) { return state().slices(); });
    send(made, peers_changed{peers});
    return made;
  }

  folder_state& state() { return state_of<folder_state>(fold); }
  const std::vector<std::uint64_t>& numbers() { return state().member->fold.numbers; }

  void append_number(std::uint64_t n) {
    append(make_probe(), {appender_role::half_store, 0, incarnation{life}},
           record_of(record_type::half, numbered(orders, 1, n), n));
  }

  std::uint64_t life = 500;
  folder_actor fold;
};

TEST_F(FoldMember, ServesOnceItHasFoldedTheLog) {
  EXPECT_FALSE(state().member->serving());
  run();
  EXPECT_TRUE(state().member->serving());
  append_number(1);
  append_number(2);
  run();
  EXPECT_THAT(numbers(), ElementsAre(1, 2));
}

TEST_F(FoldMember, IsTheSameAgainAfterARestart) {
  run();
  for (std::uint64_t n = 1; n <= 3; ++n)
    append_number(n);
  run();
  (void)checkpoint();
  for (std::uint64_t n = 4; n <= 6; ++n)
    append_number(n);
  run();
  kill(fold);
  fold = launch();
  run();
  EXPECT_TRUE(state().member->serving());
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(FoldMember, FoldsWhatItsPredecessorAppendedAndWasNotYetSyncedBeforeItServes) {
  run();
  writer->hold(true);
  append_number(1); // in flight
  run();
  append_number(2); // forming
  run();
  kill(fold);
  fold = launch();
  run();
  EXPECT_FALSE(state().member->serving());
  writer->finish_next();
  run();
  EXPECT_FALSE(state().member->serving());
  EXPECT_EQ(state().slices().code, ec::recovering);
  writer->finish_next();
  run();
  EXPECT_TRUE(state().member->serving());
  EXPECT_THAT(numbers(), ElementsAre(1, 2));
}

TEST_F(FoldMember, KeepsWhatIsDispatchedWhileItReplays) {
  run();
  append_number(1);
  run();
  (void)checkpoint();
  writer->hold(true);
  append_number(2);
  run(); // in flight
  kill(fold);
  fold = launch();
  const auto loading = [&] { return !state().member || state().member->applied() == position{}; };
  while (loading() && coordinator.try_run_once()) {
  }
  writer->finish_next();
  for (const auto& next : {caf::actor_cast<caf::actor>(log), caf::actor_cast<caf::actor>(fold)}) {
    coordinator.prioritize(next);
    coordinator.try_run_once();
  }
  EXPECT_FALSE(state().member->serving());
  EXPECT_THAT(numbers(), ElementsAre(1));
  run();
  EXPECT_TRUE(state().member->serving());
  EXPECT_THAT(numbers(), ElementsAre(1, 2));
}

TEST_F(FoldMember, SetsARecordAsideThatItCannotApplyAndGoesOn) {
  run();
  append_number(12);
  append_number(13);
  append_number(14);
  run();
  EXPECT_THAT(numbers(), ElementsAre(12, 14));
  ASSERT_EQ(state().member->quarantined().size(), 1u);
  EXPECT_EQ(state().member->quarantined()[0].why, "can't take a 13");
  kill(fold);
  fold = launch();
  run();
  EXPECT_THAT(numbers(), ElementsAre(12, 14));
  EXPECT_EQ(state().member->quarantined().size(), 1u);
}

TEST_F(FoldMember, BeginsToRestoreAgainWhenTheReaderWasRestarted) {
  run();
  append_number(1);
  run();
  kill(reader);
  kill(fold);
  fold = launch();
  run();
  EXPECT_FALSE(state().member->serving()) << "nobody answers";
  reader = spawn(log_reader,
                 std::make_shared<log_reader_start>(log_reader_start{
                     &disk, store->log.get(), codec.get(), store->directory.paths(), store_id()}));
  peers = std::make_shared<shard_peers>(*peers);
  peers->log_reader = {reader, incarnation{++lives}};
  send(fold, peers_changed{peers});
  run();
  EXPECT_TRUE(state().member->serving());
  EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(FoldMember, EndsWhenTheLogCannotBeReadAgain) {
  auto broken = make_probe();
  broken->on<load_slices>([&](const load_slices& x) {
    send(fold, slices_loaded{x.id, ec::io_error, {}, {}});
  });
  peers = std::make_shared<shard_peers>(*peers);
  peers->log_reader = {broken->as<log_reader_actor>(), incarnation{++lives}};
  send(fold, peers_changed{peers});
  run();
  EXPECT_FALSE(alive(fold));
}

TEST(CookieSource, GivesCookiesThatNameTheirLife) {
  cookie_source first{incarnation{1}};
  cookie_source second{incarnation{2}};
  EXPECT_NE(first.next(), first.next());
  EXPECT_EQ(cookie_source::life_of(second.next()), incarnation{2});
}

} // namespace
} // namespace handfast
