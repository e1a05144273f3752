#pragma once

/// What the members of printed JSON mean: one table, of which docs/cli.md is made, and against
/// which tests hold what is really printed.

#include <span>
#include <string_view>

namespace handfast::cli {

struct json_member {
  std::string_view path; ///< `checks.asked`; `[]` behind a list: `messages[].topic`
  std::string_view meaning;
  bool sometimes = false; ///< left out where there is nothing to say
};

/// One kind of object.
struct json_shape {
  std::string_view name;
  std::string_view printed_by; ///< commands, in Markdown
  std::span<const json_member> members;
};

std::span<const json_shape> json_shapes();
/// Null for a name that is none.
const json_shape* find_shape(std::string_view name);

} // namespace handfast::cli
