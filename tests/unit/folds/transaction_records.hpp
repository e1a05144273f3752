#pragma once

/// Log records of transactions, as short as tests need them.

#include "messages/log_record.hpp"

#include <utility>
#include <vector>

namespace handfast::test {

constexpr topic_id orders{16};
constexpr topic_id payments{17};
constexpr group_id shop{7};

inline log_record half_at(std::uint64_t at, position joins = {}, topic_id topic = orders,
                          group_id group = shop) {
  message_record m;
  m.topic = topic;
  m.group = group;
  m.queue = queue_no{1};
  m.tag_hash = 5;
  m.transaction = joins;
  m.producer = producer_id{77};
  log_record r;
  r.type = record_type::half;
  r.at = position{at};
  r.length = 256;
  r.time_ms = 1'000'000 + at;
  r.content = std::move(m);
  return r;
}

inline log_record decide_at(std::uint64_t at, std::vector<decision> decisions,
                            std::vector<index_entry> entries = {}) {
  log_record r;
  r.type = record_type::decide;
  r.at = position{at};
  r.length = 128;
  r.time_ms = 2'000'000 + at;
  r.content = decide_record{{}, std::move(decisions), std::move(entries)};
  return r;
}

inline log_record rollback_at(std::uint64_t at, std::vector<std::uint64_t> transactions) {
  std::vector<decision> decisions;
  for (const auto t : transactions)
    decisions.push_back({position{t}, outcome::rolled_back, origin::producer, 0, shop});
  return decide_at(at, std::move(decisions));
}

inline log_record commit_at(std::uint64_t at, std::uint64_t transaction, std::uint64_t offset) {
  return decide_at(at, {{position{transaction}, outcome::committed, origin::producer, 1, shop}},
                   {{position{transaction}, orders, queue_no{1}, queue_offset{offset}, 256, 5}});
}

inline log_record reopen_at(std::uint64_t at, std::uint64_t old, std::vector<index_entry> bodies) {
  log_record r;
  r.type = record_type::reopen;
  r.at = position{at};
  r.time_ms = 3'000'000 + at;
  r.content = reopen_record{position{old}, shop, 0, std::move(bodies)};
  return r;
}

inline log_record checked_at(std::uint64_t at, std::uint64_t transaction, std::uint16_t attempt) {
  log_record r;
  r.type = record_type::checked;
  r.at = position{at};
  r.time_ms = 4'000'000 + at;
  r.content = checked_record{{{position{transaction}, attempt, 99}}};
  return r;
}

inline log_record topic_put_at(std::uint64_t at, topic_id topic, std::uint32_t queues,
                               attributes options = {}) {
  log_record r;
  r.type = record_type::meta;
  r.at = position{at};
  r.content = meta_record{meta_change::topic_put, topic.value,
                          "topic-" + std::to_string(topic.value), queues, options};
  return r;
}

} // namespace handfast::test
