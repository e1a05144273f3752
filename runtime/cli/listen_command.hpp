#pragma once

/// `tx listen`: a member of a producer group made of one answer.

#include "runtime/cli/menu.hpp"

namespace handfast::cli {

void add_listen_command(menu& tx);

} // namespace handfast::cli
