#include "actors/folds/timing_wheel.hpp"

#include <algorithm>
#include <bit>

namespace handfast {

timing_wheel::timing_wheel() {
  for (auto& l : levels_)
    l.heads.fill(end_of_list);
}

// Ticks are kept in 32 bits: differences stay far below half of that range (a year), so they are
// unambiguous.
std::uint64_t timing_wheel::tick_of(const node& n) const {
  const auto ahead = static_cast<std::int32_t>(n.due - static_cast<std::uint32_t>(now_));
  return now_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead));
}

void timing_wheel::arm(position what, mono_ms due) {
  constexpr std::uint64_t farthest = 1u << 30;
  const auto wanted = due <= 0 ? 0 : static_cast<std::uint64_t>((due + tick_ms - 1) / tick_ms);
  const auto tick = std::clamp(wanted, now_, now_ + farthest);
  const auto place = nodes_.take();
  nodes_[place] = {what, static_cast<std::uint32_t>(tick), end_of_list};
  link(place, tick);
}

void timing_wheel::link(std::uint32_t place, std::uint64_t tick) {
  unsigned of = 0;
  while (of + 1 < levels && (tick >> (of * level_bits)) - (now_ >> (of * level_bits)) >= slots)
    ++of;
  auto& l = levels_[of];
  const auto slot = (tick >> (of * level_bits)) & (slots - 1);
  nodes_[place].next = l.heads[slot];
  l.heads[slot] = place;
  l.used[slot / 64] |= std::uint64_t{1} << (slot % 64);
}

std::uint32_t timing_wheel::unlink_all(unsigned of, std::uint64_t slot) {
  auto& l = levels_[of];
  l.used[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  return std::exchange(l.heads[slot], end_of_list);
}

/// First tick of the next slot of a level that holds something.
std::optional<std::uint64_t> timing_wheel::next_event(unsigned of) const {
  const auto& l = levels_[of];
  const auto current = now_ >> (of * level_bits);
  const auto first = current & (slots - 1);
  for (std::uint64_t step = 0; step < slots;) {
    const auto slot = (first + step) & (slots - 1);
    const auto word = l.used[slot / 64] >> (slot % 64);
    if (word == 0) {
      step += 64 - slot % 64;
      continue;
    }
    step += static_cast<std::uint64_t>(std::countr_zero(word));
    if (step >= slots)
      break;
    return (current + step) << (of * level_bits);
  }
  return {};
}

std::optional<std::uint64_t> timing_wheel::next_event() const {
  std::optional<std::uint64_t> next;
  for (unsigned of = 0; of < levels; ++of)
    if (const auto tick = next_event(of); tick && (!next || *tick < *next))
      next = std::max(*tick, now_);
  return next;
}

/// Moves what a higher level holds for the present down to the levels below.
void timing_wheel::cascade(unsigned of) {
  const auto slot = (now_ >> (of * level_bits)) & (slots - 1);
  for (auto place = unlink_all(of, slot); place != end_of_list;) {
    const auto next = nodes_[place].next;
    link(place, std::max(tick_of(nodes_[place]), now_));
    place = next;
  }
}

bool timing_wheel::take_due(mono_ms now, std::size_t max, std::vector<position>& due) {
  const auto target = now <= 0 ? 0 : static_cast<std::uint64_t>(now / tick_ms);
  while (const auto next = next_event()) {
    if (*next > target)
      break;
    now_ = *next;
    for (auto of = levels - 1; of > 0; --of)
      if (next_event(of) == now_)
        cascade(of);
    auto& l = levels_[0];
    const auto slot = now_ & (slots - 1);
    while (l.heads[slot] != end_of_list) {
      if (max == 0)
        return true;
      --max;
      const auto place = l.heads[slot];
      l.heads[slot] = nodes_[place].next;
      due.push_back(nodes_[place].what);
      nodes_.give_back(place);
    }
    unlink_all(0, slot);
  }
  now_ = std::max(now_, target);
  return false;
}

std::optional<mono_ms> timing_wheel::next_wake() const {
  const auto tick = next_event();
  return tick ? std::optional<mono_ms>{static_cast<mono_ms>(*tick) * tick_ms} : std::nullopt;
}

} // namespace handfast
