#include "actors/folds/place_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace handfast {
namespace {

TEST(PlaceIndex, KeepsTheFirstPlaceOfAPosition) {
  place_index index;
  auto [place, fresh] = index.insert(position{8'192});
  EXPECT_TRUE(fresh);
  place = 5;
  EXPECT_FALSE(index.insert(position{8'192}).second);
  EXPECT_EQ(index.find(position{8'192}), 5u);
}

TEST(PlaceIndex, KnowsNothingOfPositionsBetween) {
  place_index index;
  index.insert(position{8'192}).first = 1;
  index.insert(position{8'448}).first = 2;
  EXPECT_FALSE(index.find(position{8'320}));
  EXPECT_FALSE(index.take(position{8'320}));
  EXPECT_FALSE(index.find(position{1'000'000}));
}

TEST(PlaceIndex, ForgetsWhatIsTaken) {
  place_index index;
  index.insert(position{8'192}).first = 1;
  EXPECT_EQ(index.take(position{8'192}), 1u);
  EXPECT_FALSE(index.find(position{8'192}));
  EXPECT_FALSE(index.take(position{8'192}));
}

TEST(PlaceIndex, FindsLikeAModelOverARandomWalk) {
  std::mt19937_64 random{3};
  place_index index;
  std::map<std::uint64_t, place_index::place> model;
  for (place_index::place step = 0; step < 50'000; ++step) {
    // Several pages, also of another shard, in any order.
    const auto at = 8 * (1 + random() % 20'000) + (random() % 2 << shard_shift);
    if (random() % 2 == 0) {
      const auto [place, fresh] = index.insert(position{at});
      ASSERT_EQ(fresh, model.try_emplace(at, step).second);
      if (fresh)
        place = step;
    } else {
      const auto found = model.find(at);
      const auto expected = found == model.end() ? std::nullopt : std::optional{found->second};
      ASSERT_EQ(index.find(position{at}), expected);
      ASSERT_EQ(index.take(position{at}), expected);
      if (expected)
        model.erase(found);
    }
  }
  for (const auto& [at, place] : model)
    ASSERT_EQ(index.find(position{at}), place);
}

} // namespace
} // namespace handfast
