#pragma once

/// Refusals because of a name that the node does not know, with the one that was probably meant.

#include "runtime/cli/menu.hpp"

#include <string>

namespace handfast::cli {

/// Like `context::refuse` about "topic 'NAME'"; ec::unknown_topic says so plainly, suggests the
/// nearest topic that there is, and how to make it. `for_sending`: automatic creation would have
/// made it.
exit_code refuse_topic(context& with, const std::string& name, const error& why,
                       bool for_sending = false);
/// The same about a group, for ec::unknown_group.
exit_code refuse_group(context& with, const std::string& name, const error& why);

} // namespace handfast::cli
