#include "actors/client/calls.hpp"

#include "messages/durations.hpp"
#include "messages/limits.hpp"
#include "messages/names.hpp"
#include "messages/order_key.hpp"
#include "messages/properties.hpp"

#include <cstring>

namespace handfast::client {

namespace {

std::uint64_t wall_ms_now() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

shared_bytes joined(std::string_view properties, const shared_bytes& body) {
  if (properties.empty())
    return body;
  auto size = properties.size() + body.size();
  auto buffer = std::make_shared_for_overwrite<std::byte[]>(size);
  std::memcpy(buffer.get(), properties.data(), properties.size());
  if (!body.empty())
    std::memcpy(buffer.get() + properties.size(), body.data(), body.size());
  auto* raw = buffer.get();
  return {std::shared_ptr<const std::byte>{std::move(buffer), raw}, size};
}

} // namespace

result<request> storing_request(session& from, const message& what, request_kind kind) {
  if (auto valid = valid_name(name_kind::topic, what.topic); !valid)
    return tl::unexpected{valid.error()};
  auto properties = encode_properties(what);
  if (!properties)
    return tl::unexpected{properties.error()};
  if (what.delay > limits::delay_max)
    return fail(ec::bad_delay, text_of_duration(what.delay) + ", at most " +
                                   text_of_duration(limits::delay_max) + " (three years)");
  if (what.delay.count() < 0 || what.first_check.count() < 0 ||
      what.first_check.count() > std::int64_t{UINT32_MAX})
    return fail(ec::bad_request, "delay or first_check out of range");
  request r;
  r.kind = kind;
  r.create_topic = true;
  r.topic = what.topic;
  auto& item = r.item;
  item.sequence = from.next_sequence();
  item.born_ms = wall_ms_now();
  item.delay_ms = static_cast<std::uint64_t>(what.delay.count());
  item.timeout_ms = static_cast<std::uint32_t>(what.first_check.count());
  item.queue = what.queue.value_or(native::any_queue);
  if (!what.order_key.empty()) {
    item.order_hash = order_hash(what.order_key);
    item.flags |= message_flags::has_order_key;
  }
  item.properties_size = static_cast<std::uint32_t>(properties->size());
  item.payload = joined(*properties, what.body);
  return r;
}

request deciding_request(std::string group, const transaction_id& id, outcome wanted, origin by,
                         std::uint16_t messages) {
  request r;
  r.kind = request_kind::decide;
  r.group = std::move(group);
  r.decision.transaction = id;
  r.decision.wanted = wanted;
  r.decision.by = by;
  r.decision.messages = messages;
  return r;
}

answer<decision> decision_of(const reply& from) {
  if (from.why.code != ec::ok)
    return from.why;
  const auto& item = std::get<native::decided_item>(from.body);
  return decision{item.transaction,         item.recorded, item.by,    item.messages,
                  {item.topic, item.queue}, item.offset,   item.due_ms};
}

reply wait_for(session& via, request what) {
  auto promise = std::make_shared<std::promise<reply>>();
  auto future = promise->get_future();
  what.done = [promise](reply got) { promise->set_value(std::move(got)); };
  via.submit(std::move(what));
  return future.get();
}

} // namespace handfast::client
