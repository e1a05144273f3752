#pragma once

/// Fixed-width integers as they stand in files: little endian, at any alignment.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace handfast::storage {

static_assert(std::endian::native == std::endian::little,
              "files are little endian; a big-endian host needs swaps here");

template <std::unsigned_integral T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <std::unsigned_integral T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

} // namespace handfast::storage
