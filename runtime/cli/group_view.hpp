#pragma once

/// Groups as people read them.

#include "messages/native/admin.hpp"
#include "messages/native/groups.hpp"
#include "runtime/cli/console.hpp"

#include <vector>

namespace handfast::cli {

/// A row for each: members online, messages behind.
void print_groups(console& io, const std::vector<native::group_item>& groups);
/// Members, what they agreed on, and how far the group is in each queue.
void print_group(console& io, const native::group_description& group);

} // namespace handfast::cli
