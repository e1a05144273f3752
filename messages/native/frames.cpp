#include "messages/native/frames.hpp"

#include "messages/assert.hpp"

#include <bit>
#include <cstring>
#include <string>

namespace handfast::native {

static_assert(std::endian::native == std::endian::little, "frames are little endian");

namespace {

constexpr std::uint32_t magic = 0x314e4648; // "HFN1"

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

} // namespace

std::string_view name_of(frame_kind kind) {
  switch (kind) {
  case frame_kind::hello:
    return "hello";
  case frame_kind::goodbye:
    return "goodbye";
  case frame_kind::resolve_topic:
    return "resolve_topic";
  case frame_kind::join_producer_group:
    return "join_producer_group";
  case frame_kind::leave_producer_group:
    return "leave_producer_group";
  case frame_kind::send:
    return "send";
  case frame_kind::send_half:
    return "send_half";
  case frame_kind::decide:
    return "decide";
  case frame_kind::running:
    return "running";
  case frame_kind::check_received:
    return "check_received";
  case frame_kind::query_transaction:
    return "query_transaction";
  case frame_kind::list_transactions:
    return "list_transactions";
  case frame_kind::reopen:
    return "reopen";
  case frame_kind::fetch:
    return "fetch";
  case frame_kind::acknowledge:
    return "acknowledge";
  case frame_kind::read_view:
    return "read_view";
  case frame_kind::subscribe:
    return "subscribe";
  case frame_kind::credit:
    return "credit";
  case frame_kind::unsubscribe:
    return "unsubscribe";
  case frame_kind::read_queues:
    return "read_queues";
  case frame_kind::find_offsets:
    return "find_offsets";
  case frame_kind::topic_create:
    return "topic_create";
  case frame_kind::topic_list:
    return "topic_list";
  case frame_kind::topic_show:
    return "topic_show";
  case frame_kind::topic_delete:
    return "topic_delete";
  case frame_kind::group_list:
    return "group_list";
  case frame_kind::status:
    return "status";
  case frame_kind::quarantine_list:
    return "quarantine_list";
  case frame_kind::list_delayed:
    return "list_delayed";
  case frame_kind::cancel_delayed:
    return "cancel_delayed";
  case frame_kind::group_show:
    return "group_show";
  case frame_kind::group_set:
    return "group_set";
  case frame_kind::group_delete:
    return "group_delete";
  case frame_kind::reset_progress:
    return "reset_progress";
  case frame_kind::welcome:
    return "welcome";
  case frame_kind::closing:
    return "closing";
  case frame_kind::refused:
    return "refused";
  case frame_kind::done:
    return "done";
  case frame_kind::topic_resolved:
    return "topic_resolved";
  case frame_kind::group_joined:
    return "group_joined";
  case frame_kind::sent:
    return "sent";
  case frame_kind::half_stored:
    return "half_stored";
  case frame_kind::decided:
    return "decided";
  case frame_kind::check:
    return "check";
  case frame_kind::transactions:
    return "transactions";
  case frame_kind::reopened:
    return "reopened";
  case frame_kind::delivered:
    return "delivered";
  case frame_kind::acknowledged:
    return "acknowledged";
  case frame_kind::offsets:
    return "offsets";
  case frame_kind::topics:
    return "topics";
  case frame_kind::groups:
    return "groups";
  case frame_kind::status_report:
    return "status_report";
  case frame_kind::quarantine_page:
    return "quarantine_page";
  case frame_kind::delayed_page:
    return "delayed_page";
  case frame_kind::group_description:
    return "group_description";
  }
  return "unknown";
}

result<frame_header> parse_frame_header(std::span<const std::byte, frame_header_bytes> bytes,
                                        const frame_limits& limits) {
  if (get<std::uint32_t>(bytes.data()) != magic)
    return fail(ec::bad_frame, "does not begin with HFN1");
  frame_header header;
  header.kind = static_cast<frame_kind>(get<std::uint16_t>(bytes.data() + 4));
  header.flags = get<std::uint16_t>(bytes.data() + 6);
  header.meta_bytes = get<std::uint32_t>(bytes.data() + 8);
  header.payload_bytes = get<std::uint32_t>(bytes.data() + 12);
  if (header.meta_bytes % 8 != 0 || header.meta_bytes == 0)
    return fail(ec::bad_frame,
                "Cap'n Proto part of " + std::to_string(header.meta_bytes) + " bytes");
  if (header.meta_bytes > limits.meta_bytes_max)
    return fail(ec::frame_too_large, "Cap'n Proto part of " + std::to_string(header.meta_bytes) +
                                         " bytes, limit " + std::to_string(limits.meta_bytes_max));
  if (header.rest_bytes() > limits.frame_bytes_max)
    return fail(ec::frame_too_large, std::to_string(header.rest_bytes()) + " bytes, limit " +
                                         std::to_string(limits.frame_bytes_max));
  return header;
}

void put_frame_header(const frame_header& header, std::span<std::byte, frame_header_bytes> to) {
  HANDFAST_ASSERT(header.meta_bytes % 8 == 0);
  put(to.data(), magic);
  put(to.data() + 4, static_cast<std::uint16_t>(header.kind));
  put(to.data() + 6, header.flags);
  put(to.data() + 8, header.meta_bytes);
  put(to.data() + 12, header.payload_bytes);
}

} // namespace handfast::native
