#pragma once

/// Every bound in one place. Those that an operator may change are defaults of the option table in
/// `config/`.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace handfast::limits {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

/// Body of one message (RocketMQ's default too).
constexpr std::size_t body_bytes_max = 4 * mib;
/// All properties of one message in RocketMQ's encoding (`key 0x01 value 0x02`).
constexpr std::size_t properties_bytes_max = 32'767;
/// Name of a topic or group.
constexpr std::size_t name_chars_max = 127;
/// One native frame, header excluded: the largest message with its properties and some room.
constexpr std::size_t frame_bytes_max = 8 * mib;
/// Cap'n Proto part of a native frame.
constexpr std::size_t frame_meta_bytes_max = 1 * mib;
/// Queues of one topic.
constexpr std::uint32_t queues_max = 1024;
/// Queues of all topics together: an idle one costs about 2 KiB of memory.
constexpr std::uint32_t all_queues_max = 100'000;
/// Messages of one transaction: one DECIDE record names them all.
constexpr std::size_t transaction_messages_max = 1'000;
/// Pending transactions of one shard, and the bytes of their bodies.
constexpr std::uint64_t pending_max = 1'000'000;
constexpr std::uint64_t pending_bytes_max = std::uint64_t{64} << 30;
/// Messages of one shard that wait for their time: well below a gigabyte of memory.
constexpr std::uint64_t delayed_max = 10'000'000;
/// Decided transactions that are answered from memory.
constexpr std::size_t outcomes_in_memory = 1'000'000;
/// Requests that one connection may have in flight.
constexpr std::uint32_t connection_credit = 4'096;
/// Bytes that one connection may have in flight.
constexpr std::size_t connection_bytes_in_flight = 32 * mib;
/// Of frames that the clients of a node have begun and not finished, together.
constexpr std::size_t begun_frames_bytes_max = 256 * mib;
/// One batch of the log: bytes and records.
constexpr std::size_t batch_bytes_max = 4 * mib;
constexpr std::size_t batch_records_max = 4'096;
/// Sends remembered per numbering producer, to recognise repeats; at least the credit granted.
constexpr std::size_t producer_window = 8'192;
/// After this long without a send a numbering producer is forgotten.
constexpr std::chrono::hours producer_idle_max{24};
/// Asks remembered per pending transaction for `tx show`, newest kept.
constexpr std::size_t asks_remembered = 16;
/// The text of a subscription's filter.
constexpr std::size_t filter_bytes_max = 16 * kib;
/// Parentheses, NOT and signs inside one another in a filter.
constexpr std::size_t filter_depth_max = 32;
/// Conditions of one filter; BETWEEN counts as two.
constexpr std::size_t filter_conditions_max = 128;
/// CONTAINS and LIKE of one filter: each goes through a whole text.
constexpr std::size_t filter_searches_max = 16;
/// Different properties that one filter names.
constexpr std::size_t filter_properties_max = 32;
/// Tags of one filter, or values of all its IN lists together.
constexpr std::size_t filter_values_max = 1'024;
/// Characters of a LIKE pattern, % not counted: one bit each while it is matched.
constexpr std::size_t like_elements_max = 63;
/// How long a message can be delayed: three years, one of them a leap year.
constexpr std::chrono::hours delay_max{24 * (3 * 365 + 1)};
/// Items of one page of a listing.
constexpr std::size_t page_items_max = 1'000;

} // namespace handfast::limits
