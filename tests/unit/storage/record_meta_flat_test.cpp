#include "messages/log_schema.capnp.h"
#include "messages/place_or_due.hpp"
#include "storage/record_meta.hpp"
#include "storage/record_meta_flat.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <capnp/message.h>

#include <gmock/gmock.h>

namespace handfast::storage {
namespace {

using ::testing::ElementsAreArray;

template <class Record>
std::vector<std::uint64_t> flat(const Record& record) {
  std::vector<std::uint64_t> words(flat_words_of(record));
  write_flat(record, std::as_writable_bytes(std::span{words}));
  return words;
}

/// What Cap'n Proto's own builder makes of it.
template <class Struct, class Fill>
std::vector<std::uint64_t> built(std::size_t words, Fill&& fill) {
  std::vector<std::uint64_t> made(words);
  capnp::FlatMessageBuilder builder{
      kj::arrayPtr(reinterpret_cast<capnp::word*>(made.data()), made.size())};
  fill(builder.initRoot<Struct>());
  builder.requireFilled();
  return made;
}

std::vector<std::uint64_t> built(const decide_record& record) {
  return built<log_schema::Decide>(flat_words_of(record), [&](log_schema::Decide::Builder to) {
    to.setOpOffset(record.op_offset.value);
    if (!record.decisions.empty()) {
      auto list = to.initDecisions(static_cast<unsigned>(record.decisions.size()));
      for (unsigned i = 0; i < list.size(); ++i) {
        list[i].setTransaction(record.decisions[i].transaction.value);
        list[i].setGroup(record.decisions[i].group.value);
        list[i].setMessages(record.decisions[i].messages);
        list[i].setOutcome(static_cast<std::uint8_t>(record.decisions[i].result));
        list[i].setOrigin(static_cast<std::uint8_t>(record.decisions[i].by));
      }
    }
    if (!record.entries.empty()) {
      auto list = to.initEntries(static_cast<unsigned>(record.entries.size()));
      for (unsigned i = 0; i < list.size(); ++i) {
        list[i].setAt(record.entries[i].at.value);
        list[i].setOffset(record.entries[i].is_delayed() ? record.entries[i].due_ms | due_flag
                                                         : record.entries[i].offset.value);
        list[i].setTopic(record.entries[i].topic.value);
        list[i].setLength(record.entries[i].length);
        list[i].setTagHash(record.entries[i].tag_hash);
        list[i].setQueue(record.entries[i].queue.value);
      }
    }
  });
}

TEST(RecordMetaFlat, WritesAMessageAsCapnProtoDoes) {
  message_record m;
  m.topic = {0x01020304};
  m.group = {0x11121314};
  m.queue = {0x2122};
  m.flags = 0x3132;
  m.sys_flag = 0x41424344;
  m.timeout_ms = 0x51525354;
  m.tag_hash = 0x61626364;
  m.order_hash = 0x71727374;
  m.born_ms = 0x8182838485868788;
  m.offset = {0x9192939495969798};
  m.producer = {0xa1a2a3a4a5a6a7a8};
  m.sequence = {0xb1b2b3b4b5b6b7b8};
  m.transaction = {0xc1c2c3c4c5c6c7c8};
  m.delay_ms = 0xd1d2d3d4d5d6d7d8;
  m.properties_size = 0xe1e2;
  const auto expected =
      built<log_schema::Message>(flat_words_of(m), [&](log_schema::Message::Builder to) {
        to.setTopic(m.topic.value);
        to.setGroup(m.group.value);
        to.setQueue(m.queue.value);
        to.setFlags(m.flags);
        to.setSysFlag(m.sys_flag);
        to.setTimeoutMs(m.timeout_ms);
        to.setTagHash(m.tag_hash);
        to.setOrderHash(m.order_hash);
        to.setBornMs(m.born_ms);
        to.setOffset(m.offset.value);
        to.setProducer(m.producer.value);
        to.setSequence(m.sequence.value);
        to.setTransaction(m.transaction.value);
        to.setDelayMs(m.delay_ms);
        to.setPropertiesSize(static_cast<std::uint16_t>(m.properties_size));
      });
  EXPECT_THAT(flat(m), ElementsAreArray(expected));
}

TEST(RecordMetaFlat, WritesDecisionsAsCapnProtoDoes) {
  const decision committed{
      {0x0102030405060708}, outcome::committed, origin::check, 0x1112, {0x21222324}};
  const decision rolled_back{
      {0x3132333435363738}, outcome::rolled_back, origin::policy, 0, {0x41424344}};
  const index_entry entry{{0x5152535455565758}, {0x61626364}, {0x7172},
                          {0x8182838485868788}, 0x91929394,   0xa1a2a3a4};
  auto delayed = entry;
  delayed.offset = {};
  delayed.due_ms = 0x0011121314151617;
  for (const decide_record& record :
       {decide_record{{6}, {committed}, {entry, delayed}},
        decide_record{{7}, {committed}, {entry, entry}}, decide_record{{8}, {rolled_back}, {}},
        decide_record{{9}, {rolled_back, committed}, {entry}}, decide_record{{10}, {}, {}}})
    EXPECT_THAT(flat(record), ElementsAreArray(built(record))) << record.op_offset.value;
}

} // namespace
} // namespace handfast::storage
