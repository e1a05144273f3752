#pragma once

/// The outer form of the native protocol: a fixed header, a Cap'n Proto part, and the bodies beside
/// it.
///
///     header 16 B | Cap'n Proto part: one flat segment, no segment table | payload | zeros to 8
///
/// Everything here works on bytes; sockets are elsewhere. docs/protocol.md has the whole protocol.

#include "messages/bytes.hpp"
#include "messages/error.hpp"
#include "messages/limits.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace handfast::native {

/// The version of the protocol that this source speaks.
constexpr std::uint16_t protocol_version = 1;

/// What a frame says. Values are part of the protocol: never renumber. Below 256 the client speaks,
/// above the node.
enum class frame_kind : std::uint16_t {
  // client -> node: session
  hello = 1,
  goodbye = 2,
  resolve_topic = 3,
  join_producer_group = 4,
  leave_producer_group = 5,
  // client -> node: produce and decide
  send = 16,
  send_half = 17,
  decide = 18,
  running = 19,
  check_received = 20,
  // client -> node: look at transactions
  query_transaction = 32,
  list_transactions = 33,
  reopen = 34,
  // client -> node: consume
  fetch = 48,
  acknowledge = 49,
  read_view = 50,
  subscribe = 51,
  credit = 52,
  unsubscribe = 53,
  read_queues = 54,
  find_offsets = 55,
  // client -> node: administration
  topic_create = 64,
  topic_list = 65,
  topic_show = 66,
  topic_delete = 67,
  group_list = 68,
  status = 69,
  quarantine_list = 70,
  group_show = 80,
  group_set = 81,
  group_delete = 82,
  reset_progress = 83,
  // client -> node: delays
  list_delayed = 96,
  cancel_delayed = 97,
  // node -> client: session
  welcome = 257,
  closing = 258,
  refused = 259,
  done = 260,
  topic_resolved = 261,
  group_joined = 262,
  // node -> client: produce and decide
  sent = 272,
  half_stored = 273,
  decided = 274,
  check = 275,
  // node -> client: transactions
  transactions = 288,
  reopened = 289,
  // node -> client: consume
  delivered = 304,
  acknowledged = 305,
  offsets = 306,
  // node -> client: administration
  topics = 320,
  groups = 321,
  status_report = 322,
  quarantine_page = 323,
  group_description = 336,
  // node -> client: delays
  delayed_page = 352,
};

/// The kind's name for logs and errors; "unknown" for a value that this version does not know.
std::string_view name_of(frame_kind kind);

constexpr std::size_t frame_header_bytes = 16;

/// The fixed part, as on the wire (little endian): magic "HFN1", kind, flags, and the sizes of what
/// follows.
struct frame_header {
  frame_kind kind{};
  std::uint16_t flags = 0;         ///< none defined; a receiver ignores what it does not know
  std::uint32_t meta_bytes = 0;    ///< Cap'n Proto part, a multiple of 8
  std::uint32_t payload_bytes = 0; ///< without the zeros behind it

  /// Everything behind the header, padding included.
  [[nodiscard]] std::size_t rest_bytes() const {
    return meta_bytes + ((std::size_t{payload_bytes} + 7) & ~std::size_t{7});
  }
  friend bool operator==(const frame_header&, const frame_header&) = default;
};

/// What a receiver accepts.
struct frame_limits {
  std::size_t meta_bytes_max = limits::frame_meta_bytes_max;
  std::size_t frame_bytes_max = limits::frame_bytes_max; ///< header excluded
};

/// Reads a header and checks it against `limits`, so that nothing has to be allocated for a frame
/// that will be refused. `ec::bad_frame` for bytes that are not of this protocol,
/// `ec::frame_too_large` with size and limit. An unknown kind is not an error here.
result<frame_header> parse_frame_header(std::span<const std::byte, frame_header_bytes> bytes,
                                        const frame_limits& limits);

/// Writes `header` in its wire form to `to`.
void put_frame_header(const frame_header& header, std::span<std::byte, frame_header_bytes> to);

/// A complete frame as received. Bodies taken from it share `rest` and keep it alive.
struct frame {
  frame_header header;
  shared_bytes rest; ///< Cap'n Proto part, payload, padding

  [[nodiscard]] std::span<const std::byte> meta() const {
    return rest.span().first(header.meta_bytes);
  }
  /// `count` bytes of the payload from `offset`, shared, not copied. Both must lie inside it.
  [[nodiscard]] shared_bytes payload(std::size_t offset, std::size_t count) const {
    return rest.window(header.meta_bytes + offset, count);
  }
};

} // namespace handfast::native
