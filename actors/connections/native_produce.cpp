#include "actors/connections/core_send.hpp"
#include "actors/connections/native_parts.hpp"
#include "config/settings.hpp"
#include "messages/durations.hpp"
#include "messages/order_key.hpp"
#include "messages/properties.hpp"
#include "storage/crc32c.hpp"

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

constexpr std::uint16_t flags_of_halves =
    message_flags::local_transaction | message_flags::has_order_key;
constexpr auto delay_max_ms = static_cast<std::uint64_t>(
    std::chrono::duration_cast<std::chrono::milliseconds>(limits::delay_max).count());

} // namespace

// -- taking -------------------------------------------------------------------------

void produce_part::take_send(const native::frame& frame) {
  if (auto read = native::decode(frame, send_); !read) {
    problem_ = read.error();
    return;
  }
  auto& batch = messages_.requests;
  batch.reserve(batch.size() + send_.items.size());
  for (auto& item : send_.items) {
    store_request request;
    if (auto wrong = check(item, false, request.message); wrong.code != ec::ok) {
      sent_.items.push_back({item.id, wrong.code, {}, item.topic, {}, {}});
      sent_.details.push_back({item.id, std::move(wrong.detail)});
      continue;
    }
    const auto bytes = static_cast<std::uint32_t>(request.message.payload.size());
    const outstanding_request what{item.id, request_kind::send, peer_role::commit_log, bytes, 0};
    request.id = core_.outstanding.add(what);
    core_.began(what);
    batch.push_back(std::move(request));
  }
}

void produce_part::take_half(const native::frame& frame) {
  if (auto read = native::decode(frame, half_); !read) {
    problem_ = read.error();
    return;
  }
  auto& batch = halves_.requests;
  batch.reserve(batch.size() + half_.items.size());
  for (auto& item : half_.items) {
    half_request request;
    if (auto wrong = check(item, true, request.message); wrong.code != ec::ok) {
      half_stored_.items.push_back({item.id, wrong.code, {}, {}, {}});
      half_stored_.details.push_back({item.id, std::move(wrong.detail)});
      continue;
    }
    request.joined = item.transaction;
    request.message.transaction = item.transaction.opened_at;
    const auto bytes = static_cast<std::uint32_t>(request.message.payload.size());
    const outstanding_request what{item.id, request_kind::half, peer_role::half_store, bytes, 0};
    request.id = core_.outstanding.add(what);
    core_.began(what);
    batch.push_back(std::move(request));
  }
}

void produce_part::hand_over() {
  if (!messages_.requests.empty())
    core_.send(core_.peers->commit_log.actor, std::exchange(messages_, {}));
  if (!halves_.requests.empty())
    core_.send(core_.peers->half_store.actor, std::exchange(halves_, {}));
  if (!sent_.items.empty()) {
    core_.put(sent_);
    sent_.items.clear();
    sent_.details.clear();
  }
  if (!half_stored_.items.empty()) {
    core_.put(half_stored_);
    half_stored_.items.clear();
    half_stored_.details.clear();
  }
}

// -- checking -----------------------------------------------------------------------

