#pragma once

/// Runs command lines in this process.

#include "runtime/cli/command_line.hpp"

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace handfast::cli::test {

struct ended {
  int code = -1;
  std::string out;
  std::string err;
};

/// Surroundings of one command line, changed step by step, then `run`.
class cli {
public:
  cli& input(std::string text) {
    input_ = std::move(text);
    return *this;
  }
  cli& environment(std::string name, std::string value) {
    variables_[std::move(name)] = std::move(value);
    return *this;
  }
  cli& colours() {
    colours_ = true;
    return *this;
  }
  /// What the clock shows.
  cli& wall(wall_ms now) {
    now_ = now;
    return *this;
  }
  /// Standard output is a terminal with so many columns.
  cli& width(std::size_t columns) {
    width_ = columns;
    return *this;
  }
  [[nodiscard]] ended run(std::vector<std::string> arguments) const {
    std::istringstream in{input_};
    std::ostringstream out;
    std::ostringstream err;
    console io{in,
               out,
               err,
               false,
               colours_,
               [this](std::string_view name) {
                 auto found = variables_.find(std::string{name});
                 return found == variables_.end() ? std::nullopt : std::optional{found->second};
               },
               width_};
    if (now_ != 0)
      io.wall = [this] { return now_; };
    auto code = ::handfast::cli::run(std::move(arguments), io);
    return {code, out.str(), err.str()};
  }

private:
  std::string input_;
  std::map<std::string, std::string> variables_;
  bool colours_ = false;
  wall_ms now_ = 0;
  std::size_t width_ = 0;
};

inline ended run_cli(std::vector<std::string> arguments) {
  return cli{}.run(std::move(arguments));
}

/// An address at which nothing listens.
inline const std::string nobody = "127.0.0.1:1";

} // namespace handfast::cli::test
