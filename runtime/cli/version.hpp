#pragma once

/// Which build this is.

#include <string_view>

namespace handfast::cli {

/// Of the project, such as `0.1.0`.
std::string_view version();
/// The commit it was built from, short, with a `+` if files were changed; `unknown` without git.
std::string_view commit();

} // namespace handfast::cli
