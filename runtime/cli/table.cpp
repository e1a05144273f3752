#include "runtime/cli/table.hpp"

#include "messages/assert.hpp"
#include "runtime/cli/text.hpp"

#include <algorithm>
#include <ostream>

namespace handfast::cli {

namespace {

/// Narrower, and nobody could read it.
constexpr std::size_t last_column_min = 11;
constexpr std::size_t cut_column_min = 8;

} // namespace

std::string painted(std::string_view text, look as, bool colours) {
  std::string_view code;
  switch (as) {
  case look::plain:
    return std::string{text};
  case look::strong:
    code = "1";
    break;
  case look::faint:
    code = "2";
    break;
  case look::good:
    code = "32";
    break;
  case look::waiting:
    code = "33";
    break;
  case look::bad:
    code = "31";
    break;
  }
  if (!colours)
    return std::string{text};
  return "\x1b[" + std::string{code} + "m" + std::string{text} + "\x1b[0m";
}

look look_of(transaction_state state) {
  switch (state) {
  case transaction_state::committed:
    return look::good;
  case transaction_state::pending:
  case transaction_state::deciding:
  case transaction_state::parked:
    return look::waiting;
  case transaction_state::rolled_back:
  case transaction_state::given_up:
  case transaction_state::quarantined:
    break;
  }
  return look::bad;
}

void table::add(std::vector<cell> row) {
  HANDFAST_ASSERT(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> table::widths_for(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto widest = width_of(columns_[i].title);
    for (const auto& row : rows_)
      widest = std::max(widest, width_of(row[i].text));
    widths.push_back(widest);
  }
  if (width == 0)
    return widths;
  auto total = 2 * (widths.size() - 1);
  for (auto each : widths)
    total += each;
  auto shrink = [&](std::size_t i, std::size_t least) {
    while (total > width && widths[i] > least) {
      --widths[i];
      --total;
    }
  };
  // The last column can go on below, so it gives first; then the widest of those that may be cut.
  shrink(widths.size() - 1, last_column_min);
  while (total > width) {
    auto widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (columns_[i].cut && widths[i] > std::max(cut_column_min, width_of(columns_[i].title)) &&
          (widest == widths.size() || widths[i] > widths[widest]))
        widest = i;
    if (widest == widths.size())
      break;
    shrink(widest, widths[widest] - 1);
  }
  return widths;
}

void table::print(std::ostream& to, bool colours, std::size_t width) const {
  const auto widths = widths_for(width);
  const auto last = columns_.size() - 1;
  std::size_t before_last = 0;
  for (std::size_t i = 0; i < last; ++i)
    before_last += widths[i] + 2;
  auto print_row = [&](auto&& cell_at) {
    for (std::size_t i = 0; i < last; ++i) {
      const cell& c = cell_at(i);
      auto shown = shortened(c.text, widths[i]);
      std::string pad(widths[i] - width_of(shown), ' ');
      auto text = painted(shown, c.as, colours);
      to << (columns_[i].right ? pad + text : text + pad) << "  ";
    }
    const cell& c = cell_at(last);
    auto lines = wrapped(c.text, width == 0 ? 0 : widths[last]);
    for (std::size_t n = 0; n < lines.size(); ++n) {
      auto pad = columns_[last].right ? widths[last] - std::min(widths[last], width_of(lines[n]))
                                      : std::size_t{0};
      to << std::string((n == 0 ? 0 : before_last) + pad, ' ') << painted(lines[n], c.as, colours)
         << '\n';
    }
  };
  std::vector<cell> titles;
  for (const auto& c : columns_)
    titles.emplace_back(c.title, look::strong);
  print_row([&](std::size_t i) -> const cell& { return titles[i]; });
  for (const auto& row : rows_)
    print_row([&](std::size_t i) -> const cell& { return row[i]; });
}

void fact_sheet::print(std::ostream& to, bool colours, std::size_t width) const {
  std::size_t labels = 0;
  for (const auto& [label, value] : rows_)
    labels = std::max(labels, width_of(label));
  labels += 3;
  for (const auto& [label, value] : rows_) {
    auto room = width == 0 ? 0 : std::max(width, labels + last_column_min) - labels;
    auto first = true;
    for (const auto& line : wrapped(value.text, room)) {
      to << (first
                 ? painted(label, look::faint, colours) + std::string(labels - width_of(label), ' ')
                 : std::string(labels, ' '))
         << painted(line, value.as, colours) << '\n';
      first = false;
    }
  }
}

} // namespace handfast::cli
