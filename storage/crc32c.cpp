#include "storage/crc32c.hpp"

#include "storage/little_endian.hpp"

#include <climits>
#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#endif

namespace handfast::storage {

namespace {

/// Below, ISA-L's wide registers cost more than they save: used now and then they stall the core,
/// and the CRC of a message of 1 KiB took 390 ns of CPU on the log's path instead of 140.
constexpr std::size_t wide_from_bytes = 4096;

#if defined(__x86_64__)
bool has_crc_instruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}

bool has_carryless_multiply() {
  static const bool has = __builtin_cpu_supports("pclmul") != 0;
  return has;
}

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// x to the power of `exponent`, modulo the polynomial, bits in the order of the CRC.
constexpr std::uint32_t power_of_x(std::size_t exponent) {
  std::uint32_t power = 0x8000'0000;
  for (; exponent > 0; --exponent)
    power = (power >> 1) ^ ((power & 1) != 0 ? 0x82f6'3b78 : 0);
  return power;
}

/// What a remainder is multiplied with to move it past `bytes` zeros; the CRC instruction, which
/// brings the product back to 32 bits, adds the 33 that are missing.
constexpr std::uint32_t past(std::size_t bytes) {
  return power_of_x(8 * bytes - 33);
}

__attribute__((target("sse4.2,pclmul"))) __m128i product(std::uint64_t a, std::uint32_t b) {
  return _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(a)), _mm_cvtsi64_si128(b),
                              0);
}

/// Three stretches of `stretch` bytes side by side: the instruction takes three cycles and another
/// one can begin in each, so a message of 1 KiB takes less than half of the time.
template <std::size_t stretch>
__attribute__((target("sse4.2,pclmul"))) std::uint64_t three_at_once(const std::byte* at,
                                                                     std::uint64_t crc) {
  static constexpr std::uint32_t past_two = past(2 * stretch);
  static constexpr std::uint32_t past_one = past(stretch);
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  for (std::size_t i = 0; i < stretch; i += sizeof crc) {
    crc = _mm_crc32_u64(crc, word_at(at + i));
    second = _mm_crc32_u64(second, word_at(at + stretch + i));
    third = _mm_crc32_u64(third, word_at(at + 2 * stretch + i));
  }
  const auto moved = _mm_xor_si128(product(crc, past_two), product(second, past_one));
  return _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(moved))) ^ third;
}

/// The CPU's own instruction, which computes this very polynomial, on the inverted remainder.
__attribute__((target("sse4.2"))) std::uint32_t short_crc(std::span<const std::byte> bytes,
                                                          std::uint32_t inverted) {
  std::uint64_t crc = inverted;
  const auto* at = bytes.data();
  auto left = bytes.size();
  if (has_carryless_multiply()) {
    for (; left >= 3 * 256; left -= 3 * 256, at += 3 * 256)
      crc = three_at_once<256>(at, crc);
    for (; left >= 3 * 64; left -= 3 * 64, at += 3 * 64)
      crc = three_at_once<64>(at, crc);
  }
  for (; left >= sizeof crc; left -= sizeof crc, at += sizeof crc) {
    crc = _mm_crc32_u64(crc, word_at(at));
  }
  for (; left > 0; --left, ++at)
    crc = _mm_crc32_u8(static_cast<std::uint32_t>(crc), std::to_integer<std::uint8_t>(*at));
  return static_cast<std::uint32_t>(crc);
}
#endif

} // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (bytes.size() < wide_from_bytes && has_crc_instruction())
    return ~short_crc(bytes, ~before);
#endif
  // ISA-L takes an int, works on the inverted remainder, and does not change the bytes though it
  // takes them as mutable.
  constexpr std::size_t step_max = INT_MAX;
  while (!bytes.empty()) {
    const auto step = bytes.first(std::min(bytes.size(), step_max));
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(step.data()));
    before = ~crc32_iscsi(data, static_cast<int>(step.size()), ~before);
    bytes = bytes.subspan(step.size());
  }
  return before;
}

std::uint32_t crc_seed(std::uint64_t store_id) {
  std::array<std::byte, sizeof store_id> bytes;
  put(bytes.data(), store_id);
  return crc32c(bytes);
}

} // namespace handfast::storage
