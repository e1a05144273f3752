#include "runtime/cli/table.hpp"

#include "messages/assert.hpp"
#include "runtime/cli/text.hpp"

#include <algorithm>
#include <ostream>

namespace handfast::cli {

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

void table::print(std::ostream& to, bool colours) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto width = width_of(columns_[i].title);
    for (const auto& row : rows_)
      width = std::max(width, width_of(row[i].text));
    widths.push_back(width);
  }
  auto print_row = [&](auto&& cell_at) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const cell& c = cell_at(i);
      std::string pad(widths[i] - width_of(c.text), ' ');
      auto last = i + 1 == columns_.size();
      auto text = painted(c.text, c.as, colours);
      to << (columns_[i].right ? pad + text : last ? text : text + pad) << (last ? "\n" : "  ");
    }
  };
  std::vector<cell> titles;
  for (const auto& c : columns_)
    titles.emplace_back(c.title, look::strong);
  print_row([&](std::size_t i) -> const cell& { return titles[i]; });
  for (const auto& row : rows_)
    print_row([&](std::size_t i) -> const cell& { return row[i]; });
}

void fact_sheet::print(std::ostream& to, bool colours) const {
  std::size_t width = 0;
  for (const auto& [label, value] : rows_)
    width = std::max(width, width_of(label));
  for (const auto& [label, value] : rows_)
    to << painted(label, look::faint, colours) << std::string(width - width_of(label) + 3, ' ')
       << painted(value.text, value.as, colours) << '\n';
}

} // namespace handfast::cli
