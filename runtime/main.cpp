/// handfast: the node and its clients in one binary.

#include "runtime/cli/command_line.hpp"
#include "runtime/node_command.hpp"

int main(int argc, char** argv) {
  auto io = handfast::cli::real_console();
  return handfast::cli::run({argv + 1, argv + argc}, io, {&handfast::runtime::add_node_command});
}
