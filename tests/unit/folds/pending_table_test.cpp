#include "actors/folds/pending_table.hpp"

#include <gmock/gmock.h>
#include <map>
#include <random>

namespace handfast {
namespace {

using ::testing::ElementsAre;

pending_entry entry_at(std::uint64_t id, std::uint32_t topic = 16, std::uint32_t group = 7) {
  pending_entry e;
  e.id = position{id};
  e.topic = topic_id{topic};
  e.group = group_id{group};
  e.length = 100;
  e.tag_hash = 3;
  e.stored_ms = id;
  return e;
}

index_entry message_at(std::uint64_t at, std::uint32_t topic = 17) {
  return {position{at}, topic_id{topic}, queue_no{2}, {}, 50, 4};
}

std::vector<position> bodies_of(const pending_table& table, std::uint64_t id) {
  std::vector<index_entry> messages;
  table.append_messages(table.at(table.find(position{id})), messages);
  std::vector<position> bodies;
  for (const auto& m : messages)
    bodies.push_back(m.at);
  return bodies;
}

TEST(PendingTable, FindsWhatItOpened) {
  pending_table table;
  const auto place = table.open(entry_at(8));
  EXPECT_EQ(table.find(position{8}), place);
  EXPECT_EQ(table.at(place).group, group_id{7});
  EXPECT_EQ(table.find(position{16}), pending_table::none);
  EXPECT_EQ(table.size(), 1u);
}

TEST(PendingTable, OpeningAgainKeepsWhatIsThere) {
  pending_table table;
  const auto place = table.open(entry_at(8));
  table.at(place).attempts = 3;
  EXPECT_EQ(table.open(entry_at(8)), place);
  EXPECT_EQ(table.at(place).attempts, 3);
  EXPECT_EQ(table.bytes(), 100u);
}

std::vector<std::uint64_t> delays_of(const pending_table& table, std::uint64_t id) {
  std::vector<index_entry> messages;
  table.append_messages(table.at(table.find(position{id})), messages);
  std::vector<std::uint64_t> delays;
  for (const auto& m : messages)
    delays.push_back(m.due_ms);
  return delays;
}

TEST(PendingTable, KeepsTheDelayOfEachMessageAlsoInItsSlices) {
  pending_table table;
  table.open(entry_at(8), 5'000);
  auto joined = message_at(16);
  joined.due_ms = 7'000;
  table.join(position{8}, joined);
  table.join(position{8}, message_at(24));
  table.open(entry_at(32));
  joined.at = position{16};
  table.reopen(entry_at(40), position{4}, std::vector{joined});
  pending_table copy;
  pending_table::place next = 0;
  copy.load(table.save(0, 100, next));
  for (const auto* one : {&table, &copy}) {
    EXPECT_THAT(delays_of(*one, 8), ElementsAre(5'000, 7'000, 0));
    EXPECT_THAT(delays_of(*one, 32), ElementsAre(0));
    EXPECT_THAT(delays_of(*one, 40), ElementsAre(7'000));
  }
}

TEST(PendingTable, ForgetsADelayWithItsTransaction) {
  pending_table table;
  table.open(entry_at(8), 5'000);
  table.erase(position{8});
  table.open(entry_at(8));
  EXPECT_THAT(delays_of(table, 8), ElementsAre(0));
}

TEST(PendingTable, JoinsMessagesOnce) {
  pending_table table;
  table.open(entry_at(8));
  EXPECT_TRUE(table.join(position{8}, message_at(16)));
  EXPECT_TRUE(table.join(position{8}, message_at(16)));
  EXPECT_TRUE(table.join(position{8}, message_at(24)));
  EXPECT_FALSE(table.join(position{9}, message_at(32)));
  EXPECT_EQ(table.at(table.find(position{8})).messages, 3);
  EXPECT_THAT(bodies_of(table, 8), ElementsAre(position{8}, position{16}, position{24}));
  EXPECT_EQ(table.messages_of(topic_id{17}), 2u);
}

TEST(PendingTable, ForgetsEverythingOfAnErasedOne) {
  pending_table table;
  table.open(entry_at(8));
  table.join(position{8}, message_at(16));
  EXPECT_TRUE(table.erase(position{8}));
  EXPECT_FALSE(table.erase(position{8}));
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.bytes(), 0u);
  EXPECT_EQ(table.messages_of(topic_id{16}), 0u);
  EXPECT_EQ(table.messages_of(topic_id{17}), 0u);
  EXPECT_EQ(table.transactions_of(group_id{7}), 0u);
}

TEST(PendingTable, TellsAPlaceThatWasGivenToAnotherTransaction) {
  pending_table table;
  const auto place = table.open(entry_at(8));
  table.open(entry_at(80));
  table.erase(position{8});
  EXPECT_EQ(table.at(place, position{8}), nullptr);
  EXPECT_EQ(table.open(entry_at(16)), place);
  EXPECT_EQ(table.at(place, position{8}), nullptr);
  EXPECT_NE(table.at(place, position{16}), nullptr);
}

TEST(PendingTable, ReopensOnOldBodies) {
  pending_table table;
  const std::vector bodies{message_at(16), message_at(24)};
  table.reopen(entry_at(100), position{8}, bodies);
  const auto& e = table.at(table.find(position{100}));
  EXPECT_EQ(table.reopened_from(e), position{8});
  EXPECT_EQ(table.first_body(e), position{16});
  EXPECT_THAT(bodies_of(table, 100), ElementsAre(position{16}, position{24}));
}

TEST(PendingTable, AgesByTheWallClockWhenNothingElseIsKnown) {
  pending_table table;
  table.open(entry_at(1'000));
  table.open(entry_at(9'000)); // stored in the future: the clock was set back
  table.settle_ages(4'000, 50);
  EXPECT_EQ(table.at(table.find(position{1'000})).stored_at, 50 - 3'000);
  EXPECT_EQ(table.at(table.find(position{9'000})).stored_at, 50);
  EXPECT_TRUE(table.at(table.find(position{1'000})).has(pending_flags::recovered));
}

TEST(PendingTable, ComesBackFromItsSlices) {
  pending_table table;
  for (std::uint64_t id = 8; id <= 800; id += 8)
    table.open(entry_at(id));
  table.join(position{8}, message_at(1'000));
  table.reopen(entry_at(2'000), position{4}, std::vector{message_at(1'500), message_at(1'501)});
  table.erase(position{16});
  table.at(table.find(position{24})).attempts = 9;
  table.at(table.find(position{32})).state = pending_state::parked;
  table.at(table.find(position{40})).state = pending_state::deciding;
  pending_table loaded;
  int slices = 0;
  for (pending_table::place next = 0; next != pending_table::none; ++slices)
    loaded.load(table.save(next, 10, next));
  EXPECT_GT(slices, 5);
  EXPECT_EQ(loaded.size(), table.size());
  EXPECT_EQ(loaded.bytes(), table.bytes());
  EXPECT_EQ(loaded.at(loaded.find(position{24})).attempts, 9);
  EXPECT_EQ(loaded.at(loaded.find(position{32})).state, pending_state::parked);
  EXPECT_EQ(loaded.at(loaded.find(position{40})).state, pending_state::pending);
  EXPECT_THAT(bodies_of(loaded, 8), ElementsAre(position{8}, position{1'000}));
  EXPECT_THAT(bodies_of(loaded, 2'000), ElementsAre(position{1'500}, position{1'501}));
  EXPECT_EQ(loaded.reopened_from(loaded.at(loaded.find(position{2'000}))), position{4});
}

// F68: counters derive from what is there.
TEST(PendingTable, CountsLikeAModelOverARandomWalk) {
  std::mt19937_64 random{7};
  pending_table table;
  std::map<std::uint64_t, std::vector<std::uint32_t>> model; // id -> topics of its messages
  for (int step = 0; step < 20'000; ++step) {
    const auto id = 1 + random() % 500;
    const auto topic = static_cast<std::uint32_t>(16 + random() % 3);
    switch (random() % 3) {
    case 0:
      table.open(entry_at(id, topic));
      model.try_emplace(id, std::vector{topic});
      break;
    case 1: {
      const auto at = 10'000 + static_cast<std::uint64_t>(step);
      EXPECT_EQ(table.join(position{id}, message_at(at, topic)), model.contains(id));
      if (model.contains(id))
        model[id].push_back(topic);
      break;
    }
    default:
      EXPECT_EQ(table.erase(position{id}), model.erase(id) == 1);
    }
    std::map<std::uint32_t, std::uint64_t> by_topic;
    std::uint64_t bytes = 0;
    for (const auto& [_, topics] : model) {
      bytes += 100 + 50 * (topics.size() - 1);
      for (const auto t : topics)
        ++by_topic[t];
    }
    ASSERT_EQ(table.size(), model.size());
    ASSERT_EQ(table.bytes(), bytes);
    for (std::uint32_t t = 16; t < 19; ++t)
      ASSERT_EQ(table.messages_of(topic_id{t}), by_topic[t]);
  }
}

} // namespace
} // namespace handfast
