#include "runtime/cli/console.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <unistd.h>

namespace handfast::cli {

namespace {

std::optional<std::string> from_environment(std::string_view name) {
  const char* value = std::getenv(std::string{name}.c_str());
  if (!value || *value == '\0')
    return std::nullopt;
  return std::string{value};
}

std::string with_full_stop(std::string_view text) {
  std::string sentence{text};
  if (!sentence.empty() && std::string_view{".?!"}.find(sentence.back()) == std::string_view::npos)
    sentence += '.';
  return sentence;
}

} // namespace

console real_console() {
  auto to_terminal = ::isatty(STDOUT_FILENO) == 1;
  auto dumb = from_environment("TERM").value_or("dumb") == "dumb";
  return {std::cin,
          std::cout,
          std::cerr,
          ::isatty(STDIN_FILENO) == 1,
          to_terminal && !dumb && !from_environment("NO_COLOR"),
          from_environment};
}

void complain(console& io, std::string_view what, std::string_view todo) {
  io.out.flush();
  io.err << "handfast: " << with_full_stop(what);
  if (!todo.empty())
    io.err << ' ' << with_full_stop(todo);
  io.err << std::endl;
}

exit_code complain(console& io, std::string_view subject, const error& why) {
  io.out.flush();
  io.err << "handfast: " << sentence_of(subject, why) << std::endl;
  return exit_code_of(why.code);
}

std::string sentence_of(std::string_view subject, const error& why) {
  std::string reason{name_of(why.code)};
  std::replace(reason.begin(), reason.end(), '_', ' ');
  auto detail = with_full_stop(why.detail);
  std::string text;
  if (!subject.empty())
    text = std::string{subject} + ": ";
  // The detail of a refusal says it all; only a bare one needs the code's name.
  text += detail.empty() ? reason + "." : detail;
  auto advice = advice_of(why.code);
  if (detail.find(advice) == std::string::npos)
    text += " " + std::string{advice};
  return text;
}

exit_code exit_code_of(ec code) {
  switch (verdict_of(code)) {
  case verdict::done:
    return exit_done;
  case verdict::refused:
    return exit_refused;
  case verdict::unknown:
    break;
  }
  return exit_unknown;
}

bool flush(console& io) {
  io.out.flush();
  if (io.out.good())
    return true;
  complain(io, "standard output could not be written", "Check the pipe or the disk behind it");
  return false;
}

} // namespace handfast::cli