/// Fills `into`, or says why the message can't be stored.
error produce_part::check(native::send_item& item, bool half, message_record& into) {
  const auto* topic = core_.topic(item.topic);
  if (!topic)
    return {ec::unknown_topic,
            "topic " + std::to_string(item.topic.value) + " was not resolved on this connection"};
  if (topic->read_only)
    return {ec::read_only_topic, topic->name};
  if (auto verdict = core_.door->rights.authorize(core_.who, action::produce, topic->name);
      !verdict)
    return verdict.error();
  if (item.queue != native::any_queue && item.queue.value >= topic->queues)
    return {ec::unknown_queue, topic->name + " has " + std::to_string(topic->queues) +
                                   " queues, asked for number " + std::to_string(item.queue.value)};
  if (item.delay_ms > delay_max_ms)
    return {ec::bad_delay, std::to_string(item.delay_ms) + " ms, at most " +
                               text_of_duration(limits::delay_max) + " (three years)"};
  if (half && !session_.is_member(item.group))
    return {ec::unknown_group, "join the producer group on this connection first"};
  if (auto wrong = check_payload(item, into); wrong.code != ec::ok)
    return wrong;
  into.topic = item.topic;
  into.group = item.group;
  into.queue = choose(item, *topic);
  into.flags = static_cast<std::uint16_t>(item.flags &
                                          (half ? flags_of_halves : message_flags::has_order_key));
  if (!half && topic->buffered)
    into.flags |= message_flags::buffered;
  into.sys_flag = item.sys_flag;
  if (half && item.timeout_ms != 0)
    into.timeout_ms = item.timeout_ms;
  into.delay_ms = item.delay_ms;
  into.order_hash = item.order_hash;
  into.born_ms = item.born_ms;
  if (item.sequence != sequence_no{} && core_.producer != producer_id{}) {
    into.sequence = item.sequence;
  }
  into.producer = core_.producer;
  into.properties_size = item.properties_size;
  into.payload_crc = storage::crc32c(item.payload.span());
  into.payload = std::move(item.payload);
  return {};
}

error produce_part::check_payload(const native::send_item& item, message_record& into) const {
  const auto body_max = core_.env->settings->limits.body;
  if (item.body_size() > body_max)
    return {ec::body_too_large,
            std::to_string(item.body_size()) + " bytes, at most " + std::to_string(body_max)};
  if (item.properties_size == 0)
    return {};
  const auto properties = item.payload.text().substr(0, item.properties_size);
  if (auto valid = check_properties(properties); !valid)
    return valid.error();
  if (const auto tag = find_property(properties, property_keys::tags))
    into.tag_hash = tag_hash(*tag);
  auto immunity = check_immunity_ms(properties);
  if (!immunity)
    return immunity.error();
  into.timeout_ms = *immunity;
  return {};
}

queue_no produce_part::choose(const native::send_item& item, const known_topic& topic) {
  HANDFAST_ASSERT(topic.queues > 0);
  if (item.queue != native::any_queue)
    return item.queue;
  if ((item.flags & message_flags::has_order_key) != 0)
    return queue_of_order(item.order_hash, topic.queues);
  return queue_no{static_cast<std::uint16_t>(turn_++ % topic.queues)};
}

// -- answering ----------------------------------------------------------------------

void produce_part::on_stored(const messages_stored& x) {
  HANDFAST_ASSERT(sent_.items.empty());
  for (const auto& r : x.results) {
    const auto request = core_.outstanding.take(r.id);
    if (!request)
      continue;
    core_.ended(*request);
    if (r.code == ec::unknown_topic || r.code == ec::unknown_queue)
      core_.forget(r.queue.topic);
    sent_.items.push_back(
        {request->client, r.code, r.at, r.queue.topic, r.queue.queue, r.offset, r.due_ms});
    if (r.code == ec::disk_full && !x.detail.empty())
      sent_.details.push_back({request->client, x.detail});
  }
  if (!sent_.items.empty())
    core_.put(sent_);
  sent_.items.clear();
  sent_.details.clear();
}

void produce_part::on_stored(const halves_stored& x) {
  HANDFAST_ASSERT(half_stored_.items.empty());
  for (const auto& r : x.results) {
    const auto request = core_.outstanding.take(r.id);
    if (!request)
      continue;
    core_.ended(*request);
    half_stored_.items.push_back({request->client, r.code, r.transaction, r.half_offset, r.queue});
    if (r.code == ec::disk_full && !x.detail.empty())
      half_stored_.details.push_back({request->client, x.detail});
  }
  if (!half_stored_.items.empty())
    core_.put(half_stored_);
  half_stored_.items.clear();
  half_stored_.details.clear();
}

} // namespace handfast
