#include "messages/native/codec_support.hpp"

namespace handfast::native {

namespace schema = native_schema;

namespace {

void put_send(schema::SendEntry::Builder to, const send_item& from) {
  to.setCorrelation(from.id.value);
  to.setSequence(from.sequence.value);
  to.setBornMs(from.born_ms);
  to.setOpenedAt(from.transaction.opened_at.value);
  to.setCheck(from.transaction.check);
  to.setDelayMs(from.delay_ms);
  to.setTopic(from.topic.value);
  to.setGroup(from.group.value);
  to.setPropertiesSize(from.properties_size);
  to.setBodySize(static_cast<std::uint32_t>(from.body_size()));
  to.setTimeoutMs(from.timeout_ms);
  to.setOrderHash(from.order_hash);
  to.setSysFlag(from.sys_flag);
  to.setQueue(from.queue.value);
  to.setFlags(from.flags);
}

void take_send(schema::SendEntry::Reader from, send_item& into) {
  into.id = {from.getCorrelation()};
  into.sequence = {from.getSequence()};
  into.born_ms = from.getBornMs();
  into.transaction = codec::id_of(from.getOpenedAt(), from.getCheck());
  into.delay_ms = from.getDelayMs();
  into.topic = {from.getTopic()};
  into.group = {from.getGroup()};
  into.properties_size = from.getPropertiesSize();
  into.timeout_ms = from.getTimeoutMs();
  into.order_hash = from.getOrderHash();
  into.sys_flag = from.getSysFlag();
  into.queue = {from.getQueue()};
  into.flags = from.getFlags();
}

void write_sends(frame_writer& to, frame_kind kind, const std::vector<send_item>& items) {
  auto count = static_cast<unsigned>(items.size());
  codec::begin_exact<schema::Send>(to, kind,
                                   codec::words_of_batch<schema::Send, schema::SendEntry>(count),
                                   [&](schema::Send::Builder root) {
                                     auto entries = root.initEntries(count);
                                     for (unsigned i = 0; i < count; ++i)
                                       put_send(entries[i], items[i]);
                                   });
  for (const auto& item : items) {
    HANDFAST_ASSERT(item.properties_size <= item.payload.size());
    to.append_payload(item.payload);
  }
  to.end_frame();
}

/// The same from the words of an entry.
void take_send(capnp_words::reader from, send_item& into) {
  into.id = {from[0]};
  into.sequence = {from[1]};
  into.born_ms = from[2];
  into.transaction = codec::id_of(from[3], from.part<std::uint32_t>(10));
  into.delay_ms = from[4];
  into.topic = {from.part<std::uint32_t>(11)};
  into.group = {from.part<std::uint32_t>(12)};
  into.properties_size = from.part<std::uint32_t>(13);
  into.timeout_ms = from.part<std::uint32_t>(15);
  into.order_hash = from.part<std::uint32_t>(16);
  into.sys_flag = from.part<std::uint32_t>(17);
  into.queue = {from.part<std::uint16_t>(36)};
  into.flags = from.part<std::uint16_t>(37);
}

result<void> take_payloads_end(const codec::payload_cursor& payload, frame_kind kind) {
  if (!payload.at_end())
    return codec::bad(kind, "payload behind the last message");
  return {};
}

result<void> read_plain_sends(const frame& from, frame_kind kind, capnp_words::reader words,
                              std::vector<send_item>& into) {
  constexpr auto entry_words = capnp::sizeInWords<schema::SendEntry>();
  into.resize(words.size() / entry_words);
  codec::payload_cursor payload{from};
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto entry = words.from(i * entry_words, entry_words);
    take_send(entry, into[i]);
    const auto body_size = entry.part<std::uint32_t>(14);
    if (!payload.take(into[i].properties_size, body_size, into[i].payload))
      return codec::bad(kind, "sizes exceed the payload");
  }
  return take_payloads_end(payload, kind);
}

result<void> read_sends(const frame& from, frame_kind kind, std::vector<send_item>& into) {
  if (const auto words = codec::plain_batch<schema::Send, schema::SendEntry>(from, kind))
    return read_plain_sends(from, kind, *words, into);
  return codec::read_root<schema::Send>(from, kind, [&](schema::Send::Reader root) -> result<void> {
    auto entries = root.getEntries();
    into.resize(entries.size());
    codec::payload_cursor payload{from};
    for (unsigned i = 0; i < entries.size(); ++i) {
      take_send(entries[i], into[i]);
      if (!payload.take(entries[i].getPropertiesSize(), entries[i].getBodySize(), into[i].payload))
        return codec::bad(kind, "sizes exceed the payload");
    }
    return take_payloads_end(payload, kind);
  });
}

} // namespace

