#include "runtime/cli/progress.hpp"

#include "runtime/cli/text.hpp"

#include <algorithm>
#include <ostream>

namespace handfast::cli {

namespace {

constexpr std::size_t bar_chars = 20;
constexpr auto again_after = std::chrono::milliseconds{200};
constexpr std::string_view clear_line = "\r\x1b[K";

} // namespace

std::string progress_line(const std::string& what, std::uint64_t count, std::uint64_t total) {
  if (total == 0)
    return what + "  " + count_text(count);
  const auto share = std::min(1.0, static_cast<double>(count) / static_cast<double>(total));
  const auto full = static_cast<std::size_t>(share * bar_chars);
  return what + "  [" + std::string(full, '#') + std::string(bar_chars - full, '.') + "]  " +
         std::to_string(static_cast<int>(share * 100)) + " %  " + count_text(count) + " of " +
         count_text(total);
}

progress::~progress() {
  if (shown_)
    io_.err << clear_line << std::flush;
}

void progress::at(std::uint64_t count) {
  if (!io_.err_is_terminal || clock::now() < next_)
    return;
  next_ = clock::now() + again_after;
  shown_ = true;
  io_.err << clear_line << progress_line(what_, count, total_) << std::flush;
}

} // namespace handfast::cli
