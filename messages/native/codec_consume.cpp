#include "messages/native/codec_support.hpp"

namespace handfast::native {

namespace schema = native_schema;

void encode(frame_writer& to, const fetch& from) {
  codec::write_any<schema::Fetch>(to, fetch::kind, [&](schema::Fetch::Builder root) {
    root.setCorrelation(from.id.value);
    root.setTopic(from.topic.value);
    root.setGroup(from.group.value);
    root.setMessagesMax(from.messages_max);
    root.setBytesMax(from.bytes_max);
    root.setWaitMs(from.wait_ms);
    root.setQueue(from.queue.value);
    codec::put_start(root, from.start);
    codec::put_terms(root, from.terms);
    if (!from.group_name.empty())
      root.setGroupName(codec::text(from.group_name));
  });
}

result<void> decode(const frame& from, fetch& into) {
  return codec::read_root<schema::Fetch>(
      from, fetch::kind, [&](schema::Fetch::Reader root) -> result<void> {
        if (!codec::take_start(root, into.start) || !codec::take_terms(root, into.terms))
          return codec::bad(fetch::kind, "start, mode or filter out of range");
        into.id = {root.getCorrelation()};
        into.topic = {root.getTopic()};
        into.group = {root.getGroup()};
        into.messages_max = root.getMessagesMax();
        into.bytes_max = root.getBytesMax();
        into.wait_ms = root.getWaitMs();
        into.queue = {root.getQueue()};
        codec::take(into.group_name, root.getGroupName());
        return {};
      });
}

void encode(frame_writer& to, const read_view& from) {
  codec::write_any<schema::ReadView>(to, read_view::kind, [&](schema::ReadView::Builder root) {
    root.setCorrelation(from.id.value);
    root.setOffset(from.offset.value);
    root.setTopic(from.topic.value);
    root.setMessagesMax(from.messages_max);
    root.setQueue(from.queue.value);
  });
}

result<void> decode(const frame& from, read_view& into) {
  return codec::read_root<schema::ReadView>(from, read_view::kind,
                                            [&](schema::ReadView::Reader root) -> result<void> {
                                              into.id = {root.getCorrelation()};
                                              into.offset = {root.getOffset()};
                                              into.topic = {root.getTopic()};
                                              into.messages_max = root.getMessagesMax();
                                              into.queue = {root.getQueue()};
                                              return {};
                                            });
}

namespace {

void put_delivered(schema::DeliveredEntry::Builder to, const delivered_item& from) {
  HANDFAST_ASSERT(from.properties_size <= from.payload.size());
  to.setPosition(from.at.value);
  to.setOffset(from.offset.value);
  to.setLease(from.lease);
  to.setBornMs(from.born_ms);
  to.setVisibleMs(from.visible_ms);
  to.setOpenedAt(from.transaction.opened_at.value);
  to.setCheck(from.transaction.check);
  to.setTopic(from.topic.value);
  to.setPropertiesSize(from.properties_size);
  to.setBodySize(static_cast<std::uint32_t>(from.payload.size() - from.properties_size));
  to.setSysFlag(from.sys_flag);
  to.setOrderHash(from.order_hash);
  to.setQueue(from.queue.value);
  to.setAttempts(from.attempts);
}

bool take_delivered(schema::DeliveredEntry::Reader from, codec::payload_cursor& payload,
                    delivered_item& into) {
  into.at = {from.getPosition()};
  into.topic = {from.getTopic()};
  into.queue = {from.getQueue()};
  into.offset = {from.getOffset()};
  into.lease = from.getLease();
  into.attempts = from.getAttempts();
  into.born_ms = from.getBornMs();
  into.visible_ms = from.getVisibleMs();
  into.transaction = codec::id_of(from.getOpenedAt(), from.getCheck());
  into.sys_flag = from.getSysFlag();
  into.order_hash = from.getOrderHash();
  into.properties_size = from.getPropertiesSize();
  return payload.take(from.getPropertiesSize(), from.getBodySize(), into.payload);
}

/// Clients that do not know `handling` say only whether it is done; if not, it was handed back.
bool take_handling(schema::AcknowledgeEntry::Reader from, handling& into) {
  if (from.getHandling() > static_cast<std::uint8_t>(handling::dead_letter))
    return false;
  into = static_cast<handling>(from.getHandling());
  if (into == handling::done && !from.getDone())
    into = handling::returned;
  return true;
}

} // namespace

void encode(frame_writer& to, const delivered& from) {
  auto count = static_cast<unsigned>(from.items.size());
  std::size_t bytes = 0;
  for (const auto& item : from.items)
    bytes += item.payload.size() < frame_writer::share_from_bytes ? item.payload.size() : 8;
  to.reserve(bytes + std::size_t{count} * 80 + 1024);
  auto fill = [&](schema::Delivered::Builder root) {
    root.setCorrelation(from.id.value);
    root.setGroup(from.group.value);
    root.setCode(static_cast<std::uint16_t>(from.code));
    root.setLeaseMs(from.lease_ms);
    if (!from.detail.empty())
      root.setDetail(codec::text(from.detail));
    auto entries = root.initEntries(count);
    for (unsigned i = 0; i < count; ++i)
      put_delivered(entries[i], from.items[i]);
    if (!from.next.empty())
      codec::put_places(root.initNext(static_cast<unsigned>(from.next.size())), from.next);
  };
  if (from.detail.empty() && from.next.empty())
    codec::begin_exact<schema::Delivered>(
        to, delivered::kind,
        codec::words_of_batch<schema::Delivered, schema::DeliveredEntry>(count), fill);
  else
    codec::begin_any<schema::Delivered>(to, delivered::kind, fill);
  for (const auto& item : from.items)
    to.append_payload(item.payload);
  to.end_frame();
}

result<void> decode(const frame& from, delivered& into) {
  return codec::read_root<schema::Delivered>(
      from, delivered::kind, [&](schema::Delivered::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.group = {root.getGroup()};
        into.code = ec_from_wire(root.getCode());
        into.lease_ms = root.getLeaseMs();
        codec::take(into.detail, root.getDetail());
        codec::take_places(root.getNext(), into.next);
        auto entries = root.getEntries();
        into.items.resize(entries.size());
        codec::payload_cursor payload{from};
        for (unsigned i = 0; i < entries.size(); ++i)
          if (!take_delivered(entries[i], payload, into.items[i]))
            return codec::bad(delivered::kind, "sizes exceed the payload");
        if (!payload.at_end())
          return codec::bad(delivered::kind, "payload behind the last message");
        return {};
      });
}

void encode(frame_writer& to, const acknowledge& from) {
  auto count = static_cast<unsigned>(from.items.size());
  codec::begin_exact<schema::Acknowledge>(
      to, acknowledge::kind,
      codec::words_of_batch<schema::Acknowledge, schema::AcknowledgeEntry>(count),
      [&](schema::Acknowledge::Builder root) {
        root.setCorrelation(from.id.value);
        root.setGroup(from.group.value);
        root.setSubscription(from.subscription.value);
        root.setCredit(from.credit);
        auto entries = root.initEntries(count);
        for (unsigned i = 0; i < count; ++i) {
          const auto& item = from.items[i];
          entries[i].setOffset(item.offset.value);
          entries[i].setLease(item.lease);
          entries[i].setTopic(item.topic.value);
          entries[i].setQueue(item.queue.value);
          entries[i].setDone(ends_delivery(item.what));
          entries[i].setHandling(static_cast<std::uint8_t>(item.what));
          entries[i].setTo(item.to.value);
          entries[i].setRetryMs(item.retry_ms);
        }
      });
  to.end_frame();
}

result<void> decode(const frame& from, acknowledge& into) {
  return codec::read_root<schema::Acknowledge>(
      from, acknowledge::kind, [&](schema::Acknowledge::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.group = {root.getGroup()};
        auto entries = root.getEntries();
        into.subscription = {root.getSubscription()};
        into.credit = root.getCredit();
        into.items.resize(entries.size());
        for (unsigned i = 0; i < entries.size(); ++i) {
          auto what = handling::done;
          if (!take_handling(entries[i], what))
            return codec::bad(acknowledge::kind, "handling that no client says");
          into.items[i] = {{entries[i].getTopic()},
                           {entries[i].getQueue()},
                           {entries[i].getOffset()},
                           entries[i].getLease(),
                           what,
                           {entries[i].getTo()},
                           entries[i].getRetryMs()};
        }
        return {};
      });
}

void encode(frame_writer& to, const acknowledged& from) {
  codec::write_any<schema::Acknowledged>(to, acknowledged::kind,
                                         [&](schema::Acknowledged::Builder root) {
                                           root.setCorrelation(from.id.value);
                                           root.setAccepted(from.accepted);
                                           root.setLate(from.late);
                                           root.setCode(static_cast<std::uint16_t>(from.code));
                                           if (!from.detail.empty())
                                             root.setDetail(codec::text(from.detail));
                                         });
}

result<void> decode(const frame& from, acknowledged& into) {
  return codec::read_root<schema::Acknowledged>(
      from, acknowledged::kind, [&](schema::Acknowledged::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.accepted = root.getAccepted();
        into.late = root.getLate();
        into.code = ec_from_wire(root.getCode());
        codec::take(into.detail, root.getDetail());
        return {};
      });
}

} // namespace handfast::native
