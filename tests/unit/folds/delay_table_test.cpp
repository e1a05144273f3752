#include "actors/folds/delay_table.hpp"

#include <gmock/gmock.h>
#include <map>
#include <random>
#include <set>

namespace handfast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

delayed_entry entry_at(std::uint64_t at, wall_ms due, std::uint32_t topic = 16) {
  delayed_entry e;
  e.due = due;
  e.at = position{at};
  e.topic = topic_id{topic};
  e.queue = queue_no{static_cast<std::uint16_t>(at % 5)};
  e.length = static_cast<std::uint32_t>(100 + at % 7);
  e.tag_hash = static_cast<std::uint32_t>(at * 3);
  e.transaction = at % 2 == 1 ? position{at * 5} : position{};
  return e;
}

std::vector<std::uint64_t> positions(const std::vector<delayed_entry>& entries) {
  std::vector<std::uint64_t> all;
  for (const auto& e : entries)
    all.push_back(e.at.value);
  return all;
}

std::vector<std::uint64_t> take(delay_table& table, wall_ms now, std::size_t max = 1'000) {
  std::vector<delayed_entry> due;
  table.take_due(now, max, due);
  return positions(due);
}

std::vector<delayed_entry> list(const delay_table& table, std::size_t page_size = 1'000) {
  std::vector<delayed_entry> all;
  due_place after;
  while (table.page(after, page_size, all)) {
  }
  return all;
}

delay_table copy_of(const delay_table& table, std::size_t slice_size) {
  delay_table copy;
  position next;
  do {
    copy.load(table.save(next, slice_size, next));
  } while (next != position{});
  return copy;
}

TEST(DelayTable, FindsWhatItHolds) {
  delay_table table;
  EXPECT_TRUE(table.insert(entry_at(8, 100)));
  ASSERT_NE(table.find(position{8}), nullptr);
  EXPECT_EQ(*table.find(position{8}), entry_at(8, 100));
  EXPECT_EQ(table.find(position{9}), nullptr);
}

TEST(DelayTable, KeepsTheFirstOfOnePosition) {
  delay_table table;
  table.insert(entry_at(8, 100));
  EXPECT_FALSE(table.insert(entry_at(8, 200)));
  EXPECT_EQ(table.next_due(), 100u);
  EXPECT_EQ(table.size(), 1u);
}

TEST(DelayTable, GivesWhatIsDueByTimeThenByPosition) {
  delay_table table;
  table.insert(entry_at(32, 200));
  table.insert(entry_at(24, 100));
  table.insert(entry_at(16, 300));
  table.insert(entry_at(8, 200));
  EXPECT_THAT(take(table, 99), IsEmpty());
  EXPECT_THAT(take(table, 250), ElementsAre(24, 8, 32));
  EXPECT_EQ(table.next_due(), 300u);
}

TEST(DelayTable, SaysWhetherMoreIsDue) {
  delay_table table;
  for (std::uint64_t at = 1; at <= 3; ++at)
    table.insert(entry_at(at, 100));
  std::vector<delayed_entry> due;
  EXPECT_TRUE(table.take_due(100, 2, due));
  EXPECT_FALSE(table.take_due(100, 2, due));
  EXPECT_THAT(positions(due), ElementsAre(1, 2, 3));
}

TEST(DelayTable, KeepsWhatItGaveUntilItIsErased) {
  delay_table table;
  table.insert(entry_at(8, 100));
  EXPECT_THAT(take(table, 100), ElementsAre(8));
  EXPECT_THAT(take(table, 100), IsEmpty());
  EXPECT_EQ(table.size(), 1u);
  EXPECT_TRUE(table.find(position{8})->releasing);
  EXPECT_EQ(table.next_due(), std::nullopt);
  EXPECT_TRUE(table.erase(position{8}));
  EXPECT_EQ(table.size(), 0u);
}

TEST(DelayTable, GivesAgainWhatWasPutBack) {
  delay_table table;
  table.insert(entry_at(8, 100));
  EXPECT_FALSE(table.put_back(position{8}));
  take(table, 100);
  EXPECT_TRUE(table.put_back(position{8}));
  EXPECT_FALSE(table.put_back(position{8}));
  EXPECT_FALSE(table.put_back(position{9}));
  EXPECT_THAT(take(table, 100), ElementsAre(8));
}

