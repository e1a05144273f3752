#include "actors/folds/dead_letter.hpp"
#include "messages/limits.hpp"
#include "messages/properties.hpp"

#include <gtest/gtest.h>

namespace handfast {
namespace {

log_record half_of(const std::string& properties, const std::string& body) {
  message_record m;
  m.topic = topic_id{16};
  m.queue = queue_no{3};
  m.offset = queue_offset{9};
  m.flags = message_flags::has_order_key | message_flags::local_transaction;
  m.order_hash = 77;
  m.tag_hash = 5;
  m.born_ms = 1'234;
  m.delay_ms = 10;
  m.producer = producer_id{8};
  m.sequence = sequence_no{9};
  m.properties_size = static_cast<std::uint32_t>(properties.size());
  m.payload = shared_bytes::copy_of(properties + body);
  log_record record;
  record.type = record_type::half;
  record.at = position{4'096};
  record.content = m;
  return record;
}

const dead_letter_origin origin{
    "orders", {topic_id{16}, queue_no{3}}, queue_offset{41}, position{99},
    16,       "16 failed deliveries"};

TEST(DeadLetter, KeepsTheMessageAndSaysWhereItCameFrom) {
  const std::string properties{"TAGS\x01red\x02KEYS\x01k1\x02"};
  const auto copy = dead_letter_copy(half_of(properties, "body"), topic_id{20}, origin);
  EXPECT_EQ(copy.topic, topic_id{20});
  EXPECT_EQ(copy.queue, queue_no{0});
  EXPECT_EQ(copy.body(), "body");
  EXPECT_EQ(copy.tag_hash, 5U);
  EXPECT_EQ(copy.born_ms, 1'234U);
  EXPECT_EQ(copy.order_hash, 77U);
  EXPECT_EQ(copy.flags, message_flags::has_order_key);
  const auto found = [&](std::string_view key) {
    return std::string{find_property(copy.properties(), key).value_or("none")};
  };
  EXPECT_EQ(found("TAGS"), "red");
  EXPECT_EQ(found("KEYS"), "k1");
  EXPECT_EQ(found("DLQ_ORIGIN_TOPIC"), "orders");
  EXPECT_EQ(found("DLQ_ORIGIN_MESSAGE_ID"), "99");
  EXPECT_EQ(found("DLQ_ORIGIN_QUEUE"), "3");
  EXPECT_EQ(found("DLQ_ORIGIN_OFFSET"), "41");
  EXPECT_EQ(found("RECONSUME_TIME"), "16");
  EXPECT_EQ(found("DLQ_REASON"), "16 failed deliveries");
}

TEST(DeadLetter, IsVisibleAtOnceAndNoRepeatOfASend) {
  const auto copy = dead_letter_copy(half_of({}, "x"), topic_id{20}, origin);
  EXPECT_EQ(copy.delay_ms, 0U);
  EXPECT_EQ(copy.producer, producer_id{});
  EXPECT_EQ(copy.sequence, sequence_no{});
}

TEST(DeadLetter, NamesTheTransactionOfItsMessage) {
  EXPECT_EQ(dead_letter_copy(half_of({}, "x"), topic_id{20}, origin).transaction, position{4'096});
}

TEST(DeadLetter, ReplacesWhatAnEarlierDeathSaid) {
  const auto once = dead_letter_properties("A\x01"
                                           "1\x02",
                                           origin);
  auto later = origin;
  later.topic = "%DLQ%billing";
  const auto twice = dead_letter_properties(once, later);
  EXPECT_EQ(find_property(twice, "DLQ_ORIGIN_TOPIC"), "%DLQ%billing");
  EXPECT_EQ(twice.find("DLQ_ORIGIN_TOPIC"), twice.rfind("DLQ_ORIGIN_TOPIC"));
  EXPECT_EQ(find_property(twice, "A"), "1");
}

TEST(DeadLetter, TakesThePropertiesThatAClientFilledUp) {
  const std::string large = "A\x01" + std::string(limits::properties_bytes_max - 3, 'x') + "\x02";
  const auto made = dead_letter_properties(large, origin);
  EXPECT_GT(made.size(), large.size());
  EXPECT_LT(made.size(), 0xffffU) << "what a record can say of its size";
}

} // namespace
} // namespace handfast
