#pragma once

/// Rows with aligned columns, and colour where it helps.

#include "messages/requests.hpp"

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace handfast::cli {

enum class look { plain, strong, faint, good, waiting, bad };

/// `text` in the colour of `as`, or as it is.
std::string painted(std::string_view text, look as, bool colours);
/// The colour of a transaction's state.
look look_of(transaction_state state);

struct cell {
  cell(std::string content, look style = look::plain) : text{std::move(content)}, as{style} {}
  cell(const char* content) : text{content} {}
  std::string text;
  look as = look::plain;
};

struct column {
  std::string title;
  bool right = false; ///< for numbers
  bool cut = false;   ///< may be shortened where the terminal is narrow
};

/// Collects rows, then prints them under their titles, two blanks between columns. `width`: columns
/// of the terminal, 0 = no limit. Where rows are wider, cells of `cut` columns are shortened, and
/// the last column goes on in further lines.
class table {
public:
  explicit table(std::vector<column> columns) : columns_{std::move(columns)} {}

  /// As many cells as there are columns.
  void add(std::vector<cell> row);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  void print(std::ostream& to, bool colours, std::size_t width = 0) const;

private:
  [[nodiscard]] std::vector<std::size_t> widths_for(std::size_t width) const;

  std::vector<column> columns_;
  std::vector<std::vector<cell>> rows_;
};

/// `label    value` lines with the values under each other. `width` as for a table: longer values
/// go on in further lines.
class fact_sheet {
public:
  void add(std::string label, cell value) {
    rows_.emplace_back(std::move(label), std::move(value));
  }
  void print(std::ostream& to, bool colours, std::size_t width = 0) const;

private:
  std::vector<std::pair<std::string, cell>> rows_;
};

} // namespace handfast::cli