TEST(DelayTable, GivesOneAloneAndNotAgainWithWhatIsDue) {
  delay_table table;
  table.insert(entry_at(8, 100));
  table.insert(entry_at(16, 100));
  EXPECT_TRUE(table.take(position{8}));
  EXPECT_FALSE(table.take(position{8})) << "it is taken already";
  EXPECT_FALSE(table.take(position{24})) << "there is none";
  EXPECT_THAT(take(table, 100), ElementsAre(16));
  EXPECT_TRUE(table.put_back(position{8}));
  EXPECT_THAT(take(table, 100), ElementsAre(8));
}

TEST(DelayTable, ForgetsEverythingOfACancelledOne) {
  delay_table table;
  table.insert(entry_at(8, 100, 17));
  table.insert(entry_at(16, 50, 18));
  EXPECT_TRUE(table.erase(position{8}));
  EXPECT_FALSE(table.erase(position{8}));
  EXPECT_EQ(table.messages_of(topic_id{17}), 0u);
  EXPECT_EQ(table.messages_of(topic_id{18}), 1u);
  EXPECT_EQ(table.bytes(), entry_at(16, 50).length);
  EXPECT_EQ(table.oldest(), position{16});
  EXPECT_THAT(take(table, 1'000), ElementsAre(16));
}

TEST(DelayTable, IsEmptyAtFirst) {
  const delay_table table;
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.next_due(), std::nullopt);
  EXPECT_EQ(table.oldest(), std::nullopt);
  EXPECT_THAT(list(table), IsEmpty());
  EXPECT_EQ(copy_of(table, 5).size(), 0u);
}

TEST(DelayTable, ListsInPagesWithoutWhatIsOnItsWay) {
  delay_table table;
  for (std::uint64_t at = 1; at <= 10; ++at)
    table.insert(entry_at(at, 100 + at % 3));
  take(table, 100, 1);
  EXPECT_THAT(positions(list(table, 4)), ElementsAre(6, 9, 1, 4, 7, 10, 2, 5, 8));
}

TEST(DelayTable, GoesOnWithAPageThoughItsLastEntryIsGone) {
  delay_table table;
  for (std::uint64_t at = 1; at <= 4; ++at)
    table.insert(entry_at(at, 100));
  std::vector<delayed_entry> entries;
  due_place after;
  EXPECT_TRUE(table.page(after, 2, entries));
  table.erase(position{2});
  EXPECT_FALSE(table.page(after, 2, entries));
  EXPECT_THAT(positions(entries), ElementsAre(1, 2, 3, 4));
}

TEST(DelayTable, SavesWhatIsOnItsWayAsIfNobodyHadTakenIt) {
  delay_table table;
  table.insert(entry_at(8, 100));
  take(table, 100);
  auto copy = copy_of(table, 10);
  EXPECT_THAT(take(copy, 100), ElementsAre(8));
}

TEST(DelayTable, RefusesAPartOfASlice) {
  delay_table table;
  table.insert(entry_at(8, 100));
  position next;
  const auto bytes = table.save({}, 10, next);
  EXPECT_THROW(delay_table{}.load(std::string_view{bytes}.substr(0, bytes.size() - 1)),
               invariant_broken);
  EXPECT_THROW(delay_table{}.load("\x09"), invariant_broken);
}

TEST(DelayTable, MayBeMoved) {
  delay_table table;
  for (std::uint64_t at = 1; at <= 1'000; ++at)
    table.insert(entry_at(at, 1'000 - at));
  delay_table other;
  other.insert(entry_at(5'000, 1));
  other = std::move(table);
  EXPECT_EQ(other.size(), 1'000u);
  EXPECT_TRUE(other.insert(entry_at(2'000, 0)));
  EXPECT_THAT(take(other, 1), ElementsAre(1'000, 2'000, 999));
  const auto again = std::move(other);
  EXPECT_EQ(again.oldest(), position{1});
  EXPECT_EQ(list(again).size(), 998u);
}

/// The plainest table that keeps the same promises.
struct model {
  std::multimap<wall_ms, delayed_entry> waiting;
  std::map<position, delayed_entry> all;

  void forget_waiting(position at) {
    for (auto i = waiting.begin(); i != waiting.end(); ++i) {
      if (i->second.at == at) {
        waiting.erase(i);
        return;
      }
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> ordered(wall_ms until) const {
    std::set<std::pair<wall_ms, std::uint64_t>> keys;
    for (const auto& [due, e] : waiting) {
      if (due <= until)
        keys.insert({due, e.at.value});
    }
    std::vector<std::uint64_t> made;
    for (const auto& key : keys)
      made.push_back(key.second);
    return made;
  }
};

class against_model {
public:
  explicit against_model(std::uint64_t seed) : random_{seed} {}

  void step() {
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
      return insert();
    case 3:
      return erase();
    case 4:
      return take();
    case 5:
      return put_back();
    case 6:
      return compare();
    default:
      if (below(20) == 0)
        reload();
    }
  }

  void compare() {
    ASSERT_EQ(table_.size(), model_.all.size());
    ASSERT_EQ(positions(list(table_, 1 + below(9))), model_.ordered(UINT64_MAX));
    std::uint64_t bytes = 0;
    std::map<topic_id, std::uint64_t> by_topic;
    for (const auto& [at, e] : model_.all) {
      bytes += e.length;
      ++by_topic[e.topic];
      ASSERT_NE(table_.find(at), nullptr);
      ASSERT_EQ(*table_.find(at), e);
    }
    ASSERT_EQ(table_.bytes(), bytes);
    for (std::uint32_t topic = 16; topic < 20; ++topic)
      ASSERT_EQ(table_.messages_of(topic_id{topic}), by_topic[topic_id{topic}]);
    const auto& [waiting, all] = model_;
    ASSERT_EQ(table_.oldest(), all.empty() ? std::nullopt : std::optional{all.begin()->first});
    ASSERT_EQ(table_.next_due(),
              waiting.empty() ? std::nullopt : std::optional{waiting.begin()->first});
  }

private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  position any() { return position{1 + below(400)}; }

  void insert() {
    const auto e = entry_at(any().value, below(60), 16 + static_cast<std::uint32_t>(below(4)));
    const bool added = model_.all.try_emplace(e.at, e).second;
    if (added)
      model_.waiting.emplace(e.due, e);
    ASSERT_EQ(table_.insert(e), added);
  }
  void erase() {
    const auto at = any();
    model_.forget_waiting(at);
    ASSERT_EQ(table_.erase(at), model_.all.erase(at) == 1);
  }
  void take() {
    const auto now = below(60);
    const auto max = below(6);
    auto expected = model_.ordered(now);
    const bool more = expected.size() > max;
    expected.resize(std::min<std::size_t>(expected.size(), max));
    std::vector<delayed_entry> due;
    ASSERT_EQ(table_.take_due(now, max, due), more);
    ASSERT_EQ(positions(due), expected);
    for (const auto at : expected) {
      model_.forget_waiting(position{at});
      model_.all.at(position{at}).releasing = true;
    }
  }
  void put_back() {
    const auto at = any();
    const auto found = model_.all.find(at);
    const bool expected = found != model_.all.end() && found->second.releasing;
    ASSERT_EQ(table_.put_back(at), expected);
    if (expected) {
      found->second.releasing = false;
      model_.waiting.emplace(found->second.due, found->second);
    }
  }
  void reload() {
    table_ = copy_of(table_, 1 + below(50));
    for (auto& [at, e] : model_.all) {
      if (std::exchange(e.releasing, false))
        model_.waiting.emplace(e.due, e);
    }
  }

  std::mt19937_64 random_;
  delay_table table_;
  model model_;
};

TEST(DelayTable, AgreesWithAPlainModel) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    against_model run{seed};
    for (int i = 0; i < 4'000 && !testing::Test::HasFatalFailure(); ++i)
      run.step();
    run.compare();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

} // namespace
} // namespace handfast
