#include "messages/place_or_due.hpp"
#include "storage/little_endian.hpp"
#include "storage/record_codec.hpp"
#include "tests/unit/storage/store_fixture.hpp"

#include <gmock/gmock.h>
#include <random>

namespace handfast::storage {
namespace {

/// One encoded record in memory, ready to be damaged.
struct encoded {
  std::shared_ptr<std::byte[]> bytes;
  std::size_t size = 0;
  position at;

  [[nodiscard]] std::span<std::byte> span() const { return {bytes.get(), size}; }
};

encoded encode(const record_codec& codec, log_record record, position at = {4096}) {
  record.at = at;
  record.epoch = 7;
  const auto size = must(record_codec::size_of(record));
  encoded out{std::make_shared<std::byte[]>(size.stored), size.stored, at};
  codec.encode(record, size, 512, out.span().first(size.head));
  const auto payload = record_codec::payload_of(record).span();
  std::copy(payload.begin(), payload.end(), out.bytes.get() + size.head);
  return out;
}

decode_status decode(const record_codec& codec, const encoded& from, log_record& record,
                     std::size_t bytes) {
  record_header header;
  return codec.decode(from.span().first(bytes), from.at, {from.bytes, from.bytes.get()}, header,
                      record);
}

decode_status decode(const record_codec& codec, const encoded& from) {
  log_record record;
  return decode(codec, from, record, from.size);
}

std::vector<log_record> one_of_each_type() {
  auto rich = message_with("TAGS\1a\2KEYS\1k\2", "the body");
  rich.flags = message_flags::local_transaction | message_flags::has_order_key;
  rich.sys_flag = 4;
  rich.timeout_ms = 6000;
  rich.tag_hash = 97;
  rich.order_hash = 0xdead;
  rich.producer = {0x0102030405060708};
  rich.sequence = {12};
  rich.transaction = {8192};
  rich.delay_ms = 30'000;
  const index_entry entry{{4096}, {17}, {2}, {41}, 200, 97};
  return {
      record_of(record_type::message, rich),
      record_of(record_type::half, rich),
      a_decision({1024}),
      record_of(record_type::checked, checked_record{{{{1024}, 3, 99}, {{2048}, 1, 98}}}),
      record_of(record_type::release, release_record{{entry, entry}, {{1024}, {2048}}}),
      record_of(record_type::reopen, reopen_record{{1024}, {3}, 6000, {entry}}),
      record_of(record_type::move, move_record{{1024}, rich}),
      record_of(record_type::progress,
                progress_record{{{{3}, {17}, {2}, {40}, {{42, 44}, {50, 51}}, {{45, 3}}},
                                 {{4}, {18}, {0}, {0}, {}, {}}}}),
      record_of(
          record_type::meta,
          meta_record{meta_change::topic_put, 17, "orders", 8, {6000, 30000, 15, 1, 2, true, 5}}),
      record_of(record_type::epoch, epoch_record{7, "started"}),
      record_of(record_type::mark, mark_record{}),
      record_of(record_type::dead_letter, dead_letter_record{{3}, {17}, {2}, {41}, 16, rich}),
      record_of(record_type::retire,
                retire_record{{1 << 20}, {{{17}, {2}, {12}}, {{18}, {0}, {1}}}}),
  };
}

class RecordCodec : public ::testing::Test {
protected:
  record_codec codec{test_store_id};
};

TEST(Crc32c, AgreesWithTheStandard) {
  const std::string text = "123456789";
  const auto bytes = std::as_bytes(std::span{text.data(), text.size()});
  EXPECT_EQ(crc32c(bytes), 0xe3069283u);
  EXPECT_EQ(crc32c(bytes.subspan(4), crc32c(bytes.first(4))), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

// Stretches side by side, single words and bytes, ISA-L: all lengths give what a bit by bit
// division gives.
TEST(Crc32c, IsThatOfThePolynomialAtEveryLength) {
  const auto by_bits = [](std::span<const std::byte> bytes) {
    std::uint32_t crc = ~0u;
    for (const auto b : bytes) {
      crc ^= std::to_integer<std::uint32_t>(b);
      for (int bit = 0; bit < 8; ++bit)
        crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    }
    return ~crc;
  };
  std::mt19937_64 random{5};
  std::vector<std::byte> bytes(5'000);
  for (auto& b : bytes)
    b = static_cast<std::byte>(random());
  for (std::size_t size = 0; size <= bytes.size(); size += size < 1'700 ? 1 : 97) {
    const auto part = std::span<const std::byte>{bytes}.last(size);
    ASSERT_EQ(crc32c(part), by_bits(part)) << size;
    const auto cut = size / 3;
    ASSERT_EQ(crc32c(part.subspan(cut), crc32c(part.first(cut))), by_bits(part)) << size;
  }
}

TEST(Crc32c, IsTheSameWholeAndInPiecesAtEveryLength) {
  // Short and long inputs take different ways; 4,096 is where they part.
  std::vector<std::byte> bytes(10'000);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 131 >> 3);
  for (const std::size_t length : {1, 7, 8, 9, 1023, 4095, 4096, 4097, 10'000}) {
    const auto whole = std::span{bytes}.first(length);
    std::uint32_t piecewise = 0;
    for (std::size_t at = 0; at < length; at += 61)
      piecewise = crc32c(whole.subspan(at, std::min<std::size_t>(61, length - at)), piecewise);
    EXPECT_EQ(crc32c(whole), piecewise) << length;
  }
}

TEST_F(RecordCodec, RoundTripsEveryType) {
  for (const auto& record : one_of_each_type()) {
    log_record back;
    const auto bytes = encode(codec, record);
    ASSERT_EQ(decode(codec, bytes, back, bytes.size), decode_status::ok) << name_of(record.type);
    EXPECT_EQ(back.type, record.type);
    EXPECT_EQ(back.at, bytes.at);
    EXPECT_EQ(back.length, bytes.size);
    EXPECT_EQ(back.epoch, 7u);
    EXPECT_EQ(back.time_ms, record.time_ms);
    EXPECT_EQ(back.content, record.content) << name_of(record.type);
  }
}

TEST_F(RecordCodec, RoundTripsEmptyLists) {
  for (const auto& record :
       {record_of(record_type::decide, decide_record{}),
        record_of(record_type::checked, checked_record{}),
        record_of(record_type::release, release_record{}),
        record_of(record_type::retire, retire_record{}),
        record_of(record_type::progress, progress_record{}),
        record_of(record_type::meta, meta_record{}), record_of(record_type::epoch, epoch_record{}),
        record_of(record_type::message, message_with("", ""))}) {
    log_record back;
    const auto bytes = encode(codec, record);
    ASSERT_EQ(decode(codec, bytes, back, bytes.size), decode_status::ok);
    EXPECT_EQ(back.content, record.content);
  }
}

TEST_F(RecordCodec, SpendsFewBytesOnAHalf) {
  EXPECT_LE(must(record_codec::size_of(a_message("body"))).head, 136u);
}

TEST_F(RecordCodec, SpendsSixteenBytesOnADecisionAndThirtyTwoOnAnEntry) {
  decide_record none;
  none.decisions.resize(1);
  none.entries.resize(1);
  auto two = none;
  two.decisions.resize(2);
  auto more = none;
  more.entries.resize(2);
  const auto size = [](const decide_record& d) {
    return must(record_codec::size_of(record_of(record_type::decide, d))).head;
  };
  EXPECT_EQ(size(two) - size(none), 16u);
  EXPECT_EQ(size(more) - size(none), 32u);
}

TEST_F(RecordCodec, DecodedPayloadSharesTheBuffer) {
  const auto bytes = encode(codec, a_half("shared"));
  log_record back;
  ASSERT_EQ(decode(codec, bytes, back, bytes.size), decode_status::ok);
  const auto* payload = record_codec::payload_of(back).data();
  EXPECT_GE(payload, bytes.bytes.get());
  EXPECT_LT(payload, bytes.bytes.get() + bytes.size);
}

TEST_F(RecordCodec, DetectsEveryFlippedBitOfHeaderAndFields) {
  const auto bytes = encode(codec, a_half("body"));
  const auto head = must(record_codec::size_of(a_half("body"))).head;
  for (std::size_t i = 0; i < head; ++i)
    for (unsigned bit = 0; bit < 8; ++bit) {
      bytes.bytes[i] ^= std::byte{1} << bit;
      EXPECT_THAT(decode(codec, bytes),
                  ::testing::AnyOf(
                      decode_status::not_a_record, decode_status::torn, decode_status::bad_header,
                      // the CRC of the payload is covered as well, so never bad_payload
                      decode_status::bad_header))
          << "byte " << i << " bit " << bit;
      bytes.bytes[i] ^= std::byte{1} << bit;
    }
}

TEST_F(RecordCodec, BlamesOnlyThePayloadForAFlippedBodyBit) {
  const auto bytes = encode(codec, a_half("body"));
  const auto size = must(record_codec::size_of(a_half("body")));
  bytes.bytes[size.head + size.payload - 1] ^= std::byte{4};
  log_record back;
  EXPECT_EQ(decode(codec, bytes, back, bytes.size), decode_status::bad_payload);
  EXPECT_EQ(std::get<message_record>(back.content).offset, queue_offset{41});
  EXPECT_TRUE(record_codec::payload_of(back).empty());
}

TEST_F(RecordCodec, CallsEveryShorterStretchTorn) {
  const auto bytes = encode(codec, a_half("some body"));
  const auto size = must(record_codec::size_of(a_half("some body")));
  for (std::size_t n = 0; n < size.head + size.payload; ++n) {
    log_record back;
    EXPECT_EQ(decode(codec, bytes, back, n), decode_status::torn) << n;
  }
}

TEST_F(RecordCodec, RefusesAGiantLengthBeforeAllocating) {
  const auto bytes = encode(codec, a_half("body"));
  put(bytes.bytes.get() + record_field::length, std::uint32_t{0xffff'fff0});
  EXPECT_EQ(decode(codec, bytes), decode_status::not_a_record);
}

TEST_F(RecordCodec, RefusesARecordAtAnotherPosition) {
  auto bytes = encode(codec, a_half("body"));
  bytes.at = bytes.at + 8;
  EXPECT_EQ(decode(codec, bytes), decode_status::not_a_record);
}

TEST_F(RecordCodec, RefusesRecordsOfAnotherStore) {
  const auto bytes = encode(record_codec{99}, a_half("body"));
  EXPECT_EQ(decode(codec, bytes), decode_status::bad_header);
}

TEST_F(RecordCodec, CallsZerosNoRecord) {
  const encoded zeros{std::make_shared<std::byte[]>(4096), 4096, {4096}};
  EXPECT_EQ(decode(codec, zeros), decode_status::not_a_record);
}

/// Gives damaged bytes the right CRC, as a fault of a writer would.
void reseal(const encoded& bytes) {
  const auto words = get<std::uint16_t>(bytes.bytes.get() + record_field::meta_words);
  const auto covered = bytes.span().subspan(4, record_header_bytes - 4 + words * 8u);
  put(bytes.bytes.get(), crc32c(covered, crc_seed(test_store_id)));
}

TEST_F(RecordCodec, CannotDecodeATypeOfTheFuture) {
  const auto bytes = encode(codec, a_half("body"));
  bytes.bytes[record_field::type] = std::byte{200};
  reseal(bytes);
  EXPECT_EQ(decode(codec, bytes), decode_status::undecodable);
}

TEST_F(RecordCodec, CannotDecodeAnUnknownOutcome) {
  auto record = a_decision({1024});
  std::get<decide_record>(record.content).decisions[0].result = static_cast<outcome>(9);
  EXPECT_EQ(decode(codec, encode(codec, record)), decode_status::undecodable);
}

TEST_F(RecordCodec, SurvivesAnyFieldsBehindARightChecksum) {
  std::mt19937_64 random{5};
  for (const auto& record : one_of_each_type())
    for (int round = 0; round < 2000; ++round) {
      const auto bytes = encode(codec, record);
      const auto words = get<std::uint16_t>(bytes.bytes.get() + record_field::meta_words);
      if (words == 0)
        break;
      for (int flips = 0; flips < 3; ++flips)
        bytes.bytes[record_header_bytes + random() % (words * 8u)] =
            static_cast<std::byte>(random());
      reseal(bytes);
      EXPECT_NO_THROW((void)decode(codec, bytes));
    }
}

TEST_F(RecordCodec, SurvivesRandomBytes) {
  std::mt19937_64 random{6};
  for (int round = 0; round < 20'000; ++round) {
    const encoded bytes{std::make_shared<std::byte[]>(256), 256, {4096}};
    for (auto& b : bytes.span())
      b = static_cast<std::byte>(random());
    put(bytes.bytes.get() + record_field::at, std::uint64_t{4096});
    EXPECT_NE(decode(codec, bytes), decode_status::ok);
  }
}

TEST_F(RecordCodec, RefusesFieldsBeyondTheirLimit) {
  decide_record decide;
  decide.entries.resize(20'000);
  const auto size = record_codec::size_of(record_of(record_type::decide, decide));
  EXPECT_EQ(code_of(size), ec::bad_request);
}

TEST_F(RecordCodec, CannotDecodeAnOffsetThatNoQueueCanHave) {
  auto message = a_message("body");
  std::get<message_record>(message.content).offset = queue_offset{UINT64_MAX};
  EXPECT_EQ(decode(codec, encode(codec, message)), decode_status::undecodable);
}

TEST_F(RecordCodec, DecodesTheMomentOfADelayedMessageOnly) {
  auto record = a_message("x");
  auto& m = std::get<message_record>(record.content);
  m.delay_ms = 5'000;
  m.offset = place_or_due({}, 1'700'000'000'000);
  log_record back;
  const auto bytes = encode(codec, record);
  ASSERT_EQ(decode(codec, bytes, back, bytes.size), decode_status::ok);
  EXPECT_EQ(due_in(std::get<message_record>(back.content).offset), 1'700'000'000'000u);
  record.type = record_type::half;
  EXPECT_EQ(decode(codec, encode(codec, record)), decode_status::undecodable) << "it has a place";
  record.type = record_type::message;
  m.delay_ms = 0;
  EXPECT_EQ(decode(codec, encode(codec, record)), decode_status::undecodable) << "so does this";
}

TEST_F(RecordCodec, RefusesAPayloadBeyondItsLimit) {
  const std::string body(record_payload_bytes_max + 1, 'x');
  EXPECT_EQ(code_of(record_codec::size_of(a_message(body))), ec::body_too_large);
}

TEST_F(RecordCodec, TellsTheDurableMark) {
  const auto bytes = encode(codec, a_half("body"));
  record_header header;
  ASSERT_EQ(codec.check_head(bytes.span(), bytes.at, header), decode_status::ok);
  EXPECT_EQ(header.durable(), position{4096 - 512});
}

} // namespace
} // namespace handfast::storage
