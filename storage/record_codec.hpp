#pragma once

/// Records to bytes and back: a fixed header, a Cap'n Proto part, and the payload as it is.

#include "messages/error.hpp"
#include "messages/log_record.hpp"
#include "storage/log_format.hpp"

#include <optional>
#include <span>

namespace handfast::storage {

/// What `decode` made of bytes.
enum class decode_status : std::uint8_t {
  ok,
  not_a_record, ///< zeros, or a header that names another position or impossible lengths
  torn,         ///< the header is plausible, but the bytes end before the record does
  bad_header,   ///< the CRC over header and Cap'n Proto part does not fit
  bad_payload,  ///< header and Cap'n Proto part are right, the payload is not: quarantine it alone
  undecodable,  ///< every CRC fits, but the content makes no sense to this version: quarantine it
};

std::string_view name_of(decode_status s);

/// The fixed header of a record.
struct record_header {
  std::uint32_t crc = 0;
  std::uint32_t length = 0; ///< exact, without the zeros behind
  record_type type = record_type::pad;
  std::uint8_t flags = 0;
  std::uint16_t meta_words = 0;
  std::uint32_t epoch = 0;
  position at;
  wall_ms time_ms = 0;
  std::uint32_t durable_lag = 0;
  std::uint32_t payload_crc = 0;

  /// Header and Cap'n Proto part.
  [[nodiscard]] std::size_t head_bytes() const {
    return record_header_bytes + std::size_t{meta_words} * 8;
  }
  [[nodiscard]] std::size_t payload_bytes() const { return length - head_bytes(); }
  /// What the record takes in the log, with the zeros behind it.
  [[nodiscard]] std::uint64_t stored_bytes() const { return align_record(length); }
  /// Everything below was durable when the record was written; 0 if the header does not say.
  [[nodiscard]] position durable() const {
    return durable_lag == durable_lag_unknown || durable_lag > byte_of(at)
               ? position{}
               : position{at.value - durable_lag};
  }
};

/// Sizes that a record will take.
struct record_size {
  std::uint32_t head = 0;    ///< header and Cap'n Proto part
  std::uint32_t payload = 0; ///< exact
  std::uint32_t stored = 0;  ///< all, padded: what `log_record::length` says
};

/// Encodes and decodes the records of one store. Immutable: safe from any thread.
class record_codec {
public:
  explicit record_codec(std::uint64_t store_id);

  /// What `record` will take. ec::bad_request if the Cap'n Proto part or the payload is over its
  /// limit.
  [[nodiscard]] static result<record_size> size_of(const log_record& record);
  /// The payload of a MESSAGE, HALF or MOVE; empty for other types. Lives as long as the record.
  [[nodiscard]] static const shared_bytes& payload_of(const log_record& record);

  /// Writes header and Cap'n Proto part of `record` into `head`, which must be zeroed, 8-byte
  /// aligned and exactly `size.head` long; the payload is not touched. `record.at` must be set. The
  /// CRC of the payload is taken from `message_record::payload_crc` as it is: whoever accepted the
  /// message computed it. Allocates nothing for MESSAGE, HALF, DECIDE.
  void encode(const log_record& record, const record_size& size, std::uint32_t durable_lag,
              std::span<std::byte> head) const;
  /// A PAD that covers `length` bytes from `at`; only its header is written.
  void encode_pad(position at, std::uint32_t length, std::uint32_t epoch, wall_ms time_ms,
                  std::uint32_t durable_lag, std::uint8_t flags,
                  std::span<std::byte, record_header_bytes> into) const;

  /// The header at the start of `bytes` if the bytes can be a record that stands at `at`: plausible
  /// lengths, right position, CRC over header and Cap'n Proto part. `status` says what is wrong
  /// otherwise; `bytes` may end anywhere. The header is also set for `torn`, so that a reader knows
  /// how much is missing (at least), when 40 bytes were there.
  [[nodiscard]] decode_status check_head(std::span<const std::byte> bytes, position at,
                                         record_header& header) const;

  /// Decodes the record at the start of `bytes`, which must be 8-byte aligned and part of what
  /// `owner` keeps alive. The payload becomes a window that shares `owner`. For `bad_payload`
  /// everything is set, with an empty payload and a `properties_size` of 0. Never throws on any
  /// bytes, and allocates only what fits lengths that were checked. PADs decode without content.
  [[nodiscard]] decode_status decode(std::span<const std::byte> bytes, position at,
                                     const std::shared_ptr<const std::byte>& owner,
                                     record_header& header, log_record& record) const;

private:
  std::uint32_t seed_;
};

} // namespace handfast::storage
