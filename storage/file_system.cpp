#include "storage/file_system.hpp"

#include "messages/assert.hpp"

#include <algorithm>
#include <array>

namespace handfast::storage {

namespace {

constexpr std::size_t zero_bytes = 64 * 1024;
constexpr std::size_t zero_pieces = 16;
const std::array<std::byte, zero_bytes> zeros{};

} // namespace

result<void> file::fill_zeros(std::uint64_t from, std::uint64_t to) {
  HANDFAST_ASSERT(from <= to);
  while (from < to) {
    std::array<iovec, zero_pieces> pieces;
    std::size_t count = 0;
    auto at = from;
    while (count < zero_pieces && at < to) {
      const auto bytes = std::min<std::uint64_t>(zero_bytes, to - at);
      pieces[count++] = {const_cast<std::byte*>(zeros.data()), static_cast<std::size_t>(bytes)};
      at += bytes;
    }
    if (auto written = write(std::span{pieces.data(), count}, from); !written)
      return written;
    from = at;
  }
  return {};
}

std::string parent_directory(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

result<void> replace_file(file_system& disk, const std::string& path,
                          std::span<const std::byte> bytes) {
  const auto aside = path + ".tmp";
  auto content = disk.open(aside, open_mode::create);
  if (!content)
    return tl::unexpected{content.error()};
  return (*content)
      ->write(bytes, 0)
      .and_then([&] { return (*content)->sync(); })
      .and_then([&] { return disk.rename(aside, path); })
      .and_then([&] { return disk.sync_directory(parent_directory(path)); });
}

result<std::vector<std::byte>> read_whole(const file& from, std::uint64_t bytes_max) {
  const auto size = from.size();
  if (!size)
    return tl::unexpected{size.error()};
  if (*size > bytes_max)
    return fail(ec::corrupt, std::to_string(*size) + " bytes, but at most " +
                                 std::to_string(bytes_max) + " are expected");
  std::vector<std::byte> bytes(static_cast<std::size_t>(*size));
  const auto got = from.read(bytes, 0);
  if (!got)
    return tl::unexpected{got.error()};
  bytes.resize(*got);
  return bytes;
}

} // namespace handfast::storage
