#pragma once

/// Reads the text of an SQL filter into conditions.

#include "messages/error.hpp"
#include "messages/filter/sql_condition.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace handfast::sql {

struct program {
  condition root;
  std::vector<std::string> properties; ///< what `property_ref` counts
};

/// See `parse_sql_filter`. `text` is not blank.
result<program> parse(std::string_view text);

} // namespace handfast::sql
