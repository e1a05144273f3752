#include "runtime/cli/floor_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace handfast::cli {

namespace {

constexpr std::string_view announcement = "listening on ";

/// `handfast-floor` beside this very program.
std::string path_of_program() {
  std::error_code ignored;
  auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return self.parent_path() / "handfast-floor";
}

/// One line of `fd`; what there is when it ends before.
std::string read_line(int fd) {
  std::string line;
  char c = 0;
  while (line.size() < 256) {
    auto got = ::read(fd, &c, 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0 || c == '\n')
      break;
    line += c;
  }
  return line;
}

/// Starts `program` with its standard output in a pipe; the pipe's reading end, or -1.
int spawn(const std::string& program, std::vector<std::string> arguments, pid_t& child) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return -1;
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  auto failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  if (failed == 0)
    return pipe[0];
  ::close(pipe[0]);
  errno = failed;
  return -1;
}

} // namespace

result<floor_process> floor_process::start(const std::string& directory,
                                           std::uint64_t prepare_bytes) {
  auto folder = directory + "/handfast-floor-XXXXXX";
  if (!::mkdtemp(folder.data()))
    return fail(ec::not_writable, directory + ": " + std::strerror(errno));
  auto program = path_of_program();
  pid_t child = -1;
  auto output = spawn(
      program,
      {"--data", folder, "--listen", "127.0.0.1:0", "--prepare", std::to_string(prepare_bytes)},
      child);
  if (output < 0) {
    auto why = std::string{std::strerror(errno)};
    std::filesystem::remove(folder);
    return fail(ec::not_supported,
                program + " cannot be started: " + why + " (build the target `handfast-floor`)");
  }
  floor_process process{child, folder};
  auto line = read_line(output);
  ::close(output);
  auto address = line.starts_with(announcement)
                     ? config::parse_address(line.substr(announcement.size()))
                     : result<config::address>{fail(ec::io_error)};
  if (!address)
    return fail(ec::io_error, program + " did not come up in " + directory);
  process.address_ = *address;
  return process;
}

floor_process::~floor_process() {
  if (child_ < 0)
    return;
  ::kill(child_, SIGTERM);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

floor_process::floor_process(floor_process&& other) noexcept
    : child_{std::exchange(other.child_, -1)}, folder_{std::move(other.folder_)},
      address_{std::move(other.address_)} {}

} // namespace handfast::cli
