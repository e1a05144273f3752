#pragma once

/// The bytes of checkpoint slices: fixed-width little-endian integers and counted text, one behind
/// the other. Slices are checked by the checkpoint file's CRC, so a reader that runs out of bytes
/// has met a fault of this program or another version.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace handfast {

static_assert(std::endian::native == std::endian::little);

/// A named part of a fold's state, as a checkpoint keeps it. Names begin with the fold's prefix.
struct fold_slice {
  std::string name;
  std::string bytes;
};

/// Appends values to a string.
class slice_writer {
public:
  template <class T>
  requires(std::unsigned_integral<T> || std::is_enum_v<T>) slice_writer& put(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
    return *this;
  }
  /// A strong id.
  template <class Id>
  requires requires { typename Id::rep; }
  slice_writer& put(Id id) { return put(id.value); }
  slice_writer& text(std::string_view value) {
    put(static_cast<std::uint32_t>(value.size()));
    bytes_.append(value);
    return *this;
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::string take() { return std::exchange(bytes_, {}); }

private:
  std::string bytes_;
};

/// Takes values off bytes in the order in which they were put. Total: past the end everything reads
/// as zero or empty, and `ok` is false from then on.
class slice_reader {
public:
  explicit slice_reader(std::string_view bytes) : rest_{bytes} {}

  template <class T>
  requires(std::unsigned_integral<T> || std::is_enum_v<T>) T get() {
    T value{};
    if (need(sizeof(T))) {
      std::memcpy(&value, rest_.data(), sizeof(T));
      rest_.remove_prefix(sizeof(T));
    }
    return value;
  }
  /// A strong id.
  template <class Id>
  requires requires { typename Id::rep; }
  Id get() { return Id{get<typename Id::rep>()}; }
  std::string_view text() {
    const auto size = get<std::uint32_t>();
    if (!need(size))
      return {};
    const auto value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }

  /// Nothing was missing so far.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  /// There is more to read, and nothing was missing so far.
  [[nodiscard]] bool more() const { return ok_ && !rest_.empty(); }

private:
  bool need(std::size_t count) {
    if (rest_.size() < count) {
      ok_ = false;
      rest_ = {};
    }
    return ok_;
  }

  std::string_view rest_;
  bool ok_ = true;
};

/// Several values at once, in the order given; `get_all` reads what `put_all` wrote.
template <class... Ts>
void put_all(slice_writer& out, const Ts&... values) {
  (out.put(values), ...);
}
template <class... Ts>
void get_all(slice_reader& in, Ts&... values) {
  ((values = in.get<Ts>()), ...);
}

} // namespace handfast
