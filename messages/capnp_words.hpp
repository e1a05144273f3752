#pragma once

/// The words of Cap'n Proto messages of a known shape, for what is written or read so often that
/// the library's own account of segments and limits costs more than the data. Tests compare each
/// use with what the library makes of the same.

#include "messages/assert.hpp"

#include <capnp/generated-header-support.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace handfast::capnp_words {

static_assert(std::endian::native == std::endian::little, "Cap'n Proto's words are little endian");

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

template <class Struct>
constexpr capnp::_::StructSize size_of = capnp::_::structSize<Struct>();

constexpr std::uint64_t word_of(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32;
}

constexpr std::uint64_t word_of(std::uint16_t a, std::uint16_t b, std::uint16_t c,
                                std::uint16_t d) {
  return word_of(a | std::uint32_t{b} << 16, c | std::uint32_t{d} << 16);
}

constexpr std::uint16_t pair_of(std::uint8_t low, std::uint8_t high) {
  return static_cast<std::uint16_t>(low | high << 8);
}

/// A pointer to a struct that stands `ahead` words behind it. With a count instead of `ahead`: what
/// stands before the elements of a list of structs.
constexpr std::uint64_t struct_word(std::size_t ahead, capnp::_::StructSize of) {
  return ahead << 2 | std::uint64_t{of.data / capnp::WORDS} << 32 |
         std::uint64_t{of.pointers / capnp::POINTERS} << 48;
}

/// What a list of structs takes: nothing if it is empty, else the word with its count and its
/// elements.
template <class Struct>
constexpr std::size_t list_words(std::size_t count) {
  return count == 0 ? 0 : 1 + count * capnp::sizeInWords<Struct>();
}

/// A pointer to a list of structs whose count stands `ahead` words behind it; null if it is empty.
template <class Struct>
constexpr std::uint64_t list_pointer(std::size_t ahead, std::size_t count) {
  constexpr std::uint64_t list = 1;
  constexpr std::uint64_t of_structs = 7;
  const auto words = count * capnp::sizeInWords<Struct>();
  HANDFAST_ASSERT(words <= 0x1fff'ffff);
  return count == 0 ? 0 : list | ahead << 2 | (of_structs | words << 3) << 32;
}

/// Puts words one behind the other into bytes of just that size.
class writer {
public:
  writer(std::span<std::byte> into, std::size_t words) : at_{into.data()} {
    HANDFAST_ASSERT(into.size() == words * word_bytes);
  }
  writer& put(std::uint64_t word) {
    std::memcpy(at_, &word, word_bytes);
    at_ += word_bytes;
    return *this;
  }

private:
  std::byte* at_;
};

/// The words of a span, at any alignment.
class reader {
public:
  reader(const std::byte* from, std::size_t words) : from_{from}, words_{words} {}
  [[nodiscard]] std::size_t size() const { return words_; }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const { return part<std::uint64_t>(i); }
  /// The `i`th unsigned integer of that width, counted from the start, as Cap'n Proto counts.
  template <class Unsigned>
  [[nodiscard]] Unsigned part(std::size_t i) const {
    Unsigned value;
    std::memcpy(&value, from_ + i * sizeof value, sizeof value);
    return value;
  }
  [[nodiscard]] reader from(std::size_t word, std::size_t count) const {
    return {from_ + word * word_bytes, count};
  }

private:
  const std::byte* from_;
  std::size_t words_;
};

} // namespace handfast::capnp_words
