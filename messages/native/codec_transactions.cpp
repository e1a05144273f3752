#include "messages/native/codec_support.hpp"

namespace handfast::native {

namespace schema = native_schema;

namespace {

void take_decide(schema::DecideEntry::Reader from, decide_item& into) {
  into.id = {from.getCorrelation()};
  into.transaction = codec::id_of(from.getOpenedAt(), from.getCheck());
  into.group = {from.getGroup()};
  into.wanted = static_cast<outcome>(from.getOutcome());
  into.by = static_cast<origin>(from.getOrigin());
  into.in_progress = from.getInProgress();
  into.messages = from.getMessages();
  into.attempt = from.getAttempt();
}

/// The same from the words of an entry.
void take_decide(capnp_words::reader from, decide_item& into) {
  into.id = {from[0]};
  into.transaction = codec::id_of(from[1], from.part<std::uint32_t>(4));
  into.group = {from.part<std::uint32_t>(5)};
  into.wanted = static_cast<outcome>(from.part<std::uint8_t>(28));
  into.by = static_cast<origin>(from.part<std::uint8_t>(29));
  into.in_progress = (from.part<std::uint8_t>(30) & 1) != 0;
  into.messages = from.part<std::uint16_t>(12);
  into.attempt = from.part<std::uint16_t>(13);
}

bool makes_sense(const decide_item& item) {
  return codec::valid_outcome(static_cast<std::uint8_t>(item.wanted)) &&
         codec::valid_origin(static_cast<std::uint8_t>(item.by));
}

} // namespace

void encode(frame_writer& to, const decide& from) {
  auto count = static_cast<unsigned>(from.items.size());
  codec::begin_exact<schema::Decide>(
      to, decide::kind, codec::words_of_batch<schema::Decide, schema::DecideEntry>(count),
      [&](schema::Decide::Builder root) {
        auto entries = root.initEntries(count);
        for (unsigned i = 0; i < count; ++i) {
          auto entry = entries[i];
          const auto& item = from.items[i];
          entry.setCorrelation(item.id.value);
          entry.setOpenedAt(item.transaction.opened_at.value);
          entry.setCheck(item.transaction.check);
          entry.setGroup(item.group.value);
          entry.setMessages(item.messages);
          entry.setAttempt(item.attempt);
          entry.setOutcome(static_cast<std::uint8_t>(item.wanted));
          entry.setOrigin(static_cast<std::uint8_t>(item.by));
          entry.setInProgress(item.in_progress);
        }
      });
  to.end_frame();
}

result<void> decode(const frame& from, decide& into) {
  constexpr std::string_view out_of_range = "outcome or origin out of range";
  if (const auto words =
          codec::plain_batch<schema::Decide, schema::DecideEntry>(from, decide::kind)) {
    constexpr auto entry_words = capnp::sizeInWords<schema::DecideEntry>();
    into.items.resize(words->size() / entry_words);
    for (std::size_t i = 0; i < into.items.size(); ++i) {
      take_decide(words->from(i * entry_words, entry_words), into.items[i]);
      if (!makes_sense(into.items[i]))
        return codec::bad(decide::kind, out_of_range);
    }
    return {};
  }
  return codec::read_root<schema::Decide>(from, decide::kind,
                                          [&](schema::Decide::Reader root) -> result<void> {
                                            auto entries = root.getEntries();
                                            into.items.resize(entries.size());
                                            for (unsigned i = 0; i < entries.size(); ++i) {
                                              take_decide(entries[i], into.items[i]);
                                              if (!makes_sense(into.items[i]))
                                                return codec::bad(decide::kind, out_of_range);
                                            }
                                            return {};
                                          });
}

void encode(frame_writer& to, const decided& from) {
  if (from.details.empty()) {
    auto words = codec::begin_batch<schema::Decided, schema::DecidedEntry>(to, decided::kind,
                                                                           from.items.size());
    for (const auto& item : from.items)
      words.put(item.id.value)
          .put(item.transaction.opened_at.value)
          .put(item.offset.value)
          .put(capnp_words::word_of(item.transaction.check, item.topic.value))
          .put(capnp_words::word_of(item.queue.value, static_cast<std::uint16_t>(item.code),
                                    item.messages,
                                    capnp_words::pair_of(static_cast<std::uint8_t>(item.recorded),
                                                         static_cast<std::uint8_t>(item.by))))
          .put(item.due_ms);
    to.end_frame();
    return;
  }
  codec::write_answers<schema::Decided, schema::DecidedEntry>(
      to, from, [](schema::DecidedEntry::Builder entry, const decided_item& item) {
        entry.setCorrelation(item.id.value);
        entry.setOpenedAt(item.transaction.opened_at.value);
        entry.setCheck(item.transaction.check);
        entry.setOffset(item.offset.value);
        entry.setTopic(item.topic.value);
        entry.setQueue(item.queue.value);
        entry.setCode(static_cast<std::uint16_t>(item.code));
        entry.setMessages(item.messages);
        entry.setOutcome(static_cast<std::uint8_t>(item.recorded));
        entry.setOrigin(static_cast<std::uint8_t>(item.by));
        entry.setDueMs(item.due_ms);
      });
}

result<void> decode(const frame& from, decided& into) {
  return codec::read_root<schema::Decided>(
      from, decided::kind, [&](schema::Decided::Reader root) -> result<void> {
        auto entries = root.getEntries();
        into.items.resize(entries.size());
        for (unsigned i = 0; i < entries.size(); ++i) {
          auto entry = entries[i];
          if (!codec::valid_outcome(entry.getOutcome()) || !codec::valid_origin(entry.getOrigin()))
            return codec::bad(decided::kind, "outcome or origin out of range");
          auto& item = into.items[i];
          item.id = {entry.getCorrelation()};
          item.code = ec_from_wire(entry.getCode());
          item.transaction = codec::id_of(entry.getOpenedAt(), entry.getCheck());
          item.recorded = static_cast<outcome>(entry.getOutcome());
          item.by = static_cast<origin>(entry.getOrigin());
          item.messages = entry.getMessages();
          item.topic = {entry.getTopic()};
          item.queue = {entry.getQueue()};
          item.offset = {entry.getOffset()};
          item.due_ms = entry.getDueMs();
        }
        codec::take_details(root, into.details);
        return {};
      });
}

namespace {

void write_refs(frame_writer& to, frame_kind kind, const std::vector<transaction_ref>& items) {
  auto count = static_cast<unsigned>(items.size());
  codec::begin_exact<schema::TransactionRefs>(
      to, kind, codec::words_of_batch<schema::TransactionRefs, schema::TransactionRef>(count),
      [&](schema::TransactionRefs::Builder root) {
        auto entries = root.initEntries(count);
        for (unsigned i = 0; i < count; ++i) {
          entries[i].setOpenedAt(items[i].transaction.opened_at.value);
          entries[i].setCheck(items[i].transaction.check);
          entries[i].setGroup(items[i].group.value);
        }
      });
  to.end_frame();
}

result<void> read_refs(const frame& from, frame_kind kind, std::vector<transaction_ref>& into) {
  return codec::read_root<schema::TransactionRefs>(
      from, kind, [&](schema::TransactionRefs::Reader root) -> result<void> {
        auto entries = root.getEntries();
        into.resize(entries.size());
        for (unsigned i = 0; i < entries.size(); ++i)
          into[i] = {codec::id_of(entries[i].getOpenedAt(), entries[i].getCheck()),
                     {entries[i].getGroup()}};
        return {};
      });
}

} // namespace

void encode(frame_writer& to, const running& from) {
  write_refs(to, running::kind, from.items);
}
result<void> decode(const frame& from, running& into) {
  return read_refs(from, running::kind, into.items);
}

void encode(frame_writer& to, const check_received& from) {
  write_refs(to, check_received::kind, from.items);
}
result<void> decode(const frame& from, check_received& into) {
  return read_refs(from, check_received::kind, into.items);
}

namespace {

void put_check(schema::CheckEntry::Builder to, const check_item& from) {
  HANDFAST_ASSERT(from.properties_size <= from.payload.size());
  to.setOpenedAt(from.transaction.opened_at.value);
  to.setCheck(from.transaction.check);
  to.setStoredMs(from.stored_ms);
  to.setBornMs(from.born_ms);
  to.setGroup(from.group.value);
  to.setTopic(from.topic.value);
  to.setSysFlag(from.sys_flag);
  to.setPropertiesSize(from.properties_size);
  to.setBodySize(static_cast<std::uint32_t>(from.payload.size() - from.properties_size));
  to.setQueue(from.queue.value);
  to.setAttempt(from.attempt);
  to.setAttemptsMax(from.attempts_max);
  to.setMessages(from.messages);
}

bool take_check(schema::CheckEntry::Reader from, codec::payload_cursor& payload, check_item& into) {
  into.transaction = codec::id_of(from.getOpenedAt(), from.getCheck());
  into.group = {from.getGroup()};
  into.topic = {from.getTopic()};
  into.queue = {from.getQueue()};
  into.attempt = from.getAttempt();
  into.attempts_max = from.getAttemptsMax();
  into.messages = from.getMessages();
  into.stored_ms = from.getStoredMs();
  into.born_ms = from.getBornMs();
  into.sys_flag = from.getSysFlag();
  into.properties_size = from.getPropertiesSize();
  return payload.take(from.getPropertiesSize(), from.getBodySize(), into.payload);
}

} // namespace

void encode(frame_writer& to, const check& from) {
  codec::begin_any<schema::Check>(to, check::kind, [&](schema::Check::Builder root) {
    auto entries = root.initEntries(static_cast<unsigned>(from.items.size()));
    for (unsigned i = 0; i < entries.size(); ++i)
      put_check(entries[i], from.items[i]);
    auto topics = root.initTopics(static_cast<unsigned>(from.topics.size()));
    for (unsigned i = 0; i < topics.size(); ++i) {
      topics[i].setTopic(from.topics[i].topic.value);
      topics[i].setName(codec::text(from.topics[i].name));
    }
  });
  for (const auto& item : from.items)
    to.append_payload(item.payload);
  to.end_frame();
}

result<void> decode(const frame& from, check& into) {
  return codec::read_root<schema::Check>(
      from, check::kind, [&](schema::Check::Reader root) -> result<void> {
        auto entries = root.getEntries();
        into.items.resize(entries.size());
        codec::payload_cursor payload{from};
        for (unsigned i = 0; i < entries.size(); ++i)
          if (!take_check(entries[i], payload, into.items[i]))
            return codec::bad(check::kind, "sizes exceed the payload");
        if (!payload.at_end())
          return codec::bad(check::kind, "payload behind the last message");
        auto topics = root.getTopics();
        into.topics.resize(topics.size());
        for (unsigned i = 0; i < topics.size(); ++i) {
          into.topics[i].topic = {topics[i].getTopic()};
          codec::take(into.topics[i].name, topics[i].getName());
        }
        return {};
      });
}

} // namespace handfast::native
