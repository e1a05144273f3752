#pragma once

/// "Did you mean ...?"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handfast::cli {

/// The one of `known` that was probably meant by `wrong`: fewest insertions, deletions,
/// replacements and swaps of neighbours, at most a third of the length (and at least one); also one
/// that `wrong` is the beginning of. Nothing if none is near.
std::optional<std::string> nearest(std::string_view wrong, const std::vector<std::string>& known);

} // namespace handfast::cli