void encode(frame_writer& to, const send& from) {
  write_sends(to, send::kind, from.items);
}
void encode(frame_writer& to, const send_half& from) {
  write_sends(to, send_half::kind, from.items);
}
result<void> decode(const frame& from, send& into) {
  return read_sends(from, send::kind, into.items);
}
result<void> decode(const frame& from, send_half& into) {
  return read_sends(from, send_half::kind, into.items);
}

void encode(frame_writer& to, const sent& from) {
  codec::write_answers<schema::Sent, schema::SentEntry>(
      to, from, [](schema::SentEntry::Builder entry, const sent_item& item) {
        entry.setCorrelation(item.id.value);
        entry.setPosition(item.at.value);
        entry.setOffset(item.offset.value);
        entry.setTopic(item.topic.value);
        entry.setQueue(item.queue.value);
        entry.setCode(static_cast<std::uint16_t>(item.code));
        entry.setDueMs(item.due_ms);
      });
}

result<void> decode(const frame& from, sent& into) {
  return codec::read_root<schema::Sent>(
      from, sent::kind, [&](schema::Sent::Reader root) -> result<void> {
        auto entries = root.getEntries();
        into.items.resize(entries.size());
        for (unsigned i = 0; i < entries.size(); ++i) {
          auto entry = entries[i];
          into.items[i] = {{entry.getCorrelation()}, ec_from_wire(entry.getCode()),
                           {entry.getPosition()},    {entry.getTopic()},
                           {entry.getQueue()},       {entry.getOffset()},
                           entry.getDueMs()};
        }
        codec::take_details(root, into.details);
        return {};
      });
}

void encode(frame_writer& to, const half_stored& from) {
  if (from.details.empty()) {
    auto words = codec::begin_batch<schema::HalfStored, schema::HalfStoredEntry>(
        to, half_stored::kind, from.items.size());
    for (const auto& item : from.items)
      words.put(item.id.value)
          .put(item.transaction.opened_at.value)
          .put(item.half_offset.value)
          .put(capnp_words::word_of(
              item.transaction.check,
              item.queue.value | std::uint32_t{static_cast<std::uint16_t>(item.code)} << 16));
    to.end_frame();
    return;
  }
  codec::write_answers<schema::HalfStored, schema::HalfStoredEntry>(
      to, from, [](schema::HalfStoredEntry::Builder entry, const half_stored_item& item) {
        entry.setCorrelation(item.id.value);
        entry.setOpenedAt(item.transaction.opened_at.value);
        entry.setCheck(item.transaction.check);
        entry.setHalfOffset(item.half_offset.value);
        entry.setQueue(item.queue.value);
        entry.setCode(static_cast<std::uint16_t>(item.code));
      });
}

result<void> decode(const frame& from, half_stored& into) {
  return codec::read_root<schema::HalfStored>(
      from, half_stored::kind, [&](schema::HalfStored::Reader root) -> result<void> {
        auto entries = root.getEntries();
        into.items.resize(entries.size());
        for (unsigned i = 0; i < entries.size(); ++i) {
          auto entry = entries[i];
          into.items[i] = {{entry.getCorrelation()},
                           ec_from_wire(entry.getCode()),
                           codec::id_of(entry.getOpenedAt(), entry.getCheck()),
                           {entry.getHalfOffset()},
                           {entry.getQueue()}};
        }
        codec::take_details(root, into.details);
        return {};
      });
}

} // namespace handfast::native
