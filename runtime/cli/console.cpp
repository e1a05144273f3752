#include "runtime/cli/console.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace handfast::cli {

namespace {

std::optional<std::string> from_environment(std::string_view name) {
  const char* value = std::getenv(std::string{name}.c_str());
  if (!value || *value == '\0')
    return std::nullopt;
  return std::string{value};
}

/// 0 when the terminal does not say.
std::size_t columns_of(int terminal) {
  winsize size{};
  return ::ioctl(terminal, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string with_full_stop(std::string_view text) {
  std::string sentence{text};
  if (!sentence.empty() && std::string_view{".?!"}.find(sentence.back()) == std::string_view::npos)
    sentence += '.';
  return sentence;
}

std::string words_of(ec code) {
  std::string words{name_of(code)};
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

bool is_conflict(ec code) {
  return code == ec::conflict_committed || code == ec::conflict_rolled_back ||
         code == ec::conflict_given_up;
}

/// A detail that only repeats the input says nothing.
bool is_echo(std::string_view detail, std::string_view subject) {
  if (detail.size() >= 2 && detail.front() == '\'' && detail.back() == '\'')
    detail = detail.substr(1, detail.size() - 2);
  return subject.find(detail) != std::string_view::npos;
}

} // namespace

wall_ms system_wall() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<wall_ms>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

console real_console() {
  auto to_terminal = ::isatty(STDOUT_FILENO) == 1;
  auto dumb = from_environment("TERM").value_or("dumb") == "dumb";
  return {std::cin,
          std::cout,
          std::cerr,
          ::isatty(STDIN_FILENO) == 1,
          to_terminal && !dumb && !from_environment("NO_COLOR"),
          from_environment,
          to_terminal ? columns_of(STDOUT_FILENO) : 0,
          ::isatty(STDERR_FILENO) == 1 && !dumb};
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
  std::string advice{advice_of(why.code)};
  auto start = subject.empty() ? std::string{} : std::string{subject} + ": ";
  if (is_conflict(why.code)) { // the advice is the reason
    advice[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(advice[0])));
    return start + advice;
  }
  if (why.code == ec::bad_name && !why.detail.empty())
    return with_full_stop(why.detail) + " " + advice;
  auto reason = is_echo(why.detail, subject) ? words_of(why.code) : why.detail;
  auto text = start + with_full_stop(reason);
  return reason.find(advice) == std::string::npos ? text + " " + advice : text;
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
