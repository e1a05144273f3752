#pragma once

/// docs/cli.md, made from the same declarations as the help.

#include <CLI/App.hpp>

#include <string>

namespace handfast::cli {

/// The whole page for the tree under `root`.
std::string render_markdown(const CLI::App& root);

} // namespace handfast::cli
