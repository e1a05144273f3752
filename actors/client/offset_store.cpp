#include "actors/client/offset_store.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace handfast::client {

namespace {

tl::unexpected<error> trouble(const std::string& what, const std::string& path) {
  return fail(ec::not_writable, what + " " + path + ": " + std::generic_category().message(errno));
}

/// The old content or all of the new, whenever the power fails.
result<void> replace(const std::string& path, const std::string& text) {
  const auto aside = path + ".tmp";
  const int to = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  if (to < 0)
    return trouble("cannot write", aside);
  bool good = true;
  for (std::size_t at = 0; good && at < text.size();) {
    const auto n = ::write(to, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR)
      continue;
    good = n > 0;
    at += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  good = good && ::fsync(to) == 0;
  good = ::close(to) == 0 && good;
  if (!good || std::rename(aside.c_str(), path.c_str()) != 0)
    return trouble("cannot write", path);
  return {};
}

} // namespace

std::optional<queue_offset> memory_offsets::load(const std::string& topic, queue_no queue) {
  std::lock_guard lock{mutex_};
  const auto found = places_.find({topic, queue});
  return found == places_.end() ? std::nullopt : std::optional{found->second};
}

result<void> memory_offsets::save(const std::string& topic, const std::vector<place>& places) {
  std::lock_guard lock{mutex_};
  for (const auto& p : places)
    places_[{topic, p.queue}] = p.next;
  return {};
}

result<std::shared_ptr<file_offsets>> file_offsets::open(std::string path) {
  std::shared_ptr<file_offsets> made{new file_offsets{std::move(path)}};
  if (auto read = made->read(); !read)
    return tl::unexpected{read.error()};
  return made;
}

result<void> file_offsets::read() {
  if (::access(path_.c_str(), F_OK) != 0 && errno == ENOENT)
    return {};
  std::ifstream from{path_};
  if (!from)
    return trouble("cannot read", path_);
  std::string line;
  for (std::size_t number = 1; std::getline(from, line); ++number) {
    std::istringstream words{line};
    std::string topic;
    std::string more;
    std::uint16_t queue = 0;
    std::uint64_t offset = 0;
    if (!(words >> topic >> queue >> offset) || words >> more)
      return fail(ec::bad_request, path_ + " line " + std::to_string(number) +
                                       " is not TOPIC QUEUE OFFSET; remove the file to begin anew");
    places_[{topic, queue_no{queue}}] = queue_offset{offset};
  }
  return {};
}

std::optional<queue_offset> file_offsets::load(const std::string& topic, queue_no queue) {
  std::lock_guard lock{mutex_};
  const auto found = places_.find({topic, queue});
  return found == places_.end() ? std::nullopt : std::optional{found->second};
}

result<void> file_offsets::save(const std::string& topic, const std::vector<place>& places) {
  std::lock_guard lock{mutex_};
  for (const auto& p : places)
    places_[{topic, p.queue}] = p.next;
  std::string text;
  for (const auto& [key, offset] : places_)
    text += key.first + ' ' + std::to_string(key.second.value) + ' ' +
            std::to_string(offset.value) + '\n';
  return replace(path_, text);
}

} // namespace handfast::client
