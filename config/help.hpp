#pragma once

/// The option table as text for people.

#include <string>

namespace handfast::config {

/// docs/configuration.md, whole; `handfast config docs` prints it.
std::string render_markdown();

/// Every key with its default and one line of help, for `handfast node --help`.
std::string render_help();

} // namespace handfast::config
