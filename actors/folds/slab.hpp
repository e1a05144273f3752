#pragma once

/// Many small entries that live in numbered places, and an index over them that costs 8 to 16 bytes
/// an entry. Places never move, so a cursor over them stays right while entries come and go.

#include "messages/assert.hpp"
#include "messages/ids.hpp"

#include <tsl/robin_set.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace handfast {

/// Grows by chunks, so growing moves nothing. `T` must be default constructible. Not thread-safe.
template <class T>
class slab {
public:
  using place = std::uint32_t;

  [[nodiscard]] T& operator[](place p) { return chunks_[p >> chunk_bits][p & chunk_mask]; }
  [[nodiscard]] const T& operator[](place p) const {
    return chunks_[p >> chunk_bits][p & chunk_mask];
  }

  place take() {
    if (!free_.empty()) {
      const auto p = free_.back();
      free_.pop_back();
      return p;
    }
    HANDFAST_ASSERT(end_ < UINT32_MAX);
    if ((end_ & chunk_mask) == 0)
      chunks_.push_back(std::make_unique<T[]>(chunk_size));
    return end_++;
  }

  void give_back(place p) {
    (*this)[p] = T{};
    free_.push_back(p);
    if (free_.size() == end_ && end_ > chunk_size)
      clear(); // a flood is over: the memory goes back
  }

  void clear() {
    chunks_.clear();
    free_ = {};
    end_ = 0;
  }

  /// Places below are taken or were once; a free one holds `T{}`.
  [[nodiscard]] place end() const { return end_; }
  [[nodiscard]] std::size_t size() const { return end_ - free_.size(); }

private:
  static constexpr unsigned chunk_bits = 10;
  static constexpr place chunk_size = place{1} << chunk_bits;
  static constexpr place chunk_mask = chunk_size - 1;

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<place> free_;
  place end_ = 0;
};

/// Finds places by position. In 64 parts, so that growing takes well under a millisecond at a time.
/// `PositionOf` is called with a place and gives its entry's position; it must stay valid as long
/// as the index.
template <class PositionOf>
class place_index {
public:
  using place = std::uint32_t;
  static constexpr place none = UINT32_MAX;

  explicit place_index(PositionOf position_of)
      : parts_{make_parts(position_of, std::make_index_sequence<part_count>{})} {}

  [[nodiscard]] place find(position p) const {
    const auto hash = mix64(p.value);
    const auto& part = parts_[part_of(hash)];
    const auto found = part.find(p, hash);
    return found == part.end() ? none : *found;
  }

  /// `of` must be in its place already.
  void insert(position p, place of) { parts_[part_of(mix64(p.value))].insert(of); }

  /// The entry must still be in its place.
  void erase(position p) {
    const auto hash = mix64(p.value);
    parts_[part_of(hash)].erase(p, hash);
  }

  void clear() {
    for (auto& part : parts_)
      part = set{0, part.hash_function(), part.key_eq()};
  }

private:
  static constexpr std::size_t part_count = 64;

  struct hasher {
    PositionOf position_of;
    std::size_t operator()(place of) const { return mix64(position_of(of).value); }
    std::size_t operator()(position p) const { return mix64(p.value); }
  };
  struct equal {
    using is_transparent = void;
    PositionOf position_of;
    bool operator()(place a, place b) const { return a == b; }
    bool operator()(position a, place b) const { return a == position_of(b); }
    bool operator()(place a, position b) const { return position_of(a) == b; }
  };
  using set = tsl::robin_set<place, hasher, equal>;

  static std::size_t part_of(std::uint64_t hash) { return hash >> 58; }

  template <std::size_t... I>
  static std::array<set, part_count> make_parts(PositionOf f, std::index_sequence<I...>) {
    return {((void)I, set{0, hasher{f}, equal{f}})...};
  }

  std::array<set, part_count> parts_;
};

} // namespace handfast
