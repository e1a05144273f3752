#include "runtime/cli/suggest.hpp"

#include <algorithm>

namespace handfast::cli {

namespace {

/// Optimal string alignment: Levenshtein's distance with swaps of neighbours.
std::size_t slips(std::string_view a, std::string_view b) {
  auto width = b.size() + 1;
  std::vector<std::size_t> cell((a.size() + 1) * width);
  auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return cell[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i)
    at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j)
    at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

} // namespace

std::optional<std::string> nearest(std::string_view wrong, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64; // nobody mistypes more than that
  if (wrong.empty() || wrong.size() > longest)
    return std::nullopt;
  std::optional<std::string> best;
  auto best_slips = std::max<std::size_t>(1, wrong.size() / 3) + 1;
  for (const auto& candidate : known) {
    auto count = slips(wrong, candidate);
    if (wrong.size() >= 2 && candidate.starts_with(wrong))
      count = std::min<std::size_t>(count, 1);
    if (count < best_slips) {
      best_slips = count;
      best = candidate;
    }
  }
  return best;
}

} // namespace handfast::cli
